package lockstep_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	. "github.com/schedscope/schedscope/analyze/lockstep"
	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
	"github.com/schedscope/schedscope/model/runqueue"
)

// check judges the decisions of a fixture.
func check(t *testing.T, name string, opt Options) *Result {
	t.Helper()
	f, err := fixtures.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in, err := ingest.NewReader(f, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := model.NewMachine(in.Tables(), model.Config{Version: in.Header().Version})
	c, err := New(in.Tables(), in.Header().Version, opt)
	if err != nil {
		t.Fatal(err)
	}
	c.Observe(m)
	if err := ingest.Each(in, func(ev *model.Event) error {
		_ = m.Apply(ev) // what contradicts itself is the model's business
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	m.Finish(m.Now())
	return c.Finish()
}

// The figures that are promised of stock runtimes. Preemptions were late on the machine
// on which the fixtures were recorded, which had two cores for four procs and
// other work, too.
func TestStock(t *testing.T) {
	var sum Result
	for _, name := range fixtures.Real() {
		r := check(t, name, Options{Cores: 2})
		if r.Kinds[Pick].Judged == 0 {
			t.Errorf("%s: no pick judged", name)
		}
		sum.Merge(r)
	}
	for k, tally := range sum.Kinds {
		if tally.Judged < 200 {
			t.Errorf("%v: judged %d, want 200 at least", Kind(k), tally.Judged)
		}
		if a := tally.Agreement(); a < 0.99 {
			t.Errorf("%v: %.2f %% of %d agree, want 99 %%", Kind(k), 100*a, tally.Judged)
		}
		if g := tally.UnexplainedShare(); g > 0.001 {
			t.Errorf("%v: %.3f %% of %d unexplained, want 0.1 %% at most", Kind(k), 100*g, tally.Judged)
		}
	}
}

// Every decision is judged once or excluded, and what is judged is agreed or of one class.
func TestTallies(t *testing.T) {
	r := check(t, "mixed.go1.26.p2.trace", Options{})
	for i, tally := range r.Kinds {
		n := tally.Agreed
		for _, d := range tally.Diverged {
			n += d
		}
		if n != tally.Judged {
			t.Errorf("tally %d: %+v", i, tally)
		}
	}
}

func TestDeterministic(t *testing.T) {
	a := check(t, "gc.go1.26.p4.trace", Options{All: true, MaxListed: 20})
	b := check(t, "gc.go1.26.p4.trace", Options{All: true, MaxListed: 20})
	if a.Kinds != b.Kinds || len(a.Unexplained) != len(b.Unexplained) {
		t.Errorf("%+v\nthen %+v", a.Kinds, b.Kinds)
	}
	for i := range a.Unexplained {
		x, y := a.Unexplained[i], b.Unexplained[i]
		if x.State, y.State = nil, nil; x.Did != y.Did || x.Time != y.Time || x.Class != y.Class {
			t.Errorf("divergence %d: %+v, then %+v", i, x, y)
		}
	}
}

func TestOptions(t *testing.T) {
	r := check(t, "assist.go1.26.p4.trace", Options{All: true, MaxListed: 2})
	var listed [NumKinds]int
	for _, d := range r.Unexplained {
		if listed[d.Kind]++; listed[d.Kind] > 2 || d.Did == "" || d.Want == "" {
			t.Errorf("listed %+v", d)
		}
		if d.State != nil && d.State.Start != nil {
			t.Error("a listed state refers to its start")
		}
	}
}

func TestOldFormat(t *testing.T) {
	var old *runqueue.OldFormatError
	if _, err := New(model.NewTables(), 21, Options{}); !errors.As(err, &old) {
		t.Errorf("Go 1.21: %v", err)
	}
}

// Damaged and impossible traces are judged as far as they go.
func TestBroken(t *testing.T) {
	for _, name := range slices.Concat(fixtures.Broken(), fixtures.HandMade()) {
		f, err := fixtures.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		in, err := ingest.NewReader(f, ingest.Options{})
		if err != nil {
			f.Close()
			continue
		}
		m := model.NewMachine(in.Tables(), model.Config{Version: in.Header().Version})
		c, err := New(in.Tables(), in.Header().Version, Options{})
		if err == nil {
			c.Observe(m)
			ingest.Each(in, func(e *model.Event) error {
				m.Apply(e)
				return nil
			})
			m.Finish(m.Now())
			if r := c.Finish(); r == nil {
				t.Errorf("%s: no result", name)
			}
		}
		in.Close()
		f.Close()
	}
}

// nonsense makes steps that no runtime makes.
func TestNonsense(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		tables := model.NewTables()
		m := model.NewMachine(tables, model.Config{Version: 26})
		c, err := New(tables, 26, Options{})
		if err != nil {
			t.Fatal(err)
		}
		c.Observe(m)
		at := model.Time(0)
		for range 500 {
			at += model.Time(rnd.Int64N(1 << rnd.IntN(30)))
			e := model.Event{Kind: model.EventGoTransition, Time: at, G: model.GoID(rnd.IntN(6)) - 1, M: model.ThreadID(rnd.IntN(5)) - 1,
				P: model.ProcID(rnd.IntN(5)) - 1, ID: rnd.Int64N(8), From: uint8(rnd.IntN(7)), To: uint8(rnd.IntN(7))}
			if rnd.IntN(3) == 0 {
				e.Kind, e.From, e.To = model.EventProcTransition, uint8(rnd.IntN(4)), uint8(rnd.IntN(4))
			}
			m.Apply(&e)
		}
		m.Finish(at)
		c.Finish()
	}
}
