package gate

import (
	"math/rand/v2"
	"testing"

	"github.com/schedscope/schedscope/analyze/gate/budget"
	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/model"
)

// TestAnything checks that samples of any content give a result that is whole (see
// checkResult), the same one again, and that no rule that could not be judged passes.
func TestAnything(t *testing.T) {
	reps := 60
	if testing.Short() {
		reps = 20
	}
	for seed := range uint64(reps) {
		rng := rand.New(rand.NewPCG(seed, 5))
		in := Input{Budget: anyBudget(t, rng), Cand: anySet(rng, "cand"), Today: today}
		if rng.IntN(4) > 0 {
			in.Base = anySet(rng, "base")
		}
		r := must(t, in)
		again := must(t, in)
		if r.Headline != again.Headline || len(r.Warnings) != len(again.Warnings) {
			t.Errorf("seed %d: %q, then %q", seed, r.Headline, again.Headline)
		}
		for _, rr := range r.Rules {
			if (rr.Verdict == Pass || rr.Verdict == Unseen || rr.Verdict == Fail) && !rr.Point && rr.P == nil {
				t.Errorf("seed %d: %s: %s without a test", seed, rr.Rule, rr.Verdict)
			}
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func anyBudget(t testing.TB, rng *rand.Rand) *budget.Budget {
	rules := []string{"mean(ops/s) >= baseline*0.95", "mean(wait/op) <= baseline*1.1 + 1us", "p99(runnable) < 1ms @ 95%", "mean(cpu/op) < 1ms @ point"}
	b := budgetOf(t, append(rules, fiveRules...)[rng.IntN(3):3+rng.IntN(6)]...)
	b.Load = []budget.Load{budget.Open, budget.Closed, budget.Fixed}[rng.IntN(3)]
	for i := range b.Rules {
		if rng.IntN(4) == 0 {
			b.Rules[i].Level = budget.Warn
		}
		if b.Rules[i].Bound.Relative && rng.IntN(4) == 0 {
			b.Rules[i].Detect = 1.3
		}
	}
	if rng.IntN(3) == 0 {
		b.Waivers = []budget.Waiver{{Pattern: "mean*", Until: today}}
	}
	return b
}

// anyNumber returns one of those that go wrong.
func anyNumber(rng *rand.Rand) float64 {
	odd := []float64{0, 0, -1, 1e308, 1.7e308, 5e-324, 1, 1}
	return odd[rng.IntN(len(odd))]
}

func anySet(rng *rand.Rand, side string) *sample.Set {
	odd := rng.IntN(3) // how odd: not at all, a value here and there, all
	r := recipe{n: rng.IntN(12), seed: rng.Uint64(), edit: func(i int, s *sample.Sample) {
		s.Events += int64(i) * 10
		for _, k := range keys {
			switch {
			case odd > 0 && rng.IntN(40/odd/odd) == 0:
				s.Values[k] = sample.Value{X: anyNumber(rng), N: rng.Int64N(3000)}
			case odd > 0 && rng.IntN(60) == 0:
				delete(s.Values, k)
			}
		}
		if odd == 0 {
			return
		}
		anyState(rng, i, s)
	}}
	return r.set(side)
}

func anyState(rng *rand.Rand, i int, s *sample.Sample) {
	switch rng.IntN(12) {
	case 0:
		s.Whole = false
	case 1:
		noisy(i, s)
	case 2:
		s.Noise = &env.Noise{Nivcsw: number(anyNumber(rng)), RunDelay: number(anyNumber(rng)), Canary: number(anyNumber(rng))}
	case 3:
		s.Ops, s.To = rng.Int64N(2), model.Duration(rng.Int64N(2))
	case 4:
		s.Waits, s.Runs, s.Worst = nil, nil, nil
	case 5:
		s.Order = 0
	case 6:
		s.Waits[0].Total, s.Waits[0].Count = 1<<62, 1<<62
	}
}

// TestNothing checks that what has neither a budget nor traces is unusable, not a panic.
func TestNothing(t *testing.T) {
	if r := Check(Input{}); r.Verdict != Unusable {
		t.Errorf("%s", r.Verdict)
	}
	if r := Plan(PlanInput{}); len(r.Rules) > 0 {
		t.Errorf("%v", r.Rules)
	}
}
