package runqueue_test

import (
	"testing"

	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/modeltest"
	"github.com/schedscope/schedscope/model/runqueue"
)

// record keeps everything that a Resolver tells.
type record struct {
	starts     []runqueue.Start
	steals     []runqueue.Steal
	overflows  []runqueue.Overflow
	fairness   []runqueue.Fairness
	injections []runqueue.Injection
	lengths    []runqueue.Lengths
	wakeups    []runqueue.Wakeup
}

func (r *record) Start(s *runqueue.Start)         { r.starts = append(r.starts, *s) }
func (r *record) Steal(s *runqueue.Steal)         { r.steals = append(r.steals, *s) }
func (r *record) Overflow(o *runqueue.Overflow)   { r.overflows = append(r.overflows, *o) }
func (r *record) Fairness(f *runqueue.Fairness)   { r.fairness = append(r.fairness, *f) }
func (r *record) Injection(i *runqueue.Injection) { r.injections = append(r.injections, *i) }
func (r *record) Lengths(l *runqueue.Lengths)     { r.lengths = append(r.lengths, *l) }
func (r *record) Wakeup(w *runqueue.Wakeup)       { r.wakeups = append(r.wakeups, *w) }

// steps keeps the steps of a Machine.
type steps []model.Step

// Step implements [model.StepObserver].
func (l *steps) Step(s *model.Step) { *l = append(*l, *s) }

// replay resolves the stream of a Builder as a trace of Go 1.26.
func replay(t *testing.T, b *modeltest.Builder) *record {
	t.Helper()
	return replayAs(t, b, 26)
}

// replayAs resolves the stream of a Builder as a trace of Go 1.version.
func replayAs(t *testing.T, b *modeltest.Builder, version int) *record {
	t.Helper()
	q, err := runqueue.New(b.Tables, version)
	if err != nil {
		t.Fatal(err)
	}
	r := &record{}
	q.Observe(r)
	modeltest.Apply(t, b.Tables, version, b.Events(), q)
	q.Finish()
	return r
}

// stepsOf ends the stream of a Builder and returns its steps.
func stepsOf(tb testing.TB, b *modeltest.Builder, version int) steps {
	tb.Helper()
	m := model.NewMachine(b.Tables, model.Config{Version: version})
	var list steps
	m.Observe(&list)
	for _, ev := range b.Events() {
		if err := m.Apply(&ev); err != nil {
			tb.Fatalf("the schedule is not possible: %v", err)
		}
	}
	if err := m.Finish(m.Now()); err != nil {
		tb.Fatal(err)
	}
	return list
}

// resolve replays steps.
func resolve(tb testing.TB, tables *model.Tables, version int, list steps, observers ...any) {
	tb.Helper()
	q, err := runqueue.New(tables, version)
	if err != nil {
		tb.Fatal(err)
	}
	for _, o := range observers {
		q.Observe(o)
	}
	for i := range list {
		q.Step(&list[i])
	}
	q.Finish()
}
