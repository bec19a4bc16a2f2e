package gate

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/schedscope/schedscope/analyze/experiment"
	"github.com/schedscope/schedscope/analyze/gate/budget"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/gate/sample"
)

// Input is what a check decides on. Check changes nothing in it.
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

// SpecOf returns what to take from traces for a budget: the quantities of its rules,
// and those that explain a violation.
func SpecOf(b *budget.Budget) sample.Spec {
	s := sample.Spec{Workload: b.Workload, Op: b.Op, Window: b.Window}
	seen := map[string]bool{}
	add := func(q rule.Quantity) {
		if key := q.String(); !seen[key] {
			seen[key] = true
			s.Quantities = append(s.Quantities, q)
		}
	}
	for _, r := range b.Rules {
		if r.Level != budget.Off {
			add(r.Quantity)
		}
	}
	for _, q := range diagnostics(rule.PerOp) {
		add(q)
	}
	if b.Op == "" { // there may be no requests
		for _, q := range diagnostics(rule.PerSecond) {
			add(q)
		}
	}
	add(requestRate)
	return s
}

// Check judges. It returns an error only if it is called wrongly: what is wrong with
// samples and budget is a verdict.
func Check(in Input) (*Result, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	c := newCheck(in)
	if reasons := c.unusable(); len(reasons) > 0 {
		c.refuse(reasons)
		return c.res, nil
	}
	c.addThroughput()
	c.countAbsent()
	c.guard()
	for _, it := range c.items {
		c.judge(it)
	}
	c.correct()
	for _, it := range c.items {
		c.decide(it)
	}
	c.explain()
	c.conclude()
	return c.res, nil
}

func (in Input) check() error {
	switch {
	case in.Budget == nil:
		return errors.New("gate: no budget")
	case in.Cand == nil:
		return errors.New("gate: no candidate")
	}
	switch in.OnInconclusive {
	case "", "warn", "fail", "pass":
		return nil
	}
	return fmt.Errorf("gate: unknown outcome of what is inconclusive %q (want warn, fail or pass)", in.OnInconclusive)
}

// A check is one under way.
type check struct {
	in    Input
	b     *budget.Budget
	res   *Result
	base  *side // nil: none
	cand  *side
	items []*item
	noisy bool // both sides were disturbed, and alike

	compared *experiment.Result // both sides, once it is asked for
}

// A side has the samples of one side, less and less of them.
type side struct {
	name  string
	given []*sample.Sample
	whole []*sample.Sample // with what is zero where absent, see countAbsent
	used  []*sample.Sample // of these, without the disturbed ones
	res   *Side
}

// An item is a rule under judgement.
type item struct {
	rule    budget.Rule
	key     string
	metric  *rule.Metric
	res     *RuleResult
	cause   cause
	proved  bool
	added   bool    // not of the budget: the throughput of requests
	counter bool    // a relative rule on a counter per op
	margin  float64 // the ratio that the bound allows, at the baseline's median
	spread  float64 // SD of logs, NaN: unknown
	alpha   float64 // of the rule at worst, in its family
	off     float64 // how far the estimate lies beyond what the bound allows, 1: at it
}

// A cause is why a rule could not be decided.
type cause uint8

const (
	causeNone    cause = iota
	causeGuard         // a guard forbids
	causeFew           // there are too few traces for any verdict
	causeData          // the values are not good enough
	causePower         // there are enough traces, but the effect is too small to be seen
	causeMissing       // there are no data: the input is unusable
)

func newCheck(in Input) *check {
	b := in.Budget
	c := &check{in: in, b: b, cand: newSide("candidate", in.Cand)}
	c.res = &Result{
		Schema: Schema, MetricDefs: rule.MetricDefs, Workload: b.Workload, BudgetHash: b.Hash,
		Alpha: b.Alpha, Guards: []Guard{}, Rules: []RuleResult{},
	}
	if in.Base != nil {
		c.base = newSide("base", in.Base)
		c.res.Base = c.base.res
	}
	for _, r := range b.Rules {
		if r.Level != budget.Off && r.Rule != nil {
			c.items = append(c.items, newItem(r))
		}
	}
	c.res.Design = c.design()
	return c
}

func newSide(name string, set *sample.Set) *side {
	s := &side{name: name}
	for i := range set.Samples {
		s.given = append(s.given, &set.Samples[i])
	}
	// The order of recording, if it is known.
	slices.SortStableFunc(s.given, func(a, b *sample.Sample) int { return a.Order - b.Order })
	s.whole, s.used = s.given, s.given
	s.res = &Side{Name: name, Traces: []string{}}
	for _, x := range s.given {
		s.res.Traces = append(s.res.Traces, x.Name)
	}
	if len(s.given) > 0 {
		s.res.Identity, s.res.Commit = s.given[0].Identity, s.given[0].Identity.Commit
	}
	return s
}

func newItem(r budget.Rule) *item {
	it := &item{rule: r, key: r.Quantity.String(), spread: math.NaN()}
	it.metric, _ = rule.Lookup(r.Quantity.Metric)
	it.counter = r.Bound.Relative && isCounter(r.Quantity)
	it.res = &RuleResult{
		Rule: r.Rule.String(), Slug: r.Rule.Slug(), Level: r.Level, Owner: r.Owner,
		Unit: r.Quantity.Unit(), Point: r.Point, Relative: r.Bound.Relative, LowerIsWorse: !it.higher(), Verdict: Inconclusive, Bound: r.Bound.Add,
	}
	return it
}

