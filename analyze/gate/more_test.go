package gate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/schedscope/schedscope/analyze/gate/budget"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/model"
)

// TestFailClosed checks that nothing that is wrong with the input passes.
func TestFailClosed(t *testing.T) {
	edit := func(f func(*sample.Sample)) recipe {
		return recipe{n: 10, seed: 2, edit: func(_ int, s *sample.Sample) { f(s) }}
	}
	good := recipe{n: 10, seed: 2}
	for _, c := range []struct {
		name   string
		budget func(*budget.Budget)
		input  func(*Input)
		cand   recipe
		exit   int
		says   string
	}{
		{"good", nil, nil, good, 0, ""},
		{"empty candidate", nil, nil, recipe{}, 2, "the candidate has no traces"},
		{"empty base", nil, func(in *Input) { in.Base = &sample.Set{} }, good, 2, "the base has no traces"},
		{"no base", nil, func(in *Input) { in.Base = nil }, good, 2, "compares with a baseline"},
		{"no rules", func(b *budget.Budget) { b.Rules = nil }, nil, good, 2, "no rule"},
		{"only rules that are off", func(b *budget.Budget) { b.Rules[0].Level = budget.Off }, nil, good, 2, "no rule"},
		{"truncated", nil, nil, edit(func(s *sample.Sample) { s.Whole = false }), 2, "is not whole"},
		{"rule without data", nil, nil, edit(func(s *sample.Sample) { delete(s.Values, "mean(wait/op)") }), 2, "no trace of the candidate has data"},
		{"rule without data, with a reason", nil, nil, edit(func(s *sample.Sample) {
			delete(s.Values, "mean(wait/op)")
			s.Missing = map[string]string{"mean(wait/op)": "no op ended in the window"}
		}), 2, "no op ended"},
		{"rule of level warn without data", func(b *budget.Budget) { b.Rules[0].Level = budget.Warn }, nil, edit(func(s *sample.Sample) { delete(s.Values, "mean(wait/op)") }), 2, "no trace"},
		{"values that are no numbers", nil, nil, edit(func(s *sample.Sample) { s.Values["mean(wait/op)"] = sample.Value{X: math.NaN()} }), 2, "no trace"},
		{"other workload", nil, nil, edit(func(s *sample.Sample) { s.Identity.Workload = "search" }), 2, `"search"`},
		{"no workload", nil, nil, edit(func(s *sample.Sample) { s.Identity.Workload = "" }), 2, `workload ""`},
		{"other workload, none in the budget", func(b *budget.Budget) { b.Workload = "" }, nil, edit(func(s *sample.Sample) { s.Identity.Workload = "search" }), 2, `"search"`},
		{"the same trace twice", nil, nil, edit(func(s *sample.Sample) { s.Events, s.Running = 1, 1 }), 2, "are the same trace"},
		{"the same traces on both sides", nil, func(in *Input) { in.Base = in.Cand }, good, 2, "is on both sides"},
		{"expired waiver", func(b *budget.Budget) {
			b.Waivers = []budget.Waiver{{Pattern: "mean(wait/op)", Until: today.AddDate(0, 0, -1), Issue: "#7"}}
		}, nil, good, 2, "ended on 2026-11-20"},
		{"waiver on its last day", func(b *budget.Budget) {
			b.Waivers = []budget.Waiver{{Pattern: "mean(wait/op)", Until: time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)}}
		}, nil, good, 0, ""},
		{"waiver of 180 days", func(b *budget.Budget) {
			b.Waivers = []budget.Waiver{{Pattern: "mean(wait/op)", Until: today.AddDate(0, 0, 180).Truncate(24 * time.Hour)}}
		}, nil, good, 0, ""},
		{"waiver of 181 days", func(b *budget.Budget) {
			b.Waivers = []budget.Waiver{{Pattern: "mean(wait/op)", Until: today.AddDate(0, 0, 181).Truncate(24 * time.Hour)}}
		}, nil, good, 2, "at the latest, 180 days from now"},
		{"too few traces", nil, nil, recipe{n: 3, seed: 2}, 3, "3 traces per side, 6 needed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := Input{Budget: budgetOf(t, fiveRules[1]), Base: recipe{n: 10, seed: 1}.set("base"), Cand: c.cand.set("cand")}
			if c.budget != nil {
				c.budget(in.Budget)
			}
			if c.input != nil {
				c.input(&in)
			}
			r := must(t, in)
			if r.Exit != c.exit || !strings.Contains(r.Headline, c.says) {
				t.Errorf("exit %d, %q, want %d and %q", r.Exit, r.Headline, c.exit, c.says)
			}
			if r.Exit == 2 && r.Verdict != Unusable {
				t.Errorf("verdict %s", r.Verdict)
			}
		})
	}
}

