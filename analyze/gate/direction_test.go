package gate

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/gate/budget"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/gate/sample"
)

// These tests hold which way each test points, and which of its parts decides: a sign or a
// factor that is wrong there shows in no verdict on typical values.

func untested(t *testing.T, text string) judged {
	return judgedOf(subjectOf(budgetOf(t, text).Rules[0]))
}

// TestTests checks the test on values with and without zeros, which have no logarithm, in
// both directions.
func TestTests(t *testing.T) {
	up, down := "mean(wait/op) <= baseline*1.10", "mean(ops/s) >= baseline*0.90"
	base := []float64{100, 101, 102, 103, 104, 105, 106, 107, 108, 109}
	less := func(xs []float64, by float64) []float64 {
		out := slices.Clone(xs)
		for i := range out {
			out[i] -= by
		}
		return out
	}
	for _, c := range []struct {
		name   string
		rule   string
		base   []float64
		times  float64 // candidate's values, in these of the base
		p      float64 // at most, or, if negative, at least
		proved bool
	}{
		{"more", up, base, 1.3, .001, false},
		{"inside the bound", up, base, 1.05, -.9, true},
		{"at the bound", up, base, 1.10, -.4, false},
		{"less", up, base, .5, -.99, true},
		{"less is worse, less", down, base, .7, .001, false},
		{"less is worse, inside the bound", down, base, .95, -.9, true},
		{"less is worse, more", down, base, 1.3, -.99, true},
		{"a zero, more", up, less(base, 100), 3, .02, false},
		{"a zero, the same", up, less(base, 100), 1, -.5, false},
		{"a zero, less", up, less(base, 100), 0, -.99, true},
		{"a zero, less is worse, less", down, less(base, 100), .1, .02, false},
		{"a zero, less is worse, more", down, less(base, 100), 5, -.97, true},
	} {
		cand := mapped(c.base, func(x float64) float64 { return x * c.times })
		if strings.HasPrefix(c.name, "a zero, more") || strings.HasPrefix(c.name, "a zero, less is worse, more") {
			for i := range cand {
				cand[i] += 3 // as times has no effect on zero
			}
		}
		j := untested(t, c.rule)
		j = j.relative(mapped(c.base, j.Bound.At), c.base, cand)
		p := *j.res.P
		if c.p >= 0 && p > c.p || c.p < 0 && p < -c.p {
			t.Errorf("%s: p = %v, want %v", c.name, p, c.p)
		}
		if j.proved != c.proved {
			t.Errorf("%s: proved %v", c.name, j.proved)
		}
	}
}

// TestProvedConfidence checks that an interval of too few values proves nothing.
func TestProvedConfidence(t *testing.T) {
	j := untested(t, "mean(wait/op) <= baseline*1.10")
	base := []float64{100, 101, 102}
	if j.relative(mapped(base, j.Bound.At), base, []float64{1, 2, 3}).proved {
		t.Error("three traces prove something")
	}
}

// TestShiftZero checks that differences are proved to be none against 0, not 1 as ratios are.
func TestShiftZero(t *testing.T) {
	zeros := make([]float64, 10)
	half := mapped(zeros, func(float64) float64 { return .5 })
	j := untested(t, "mean(wakes/op) <= baseline*1.10").relative(zeros, zeros, half)
	if j.proved || *j.res.P > .01 {
		t.Errorf("half a wake more: p %v, proved %v", *j.res.P, j.proved)
	}
}

// of returns an edit that gives a quantity these values, over and over.
func of(key string, n int64, xs ...float64) func(int, *sample.Sample) {
	return func(i int, s *sample.Sample) { s.Values[key] = sample.Value{X: xs[i%len(xs)], N: n} }
}

// least returns an edit that gives the p99 of too few values, and what it is at least.
func least(p99, least float64) func(int, *sample.Sample) {
	return func(_ int, s *sample.Sample) { s.Values["p99(runnable)"] = sample.Value{X: p99, N: 100, Least: least} }
}

