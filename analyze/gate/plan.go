package gate

import (
	"errors"
	"math"

	"github.com/schedscope/schedscope/analyze/gate/budget"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/internal/stat"
)

// PlanInput is what a plan is made of.
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

// PlanResult says what a gate with a budget can see.
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

// PlanRow is what can be seen by one rule.
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

// Plan says how many traces the rules of a budget need, from what recordings show of how
// traces differ.
func Plan(in PlanInput) (*PlanResult, error) {
	switch {
	case in.Budget == nil:
		return nil, errors.New("gate: no budget")
	case len(in.Sets) == 0:
		return nil, errors.New("gate: no recordings to plan with")
	case in.Traces < 0 || in.Detect < 0:
		return nil, errors.New("gate: invalid number of traces or ratio, want positive ones")
	}
	c := newCheck(Input{Budget: in.Budget, Cand: &sample.Set{}})
	res := &PlanResult{Alpha: in.Budget.Alpha, Rules: []PlanRow{}}
	for _, it := range c.items {
		if it.rule.Bound.Relative && it.rule.Level == budget.Error {
			res.Family++
		}
	}
	kept := 1.0
	for _, it := range c.items {
		row := c.plan(it, in, res.Family)
		res.Rules = append(res.Rules, row)
		if it.rule.Level == budget.Error {
			res.Traces = max(res.Traces, row.Needed)
			kept *= 1 - row.FalseAlarm
		}
	}
	res.FalseAlarm = 1 - kept
	return res, nil
}

func (c *check) plan(it *item, in PlanInput, family int) PlanRow {
	row := PlanRow{Rule: it.res.Rule, Slug: it.res.Slug, Level: it.rule.Level, Unit: it.res.Unit, Point: it.rule.Point}
	xs, s := pooled(in.Sets, it.key)
	row.Seen = len(xs)
	m := stat.Median(xs)
	switch {
	case it.rule.Point:
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
	// Everything below is in the direction in which more is worse: k is what the bound
	// allows, r what should be seen and now where an unchanged program is. Of an absolute
	// rule these are ratios to the limit, else to the baseline.
	needed, mde, probability := stat.Needed, stat.MDE, stat.Power
	now := 1.0
	if it.rule.Bound.Relative {
		it.setMargin(row.Median)
		if it.margin == 0 {
			row.Why = "the bound is not above zero"
			return row
		}
		it.alpha = c.b.Alpha
		if it.rule.Level == budget.Error {
			it.alpha /= float64(max(family, 1))
		}
		row.Margin, row.Detect = it.margin, it.res.Detect
	} else {
		limit := it.rule.Bound.Add
		if !(limit > 0) || !(row.Median > 0) {
			row.Why = "a limit of zero has no ratio"
			return row
		}
		it.alpha = 1 - it.confidence()
		row.Margin, row.Detect, now = limit/row.Median, detectRoom, row.Median/limit
		if !it.higher() {
			row.Detect = 1 / detectRoom
		}
		needed = func(_, r, s, alpha, power float64) int { return stat.SignNeeded(r, s, alpha, power) }
		mde = func(_, s float64, n, _ int, alpha, power float64) float64 { return stat.SignMDE(s, n, alpha, power) }
		probability = func(_, r, s float64, n, _ int, alpha float64) float64 { return stat.SignPower(r, s, n, alpha) }
	}
	if in.Detect > 0 {
		row.Detect = in.Detect
		if !it.higher() {
			row.Detect = min(in.Detect, 1/in.Detect)
		}
	}
	k, r := row.Margin, row.Detect
	if !it.higher() {
		k, r, now = 1/k, 1/r, 1/now
	}
	if !it.rule.Bound.Relative {
		r = math.Exp(math.Abs(math.Log(row.Detect)))
	}
	row.Needed = needed(k, r, s, it.alpha, power)
	least := 0
	if it.rule.Bound.Relative {
		if least = c.minTraces(); row.Needed == 0 {
			row.Why = "the bound allows what should be seen"
		} else {
			row.Needed = max(row.Needed, least)
		}
	}
	if row.Traces = in.Traces; row.Traces == 0 {
		row.Traces = max(row.Needed, least)
	}
	n := row.Traces
	if x := mde(k, s, n, n, it.alpha, power); finite(x) {
		row.MDE = x
		if !it.higher() {
			row.MDE = 1 / x
		}
	}
	row.Power, row.FalseAlarm = probability(k, r, s, n, n, it.alpha), probability(k, now, s, n, n, it.alpha)
	return row
}

// pooled returns all values of a quantity, and the standard deviation of their
// logarithms within sets.
func pooled(sets []*sample.Set, key string) (all []float64, s float64) {
	ss, df := 0.0, 0.0
	for _, set := range sets {
		var list []*sample.Sample
		for i := range set.Samples {
			if set.Samples[i].Whole {
				list = append(list, &set.Samples[i])
			}
		}
		xs := values(list, key)
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
