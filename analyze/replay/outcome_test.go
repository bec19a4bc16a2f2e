package replay

import (
	"context"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/schedscope/schedscope/analyze/refsched"
	"github.com/schedscope/schedscope/analyze/workload"
	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/model"
)

// stored is a recording of fixtures/programs/replayed.
func stored(name string) string { return "validation/testdata/" + name + ".trace.zst" }

// TestBasis checks what is claimed of which variant, and that what cannot be known is not simulated.
func TestBasis(t *testing.T) {
	for _, tt := range []struct {
		trace string
		want  map[string]Basis
	}{
		{"http.trace", map[string]Basis{"procs=1": BasisChecked, "procs=2": BasisSpread, "procs=4": BasisSpread, "gc=off": BasisSpread,
			"procs=1,gc=off": BasisSpread, "procs=1,quota=5ms": BasisSpread, "ideal": BasisSpread}},
		{"oneproc.go1.26.p1.trace", map[string]Basis{"procs=1": BasisSpread, "procs=2": BasisChecked, "procs=4": BasisSpread, "procs=2,gc=off": BasisSpread}},
		{"oneproc.go1.26.p1.trace", map[string]Basis{"quiet": BasisUnknown}},
		{"fanin.go1.26.p4.trace", map[string]Basis{"procs=1": BasisSpread, "procs=2": BasisSpread}}, // not measured
	} {
		names := slices.Sorted(maps.Keys(tt.want))
		var mu sync.Mutex
		procs := map[int]bool{}
		simulate := func(ctx context.Context, w *workload.Workload, cfg refsched.Config) (*refsched.Result, error) {
			mu.Lock()
			defer mu.Unlock()
			procs[cfg.Procs] = true
			return fake(ctx, w, cfg)
		}
		list := variants(t, names...)
		r, err := replayed(t, t.Context(), tt.trace, Options{Seeds: 2, Variants: list, simulate: simulate})
		if err != nil {
			t.Fatal(err)
		}
		for i, name := range names {
			o := &r.Outcomes[i]
			if o.Name != name || o.Basis != tt.want[name] {
				t.Errorf("%s: %s has basis %v, want %v", tt.trace, o.Name, o.Basis, tt.want[name])
			}
			unknown, n := tt.want[name] == BasisUnknown, list[i].Procs()
			if o.Finished() == unknown || n > 0 && procs[n] == unknown {
				t.Errorf("%s: %s: %+v; simulated were %v", tt.trace, name, o, procs)
			}
		}
	}
}

// TestWidths checks of which variants intervals were measured: of another number of procs not where most wakes are by locks
// or, to two, much time is lost in system calls, and except of a quiet machine of requests alone where the machine was disturbed.
func TestWidths(t *testing.T) {
	disturbed := func(w widths) widths {
		w.waits, w.disturbed = nil, true
		return w
	}
	for _, tt := range []struct {
		variant      string
		procs        int
		locks, timed int64 // of a hundred wakes
		taken, lost  model.Duration
		want         widths
	}{
		{"procs=1", 2, 0, 0, 0, 0, toOne},
		{"procs=1", 2, 0, 20, 0, 0, toOneTimed},
		{"procs=1", 2, 0, 0, 200, 0, disturbed(toOne)},
		{"procs=1", 2, 60, 0, 0, 0, widths{}},
		{"procs=1", 2, 0, 0, 0, 100, toOne},
		{"procs=2", 1, 0, 0, 0, 0, toTwo},
		{"procs=2", 1, 0, 20, 0, 0, toTwoTimed},
		{"procs=2", 1, 0, 0, 0, 100, widths{}},
		{"procs=2", 4, 0, 0, 0, 0, widths{}},
		{"quiet", 2, 0, 0, 200, 0, toQuiet},
		{"quiet", 2, 60, 0, 200, 0, widths{}},
		{"quiet", 1, 0, 0, 200, 0, widths{}},
		{"quota=5ms", 2, 60, 0, 0, 0, toQuota},
		{"procs=1", 2, 60, 0, 200, 0, widths{}},
		{"quota=5ms", 2, 0, 0, 200, 0, disturbed(toQuota)},
		{"procs=1,quiet", 2, 0, 0, 0, 0, widths{}},
	} {
		r := &Result{MinProcs: tt.procs, MaxProcs: tt.procs, Work: 1000, Length: 1000, Lost: tt.lost, Outages: workload.Outages{Total: tt.taken}}
		r.Wakes[workload.ClassHandoff], r.Wakes[workload.ClassLock], r.Wakes[workload.ClassBuffered] = 100-tt.locks-tt.timed, tt.locks, tt.timed
		if got := r.widths(&variants(t, tt.variant)[0]); got != tt.want {
			t.Errorf("%+v: got %v", tt, got)
		}
	}
}

