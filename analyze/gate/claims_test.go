package gate

import (
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/gate/budget"
	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/analyze/gate/sample"
)

// TestDisturbedCounters checks that recordings of a disturbed machine never pass as a
// whole, not even where every rule is a counter and proved to be kept.
func TestDisturbedCounters(t *testing.T) {
	b := budgetOf(t, "mean(cpu/op) <= baseline*1.10", "mean(wakes/op) <= baseline*1.10")
	for _, c := range []struct {
		name    string
		cpu     float64
		verdict Verdict // on cpu/op
		on      string
		exit    int
	}{
		{"proved", 1, Pass, "", ExitUndecided},
		{"not proved", 1.13, Inconclusive, "", ExitUndecided},
		{"violated", 1.4, Fail, "", ExitViolated},
		{"proved, and the caller lets pass", 1, Pass, "pass", ExitOK},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := must(t, Input{
				Budget: b, OnInconclusive: c.on, Base: recipe{n: 10, seed: 1, edit: noisy}.set("base"),
				Cand: recipe{n: 10, seed: 2, edit: noisy, times: map[string]float64{"mean(cpu/op)": c.cpu}}.set("cand"),
			})
			if got := ruleOf(t, r, "mean(cpu/op)"); got.Verdict != c.verdict || r.Exit != c.exit {
				t.Errorf("%s (%s), exit %d, want %s, exit %d", got.Verdict, got.Why, r.Exit, c.verdict, c.exit)
			}
			if e := ruleOf(t, r, "mean(cpu/op)").Explain; c.verdict == Fail && !strings.Contains(e.Why[0], "the machine was disturbed, too") {
				t.Errorf("why %q", e.Why)
			}
			if c.verdict != Fail && (r.Verdict != Inconclusive || !strings.Contains(r.Headline, "machine disturbed")) {
				t.Errorf("%s: %s", r.Verdict, r.Headline)
			}
		})
	}
}

// TestNotExcluded checks that nobody says that a change would have been seen which the
// interval leaves open.
func TestNotExcluded(t *testing.T) {
	const key = "mean(wakes/op)"
	xs := func(xs ...float64) func(int, *sample.Sample) { return of(key, 1000, xs...) }
	flat := []float64{3.1, 3.11, 3.12, 3.13, 3.14, 3.15}
	for _, c := range []struct {
		name string
		rule string
		cand []float64
		want Verdict
	}{
		{"two of six twice as many", key + " <= baseline*1.1", []float64{3.2, 3.21, 3.22, 3.23, 5.6, 6}, Inconclusive},
		{"two of six half as many", key + " >= baseline*0.9", []float64{3.05, 3.04, 3.03, 3.02, 1.7, 1.6}, Inconclusive},
		{"none", key + " <= baseline*1.1", []float64{3.2, 3.21, 3.22, 3.3, 3.4, 3.6}, Unseen},
		{"absolute", key + " < 3.3", []float64{3.2, 3.21, 3.22, 3.23, 3.24, 3.25, 3.26, 3.27, 5.1, 5.2}, Inconclusive},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := must(t, Input{Budget: budgetOf(t, c.rule), Base: recipe{n: len(flat), edit: xs(flat...)}.set("base"), Cand: recipe{n: len(c.cand), edit: xs(c.cand...)}.set("cand")})
			got := r.Rules[0]
			if got.Verdict != c.want {
				t.Fatalf("%s (%s), want %s: interval %+v, detect %v, mde %v", got.Verdict, got.Why, c.want, got.Ratio, got.Detect, got.MDE)
			}
			if c.want == Inconclusive && (!strings.Contains(got.Why, "is not excluded") || got.Needed <= len(c.cand)) {
				t.Errorf("%s, needed %d", got.Why, got.Needed)
			}
		})
	}
}

// TestSizes checks that what would have been seen is told with its size.
func TestSizes(t *testing.T) {
	b := budgetOf(t, "mean(wait/op) <= baseline*1.10", "mean(ops/s) >= baseline*0.90", "mean(wait/op) < 230us")
	near := map[string]float64{"mean(wait/op)": 1.04, "mean(ops/s)": .93}
	b.Load = "closed"
	r := must(t, Input{Budget: b, Base: recipe{n: 10, seed: 1, sd: .1}.set("base"), Cand: recipe{n: 10, seed: 2, sd: .1, times: near}.set("cand")})
	if want := "one of x1.65, x0.60 or x1.50 of the limit would have been with 80% probability"; r.Verdict != Unseen || !strings.Contains(r.Headline, "no violation shown in 3 rules, and "+want) {
		t.Errorf("%s: %s", r.Verdict, r.Headline)
	}
	r = must(t, Input{Budget: budgetOf(t, "mean(wait/op) < 230us"), Cand: recipe{n: 10, seed: 2, sd: .1}.set("cand")})
	if want := "x1.50 of the limit"; !strings.Contains(r.Headline, want) {
		t.Errorf("%s: %s", r.Verdict, r.Headline)
	}
}

