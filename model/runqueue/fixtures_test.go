package runqueue_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/fixtures/truth"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
	"github.com/schedscope/schedscope/model/runqueue"
)

// A trial is a recorded trace, folded into steps.
type trial struct {
	version int
	tables  *model.Tables
	steps   steps
	records steps // the same, as a log has them
	starts  int   // GoStart events
}

// fold reads a trace as far as it goes. The result has no steps if it is not a
// trace at all.
func fold(tb testing.TB, data []byte) *trial {
	tb.Helper()
	in, err := ingest.NewReader(bytes.NewReader(data), ingest.Options{})
	var empty *ingest.EmptyError
	if errors.As(err, &empty) {
		return &trial{}
	}
	if err != nil {
		tb.Fatal(err)
	}
	t := &trial{version: in.Header().Version, tables: in.Tables()}
	m := model.NewMachine(t.tables, model.Config{Version: t.version})
	m.Observe(&t.steps)
	var log model.StepLog
	log.Full = func() { log.Steps = slices.Grow(log.Steps, 1) }
	m.Log(&log)
	err = ingest.Each(in, func(ev *model.Event) error {
		if ev.Kind == model.EventGoTransition && model.GoState(ev.From) == model.GoRunnable && model.GoState(ev.To) == model.GoRunning {
			t.starts++
		}
		_ = m.Apply(ev) // what contradicts itself is the model's business
		return nil
	})
	if err != nil && !errors.As(err, &empty) {
		tb.Fatal(err)
	}
	if err := m.Finish(m.Now()); err != nil {
		tb.Fatal(err)
	}
	t.records = log.Steps
	return t
}

func (t *trial) resolve(tb testing.TB) *record {
	tb.Helper()
	r := &record{}
	resolve(tb, t.tables, t.version, t.steps, r)
	return r
}

// load reads a fixture.
func load(tb testing.TB, name string) *trial {
	tb.Helper()
	data, err := os.ReadFile(fixtures.Path(name))
	if err != nil {
		tb.Fatal(err)
	}
	return fold(tb, data)
}

// TestFixtures resolves every fixture, the broken ones as far as they can be
// read.
func TestFixtures(t *testing.T) {
	starts := 0
	for _, name := range fixtures.Names() {
		t.Run(name, func(t *testing.T) {
			x := load(t, name)
			if x.version < 22 {
				return // see TestOldFormat
			}
			r := x.resolve(t)
			x.check(t, r)
			starts += len(r.starts)
			merged := *x
			merged.steps = x.records
			if !reflect.DeepEqual(merged.resolve(t), r) {
				t.Error("the records of a log say something else than their steps")
			}
		})
	}
	if starts < 50_000 {
		t.Errorf("all fixtures together have %d starts: were they read?", starts)
	}
}

// TestTruthTraces resolves the traces of the changed runtime; what it says is
// compared with the truth elsewhere.
func TestTruthTraces(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(truth.Dir(), "*.trace.zst"))
	if err != nil || len(files) < 100 {
		t.Fatalf("got %d traces and %v, want at least 100", len(files), err)
	}
	for i, file := range files {
		if i%9 != 0 && !fixtures.Sweep() {
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(file), ".trace.zst"), func(t *testing.T) {
			data, err := truth.Read(file)
			if err != nil {
				t.Fatal(err)
			}
			x := fold(t, data)
			x.check(t, x.resolve(t))
		})
	}
}

// check checks everything that must hold of what is told of a trace.
func (x *trial) check(t *testing.T, r *record) {
	t.Helper()
	if len(r.starts) != x.starts {
		t.Errorf("told %d starts, want the %d of the trace", len(r.starts), x.starts)
	}
	checkTold(t, x.steps, r)
	checkWays(t, r)
	checkOrder(t, r)
	checkSteals(t, r)
	checkFairness(t, r)
	checkTicks(t, r)
	x.checkLengths(t, r)
}