// TestPrecedence checks which exit code wins, and what -on-inconclusive changes.
func TestPrecedence(t *testing.T) {
	base := recipe{n: 10, seed: 1}.set("base")
	worse := recipe{n: 10, seed: 2, times: map[string]float64{"mean(cpu/op)": 2}}
	short := func(_ int, s *sample.Sample) {
		v := s.Values["p99(runnable)"]
		v.N = 900
		s.Values["p99(runnable)"] = v
	}
	lacking := func(_ int, s *sample.Sample) { delete(s.Values, "p99(runnable)") }
	wide := recipe{n: 10, seed: 5, sd: .9}
	for _, c := range []struct {
		name  string
		rules []string
		cand  recipe
		on    string
		exit  int
		says  string
	}{
		{"violated over inconclusive", []string{"mean(cpu/op) <= baseline*1.1", fiveRules[0]}, with(worse, short), "", 1, "mean(cpu/op)"},
		{"unusable over violated", []string{"mean(cpu/op) <= baseline*1.1", fiveRules[0]}, with(worse, lacking), "", 2, "no trace"},
		{"inconclusive", []string{"mean(wakes/op) <= baseline*1.1", fiveRules[0]}, with(recipe{n: 10, seed: 3}, short), "", 3, "trace too short for p99"},
		{"inconclusive passes", []string{"mean(wakes/op) <= baseline*1.1", fiveRules[0]}, with(recipe{n: 10, seed: 3}, short), "pass", 0, "inconclusive"},
		{"low power", []string{fiveRules[1]}, wide, "", 0, "inconclusive"},
		{"low power fails", []string{fiveRules[1]}, wide, "fail", 3, "inconclusive"},
		{"low power passes", []string{fiveRules[1]}, wide, "pass", 0, "inconclusive"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := must(t, Input{Budget: budgetOf(t, c.rules...), Base: base, Cand: c.cand.set("cand"), OnInconclusive: c.on})
			if r.Exit != c.exit || !strings.Contains(r.Headline, c.says) {
				t.Errorf("exit %d, %q, want %d and %q", r.Exit, r.Headline, c.exit, c.says)
			}
		})
	}
}

// TestUnseenHandler checks that a longer trace is not asked for where the handler of most requests is not known.
func TestUnseenHandler(t *testing.T) {
	rule := "p99(request{name=*cart}) <= baseline*1.2"
	for known, want := range map[int64]string{60: "a handler is seen only in requests that wait", 1000: "record 17 times as long"} {
		few := func(_ int, s *sample.Sample) {
			s.Values["p99(request{name=*cart})"] = sample.Value{X: 1e6, N: 60}
			s.Requests = &sample.Requests{Kind: "http", RequestSet: sample.RequestSet{Count: 1000}, Groups: []sample.RequestGroup{{Name: "main.cart", RequestSet: sample.RequestSet{Count: known}}}}
		}
		r := must(t, Input{Budget: budgetOf(t, rule), Base: with(recipe{n: 10, seed: 1}, few).set("base"), Cand: with(recipe{n: 10, seed: 2}, few).set("cand")})
		if got := fmt.Sprint(r.Rules); !strings.Contains(got, want) {
			t.Errorf("%d of 1,000 known: %s, want %q", known, got, want)
		}
	}
}

func with(r recipe, edit func(int, *sample.Sample)) recipe {
	r.edit = edit
	return r
}

// TestLevels checks that rules of level warn change no exit code, and off ones nothing.
func TestLevels(t *testing.T) {
	b := budgetOf(t, "mean(cpu/op) <= baseline*1.1", "mean(wakes/op) <= baseline*1.1", "mean(wait/op) <= baseline*1.1")
	b.Rules[0].Level, b.Rules[2].Level = budget.Warn, budget.Off
	r := must(t, Input{Budget: b, Base: recipe{n: 10, seed: 1}.set("base"), Cand: recipe{n: 10, seed: 2, times: map[string]float64{"mean(cpu/op)": 2, "mean(wait/op)": 2}}.set("cand")})
	if r.Exit != 0 || len(r.Rules) != 2 || r.Rules[0].Verdict != Fail || r.Rules[0].PAdj != nil || r.Rules[1].PAdj == nil {
		t.Errorf("exit %d, rules %+v", r.Exit, r.Rules)
	}
	if r.Headline != "1 rule of level error kept" {
		t.Errorf("headline %q", r.Headline)
	}
	b.Rules[1].Level = budget.Warn
	if r := must(t, Input{Budget: b, Base: recipe{n: 10, seed: 1}.set("base"), Cand: recipe{n: 10, seed: 2}.set("cand")}); r.Verdict != Inconclusive || r.Exit != 0 || !strings.Contains(r.Headline, "nothing can fail") {
		t.Errorf("only rules that warn: %s, exit %d, %s", r.Verdict, r.Exit, r.Headline)
	}
	if !slices.Contains(r.Warnings, "1 rule of level warn violated") {
		t.Errorf("warnings %q", r.Warnings)
	}
}

