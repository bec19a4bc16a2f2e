package gate

import (
	"cmp"
	"math"
	"slices"

	"github.com/schedscope/schedscope/analyze/gate/budget"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/stat"
)

// PlanInput is the input of [Plan].
type PlanInput struct {
	Budget *budget.Budget
	// Sets are of recordings of the same program: how far traces differ is measured within
	// each.
	Sets []*sample.Set
	// Traces per side; 0: those that the rule needs.
	Traces int
	// Detect replaces what the rules want to see if it is not 0. Of rules by which less is
	// worse its reciprocal does.
	Detect float64
}

// PlanResult is the result of [Plan].
type PlanResult struct {
	Alpha float64 `json:"alpha"`
	// Family is how many rules share alpha.
	Family int       `json:"family"`
	Rules  []PlanRow `json:"rules"`
	// Traces per side with which every rule of level error sees what it wants to, 0 if not
	// known.
	Traces int `json:"traces,omitempty"`
	// FalseAlarm is the probability that any of them fails an unchanged program, if they
	// were independent.
	FalseAlarm float64 `json:"false_alarm"`
}

// PlanRow is the part of a plan for one rule.
type PlanRow struct {
	Rule  string       `json:"rule"`
	Slug  string       `json:"slug"`
	Level budget.Level `json:"level"`
	Unit  rule.Unit    `json:"unit"`            // of Median
	Point bool         `json:"point,omitempty"` // compared without statistics
	// Seen is of how many traces Spread is: the standard deviation of the logarithms
	// between traces.
	Seen   int     `json:"seen"`
	Spread float64 `json:"spread"`
	Median float64 `json:"median"`
	// Margin is the ratio that the bound allows: to the baseline, or of the limit to the
	// median of an absolute rule. Detect is the ratio that should be seen, to the baseline
	// or to the limit.
	Margin float64 `json:"margin"`
	Detect float64 `json:"detect"`
	// Needed is how many traces per side show Detect with 80 % probability. Traces is the
	// number that the rest of the row is about: MDE is the smallest ratio that they show
	// with 80 %, Power the probability with which they show Detect, and FalseAlarm that
	// with which an unchanged program fails.
	Needed     int     `json:"needed,omitempty"`
	Traces     int     `json:"traces,omitempty"`
	MDE        float64 `json:"mde,omitempty"`
	Power      float64 `json:"power"`
	FalseAlarm float64 `json:"false_alarm"`
	Why        string  `json:"why,omitempty"` // nothing is known
}

// Plan returns the number of traces that the rules of a budget need, given how much recordings
// of the same program differ.
func Plan(in PlanInput) *PlanResult {
	in.Budget = cmp.Or(in.Budget, &budget.Budget{})
	rules := subjectsOf(in.Budget)
	res := &PlanResult{Alpha: in.Budget.Alpha, Rules: []PlanRow{}, Family: result.CountOf(rules, func(r *subject) bool { return r.ofFamily() })}
	kept := 1.0
	for _, r := range rules {
		row := in.row(r, res.Family)
		res.Rules = append(res.Rules, row)
		if r.Level == budget.Error {
			res.Traces = max(res.Traces, row.Needed)
			kept *= 1 - row.FalseAlarm
		}
	}
	res.FalseAlarm = 1 - kept
	return res
}

func (in *PlanInput) row(r subject, family int) PlanRow {
	row := PlanRow{Rule: r.text, Slug: r.Slug(), Level: r.Level, Unit: r.Quantity.Unit(), Point: r.Point}
	xs, s := pooled(in.Sets, r.key)
	row.Seen = len(xs)
	m := stat.Median(xs)
	if first, _ := pooled(in.Sets[:min(len(in.Sets), 1)], r.key); len(first) > 0 { // the other side may be of another program
		m = stat.Median(first)
	}
	switch {
	case r.Point:
		row.Why = "compared trace by trace, without statistics"
	case len(xs) == 0:
		row.Why = "no trace has data for it"
	case math.IsNaN(s):
		row.Why = "how far traces differ is not known: it takes two or more with values above zero"
	}
	if finite(m) {
		row.Median = m
	}
	if row.Why != "" {
		return row
	}
	row.Spread = s
	now, alpha, least := 1.0, in.Budget.Alpha, 0 // now is where an unchanged program is
	if r.Bound.Relative {
		j := judgedOf(r).withMargin(row.Median)
		if j.margin == 0 {
			row.Why = "the bound is not above zero"
			return row
		}
		if r.ofFamily() {
			alpha /= float64(family)
		}
		row.Margin, row.Detect, least = j.margin, j.res.Detect, max(in.Budget.MinTraces, 1)
	} else {
		limit := r.Bound.Add
		if !(limit > 0) || !(row.Median > 0) {
			row.Why = "a limit of zero has no ratio"
			return row
		}
		alpha = 1 - r.confidence()
		row.Margin, row.Detect, now = limit/row.Median, r.worse(detectRoom), row.Median/limit
	}
	if in.Detect > 0 {
		row.Detect = in.Detect
		if !r.higher() {
			row.Detect = min(in.Detect, 1/in.Detect)
		}
	}
	k, want, of := r.worse(row.Margin), r.worse(row.Detect), r.powers()
	if !r.Bound.Relative {
		want = math.Exp(math.Abs(math.Log(row.Detect)))
	}
	switch row.Needed = of.needed(k, want, s, alpha, power); {
	case row.Needed > 0:
		row.Needed = max(row.Needed, least)
	case r.Bound.Relative:
		row.Why = "the bound allows what should be seen"
	}
	n := cmp.Or(in.Traces, max(row.Needed, least))
	row.Traces = n
	if x := of.mde(k, s, n, n, alpha, power); finite(x) {
		row.MDE = r.worse(x)
	}
	row.Power, row.FalseAlarm = of.power(k, want, s, n, n, alpha), of.power(k, r.worse(now), s, n, n, alpha)
	return row
}

// pooled returns all values of a quantity, and the standard deviation of their
// logarithms within sets.
func pooled(sets []*sample.Set, key string) (all []float64, s float64) {
	ss, df := 0.0, 0.0
	for _, set := range sets {
		list := result.Each(set.Samples, func(s *sample.Sample) *sample.Sample { return s })
		xs := values(slices.DeleteFunc(list, func(s *sample.Sample) bool { return !s.Whole }), key)
		all = append(all, xs...)
		if len(xs) < 2 {
			continue
		}
		sd := stat.LogSD(nil, xs)
		ss += float64(sd * sd * float64(len(xs)-1))
		df += float64(len(xs) - 1)
	}
	if df == 0 {
		return all, math.NaN()
	}
	return all, math.Sqrt(ss / df)
}