// TestAbsoluteParts checks what decides absolute rules: bounds of the median, and
// the tail of low quantiles.
func TestAbsoluteParts(t *testing.T) {
	ten := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	for _, c := range []struct {
		name string
		rule string
		edit func(int, *sample.Sample)
		n    int
		not  bool // the verdict is not that
		want Verdict
	}{
		{"the median keeps it, its bound does not", "mean(wakes/op) < 6", of("mean(wakes/op)", 0, ten...), 10, true, Pass},
		{"the same from above", "mean(wakes/op) > 5", of("mean(wakes/op)", 0, ten...), 10, true, Pass},
		{"its bound keeps it", "mean(wakes/op) < 9.5", of("mean(wakes/op)", 0, ten...), 10, false, Pass},
		{"the same from above, kept", "mean(wakes/op) > 1.5", of("mean(wakes/op)", 0, ten...), 10, false, Pass},
		{"10 of 12 beyond", "mean(wakes/op) < 2.5", of("mean(wakes/op)", 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12), 12, false, Fail},
		{"low quantile of few values", "p1(runnable) > 5ns", of("p1(runnable)", 999, 10), 10, false, Inconclusive},
		{"p99 of few values, the rest beyond", "p99(runnable) < 5ns", least(10, 8), 10, false, Fail},
		{"p99 of few values, the rest not", "p99(runnable) < 5ns", least(10, 4), 10, false, Inconclusive},
		{"of one trace", "p99(runnable) < 5ns @ point", least(10, 8), 1, false, Fail},
		{"of one trace, the rest not", "p99(runnable) < 5ns @ point", least(10, 4), 1, false, Inconclusive},
		{"low quantile of many", "p1(runnable) > 5ns", of("p1(runnable)", 1000, 10), 10, false, Pass},
	} {
		b := budgetOf(t, c.rule)
		r := must(t, Input{Budget: b, Cand: recipe{n: c.n, seed: 1, edit: c.edit}.set("cand")})
		if got := r.Rules[0]; (got.Verdict == c.want) == c.not {
			t.Errorf("%s: %s (%s), p %v", c.name, got.Verdict, got.Why, deref(got.P))
		}
	}
}

// TestRefusals checks what else keeps a rule from being judged.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name string
		rule string
		edit func(int, *sample.Sample)
		b    func(*budget.Budget)
		says string
	}{
		{"values too great", "mean(wait/op) <= baseline*1.10", of("mean(wait/op)", 0, 1.7e308), nil, "too great"},
		{"a rule that warns, and a guard", "mean(wait/op) <= baseline*1.10",
			func(_ int, s *sample.Sample) { s.Identity.MinProcs, s.Identity.MaxProcs = 4, 4 },
			func(b *budget.Budget) { b.Rules[0].Level = budget.Warn }, "gomaxprocs"},
		{"disturbed, and how much is not known", "mean(cpu/op) <= baseline*1.10",
			func(i int, s *sample.Sample) { noisy(i, s); s.Noise.RunDelay = nil }, nil, "how equal both sides were disturbed is not known"},
	} {
		b := budgetOf(t, c.rule)
		if c.b != nil {
			c.b(b)
		}
		base := recipe{n: 10, seed: 1, edit: c.edit}
		if strings.Contains(c.name, "guard") {
			base.edit = nil
		}
		r := must(t, Input{Budget: b, Base: base.set("base"), Cand: recipe{n: 10, seed: 2, edit: c.edit}.set("cand")})
		if got := r.Rules[0]; r.Exit != ExitUndecided || got.Verdict != Inconclusive || !strings.Contains(got.Why, c.says) {
			t.Errorf("%s: exit %d, %s (%s)", c.name, r.Exit, got.Verdict, got.Why)
		}
	}
}