// TestTails checks the refusal of quantiles that rest on few values.
func TestTails(t *testing.T) {
	for _, c := range []struct {
		n       int64
		level   budget.Level
		verdict Verdict
		warned  bool
	}{
		{1000, budget.Error, Fail, false},
		{999, budget.Error, Inconclusive, false},
		{999, budget.Warn, Fail, true},
	} {
		edit := func(_ int, s *sample.Sample) {
			v := s.Values["p99(runnable)"]
			v.N = c.n
			s.Values["p99(runnable)"] = v
		}
		b := budgetOf(t, fiveRules[0])
		b.Rules[0].Level = c.level
		r := must(t, Input{Budget: b, Base: recipe{n: 10, seed: 1}.set("base"), Cand: recipe{n: 10, seed: 2, edit: edit, times: map[string]float64{"p99(runnable)": 9}}.set("cand")})
		warned := strings.Contains(strings.Join(r.Warnings, " "), "beyond the quantile")
		if r.Rules[0].Verdict != c.verdict || warned != c.warned {
			t.Errorf("%d values, %s: %s (%s), warnings %q", c.n, c.level, r.Rules[0].Verdict, r.Rules[0].Why, r.Warnings)
		}
	}
}

// TestHolm checks that rules share alpha: a p that fails alone does not among others.
func TestHolm(t *testing.T) {
	base, cand := recipe{n: 6, seed: 1}.set("base"), recipe{n: 6, seed: 2}.set("cand")
	// Ranks that give a p of 4/924.
	for i, x := range []float64{1, 2, 3, 4, 5, 7.5} {
		base.Samples[i].Values["mean(wait/op)"] = sample.Value{X: x}
	}
	for i, x := range []float64{6, 7, 8, 9, 10, 11} {
		cand.Samples[i].Values["mean(wait/op)"] = sample.Value{X: x}
	}
	var rules []string
	for i := range 15 {
		rules = append(rules, fmt.Sprintf("mean(wakes/op) <= baseline*%v", 2+i))
	}
	one := must(t, Input{Budget: budgetOf(t, "mean(wait/op) <= baseline*1"), Base: base, Cand: cand})
	many := must(t, Input{Budget: budgetOf(t, append(rules, "mean(wait/op) <= baseline*1")...), Base: base, Cand: cand})
	a, b := one.Rules[0], many.Rules[15]
	if a.Verdict != Fail || b.Verdict != Inconclusive || !strings.Contains(b.Why, "beyond the bound, but not beyond chance") || many.Exit != 0 || *a.P != *b.P || math.Abs(*b.PAdj-16**b.P) > 1e-12 {
		t.Errorf("alone %s, p %v; among sixteen %s, p %v, adjusted %v", a.Verdict, *a.P, b.Verdict, *b.P, *b.PAdj)
	}
}

// TestCannotFire checks that too few traces for any p to reach the rule's error rate are
// no pass.
func TestCannotFire(t *testing.T) {
	b := budgetOf(t, fiveRules...)
	b.MinTraces = 3
	r := must(t, Input{Budget: b, Base: recipe{n: 3, seed: 1, sd: .2}.set("base"), Cand: recipe{n: 3, seed: 2, sd: .2, times: map[string]float64{"mean(wait/op)": 9}}.set("cand")})
	if got := ruleOf(t, r, "mean(wait/op)"); got.Verdict != Inconclusive || got.Needed < 5 || r.Exit != 3 {
		t.Errorf("%s (%s), needs %d, exit %d", got.Verdict, got.Why, got.Needed, r.Exit)
	}
}