// checkWays checks that the fields of each start agree with one another.
func checkWays(t *testing.T, r *record) {
	t.Helper()
	bad := 0
	for i := range r.starts {
		if x := &r.starts[i]; !agree(x) {
			if bad++; bad <= 5 {
				t.Errorf("fields that do not agree: %+v", *x)
			}
		}
	}
	if bad > 5 {
		t.Errorf("and %d more", bad-5)
	}
}

func agree(x *runqueue.Start) bool {
	if (x.Grade == runqueue.GradeChosen) != (x.Choices > 1) || x.Since > x.Time || x.Search > x.Time || x.Freed > x.Search || x.Batch < 0 || x.Batch > 128 {
		return false
	}
	if onProc := x.Enqueued == runqueue.PlaceRunnext || x.Enqueued == runqueue.PlaceLocal; onProc != (x.QueueP != model.NoProc) {
		return false
	}
	switch x.Source {
	case runqueue.SourceRunnext:
		return x.LastP == x.P && x.Enqueued == runqueue.PlaceRunnext && x.QueueP == x.P && x.Batch == 0
	case runqueue.SourceLocal:
		switch x.Via {
		case runqueue.ViaSteal:
			return x.LastP == x.P && x.FromP != model.NoProc && x.FromP != x.P && x.Batch >= 2
		case runqueue.ViaGlobal:
			return x.LastP == x.P && x.FromP == model.NoProc && x.Batch >= 2
		}
		return x.LastP == x.P && x.QueueP == x.P && x.FromP == model.NoProc && x.Batch == 0
	case runqueue.SourceGlobal:
		return x.LastP == model.NoProc && x.FromP == model.NoProc && x.Batch >= 1
	case runqueue.SourceSteal, runqueue.SourceStealRunnext:
		return x.LastP == x.FromP
	case runqueue.SourceNetpoll, runqueue.SourceSystem, runqueue.SourceDirect, runqueue.SourceCoroutine, runqueue.SourceSyscall:
		return x.LastP == model.NoProc && x.FromP == model.NoProc && x.Batch == 0 && x.Enqueued == runqueue.PlaceNone
	case runqueue.SourceLocked:
		return true
	}
	return x.Grade >= runqueue.GradeChosen
}

// checkOrder checks that each kind is told in the order of time.
func checkOrder(t *testing.T, r *record) {
	t.Helper()
	var at model.Time
	what := ""
	later := func(kind string, x model.Time) {
		if kind != what {
			what, at = kind, 0
		}
		if x < at {
			t.Errorf("%s at %d told after one at %d", kind, x, at)
		}
		at = x
	}
	for i := range r.starts {
		later("start", r.starts[i].Time)
	}
	for i := range r.steals {
		later("steal", r.steals[i].Time)
	}
	for i := range r.overflows {
		later("overflow", r.overflows[i].Time)
	}
	for i := range r.fairness {
		later("pick by the 61st tick", r.fairness[i].Time)
	}
	for i := range r.injections {
		later("list", r.injections[i].Time)
	}
	for i := range r.lengths {
		later("length", r.lengths[i].Time)
	}
}

// checkSteals checks that the steals are those that the starts tell of. What was
// stolen may turn out to be locked to another thread.
func checkSteals(t *testing.T, r *record) {
	t.Helper()
	i := 0
	for _, x := range r.starts {
		locked := x.Source == runqueue.SourceLocked && x.FromP != model.NoProc && x.LastP == x.FromP
		if !locked && x.Source != runqueue.SourceSteal && x.Source != runqueue.SourceStealRunnext {
			continue
		}
		if i >= len(r.steals) {
			t.Fatalf("no steal was told of %+v", x)
		}
		got := r.steals[i]
		want := runqueue.Steal{Time: x.Time, G: x.G, Thief: x.P, M: x.M, Victim: x.FromP, Size: x.Batch, Grade: x.Grade,
			Runnext: x.Source == runqueue.SourceStealRunnext || locked && got.Runnext}
		if got != want {
			t.Errorf("steal %d: got %+v, want as its start says: %+v", i, got, want)
		}
		i++
	}
	if i < len(r.steals) {
		t.Errorf("no start tells of %+v", r.steals[i])
	}
}

