package runqueue

import (
	"os"
	"testing"

	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
	"github.com/schedscope/schedscope/model/modeltest"
)

// spender notes how little effort a Resolver has left at worst, and what its starts are like.
type spender struct {
	*Resolver
	least                int
	starts, contradicted int
}

func newSpender(t *testing.T, tables *model.Tables, version int) *spender {
	t.Helper()
	r, err := New(tables, version)
	if err != nil {
		t.Fatal(err)
	}
	s := &spender{Resolver: r, least: effortMost}
	r.Observe(s)
	return s
}

// Step implements [model.StepObserver].
func (s *spender) Step(x *model.Step) {
	s.Resolver.Step(x)
	s.least = min(s.least, s.line.replay.effort)
}

// Start implements [StartObserver].
func (s *spender) Start(x *Start) {
	s.starts++
	if x.Grade == GradeContradicted {
		s.contradicted++
	}
}

// TestEffort: the search for explanations never comes near its bound in traces of the runtime.
func TestEffort(t *testing.T) {
	for _, name := range fixtures.Real() {
		f, err := os.Open(fixtures.Path(name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		in, err := ingest.NewReader(f, ingest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if in.Header().Version < 22 {
			continue
		}
		m := model.NewMachine(in.Tables(), model.Config{Version: in.Header().Version})
		s := newSpender(t, in.Tables(), in.Header().Version)
		m.Observe(s)
		if err := ingest.Each(in, func(e *model.Event) error { m.Apply(e); return nil }); err != nil {
			t.Fatal(err)
		}
		if s.least < effortMost*9/10 {
			t.Errorf("%s: %d steps of effort left, want at least nine tenths of %d", name, s.least, effortMost)
		}
	}
}

// TestEffortBound: a goroutine creates others, which then run youngest first, against all
// rules. What the search takes has a bound for each operation, and what is beyond it counts as
// contradicted.
func TestEffortBound(t *testing.T) {
	const n = 20_000
	b := modeltest.NewBuilder()
	at := 0
	next := func() *modeltest.Thread {
		at++
		b.At(at)
		return b.M(1)
	}
	next().Proc(0).Running(1, "main.f")
	for g := range model.GoID(n) {
		next().Create(g+2, "main.g")
	}
	next().Stop("runtime.Gosched")
	for g := range model.GoID(n) {
		next().Start(n + 1 - g)
		next().Exit()
	}
	next().Start(1)
	s := newSpender(t, b.Tables, 26)
	modeltest.Apply(t, b.Tables, 26, b.Events(), s)
	s.Finish()
	// One operation may go beyond the bound, by at most a walk along all for each of the hypotheses.
	if s.least < -maxHypotheses*n {
		t.Errorf("%d steps were spent that were not allowed", -s.least)
	}
	if s.starts != n+1 || s.contradicted < n/2 {
		t.Errorf("%d starts, %d contradicted; want %d, most of them contradicted", s.starts, s.contradicted, n+1)
	}
}