// TestWaivers checks that a waived rule shows, and how far a waiver goes.
func TestWaivers(t *testing.T) {
	ceiling, err := rule.ParseBound("baseline*1.5", rule.Nanoseconds)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		up      float64
		ceiling *rule.Bound
		want    Verdict
		exit    int
	}{
		{1.4, nil, Waived, 0}, {9, nil, Waived, 0}, {1.4, &ceiling, Waived, 0}, {9, &ceiling, Fail, 1}, {1, &ceiling, Pass, 0},
	} {
		b := budgetOf(t, fiveRules[1])
		b.Waivers = []budget.Waiver{{Pattern: "mean(wait/op)*", Until: today.AddDate(0, 1, 0), Issue: "#123", Ceiling: c.ceiling}}
		r := must(t, Input{Budget: b, Base: recipe{n: 10, seed: 1, sd: .02}.set("base"), Cand: recipe{n: 10, seed: 2, sd: .02, times: map[string]float64{"mean(wait/op)": c.up}}.set("cand")})
		got := r.Rules[0]
		if got.Verdict != c.want || r.Exit != c.exit || (got.Waiver != nil) != (c.up > 1) || got.P == nil {
			t.Errorf("x%v: %s (%s), exit %d, waiver %+v", c.up, got.Verdict, got.Why, r.Exit, got.Waiver)
		}
		if c.want == Waived && (r.Verdict != Waived || got.Explain == nil) {
			t.Errorf("x%v: a waived rule does not show: %s", c.up, r.Headline)
		}
	}
}

// TestSamples checks that traces with CPU samples are not compared with those without, and that
// older traces, of which that is not known, are compared with both.
func TestSamples(t *testing.T) {
	with := func(samples string) func(int, *sample.Sample) {
		return func(_ int, s *sample.Sample) { s.Identity.Samples = samples }
	}
	cand := recipe{n: 10, seed: 2, edit: with("yes"), times: map[string]float64{"mean(wait/op)": 3}}
	for _, c := range []struct {
		base   string
		exit   int
		status GuardStatus
	}{{"yes", 1, GuardOK}, {"no", 3, GuardFailed}, {"", 1, GuardUnknown}} {
		r := must(t, Input{Budget: budgetOf(t, fiveRules[1]), Base: recipe{n: 10, seed: 1, edit: with(c.base)}.set("base"), Cand: cand.set("cand")})
		if g := guardOf(r, "samples"); r.Exit != c.exit || g.Status != c.status {
			t.Errorf("base %q: exit %d, %+v", c.base, r.Exit, g)
		}
	}
	r := must(t, Input{Budget: budgetOf(t, fiveRules[1]), Base: recipe{n: 10, seed: 1}.set("base"), Cand: recipe{n: 10, seed: 2}.set("cand")})
	if slices.ContainsFunc(r.Guards, func(g Guard) bool { return g.Name == "samples" }) {
		t.Error("there is a guard of what no trace knows")
	}
}

// TestOneTrace checks a plain trace against absolute limits.
func TestOneTrace(t *testing.T) {
	blind := func(_ int, s *sample.Sample) { s.Noise, s.Order = nil, 0 }
	set := recipe{n: 1, seed: 1, edit: blind, design: "none"}.set("cand")
	for _, c := range []struct {
		rule string
		want Verdict
		exit int
		why  string
	}{
		{"p99(runnable) < 1us @ point", Fail, 1, "one process, no error rate"},
		{"p99(runnable) < 1s @ point", Pass, 0, "one process, no error rate"},
		{"p99(runnable) < 1s @ 95%", Inconclusive, 3, "1 trace, 5 needed; of one trace only rules with @ point are judged"},
	} {
		r := must(t, Input{Budget: budgetOf(t, c.rule), Cand: set})
		if got := r.Rules[0]; got.Verdict != c.want || r.Exit != c.exit || got.Why != c.why || got.Point != strings.HasSuffix(c.rule, "point") || r.Design != Absolute {
			t.Errorf("%s: %s (%s), exit %d", c.rule, got.Verdict, got.Why, r.Exit)
		}
		if len(r.Warnings) == 0 {
			t.Errorf("%s: no warning that the machine is not known", c.rule)
		}
	}
}

// TestDesign checks that sides count as recorded in turns only if that cannot be wrong.
func TestDesign(t *testing.T) {
	base, cand := recipe{n: 6, seed: 1}, recipe{n: 6, seed: 2}
	if d := must(t, Input{Budget: budgetOf(t, fiveRules[1]), Base: base.set("base"), Cand: cand.set("cand")}).Design; d != Interleaved {
		t.Errorf("recorded in turns: %s", d)
	}
	another := func(_ int, s *sample.Sample) { s.Events += 100 }
	// Sides of two recordings, each in turns with something else.
	if d := must(t, Input{Budget: budgetOf(t, fiveRules[1]), Base: with(base, another).set("cand"), Cand: cand.set("cand")}).Design; d != Separate {
		t.Errorf("of two sessions: %s", d)
	}
}