// TestMedians checks that nobody is left to wonder why a median beyond the limit passes.
func TestMedians(t *testing.T) {
	const key = "mean(wakes/op)"
	base := []float64{80, 85, 90, 100, 101, 102, 103}
	for _, c := range []struct {
		cand []float64
		want string
	}{
		{[]float64{60, 62, 64, 110.5, 111, 111.5, 112}, "by the medians beyond the limit"},
		{[]float64{90, 92, 95, 109, 122, 125, 130}, "by the medians within the limit"},
		{[]float64{80, 85, 90, 100, 101, 102, 103.5}, ""},
	} {
		r := must(t, Input{Budget: budgetOf(t, key+" <= baseline*1.1"), Base: recipe{n: 7, edit: of(key, 1000, base...)}.set("base"), Cand: recipe{n: 7, edit: of(key, 1000, c.cand...)}.set("cand")})
		got := r.Rules[0]
		if said := strings.Contains(got.Why, "by the medians"); said != (c.want != "") || !strings.Contains(got.Why, c.want) {
			t.Errorf("%v: %s (%s), want %q; ratio %+v, limit %v", c.cand, got.Verdict, got.Why, c.want, got.Ratio, got.Bound)
		}
	}
}

// TestBaseToo checks that what the base violates, too, is not explained as an increase.
func TestBaseToo(t *testing.T) {
	for _, c := range []struct {
		rule string
		too  bool
	}{
		{"mean(wait/op) < 100us @ 95%", true},
		{"mean(wait/op) < 300us @ 95%", false},
		{"mean(wait/op) < 100us @ point", true},
		{"mean(wait/op) < 290us @ point", false}, // its worst trace keeps it
		{"mean(wait/op) <= baseline*1.1", false},
	} {
		more := func(_ int, s *sample.Sample) { s.Waits[0].Total += 100e6 }
		r := must(t, Input{Budget: budgetOf(t, c.rule), Base: recipe{n: 8, seed: 1, sd: .1}.set("base"),
			Cand: recipe{n: 8, seed: 2, sd: .1, times: map[string]float64{"mean(wait/op)": 2}, edit: more}.set("cand")})
		got := r.Rules[0]
		if got.Verdict != Fail {
			t.Errorf("%s: %s (%s)", c.rule, got.Verdict, got.Why)
			continue
		}
		e := got.Explain
		if e.Alone != c.too || (e.Where[0].Base == 0) != c.too || strings.Contains(got.Why, "the base does not keep it either: its ") != c.too || (e.Origin == OriginUnknown && c.too) != c.too {
			t.Errorf("%s: %s; %+v", c.rule, got.Why, e)
		}
	}
}

// TestSelected checks that a rule with selectors is not explained by what is of all waits,
// and that parts tell their sums.
func TestSelected(t *testing.T) {
	const key = "mean(wait{func=*worker}/op)"
	r := must(t, Input{Budget: budgetOf(t, key+" <= baseline*1.1"), Base: recipe{n: 6, edit: of(key, 1000, 10, 11, 12, 13, 14, 15)}.set("base"),
		Cand: recipe{n: 6, edit: func(i int, s *sample.Sample) {
			of(key, 1000, 30, 31, 32, 33, 34, 35)(i, s)
			s.Waits[0].Total *= 3
		}}.set("cand")})
	e := r.Rules[0].Explain
	if e == nil || len(e.Where) != 1 || len(e.Behind)+len(e.See) != 0 {
		t.Fatalf("%s, explained by %+v", r.Headline, e)
	}
	if w := e.Where[0]; w.Total != 6*1500e6 || w.Count != 6*6000 || w.Func != "main.worker" {
		t.Errorf("%+v", w)
	}
}

// TestOverLimit checks that what is over its limit and does not count is told to be so.
func TestOverLimit(t *testing.T) {
	for _, c := range []struct {
		noise env.Noise
		want  string
	}{
		{env.Noise{Nivcsw: number(1), RunDelay: number(.02), Foreign: number(.68), Steal: number(0)}, "over their limit of 10%"},
		{env.Noise{Nivcsw: number(130), RunDelay: number(.02), Foreign: number(.02), Steal: number(0)}, "over their limit of 20"},
		{env.Noise{Nivcsw: number(1), RunDelay: number(.02), Foreign: number(.02), Steal: number(0)}, ""},
	} {
		edit := func(_ int, s *sample.Sample) { s.Noise = &c.noise }
		r := must(t, Input{Budget: budgetOf(t, fiveRules...), Base: recipe{n: 6, seed: 1, edit: edit}.set("base"), Cand: recipe{n: 6, seed: 2, edit: edit}.set("cand")})
		g := guardOf(r, "machine")
		if g.Status != GuardOK || !strings.Contains(g.Text, c.want) || strings.Contains(g.Text, "over their limit") != (c.want != "") {
			t.Errorf("%s: %s, want %q", g.Status, g.Text, c.want)
		}
	}
}

// TestWaivedNext checks that nobody is told to waive what is waived.
func TestWaivedNext(t *testing.T) {
	b := budgetOf(t, fiveRules[1])
	b.Waivers = []budget.Waiver{{Pattern: "mean(wait/op)*", Until: today.AddDate(0, 1, 0)}}
	r := must(t, Input{Budget: b, Base: recipe{n: 10, seed: 1}.set("base"), Cand: recipe{n: 10, seed: 2, times: map[string]float64{"mean(wait/op)": 3}}.set("cand")})
	next := strings.Join(r.Rules[0].Explain.Next, "\n")
	if r.Verdict != Waived || strings.Contains(next, "accept") || !strings.Contains(next, "2026-12-21") {
		t.Errorf("%s: %q", r.Verdict, next)
	}
}