// checkFairness checks that picks by the 61st tick are single ones from the
// global queue.
func checkFairness(t *testing.T, r *record) {
	t.Helper()
	picked := map[key]model.ProcID{}
	for _, f := range r.fairness {
		picked[key{f.G, f.Time}] = f.P
	}
	for _, x := range r.starts {
		p, ok := picked[key{x.G, x.Time}]
		if !ok {
			continue
		}
		delete(picked, key{x.G, x.Time})
		if x.P != p || x.Batch != 1 || x.Source != runqueue.SourceGlobal && x.Source != runqueue.SourceLocked {
			t.Errorf("picked by the 61st tick of proc %d, but started as %+v", p, x)
		}
	}
	if len(picked) > 0 {
		t.Errorf("picks by the 61st tick without a start: %v", picked)
	}
}

// checkTicks checks that a proc's schedtick goes up by one with each start but
// those that inherit their time slice. Where a later pick corrects the phase it
// jumps.
func checkTicks(t *testing.T, r *record) {
	t.Helper()
	last := map[model.ProcID]int{}
	known, jumps := 0, 0
	for i := range r.starts {
		x := &r.starts[i]
		was, ok := last[x.P]
		last[x.P] = x.Tick
		if !ok || was < 0 || x.Tick < 0 {
			continue
		}
		want := was + 1
		switch x.Source {
		case runqueue.SourceRunnext, runqueue.SourceDirect, runqueue.SourceCoroutine:
			want = was
		case runqueue.SourceSyscall:
			if x.Pseudo != model.NotPseudo {
				want = was
			}
		}
		if known++; x.Tick != want%61 {
			jumps++
		}
	}
	if jumps*200 > known {
		t.Errorf("schedtick jumps at %d of %d starts", jumps, known)
	}
}

// checkLengths replays the told lengths next to the steps: they change when told
// to, and together the queues never hold more than what is Runnable.
func (x *trial) checkLengths(t *testing.T, r *record) {
	t.Helper()
	now := map[model.ProcID]runqueue.Lengths{}
	runnable, direct := map[model.GoID]bool{}, unqueued(r)
	sum, next, moments, equal := 0, 0, 0, 0
	const inHand = 2 // taken by threads that the operating system then stopped
	for i := 0; i < len(x.steps); {
		at := x.steps[i].Time
		most := len(runnable)
		for ; i < len(x.steps) && x.steps[i].Time == at; i++ {
			s := &x.steps[i]
			if s.Kind != model.StepGo {
				continue
			}
			if delete(runnable, s.G); model.GoState(s.To) == model.GoRunnable && !direct[key{s.G, s.Time}] {
				runnable[s.G] = true
			}
			most = max(most, len(runnable))
		}
		for ; next < len(r.lengths) && r.lengths[next].Time <= at; next++ {
			l := r.lengths[next]
			was := now[l.P]
			if l.P != model.NoProc && l.Len > 256 {
				t.Fatalf("%+v: no local queue is so long", l)
			}
			if l.Time != at {
				t.Fatalf("%+v: nothing happened then", l)
			}
			if was.Len == l.Len && was.Next == l.Next {
				t.Fatalf("%+v: no change", l)
			}
			sum += l.Len + l.Next - was.Len - was.Next
			now[l.P] = l
		}
		if sum > most {
			t.Fatalf("at %d the queues hold %d goroutines, but %d are Runnable", at, sum, most)
		}
		if moments++; sum >= len(runnable)-inHand {
			equal++
		}
	}
	if next < len(r.lengths) {
		t.Errorf("lengths told after the end: %+v", r.lengths[next])
	}
	// More are missing of lists that are reported as a whole, and where some were lost sight of.
	if moments >= 1000 && equal < moments*85/100 {
		t.Errorf("only at %d of %d moments the queues hold all that is Runnable", equal, moments)
	}
}

// A key names an interval: no goroutine becomes Runnable twice at one time.
type key struct {
	g  model.GoID
	at model.Time
}