// TestExplain checks what is said of a violation.
func TestExplain(t *testing.T) {
	slower := func(_ int, s *sample.Sample) {
		s.Waits[0].Total, s.Waits[1].Total = 1000e6, 150e6
		s.Waits[0].At = frame("main.(*pool).worker", 91) // lines moved
		s.Waits = append(s.Waits, sample.Class{Func: "main.serve", At: frame("main.flush", 20), Total: 300e6, Count: 3000})
		s.Blame[0].Total = 900e6
		s.Blame[0].Longest = 5e6
	}
	up := map[string]float64{"mean(wait/op)": 2, "mean(cpu/op)": 1.2}
	r := must(t, Input{Budget: budgetOf(t, fiveRules...), Base: recipe{n: 10, seed: 1}.set("base"), Cand: recipe{n: 10, seed: 2, times: up, edit: slower}.set("cand")})
	e := ruleOf(t, r, "mean(wait/op)").Explain
	if e == nil || len(e.Where) != 3 || len(e.Behind) != 1 || len(e.See) != 3 || len(e.Next) == 0 {
		t.Fatalf("explained by %+v", e)
	}
	w := e.Where[0]
	if w.Func != "main.worker" || w.At.Line != 91 || math.Abs(w.Share-500./850) > 1e-9 || math.Abs(w.Cand-1000e6/3000) > 1e-6 || math.Abs(w.CandCount-2) > 1e-9 {
		t.Errorf("where: %+v", w)
	}
	if b := e.Behind[0]; b.Func != "main.resize" || b.BaseLongest != 4e5 || b.CandLongest != 5e6 {
		t.Errorf("behind: %+v", b)
	}
	if e.Origin != OriginProgram || !strings.Contains(strings.Join(e.Why, " "), "cpu/op x1.19") {
		t.Errorf("origin %s, why %q", e.Origin, e.Why)
	}
	if !e.See[2].Base || e.See[0].Base || e.See[0].From != 412e6 {
		t.Errorf("see %+v", e.See)
	}
}

// TestBehind checks rules on code that goroutines waited behind: a violation names it with
// its line, traces with CPU samples are not compared with those without, and how much is
// estimated or unknown is said.
func TestBehind(t *testing.T) {
	const key = "mean(wait{behind=main.resize}/op)"
	side := func(x float64, samples string, old bool) func(int, *sample.Sample) {
		return func(i int, s *sample.Sample) {
			s.Values[key] = sample.Value{X: x * (1 + float64(i)/100), N: 4000, Estimated: 0.2, Unknown: 0.005}
			s.Blame[0].Total, s.Identity.Samples = model.Duration(3000*x), samples
			s.Blame = append(s.Blame, sample.Class{Func: "main.push", Detail: "behind a goroutine", At: frame("main.push", 9), Total: 1e6})
			if old {
				delete(s.Values, key)
				s.Blame = nil
			}
		}
	}
	for _, tt := range []struct {
		name       string
		base, cand func(int, *sample.Sample)
		want       Verdict
		why        string
	}{
		{"twice", side(1e5, "yes", false), side(2e5, "yes", false), Fail, "20% of it is estimated"},
		{"same", side(1e5, "", false), side(1e5, "no", false), Pass, "20% of it is estimated"},
		{"samples", side(1e5, "", false), side(2e5, "yes", false), Inconclusive, "samples: CPU samples are in 6 of 12 traces"},
		{"old", side(1e5, "", true), side(2e5, "", false), Unusable, "no trace of the base has data for " + key},
	} {
		r := must(t, Input{Budget: budgetOf(t, key+" <= baseline*1.25"), Base: recipe{n: 6, seed: 1, edit: tt.base}.set("base"), Cand: recipe{n: 6, seed: 2, edit: tt.cand}.set("cand")})
		got := r.Rules[0]
		if got.Verdict != tt.want || !strings.Contains(got.Why, tt.why) || strings.Contains(got.Why, "unknown code") {
			t.Errorf("%s: %s (%s)", tt.name, got.Verdict, got.Why)
		}
		if e := got.Explain; tt.want == Fail && (len(e.Where) != 0 || len(e.Behind) != 1 || e.Behind[0].At.Line != 120 || e.Behind[0].Share != 1) {
			t.Errorf("%s: explained by %+v", tt.name, e)
		}
	}
	// What waits stood behind is not told where one side does not know it.
	up := map[string]float64{"mean(wait/op)": 2}
	for name, edit := range map[string]func(int, *sample.Sample){"old": side(1, "", true), "samples": side(1, "yes", false)} {
		r := must(t, Input{Budget: budgetOf(t, "mean(wait/op) <= baseline*1.10"), Base: recipe{n: 10, seed: 1, edit: edit}.set("base"), Cand: recipe{n: 10, seed: 2, times: up, edit: side(2, "", false)}.set("cand")})
		if e := r.Rules[0].Explain; e == nil || len(e.Behind) != 0 {
			t.Errorf("%s: explained by %+v", name, e)
		}
	}
}