// design says how the sides came about.
func (c *check) design() Design {
	switch {
	case c.in.Base == nil:
		return Absolute
	case !inTurns(c.in.Base, c.in.Cand):
		return Separate
	}
	return Interleaved
}

// inTurns says whether both sets say that they were recorded in turns, and do not
// contradict it: places in one order cannot be taken twice.
func inTurns(base, cand *sample.Set) bool {
	if base.Design != string(Interleaved) || cand.Design != string(Interleaved) || base.Recording != cand.Recording {
		return false
	}
	taken := map[int]bool{}
	for _, s := range base.Samples {
		taken[s.Order] = true
	}
	for _, s := range cand.Samples {
		if s.Order != 0 && taken[s.Order] {
			return false
		}
	}
	return true
}

func (c *check) sides() []*side {
	if c.base == nil {
		return []*side{c.cand}
	}
	return []*side{c.base, c.cand}
}

func (c *check) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !slices.Contains(c.res.Warnings, text) {
		c.res.Warnings = append(c.res.Warnings, text)
	}
}

// unusable returns what makes the input unusable as a whole: no rules or traces, traces that
// are strange or there twice (1), sides that are not of the same (2), waivers that ended or
// hold for too long (3), and a baseline that is missing (4).
func (c *check) unusable() (why []string) {
	say := func(format string, args ...any) { why = append(why, fmt.Sprintf(format, args...)) }
	if len(c.items) == 0 {
		say("the budget has no rule to judge")
	}
	for _, s := range c.sides() { // 1
		if len(s.given) == 0 {
			say("the %s has no traces", s.name)
		}
		why = append(why, s.strange(c.b)...)
		seen := map[experiment.Content]string{}
		for _, x := range s.given {
			k := experiment.ContentOf(x)
			if first, ok := seen[k]; ok && x.Events > 0 {
				say("%s: %s and %s are the same trace", s.name, first, x.Name)
				continue
			}
			seen[k] = x.Name
		}
	}
	if len(why) == 0 && c.base != nil { // 2
		base, cand := c.base.given[0].Identity, c.cand.given[0].Identity
		if base.Workload != cand.Workload {
			say("the base is of workload %q, the candidate of %q", base.Workload, cand.Workload)
		}
		if x := shared(c.base.given, c.cand.given); x != nil {
			say("%s is on both sides: a trace compared with itself shows nothing", x.Name)
		}
	}
	for _, w := range c.b.Expired(c.in.Today) { // 3
		say("the waiver for %q ended on %s: settle what it was for%s, remove it or renew it", w.Pattern, day(w.Until), parens(w.Issue))
	}
	for _, w := range c.b.Waivers {
		if w.TooLong(c.in.Today) {
			say("the waiver for %q holds until %s: want %s at the latest, %d days from now", w.Pattern, day(w.Until),
				day(c.in.Today.AddDate(0, 0, budget.MaxWaived)), budget.MaxWaived)
		}
	}
	if c.res.Design == Absolute { // 4
		why = append(why, needBaseline(c.items)...)
	}
	return why
}

// needBaseline says which rules compare with a baseline.
func needBaseline(items []*item) []string {
	first, n := "", 0
	for _, it := range items {
		if it.rule.Bound.Relative {
			if n++; n == 1 {
				first = it.res.Rule
			}
		}
	}
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("rule %q compares with a baseline, and none was given%s", first, andMore(n-1, "rule"))}
}

// strange returns how the samples differ from what the budget is about: what is the same of
// many is said once.
func (s *side) strange(b *budget.Budget) []string {
	var reasons []string
	of := map[string][]string{} // names of traces by reason
	for _, x := range s.given {
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
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" (and %s more)", count(n, what))
}

// shared returns a trace that is on both sides, nil if there is none: such a comparison
// shows nothing, whatever the program does.
func shared(base []*sample.Sample, cand []*sample.Sample) *sample.Sample {
	seen := map[experiment.Content]bool{}
	for _, x := range base {
		seen[experiment.ContentOf(x)] = x.Events > 0
	}
	for _, x := range cand {
		if seen[experiment.ContentOf(x)] {
			return x
		}
	}
	return nil
}

// refuse makes the result say that nothing was judged.
func (c *check) refuse(reasons []string) {
	for _, it := range c.items {
		it.res.Verdict, it.res.Why = Unusable, "not judged: the input is unusable"
		c.res.Rules = append(c.res.Rules, *it.res)
	}
	c.setSides()
	c.res.Verdict, c.res.Exit = Unusable, ExitUnusable
	c.res.Headline = "unusable: " + reasons[0]
	if n := len(reasons) - 1; n > 0 {
		c.res.Headline += fmt.Sprintf(" (and %s more)", count(n, "reason"))
	}
	c.res.Warnings = append(c.res.Warnings, reasons...)
}

// Small words.

func day(t time.Time) string { return t.Format("2006-01-02") }

func parens(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func percent(x float64) string {
	return strings.TrimSuffix(fmt.Sprintf("%.1f", 100*x), ".0") + "%"
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
