package gate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/schedscope/schedscope/analyze/compare"
	"github.com/schedscope/schedscope/analyze/gate/budget"
	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
)

// Input is the input of [Check], which does not modify it.
type Input struct {
	Budget *budget.Budget
	// Base are the samples of the other side; nil: the rules are absolute.
	Base *sample.Set
	Cand *sample.Set
	// Today decides whether waivers are still good.
	Today time.Time
	// OnInconclusive is "warn", "fail" or "pass"; "" is "warn".
	OnInconclusive string
	// SameProgram: both sides are recordings of one program, so that a violation is a false
	// alarm.
	SameProgram bool
}

// SpecOf returns the specification of samples for a budget: the quantities of its rules, and
// those that explain a violation.
func SpecOf(b *budget.Budget) sample.Spec {
	s := sample.Spec{Workload: b.Workload, Op: b.Op, Window: b.Window}
	var all []rule.Quantity
	for _, r := range b.Rules {
		if r.Level != budget.Off {
			all = append(all, r.Quantity)
		}
	}
	all = append(all, diagnostics(rule.PerOp)...)
	if b.Op == "" { // there may be no requests
		all = append(all, diagnostics(rule.PerSecond)...)
	}
	seen := map[string]bool{}
	for _, q := range append(all, requestRate) {
		if key := q.String(); !seen[key] {
			seen[key] = true
			s.Quantities = append(s.Quantities, q)
		}
	}
	return s
}

// Check judges the samples: guards decide which traces count and which rules may be judged,
// then tests compute the outcome of each rule, and from these the verdict. Invalid samples and
// budgets have a verdict, too.
func Check(in Input) *Result {
	in.Budget, in.Cand = cmp.Or(in.Budget, &budget.Budget{}), cmp.Or(in.Cand, &sample.Set{})
	m := matterOf(in)
	if reasons := m.unusable(); len(reasons) > 0 {
		return m.refused(reasons)
	}
	m.rules = append(m.throughput(), m.rules...)
	g := guards(m.countAbsent())
	return verdict(g, tests(g))
}

// A matter is what is to be judged. Nothing changes one: each step returns its own.
type matter struct {
	Input
	design   Design
	all      sides
	rules    []subject
	warnings []string
}

// sides are the samples of the base, unless there is none, and of the candidate.
type sides []side

// A side has samples in the order of recording, if it is known.
type side struct {
	name    string
	samples []*sample.Sample
	dropped []Dropped
}

// base returns the samples of the base, nil if there is none.
func (s sides) base() []*sample.Sample {
	if len(s) == 1 {
		return nil
	}
	return s[0].samples
}

func (s sides) cand() []*sample.Sample { return s[len(s)-1].samples }

// of returns the sides whose traces a rule needs.
func (s sides) of(r *subject) sides {
	if r.Bound.Relative {
		return s
	}
	return s[len(s)-1:]
}

// have reports whether any sample has the quantity.
func (s sides) have(key string) bool {
	return slices.ContainsFunc(s, func(x side) bool { return len(having(x.samples, key)) > 0 })
}

func matterOf(in Input) matter {
	m := matter{Input: in, design: Absolute, rules: subjectsOf(in.Budget)}
	if in.Base != nil {
		m.design = Separate
		if inTurns(in.Base, in.Cand) {
			m.design = Interleaved
		}
		m.all = sides{sideOf("base", in.Base)}
	}
	m.all = append(m.all, sideOf("candidate", in.Cand))
	return m
}

func sideOf(name string, set *sample.Set) side {
	s := side{name: name, samples: result.Each(set.Samples, func(x *sample.Sample) *sample.Sample { return x })}
	slices.SortStableFunc(s.samples, func(a, b *sample.Sample) int { return a.Order - b.Order })
	return s
}

// inTurns reports whether both sets say that they were recorded in turns, and do not
// contradict it: places in one order cannot be taken twice.
func inTurns(base, cand *sample.Set) bool {
	if base.Design != string(Interleaved) || cand.Design != string(Interleaved) || base.Recording != cand.Recording {
		return false
	}
	taken := map[int]bool{}
	for _, s := range base.Samples {
		taken[s.Order] = true
	}
	return !slices.ContainsFunc(cand.Samples, func(s sample.Sample) bool { return s.Order != 0 && taken[s.Order] })
}

