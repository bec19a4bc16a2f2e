package replay

import (
	"math"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/model"
)

// TestInflation checks that a second trace stretches the work, and which ones cannot.
func TestInflation(t *testing.T) {
	survey := func(name string) *Result {
		r, err := replayed(t, t.Context(), stored(name), Options{Survey: true})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	one, two := survey("forkjoin.p1"), survey("forkjoin.p2")
	if one.All.Count.High > 0 || len(one.Outcomes) > 0 || one.Work == 0 {
		t.Errorf("a survey simulates: %+v", one.All)
	}
	with, err := replayed(t, t.Context(), stored("forkjoin.p2"), Options{Seeds: 1, Variants: variants(t, "procs=1", "procs=2", "gc=off"), With: one})
	if err != nil {
		t.Fatal(err)
	}
	x := with.Inflation()
	if why := with.NoInflation(); why != "" || x < 0.7 || x > 1.4 || math.Abs(x-1) < 0.001 {
		t.Fatalf("inflation %g, %q; want some", x, why)
	}
	back := &Result{options: Options{With: two}, loads: one.loads, MinProcs: 1, MaxProcs: 1}
	if y := back.Inflation(); math.Abs(x*y-1) > 1e-9 {
		t.Errorf("inflation %g there, %g back", x, y)
	}
	work := func(variant int) float64 {
		return float64(kindOf(with.runs, runVariant, &with.variants[variant])[0].Work)
	}
	base := float64(kindOf(with.runs, runBase, nil)[0].Work)
	// Goroutines with few units of work have a ratio of their own.
	if got := work(0) / base; math.Abs(got-x) > 0.05 {
		t.Errorf("the work is %.3f times as long, want about %.3f", got, x)
	}
	if work(1) != base || work(2) != base {
		t.Errorf("work %g and %g with the recorded GOMAXPROCS, want %g", work(1), work(2), base)
	}
	loads := func(cpu model.Duration, units int64) map[string]load { return map[string]load{"f": {cpu, units}} }
	for _, tt := range []struct {
		procs int
		loads map[string]load
		want  string
	}{
		{2, loads(1e6, 1000), "not the same: they have 2 and 2"},
		{4, loads(1e6, manyUnits-1), "fewer than 50"},
		{4, loads(4e6, 1000), "work takes 4.00 times the CPU time there"},
		{4, loads(25e4, 1000), "work takes 0.25 times the CPU time there"},
		{4, loads(2e6, 1000), ""},
	} {
		r := &Result{options: Options{With: &Result{loads: tt.loads, MinProcs: tt.procs, MaxProcs: tt.procs}}, loads: loads(1e6, 1000), MinProcs: 2, MaxProcs: 2}
		if why := r.NoInflation(); !strings.Contains(why, tt.want) || (why == "") != (tt.want == "") || (r.Inflation() > 0) != (tt.want == "") {
			t.Errorf("%+v: got %q and %g, want %q", tt.loads, why, r.Inflation(), tt.want)
		}
	}
	if none := (&Result{}); none.NoInflation() != "" || none.Inflation() != 0 {
		t.Error("inflation without a second trace")
	}
}
