package bound_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/schedscope/schedscope/analyze/refsched"
	"github.com/schedscope/schedscope/analyze/workload"
	"github.com/schedscope/schedscope/analyze/workload/bound"
	"github.com/schedscope/schedscope/analyze/workload/workloadtest"
	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model"
)

// span simulates a workload and returns how long it took, and how many goroutines
// did not come to the end of their programs.
func span(t *testing.T, w *workload.Workload, cfg refsched.Config) (took model.Duration, stuck int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	r, err := refsched.Run(ctx, w, cfg, nil)
	if err != nil {
		t.Fatalf("%v under %+v", err, cfg)
	}
	return r.Span, r.Stuck
}

// some returns a configuration of any kind for this many cores.
func some(rnd *rand.Rand, cores int) refsched.Config {
	c := refsched.Config{Procs: cores, AsRecorded: true, Seed: rnd.Uint64()}
	if rnd.IntN(3) > 0 {
		c.Costs = refsched.DefaultCosts()
	}
	r := &c.Rules
	for _, rule := range []*bool{&r.NoGC, &r.Ideal} {
		*rule = rnd.IntN(6) == 0
	}
	return c
}

// TestSimulated checks that no simulated schedule ends before Lower, under any
// rules, and that the ideal scheduler's never ends after Upper.
func TestSimulated(t *testing.T) {
	for seed := range uint64(*workloads) {
		w := workloadtest.Random(seed, workloadtest.Options{})
		rnd := rand.New(rand.NewPCG(seed, 5))
		cores := []int{1, 2, w.Procs, 1 + rnd.IntN(16)}[rnd.IntN(4)]
		b := bound.Of(w, cores)
		ideal := refsched.Config{Procs: cores, AsRecorded: true, Seed: seed, Rules: refsched.Rules{Ideal: true}}
		for _, cfg := range []refsched.Config{some(rnd, cores), some(rnd, cores), ideal} {
			took, stuck := span(t, w, cfg)
			if stuck > 0 || took < b.Lower || cfg.Rules == ideal.Rules && took > b.UpperCut {
				t.Errorf("seed %d: %d, %d stuck, under %+v: not within %+v", seed, took, stuck, cfg, b)
			}
		}
	}
}

// TestSimulatedFixtures is the same with the work of real programs.
func TestSimulatedFixtures(t *testing.T) {
	for _, name := range fixtures.Real() {
		t.Run(name, func(t *testing.T) {
			w := extract(t, name)
			if w == nil {
				t.Skip("no workload")
			}
			for _, cores := range []int{1, w.Procs, 2 * w.Procs} {
				b := bound.Of(w, cores)
				ideal, stuck := span(t, w, refsched.Config{Procs: cores, AsRecorded: true, Rules: refsched.Rules{Ideal: true}})
				if stuck > 0 {
					t.Skipf("%d goroutines are stuck", stuck)
				}
				if ideal < b.Lower || ideal > b.UpperCut {
					t.Errorf("%d under an ideal scheduler, not within %+v", ideal, b)
				}
				real, stuck := span(t, w, refsched.Config{Procs: cores, AsRecorded: true, Costs: refsched.DefaultCosts()})
				if stuck == 0 && real < b.Lower {
					t.Errorf("%d, at least %+v", real, b)
				}
				t.Logf("%d procs: between %d and %d, ideal %d, by the rules %d", cores, b.Lower, b.UpperCut, ideal, real)
			}
		})
	}
}