// unusable returns what makes the input unusable as a whole: no rules, metrics or traces, traces that
// are strange or there twice (1), sides that are not of the same (2), waivers that ended or
// hold for too long (3), and a baseline that is missing (4).
func (m *matter) unusable() (why []string) {
	say := func(format string, args ...any) { why = append(why, fmt.Sprintf(format, args...)) }
	if len(m.rules) == 0 {
		say("the budget has no rule to judge")
	}
	for _, r := range m.rules {
		if r.metric == nil {
			say("there is no metric %q", r.Quantity.Metric)
		}
	}
	seen := map[string]map[compare.Content]string{} // names of traces by side
	for _, s := range m.all {                       // 1
		if len(s.samples) == 0 {
			say("the %s has no traces", s.name)
		}
		why = append(why, s.strange(m.Budget)...)
		seen[s.name] = map[compare.Content]string{}
		for _, x := range s.samples {
			k := compare.ContentOf(x)
			if first, ok := seen[s.name][k]; ok && x.Events > 0 {
				say("%s: %s and %s are the same trace", s.name, first, x.Name)
				continue
			}
			seen[s.name][k] = x.Name
		}
	}
	if base, cand := m.all.base(), m.all.cand(); len(why) == 0 && base != nil { // 2
		if b, d := base[0].Identity.Workload, cand[0].Identity.Workload; b != d {
			say("the base is of workload %q, the candidate of %q", b, d)
		}
		for _, x := range cand {
			if _, ok := seen["base"][compare.ContentOf(x)]; ok && x.Events > 0 {
				say("%s is on both sides: a trace compared with itself shows nothing", x.Name)
				break
			}
		}
	}
	for _, w := range m.Budget.Expired(m.Today) { // 3
		issue := textui.If(w.Issue != "", " ("+w.Issue+")")
		say("the waiver for %q ended on %s: settle what it was for%s, remove it or renew it", w.Pattern, day(w.Until), issue)
	}
	for _, w := range m.Budget.Waivers {
		if w.TooLong(m.Today) {
			say("the waiver for %q holds until %s: want %s at the latest, %d days from now", w.Pattern, day(w.Until),
				day(m.Today.AddDate(0, 0, budget.MaxWaived)), budget.MaxWaived)
		}
	}
	relative := slices.DeleteFunc(slices.Clone(m.rules), func(r subject) bool { return !r.Bound.Relative })
	if m.design == Absolute && len(relative) > 0 { // 4
		say("rule %q compares with a baseline, and none was given%s", relative[0].text, andMore(len(relative)-1, "rule"))
	}
	return why
}

// strange returns how the samples differ from what the budget is about: what is the same of
// many is said once.
func (s *side) strange(b *budget.Budget) []string {
	var reasons []string
	of := map[string][]string{} // names of traces by reason
	for _, x := range s.samples {
		say := func(format string, args ...any) {
			why := fmt.Sprintf(format, args...)
			if of[why] == nil {
				reasons = append(reasons, why)
			}
			of[why] = append(of[why], x.Name)
		}
		if !x.Whole {
			say("is not whole: %s; record it again", cmp.Or(x.Loss, "parts are missing"))
		}
		if w := x.Identity.Workload; b.Workload != "" && w != b.Workload {
			say("is of workload %q, the budget is for %q", w, b.Workload)
		}
	}
	for i, why := range reasons {
		reasons[i] = fmt.Sprintf("%s: %s %s%s", s.name, of[why][0], why, andMore(len(of[why])-1, "trace"))
	}
	return reasons
}

// andMore says of how many more things something is true.
func andMore(n int, what string) string {
	return textui.If(n != 0, fmt.Sprintf(" (and %s more)", textui.Plural(n, what)))
}

// refused returns the result that says that nothing was judged.
func (m *matter) refused(reasons []string) *Result {
	res := m.result(m.all)
	for _, r := range m.rules {
		x := judgedOf(r).res
		x.Verdict, x.Why = Unusable, "not judged: the input is unusable"
		res.Rules = append(res.Rules, x)
	}
	res.Verdict, res.Exit = Unusable, ExitUnusable
	res.Headline = "unusable: " + reasons[0] + andMore(len(reasons)-1, "reason")
	res.Warnings = reasons
	return res
}

// result returns one that says what is compared with what, and has no judgement yet.
func (m *matter) result(used sides) *Result {
	b := m.Budget
	res := &Result{
		Schema: Schema, MetricDefs: rule.MetricDefs, Workload: b.Workload, BudgetHash: b.Hash,
		Design: m.design, Alpha: b.Alpha, Guards: []Guard{}, Rules: []RuleResult{},
	}
	for i, s := range m.all {
		count := func(f compare.Figure) *float64 { return compare.Median(used[i].samples, f) }
		x := Side{Name: s.name, Traces: result.Each(s.samples, func(t **sample.Sample) string { return (*t).Name }), Dropped: used[i].dropped, OpRate: count(compare.OpRate),
			Events: count(compare.EventsPerOp), Busy: count(compare.Busy), Noise: noise(s.samples)}
		if len(s.samples) > 0 {
			x.Identity, x.Commit = s.samples[0].Identity, s.samples[0].Identity.Commit
		}
		if res.Cand = x; i < len(m.all)-1 {
			res.Base = &x
		}
	}
	return res
}

// noise returns the medians of the disturbances, nil if nothing is known.
func noise(samples []*sample.Sample) *env.Noise {
	of := func(f compare.Figure) *float64 { return compare.Median(samples, f) }
	n := env.Noise{Nivcsw: of(compare.Nivcsw), RunDelay: of(compare.RunDelay), Steal: of(compare.Steal), Foreign: of(compare.Foreign),
		Throttled: of(compare.Throttled), PSI: of(compare.PSI), Canary: of(compare.Canary)}
	if n == (env.Noise{}) {
		return nil
	}
	return &n
}

// Small words.

func day(t time.Time) string { return t.Format(time.DateOnly) }

func percent(x float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", 100*x), ".0") + "%" }

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