// TestBlind checks that requests may take as long on a quiet machine as recorded where CPU samples do not show what computed.
func TestBlind(t *testing.T) {
	for _, blind := range []model.Duration{0, 1} {
		r := &Result{MinProcs: 2, MaxProcs: 2, Outages: workload.Outages{Blind: blind}}
		x := Requests{Figures: []float64{80_000, 90_000, 80_000, 1}}
		base, quiet := newSchedule(), newSchedule()
		base.Waits.Add(80_000, 0)
		quiet.Waits.Add(20_000, 0)
		o := &Outcome{widths: r.widths(&variants(t, "quiet")[0]), RequestBasis: BasisChecked}
		f := x.compare(o, []*Schedule{quiet}, []*Schedule{base}, func(s *Schedule) *dist.Dist { return s.Waits })
		for k, recorded := range x.Figures[:RequestRate] {
			if reaches := f[k].Value.High >= recorded; reaches != (blind > 0) {
				t.Errorf("blind for %d: %v %+v, recorded %v", blind, RequestFigure(k), f[k].Value, recorded)
			}
		}
	}
}

// TestAgainst checks that requests may take as long as recorded where a simulation has them take less with one proc, or more with two,
// and that intervals are wider where the machine was disturbed.
func TestAgainst(t *testing.T) {
	x := Requests{Figures: []float64{80_000, 90_000, 80_000, 1}}
	base := newSchedule()
	base.Waits.Add(80_000, 0)
	compare := func(w widths, took model.Duration) Range {
		other := newSchedule()
		other.Waits.Add(took, 0)
		o := &Outcome{widths: w, RequestBasis: BasisChecked}
		return x.compare(o, []*Schedule{other}, []*Schedule{base}, func(s *Schedule) *dist.Dist { return s.Waits })[RequestMean].Value
	}
	disturbed := toOne
	disturbed.disturbed = true
	for _, tt := range []struct {
		name  string
		w     widths
		took  model.Duration
		holds bool
	}{
		{"less with one", toOne, 20_000, true},
		{"more with one", toOne, 240_000, false},
		{"more with two", toTwo, 240_000, true},
		{"less with two", toTwo, 20_000, false},
		{"a little more with one", toOne, 115_000, false},
		{"so, disturbed", disturbed, 115_000, true},
	} {
		if got := compare(tt.w, tt.took); (got.Low <= 80_000 && 80_000 <= got.High) != tt.holds {
			t.Errorf("%s: %+v", tt.name, got)
		}
	}
}

// TestBasisMixed checks that no interval is claimed of recordings with one proc and with two together.
func TestBasisMixed(t *testing.T) {
	var both []*Result
	for _, name := range []string{"forkjoin.p1", "forkjoin.p2"} {
		r, err := replayed(t, t.Context(), stored(name), Options{Seeds: 1, Variants: variants(t, "procs=2", "procs=1"), simulate: fake})
		if err != nil {
			t.Fatal(err)
		}
		both = append(both, r)
	}
	for _, o := range Merge(both).Outcomes {
		if o.Basis != BasisSpread || !o.Finished() {
			t.Errorf("%+v", o)
		}
	}
}

// TestLocksClaimNothing checks that no interval is claimed where most wakes are by locks.
func TestLocksClaimNothing(t *testing.T) {
	r, err := replayed(t, t.Context(), "http.trace", Options{Seeds: 1, Variants: variants(t, "procs=1"), simulate: fake})
	if err != nil {
		t.Fatal(err)
	}
	r.Wakes[workload.ClassLock] = 2 * slices.Max(r.Wakes[:]) * int64(len(r.Wakes))
	if r.outcomes(); r.Outcomes[0].Basis != BasisSpread {
		t.Errorf("got basis %v", r.Outcomes[0].Basis)
	}
}

// TestIntervalsWiden checks that intervals contain the spread and the middle, and that p99 is not below p90.
func TestIntervalsWiden(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		var o, was Outcome
		var measured [NumFigures]float64
		for k := range was.Figures {
			scale := math.Pow(10, 9*rnd.Float64())
			if FigureKind(k) == FigureLong {
				scale = 1
			}
			list := []float64{scale * rnd.Float64(), scale * rnd.Float64(), scale * rnd.Float64()}
			measured[k] = scale * rnd.Float64()
			was.Figures[k] = newFigure(FigureKind(k), rangeOf(list), measured[k])
		}
		o = was
		o.widths = []widths{toOne, toOneTimed, toTwo, toTwoTimed, toQuiet}[rnd.IntN(5)]
		o.widen(measured, Row{Relative: &Range{Mid: rnd.Float64()}})
		if p90, p99 := o.Figures[FigureP90].Value, o.Figures[FigureP99].Value; p99.Low < min(p90.Low, was.Figures[FigureP99].Value.Low) || p99.High < p90.High {
			t.Fatalf("p90 %v, p99 %v", p90, p99)
		}
		for k, f := range o.Figures {
			old := was.Figures[k]
			if f.Value.Mid != old.Value.Mid || f.Value.Low > old.Value.Low || f.Value.High < old.Value.High || f.Value.High-f.Value.Low <= 0 {
				t.Fatalf("%v: %v became %v", FigureKind(k), old.Value, f.Value)
			}
			if f.Change.Mid != old.Change.Mid || f.Change.Low > f.Change.Mid || f.Change.High < f.Change.Mid {
				t.Fatalf("%v: the change is %+v, before %+v", FigureKind(k), f, old)
			}
			if FigureKind(k) == FigureLong && (f.Value.Low < 0 || f.Value.High > 1) {
				t.Fatalf("a part of %v", f.Value)
			}
		}
	}
}