// TestExplainAlone checks that without a baseline the greatest parts are told.
func TestExplainAlone(t *testing.T) {
	r := must(t, Input{Budget: budgetOf(t, "mean(wait/op) < 100us @ 95%"), Cand: recipe{n: 6, seed: 2}.set("cand")})
	e := r.Rules[0].Explain
	if e == nil || len(e.Where) != 2 || e.Where[0].Func != "main.worker" || math.Abs(e.Where[0].Share-5./6) > 1e-9 || e.Where[0].Base != 0 || e.Origin != OriginUnknown {
		t.Errorf("explained by %+v", e)
	}
}

// TestOrigin goes through the table of what follows from which change.
func TestOrigin(t *testing.T) {
	for _, c := range []struct {
		name string
		up   map[string]float64
		rule string
		want string
	}{
		{"more work", map[string]float64{"mean(wait/op)": 3, "mean(cpu/op)": 1.3}, fiveRules[1], OriginProgram},
		{"more hand-offs", map[string]float64{"mean(wait/op)": 3, "mean(wakes/op)": 1.6}, fiveRules[1], OriginProgram},
		{"outside", map[string]float64{"p99(runnable)": 9}, fiveRules[0], OriginUnknown},
		{"lock", map[string]float64{"p99(blocked{reason=sync})": 4}, "p99(blocked{reason=sync}) <= baseline*1.25", OriginTiming},
	} {
		r := must(t, Input{Budget: budgetOf(t, c.rule), Base: recipe{n: 10, seed: 1}.set("base"), Cand: recipe{n: 10, seed: 2, times: c.up}.set("cand")})
		if e := r.Rules[0].Explain; e == nil || e.Origin != c.want {
			t.Errorf("%s: %s, explained by %+v", c.name, r.Headline, e)
		}
	}
	r := must(t, Input{Budget: budgetOf(t, fiveRules[0]), Base: recipe{n: 10, seed: 1}.set("base"), Cand: recipe{n: 10, seed: 2, times: noisyTimes, edit: noisy}.set("cand")})
	if e := r.Rules[0].Explain; e == nil || e.Origin != OriginMachine {
		t.Errorf("noise: %s, explained by %+v", r.Headline, e)
	}
}

// TestMix checks that a changed mix of events is told at the rules that it dilutes.
func TestMix(t *testing.T) {
	hop := func(_ int, s *sample.Sample) { s.Events = s.Events * 16 / 10 }
	r := must(t, Input{Budget: budgetOf(t, fiveRules...), Base: recipe{n: 10, seed: 1}.set("base"), Cand: recipe{n: 10, seed: 2, edit: hop, times: map[string]float64{"mean(wakes/op)": 1.62}}.set("cand")})
	if !strings.Contains(ruleOf(t, r, "p99(runnable)").Why, "mix changed") || strings.Contains(ruleOf(t, r, "mean(wait/op)").Why, "mix changed") || r.Exit != 1 {
		t.Errorf("exit %d, %+v", r.Exit, r.Rules)
	}
}

// TestDeterminism checks that the same input gives the same bytes, and that the order of
// what has none does not matter.
func TestDeterminism(t *testing.T) {
	var first []byte
	for i := range 8 {
		slower := func(_ int, s *sample.Sample) {
			s.Waits[0].Total *= 2
			for j := range 30 { // ties
				s.Waits = append(s.Waits, sample.Class{Func: fmt.Sprintf("main.f%02d", j), Total: 1e7, Count: 1})
			}
			rand.New(rand.NewPCG(uint64(i), 1)).Shuffle(len(s.Waits), func(a, b int) { s.Waits[a], s.Waits[b] = s.Waits[b], s.Waits[a] })
			m := map[string]sample.Value{}
			for _, k := range rand.New(rand.NewPCG(uint64(i), 2)).Perm(len(keys)) {
				m[keys[k]] = s.Values[keys[k]]
			}
			s.Values = m
		}
		in := Input{
			Budget: budgetOf(t, fiveRules...), Base: recipe{n: 10, seed: 1}.set("base"), Today: today,
			Cand: recipe{n: 10, seed: 2, edit: slower, times: map[string]float64{"mean(wait/op)": 2}}.set("cand"),
		}
		rand.New(rand.NewPCG(uint64(i), 3)).Shuffle(10, func(a, b int) {
			in.Cand.Samples[a], in.Cand.Samples[b] = in.Cand.Samples[b], in.Cand.Samples[a]
		})
		data, err := json.Marshal(must(t, in))
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = data
		}
		if !bytes.Equal(data, first) {
			t.Fatalf("run %d differs:\n%s\n%s", i, data, first)
		}
	}
}