// TestDetect checks the ratio that a rule wants to see.
func TestDetect(t *testing.T) {
	for _, c := range []struct {
		rule   string
		detect float64
		want   float64
	}{
		{"mean(wait/op) <= baseline*1.10", 0, 1.65},
		{"mean(wait/op) <= baseline*1.10", 1.3, 1.3},
		{"mean(wait/op) <= baseline*1.10 + 100ns", 1.3, 3.15}, // room makes the bound x2.10
		{"mean(ops/s) >= baseline*0.90", 0, .6},
		{"mean(ops/s) >= baseline*0.90", .8, .8},
	} {
		j := untested(t, c.rule)
		j.Detect = c.detect
		if got := j.withMargin(100).res.Detect; math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s, detect %v: %v, want %v", c.rule, c.detect, got, c.want)
		}
	}
}

// TestFamily checks who shares alpha: not absolute rules, which have their own, and not those
// that only warn.
func TestFamily(t *testing.T) {
	b := budgetOf(t, "mean(cpu/op) <= baseline*1.10", "mean(wakes/op) <= baseline*1.10", "mean(wait/op) <= baseline*1.10", "mean(wait/op) < 1s")
	b.Rules[2].Level = budget.Warn
	r := must(t, Input{Budget: b, Base: recipe{n: 10, seed: 1}.set("base"), Cand: recipe{n: 10, seed: 2, times: map[string]float64{"mean(cpu/op)": 2}}.set("cand")})
	if got := r.Rules[0]; got.PAdj == nil || math.Abs(*got.PAdj-2**got.P) > 1e-15 {
		t.Errorf("the least of two: %v, adjusted %v", deref(got.P), deref(got.PAdj))
	}
	for _, got := range r.Rules[2:] {
		if got.P == nil || got.PAdj != nil {
			t.Errorf("%s: p %v, adjusted %v", got.Rule, deref(got.P), deref(got.PAdj))
		}
	}
}

