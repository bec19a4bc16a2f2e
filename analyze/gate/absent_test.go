package gate

import (
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/gate/sample"
)

// TestAbsent checks that a class of goroutines that only one side has counts as 0 on the
// other in totals, and that nothing else is made up.
func TestAbsent(t *testing.T) {
	for _, c := range []struct {
		rule, key string
		base      []float64 // nil: missing in all
		cand      []float64
		verdict   Verdict
		exit      int
		said      string // in Why or a warning
	}{
		{"mean(wakes{func=*audit}/op) <= baseline*1.1 + 0.1", "mean(wakes{func=*audit}/op)", nil, []float64{.9, 1, 1.1, 1, .95, 1.05}, Fail, 1, "6 of 6 traces of the base have nothing of that name"},
		{"mean(wakes{func=*audit}/op) <= baseline*1.1", "mean(wakes{func=*audit}/op)", nil, []float64{.9, 1, 1.1, 1, .95, 1.05}, Fail, 1, ""},
		{"mean(wakes{func=*audit}/op) <= baseline*1.1 + 2", "mean(wakes{func=*audit}/op)", nil, []float64{.9, 1, 1.1, 1, .95, 1.05}, Pass, 0, ""},
		{"mean(wakes{func=*audit}/op) <= baseline*1.1", "mean(wakes{func=*audit}/op)", []float64{.9, 1, 1.1, 1, .95, 1.05}, nil, Pass, 0, "of the candidate have nothing of that name"},
		{"mean(wakes{func=*audit}/op) < 0.5", "mean(wakes{func=*audit}/op)", []float64{.9, 1, 1.1, 1, .95, 1.05}, nil, Pass, 0, ""},
		{"mean(wakes{func=*audit}/op) <= baseline*1.1", "mean(wakes{func=*audit}/op)", nil, nil, Unusable, 2, "with func there are main.worker, main.serve, main.resize"},
		{"sum(wait{func=*werker}) <= baseline*1.1", "sum(wait{func=*werker})", nil, nil, Unusable, 2, "with func there are"},
		{"sum(wait{func=main.werker}) <= baseline*1.1", "sum(wait{func=main.werker})", nil, nil, Unusable, 2, "did you mean main.worker?"},
		{"p99(runnable{func=*audit}) <= baseline*1.1", "p99(runnable{func=*audit})", nil, []float64{1e6, 1e6, 1e6, 1e6, 1e6, 1e6}, Unusable, 2, "a rule on sum(runnable{func=*audit}) or mean(runnable{func=*audit}/s) has 0 there"},
		{"sum(wait{behind=main.audit}) <= baseline*1.1", "sum(wait{behind=main.audit})", nil, []float64{1e6, 1e6, 1e6, 1e6, 1e6, 1e6}, Fail, 1, "6 of 6 traces of the base have nothing of that name"},
		{"sum(wait{behind=main.resise}) <= baseline*1.1", "sum(wait{behind=main.resise})", nil, nil, Unusable, 2, "did you mean main.resize?"},
		{"p99(stw) <= baseline*1.1", "p99(stw)", nil, nil, Unusable, 2, "a rule on sum(stw) or mean(stw/s) has 0 there"},
		{"sum(wait{cause=behind-gc}) <= baseline*1.1", "sum(wait{cause=behind-gc})", nil, []float64{1e6, 1e6, 1e6, 1e6, 1e6, 1e6}, Unusable, 2, ""},
	} {
		edit := func(xs []float64) func(int, *sample.Sample) {
			if xs == nil {
				return func(_ int, s *sample.Sample) { s.Missing = map[string]string{c.key: "nothing matches"} }
			}
			return of(c.key, 11000, xs...)
		}
		in := Input{Budget: budgetOf(t, c.rule), Base: recipe{n: 6, edit: edit(c.base)}.set("base"), Cand: recipe{n: 6, edit: edit(c.cand)}.set("cand")}
		r := must(t, in)
		got := r.Rules[0]
		if got.Verdict != c.verdict || r.Exit != c.exit || !strings.Contains(got.Why+strings.Join(r.Warnings, "\n"), c.said) {
			t.Errorf("%s: %s (%s), exit %d, warnings %q", c.rule, got.Verdict, got.Why, r.Exit, r.Warnings)
		}
		if _, made := in.Base.Samples[0].Values[c.key]; made != (c.base != nil) {
			t.Errorf("%s: the input was changed", c.rule)
		}
	}
}