// TestUntouched checks that a check leaves its inputs as they are.
func TestUntouched(t *testing.T) {
	in := Input{Budget: budgetOf(t, fiveRules...), Base: recipe{n: 10, seed: 1}.set("base"), Cand: recipe{n: 10, seed: 2, edit: noisy}.set("cand"), Today: today}
	print := func() string {
		data, err := json.Marshal([]any{in.Base, in.Cand})
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	before := print()
	must(t, in)
	if print() != before {
		t.Error("a check changed its input")
	}
}

// TestSpecOf checks that a budget asks for its rules' quantities and the diagnostics,
// once each.
func TestSpecOf(t *testing.T) {
	b := budgetOf(t, "p99(runnable) <= baseline*1.1", "p99(runnable) < 5ms @ 95%", "p90(runnable) <= baseline*1.1", "max(runnable) < 1s @ point")
	b.Rules[3].Level = budget.Off
	var got []string
	for _, q := range SpecOf(b).Quantities {
		got = append(got, q.String())
	}
	want := "p99(runnable) p90(runnable) mean(cpu/op) mean(wakes/op) mean(wait/op) mean(requests/s)"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("got %s, want %s", s, want)
	}
	b.Op, b.Rules = "", b.Rules[:1]
	if s := SpecOf(b); s.Quantities[4].String() != "mean(cpu/s)" {
		t.Errorf("without ops: %v", s.Quantities)
	}
}

// TestPlan checks a plan against the figures that the design rests on.
func TestPlan(t *testing.T) {
	b := budgetOf(t, "mean(wait/op) <= baseline*1.1", "mean(ops/s) >= baseline*0.95", "mean(wait/op) < 1ms @ 95%", "mean(wait{func=*gone}/op) <= baseline*1.1")
	b.Rules[1].Level = budget.Warn
	set := recipe{n: 200, seed: 1, sd: .2}.set("base")
	r := Plan(PlanInput{Budget: b, Sets: []*sample.Set{set}, Traces: 10, Detect: 1.5})
	row := r.Rules[0]
	twice := recipe{n: 200, seed: 2, sd: .2, edit: func(i int, x *sample.Sample) {
		x.Values["mean(wait/op)"] = sample.Value{X: 9e9}
	}}.set("cand")
	if both := Plan(PlanInput{Budget: b, Sets: []*sample.Set{set, twice}}).Rules[0]; both.Median != row.Median || both.Seen != 400 {
		t.Errorf("of two sides: %+v, of one %+v", both, row)
	}
	if math.Abs(row.Spread-.2) > .03 || row.Seen != 200 || row.Traces != 10 || row.Power < .7 || row.FalseAlarm > .02 || row.MDE < 1.3 || row.MDE > 1.7 || row.Needed < 6 || row.Needed > 14 {
		t.Errorf("relative: %+v", row)
	}
	if row := r.Rules[1]; math.Abs(row.Detect-1/1.5) > 1e-9 || row.MDE >= .95 || row.Needed < 6 || row.Power < .5 {
		t.Errorf("lower is worse: %+v", row)
	}
	if row := r.Rules[2]; row.FalseAlarm > 1e-6 || row.Power < .9 {
		t.Errorf("absolute: %+v", row)
	}
	if row := r.Rules[3]; row.Why == "" {
		t.Errorf("without data: %+v", row)
	}
	if _, err := json.Marshal(r); err != nil {
		t.Error(err)
	}
	// The plan's word of what two sets show does not depend on what differs between them.
	shifted := recipe{n: 200, seed: 2, sd: .2, times: map[string]float64{"mean(wait/op)": 5}}.set("base")
	two := Plan(PlanInput{Budget: b, Sets: []*sample.Set{set, shifted}})
	if math.Abs(two.Rules[0].Spread-.2) > .03 {
		t.Errorf("spread of two sessions: %v", two.Rules[0].Spread)
	}
}

// TestSameProgram checks what is said of a program against itself.
func TestSameProgram(t *testing.T) {
	in := Input{Budget: budgetOf(t, fiveRules...), Base: recipe{n: 10, seed: 1}.set("base"), Cand: recipe{n: 10, seed: 2}.set("cand"), SameProgram: true}
	for _, c := range []struct {
		times map[string]float64
		want  string
	}{
		{nil, "both sides ran the same program, and no violation was shown, as it should be; standard deviation between traces, of logarithms: "},
		{map[string]float64{"mean(wait/op)": 5}, "both sides ran the same program: this violation is a false alarm; standard"},
	} {
		in.Cand = recipe{n: 10, seed: 2, times: c.times}.set("cand")
		r := must(t, in)
		if !slices.ContainsFunc(r.Warnings, func(s string) bool { return strings.HasPrefix(s, c.want) && strings.Contains(s, "mean(wait/op) ") }) {
			t.Errorf("times %v: %s, warnings %q", c.times, r.Verdict, r.Warnings)
		}
	}
}