// TestCounters checks what may be judged on a disturbed machine: counters per op, against a
// side that was disturbed alike. Limits of a quiet machine are not for it.
func TestCounters(t *testing.T) {
	for text, want := range map[string]bool{
		"mean(cpu/op) <= baseline": true, "mean(wakes/op) <= baseline": true, "mean(cpu/op) < 1ms": false,
		"mean(cpu/s) <= baseline": false, "sum(wakes) <= baseline": false, "mean(wait/op) <= baseline": false, "p99(runnable) <= baseline": false,
	} {
		if got := untested(t, text).counter; got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

// TestMixedSides checks that traces of the candidate that are not alike block absolute rules,
// too, whatever the base is, and those of the base only what compares with it.
func TestMixedSides(t *testing.T) {
	mixed := func(i int, s *sample.Sample) {
		if i < 3 {
			s.Identity.MinProcs, s.Identity.MaxProcs = 4, 4
		}
	}
	for _, c := range []struct {
		base, cand func(int, *sample.Sample)
		blocks     string
		absolute   Verdict
	}{{mixed, nil, blocksRelative, Pass}, {nil, mixed, blocksAll, Inconclusive}, {mixed, mixed, blocksAll, Inconclusive}} {
		r := must(t, Input{
			Budget: budgetOf(t, "mean(wait/op) <= baseline*1.10", "mean(wait/op) < 1s"),
			Base:   recipe{n: 10, seed: 1, edit: c.base}.set("base"), Cand: recipe{n: 10, seed: 2, edit: c.cand}.set("cand"),
		})
		if g := guardOf(r, "gomaxprocs"); r.Exit != 3 || g.Blocks != c.blocks || r.Rules[0].Verdict != Inconclusive || r.Rules[1].Verdict != c.absolute {
			t.Errorf("exit %d, %+v, %s, %s", r.Exit, g, r.Rules[0].Verdict, r.Rules[1].Verdict)
		}
	}
}

// TestHalfInTurns checks that both sides must say that they were recorded in turns.
func TestHalfInTurns(t *testing.T) {
	for _, side := range []string{"base", "cand"} {
		in := Input{Budget: budgetOf(t, fiveRules[1]), Base: recipe{n: 6, seed: 1}.set("base"), Cand: recipe{n: 6, seed: 2}.set("cand")}
		if side == "base" {
			in.Base.Design = ""
		} else {
			in.Cand.Design = ""
		}
		if got := must(t, in).Design; got != Separate {
			t.Errorf("the %s was not: %s", side, got)
		}
	}
}

// TestPlanError checks that a plan shares alpha among rules, as the check does.
func TestPlanError(t *testing.T) {
	set := recipe{n: 100, seed: 1, sd: .3}.set("base")
	row := func(rules []string) PlanRow {
		b := budgetOf(t, rules...)
		return Plan(PlanInput{Budget: b, Sets: []*sample.Set{set}, Traces: 12}).Rules[0]
	}
	one, five := row(fiveRules[:1]), row(fiveRules)
	if !(five.MDE > one.MDE) || !(five.Power < one.Power) || !(five.FalseAlarm < one.FalseAlarm) {
		t.Errorf("alone %+v, among five %+v", one, five)
	}
}

// TestPlanAbsolute checks that what keeps an absolute rule is not said to violate it, and the
// other way round, in both directions.
func TestPlanAbsolute(t *testing.T) {
	set := recipe{n: 100, seed: 1, sd: .1}.set("base") // 3000 ops/s, 216 us
	for text, want := range map[string]float64{
		"mean(ops/s) > 1000": 0, "mean(ops/s) > 9000": 1, "mean(wait/op) < 1ms": 0, "mean(wait/op) < 10us": 1,
	} {
		r := Plan(PlanInput{Budget: budgetOf(t, text), Sets: []*sample.Set{set}, Traces: 10})
		if got := r.Rules[0].FalseAlarm; math.Abs(got-want) > 1e-3 {
			t.Errorf("%s: fails with probability %v, want %v", text, got, want)
		}
	}
}

// TestSuspiciousZeros checks that what would fail alone is told even where zeros leave no
// estimate.
func TestSuspiciousZeros(t *testing.T) {
	base := recipe{n: 6, seed: 1, edit: of("mean(wait/op)", 0, 0, 2, 3, 4, 5, 7.5)}
	cand := recipe{n: 6, seed: 2, edit: of("mean(wait/op)", 0, 6, 7, 8, 9, 10, 11)}
	var rules []string
	for i := range 15 {
		rules = append(rules, fmt.Sprintf("mean(wakes/op) <= baseline*%v", 2+i))
	}
	r := must(t, Input{Budget: budgetOf(t, append(rules, "mean(wait/op) <= baseline*1")...), Base: base.set("base"), Cand: cand.set("cand")})
	if got := r.Rules[15]; got.Verdict != Inconclusive || !strings.Contains(got.Why, "beyond the bound, but not beyond chance (p=0.0043, Holm 0.069)") {
		t.Errorf("%s (%s)", got.Verdict, got.Why)
	}
}

// TestCeilingUndecided checks that a waiver does not hold where its ceiling cannot be judged.
func TestCeilingUndecided(t *testing.T) {
	ceiling := rule.Bound{Add: 1e6}
	b := budgetOf(t, "mean(wait/op) < 100us @ point")
	b.Waivers = []budget.Waiver{{Pattern: "mean(wait/op)*", Until: today, Ceiling: &ceiling}}
	for lacking, want := range map[bool]Verdict{false: Waived, true: Fail} {
		r := must(t, Input{Budget: b, Cand: recipe{n: 3, seed: 1, edit: func(i int, s *sample.Sample) {
			if lacking && i == 0 {
				delete(s.Values, "mean(wait/op)")
			}
		}}.set("cand")})
		if got := r.Rules[0]; got.Verdict != want {
			t.Errorf("lacking %v: %s (%s), want %s", lacking, got.Verdict, got.Why, want)
		}
	}
}