// unqueued returns the intervals in which a goroutine stood in no queue, or in an
// unknown one, by when they began.
func unqueued(r *record) map[key]bool {
	out := map[key]bool{}
	for i := range r.starts {
		if s := &r.starts[i]; s.Enqueued == runqueue.PlaceNone || s.Enqueued == runqueue.PlaceUnknown {
			out[key{s.G, s.Since}] = true
		}
	}
	return out
}

// TestDeterminism resolves twice, and with other observers.
func TestDeterminism(t *testing.T) {
	for _, name := range fixtures.Chosen(fixtures.Real()) {
		t.Run(name, func(t *testing.T) {
			x := load(t, name)
			first := x.resolve(t)
			if !reflect.DeepEqual(first, x.resolve(t)) {
				t.Error("not the same told twice")
			}
			r := &record{}
			resolve(t, x.tables, x.version, x.steps, struct{ runqueue.StartObserver }{r})
			if !reflect.DeepEqual(first.starts, r.starts) {
				t.Error("starts depend on who listens to the rest")
			}
		})
	}
}

// TestFinal: what was told before the end is what is told in the end.
func TestFinal(t *testing.T) {
	x := load(t, "mixed.go1.26.p2.trace")
	whole := x.resolve(t)
	for _, n := range []int{0, 1, len(x.steps) / 3, len(x.steps) / 2, len(x.steps) - 1} {
		q, err := runqueue.New(x.tables, x.version)
		if err != nil {
			t.Fatal(err)
		}
		r := &record{}
		q.Observe(r)
		for i := range x.steps[:n] {
			q.Step(&x.steps[i])
		}
		told := len(r.starts)
		if told > len(whole.starts) || !reflect.DeepEqual(r.starts, whole.starts[:told:told]) && told > 0 {
			t.Errorf("after %d steps: not the same starts as in the end", n)
		}
		q.Finish()
		checkTold(t, x.steps[:n], r)
	}
}

// TestRelabelled: nothing depends on the names of goroutines, threads and procs,
// nor on when the trace began.
func TestRelabelled(t *testing.T) {
	for _, name := range []string{"fanout.go1.26.p4.trace", "http.trace", "mixed.go1.22.p2.trace", "assist.go1.26.p4.trace", "lockthread.go1.26.p4.trace"} {
		x := load(t, name)
		want := x.resolve(t)
		other := *x
		other.steps = relabel(x.steps)
		got := other.resolve(t)
		if len(got.starts) != len(want.starts) {
			t.Fatalf("%s: got %d starts, want %d", name, len(got.starts), len(want.starts))
		}
		bad := 0
		for i := range want.starts {
			w := want.starts[i]
			w.G, w.M = newG(w.G), newM(w.M)
			w.Time, w.Since, w.Search = w.Time+shift, w.Since+shift, w.Search+shift
			if w.Freed != 0 {
				w.Freed += shift
			}
			w.P, w.QueueP, w.FromP, w.LastP = newP(w.P), newP(w.QueueP), newP(w.FromP), newP(w.LastP)
			if got.starts[i] != w {
				if bad++; bad <= 3 {
					t.Errorf("%s:\n got %+v\nwant %+v", name, got.starts[i], w)
				}
			}
		}
		if bad > 0 {
			t.Errorf("%s: %d of %d starts differ", name, bad, len(want.starts))
		}
	}
}

const shift = 1_000_000_007

func newG(g model.GoID) model.GoID {
	if g == model.NoGoroutine {
		return g
	}
	return 3_000_000 - g
}

func newM(m model.ThreadID) model.ThreadID {
	if m == model.NoThread {
		return m
	}
	return m + 12345
}

// newP swaps procs 0 and 1, 2 and 3, ...
func newP(p model.ProcID) model.ProcID {
	if p == model.NoProc {
		return p
	}
	return p ^ 1
}

func relabel(list steps) steps {
	out := make(steps, len(list))
	for i, s := range list {
		s.Time, s.Since = s.Time+shift, s.Since+shift
		s.G, s.By, s.P = newG(s.G), newG(s.By), newP(s.P)
		s.M, s.FromM, s.ToM = newM(s.M), newM(s.FromM), newM(s.ToM)
		out[i] = s
	}
	return out
}