// TestReasonsOnce checks that what is the same of many traces or rules is told once.
func TestReasonsOnce(t *testing.T) {
	x := sample.Sample{Name: "1", Whole: true, Identity: sample.Identity{MetricDefs: rule.MetricDefs, Workload: "shop"}}
	y, z := x, x
	y.Name, z.Name, z.Identity.Workload = "2", "3", "cart"
	s := &side{name: "base", samples: []*sample.Sample{&x, &y, &z}}
	got := s.strange(&budget.Budget{Workload: "other"})
	want := []string{
		`base: 1 is of workload "shop", the budget is for "other" (and 1 trace more)`,
		`base: 3 is of workload "cart", the budget is for "other"`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	var rules []subject
	for _, text := range []string{"p50(runnable) < 5ms", "p99(runnable) <= baseline", "mean(wakes/op) <= baseline*1.1"} {
		r, err := rule.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		rules = append(rules, subjectOf(budget.Rule{Rule: r}))
	}
	m := matter{Input: Input{Budget: &budget.Budget{}}, design: Absolute, all: sides{{name: "candidate", samples: []*sample.Sample{&x}}}, rules: rules}
	if got, want := m.unusable(), []string{`rule "p99(runnable) <= baseline" compares with a baseline, and none was given (and 1 rule more)`}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestExplainGroup checks that a violation of a rule on all requests names those that became
// slower.
func TestExplainGroup(t *testing.T) {
	side := func(name string, seed uint64, p99 model.Duration) *sample.Set {
		return recipe{n: 10, seed: seed, edit: func(i int, s *sample.Sample) {
			group := func(name string, p99 model.Duration) sample.RequestGroup {
				return sample.RequestGroup{Name: name, RequestSet: sample.RequestSet{Count: 1000, Total: 1e9, P50: 1e6, P99: p99 + model.Duration(i)*1e4,
					Slowest: 10, Tail: []sample.Class{{Detail: "lock in main.get", Total: 10 * p99}}}}
			}
			s.Requests = &sample.Requests{Kind: "http", RequestSet: sample.RequestSet{Count: 2000, Total: 2e9, P50: 1e6, P99: p99}}
			s.Requests.Groups = []sample.RequestGroup{group("GET /rate", 3e6), group("GET /order/{id}", p99)}
			s.Values["p99(request)"] = sample.Value{X: float64(p99) + float64(i)*1e4, N: 2000}
			s.Values["mean(requests/s)"] = sample.Value{X: 500 + float64(i), N: 500}
		}}.set(name)
	}
	r := must(t, Input{Budget: budgetOf(t, "p99(request) <= baseline*1.2"), Base: side("base", 1, 7e6), Cand: side("cand", 2, 16e6)})
	e := ruleOf(t, r, "p99(request)").Explain
	if e == nil || !strings.HasPrefix(e.Why[0], "most of all GET /order/{id}: x2.2") || !strings.HasSuffix(e.Why[0], "; lock in main.get +9.00ms in each of the slowest of GET /order/{id}") {
		t.Errorf("explained by %+v", e)
	}
}

// TestRuleInResult checks that a result says of a rule what its text says.
func TestRuleInResult(t *testing.T) {
	for text, want := range map[string][2]bool{"p99(runnable) < 5ms": {false, false}, "mean(ops/s) >= baseline*0.9": {true, true}, "p99(runnable) <= baseline*1.1": {true, false}} {
		r, err := rule.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if x := judgedOf(subjectOf(budget.Rule{Rule: r})).res; x.Relative != want[0] || x.LowerIsWorse != want[1] {
			t.Errorf("%s: %+v", text, x)
		}
	}
}

// TestUnknownMetric checks that a rule that was not parsed, on a metric that does not exist, is unusable.
func TestUnknownMetric(t *testing.T) {
	b := budgetOf(t, "p99(runnable) < 5ms")
	b.Rules[0].Quantity.Metric = "naps"
	r := must(t, Input{Budget: b, Cand: recipe{n: 10, seed: 1}.set("cand")})
	if r.Exit != ExitUnusable || r.Headline != `unusable: there is no metric "naps"` {
		t.Errorf("exit %d: %s", r.Exit, r.Headline)
	}
}
