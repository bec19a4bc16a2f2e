package gate

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/schedscope/schedscope/analyze/gate/budget"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/analyze/gate/stat"
)

// Pair are the two sides of a check.
type Pair struct{ Base, Cand *sample.Set }

// Pairs cuts two sets of one program into pairs of n traces per side, in the order of
// recording. No trace is in two pairs: figures of overlapping ones promise nothing.
func Pairs(base, cand *sample.Set, n int) []Pair {
	if n < 1 {
		return nil
	}
	cut := func(set *sample.Set) [][]sample.Sample {
		s := slices.Clone(set.Samples)
		slices.SortStableFunc(s, func(a, b sample.Sample) int { return a.Order - b.Order })
		return slices.Collect(slices.Chunk(s, n))
	}
	var pairs []Pair
	bs, cs := cut(base), cut(cand)
	for i := range min(len(bs), len(cs)) {
		if len(bs[i]) == n && len(cs[i]) == n {
			b, c := *base, *cand
			b.Samples, c.Samples = bs[i], cs[i]
			pairs = append(pairs, Pair{&b, &c})
		}
	}
	return pairs
}

// CalibrateInput are checks of a program against itself.
type CalibrateInput struct {
	Budget *budget.Budget
	Pairs  []Pair
	Today  time.Time
}

// CalibrateResult says what a machine is good for: how often the gate fails a program
// against itself there, how far traces differ, and what disturbs them.
type CalibrateResult struct {
	Runs      int `json:"runs"`
	Failed    int `json:"failed"`
	Undecided int `json:"undecided"` // exit 3
	Unusable  int `json:"unusable"`  // exit 2
	// FalseAlarms is the part of the runs that could be judged and failed, and Bound what it
	// is at most with 95 % confidence (exact).
	FalseAlarms float64          `json:"false_alarms"`
	Bound       float64          `json:"bound"`
	Rules       []CalibratedRule `json:"rules"`
	Noise       []NoiseFigure    `json:"noise"`
	Traces      int              `json:"traces"`
	Disturbed   int              `json:"disturbed"`
	Causes      []Cause          `json:"causes,omitempty"` // of undecided and unusable runs
}

// CalibratedRule is how one rule did.
type CalibratedRule struct {
	Rule   string       `json:"rule"`
	Slug   string       `json:"slug"`
	Level  budget.Level `json:"level"`
	Judged int          `json:"judged"` // runs in which it was
	Failed int          `json:"failed"`
	Bound  float64      `json:"bound"` // of the rate of failure, at 95 %
	// Median and Spread, the standard deviation of the logarithms between traces, within
	// runs and sides; Spread 0 if not known.
	Median float64 `json:"median"`
	Spread float64 `json:"spread"`
}

// NoiseFigure is a disturbance over all traces.
type NoiseFigure struct {
	Name   string  `json:"name"`
	Traces int     `json:"traces"` // in which it is known
	Median float64 `json:"median"`
	P90    float64 `json:"p90"`
	Max    float64 `json:"max"`
	// Limit is the budget's, nil if there is none for it.
	Limit *float64  `json:"limit,omitempty"`
	Unit  rule.Unit `json:"unit"`
}

// Cause is why runs could not be judged, and how many.
type Cause struct {
	Why  string `json:"why"`
	Runs int    `json:"runs"`
}

// Calibrate checks a program against itself, over and over.
func Calibrate(in CalibrateInput) (*CalibrateResult, error) {
	switch {
	case in.Budget == nil:
		return nil, errors.New("gate: no budget")
	case len(in.Pairs) == 0:
		return nil, errors.New("gate: not enough traces for a single run")
	}
	res := &CalibrateResult{Runs: len(in.Pairs), Rules: []CalibratedRule{}}
	var sets []*sample.Set
	for i, p := range in.Pairs {
		r, err := Check(Input{Budget: in.Budget, Base: p.Base, Cand: p.Cand, Today: in.Today})
		if err != nil {
			return nil, fmt.Errorf("run %d: %w", i+1, err)
		}
		res.count(r)
		sets = append(sets, p.Base, p.Cand)
	}
	judged := res.Runs - res.Undecided - res.Unusable
	res.FalseAlarms = float64(res.Failed) / float64(max(judged, 1))
	res.Bound = stat.RateAtMost(res.Failed, judged, shown)
	res.spreads(in.Budget, sets)
	res.profile(in.Budget.Guards, sets)
	slices.SortStableFunc(res.Causes, func(a, b Cause) int { return b.Runs - a.Runs })
	return res, nil
}

func (c *CalibrateResult) count(r *Result) {
	switch r.Exit {
	case ExitViolated:
		c.Failed++
	case ExitUndecided:
		c.Undecided++
		c.because(r)
	case ExitUnusable:
		c.Unusable++
		c.because(r)
	}
	for i, rr := range r.Rules {
		if i == len(c.Rules) {
			c.Rules = append(c.Rules, CalibratedRule{Rule: rr.Rule, Slug: rr.Slug, Level: rr.Level})
		}
		if rr.P != nil || rr.Point && rr.Verdict != Inconclusive {
			c.Rules[i].Judged++
		}
		if rr.Verdict == Fail || rr.Verdict == Waived {
			c.Rules[i].Failed++
		}
	}
}

// because counts the guards that failed, or what was wrong if none did.
func (c *CalibrateResult) because(r *Result) {
	why := "too few traces or values"
	if r.Exit == ExitUnusable {
		why = r.Headline
	}
	for _, g := range r.Guards {
		if g.Blocks != "" {
			why = g.Name
			break
		}
	}
	for i := range c.Causes {
		if c.Causes[i].Why == why {
			c.Causes[i].Runs++
			return
		}
	}
	c.Causes = append(c.Causes, Cause{why, 1})
}

func (c *CalibrateResult) spreads(b *budget.Budget, sets []*sample.Set) {
	i := 0
	for _, r := range b.Rules {
		if r.Level == budget.Off || i >= len(c.Rules) {
			continue
		}
		xs, s := pooled(sets, r.Quantity.String())
		if m := median(xs); finite(m) {
			c.Rules[i].Median = m
		}
		if finite(s) {
			c.Rules[i].Spread = s
		}
		c.Rules[i].Bound = stat.RateAtMost(c.Rules[i].Failed, c.Rules[i].Judged, shown)
		i++
	}
}

func (c *CalibrateResult) profile(limits budget.Guards, sets []*sample.Set) {
	var all []*sample.Sample
	for _, set := range sets {
		side := newSide("", set).given
		all = append(all, side...)
		of := limitsOf(side, limits)
		for _, s := range side {
			if of.Disturbed(s.Noise.Usage()) != "" {
				c.Disturbed++
			}
		}
	}
	c.Traces = len(all)
	none := 0.0
	for _, f := range []struct {
		name  string
		get   func(*sample.Sample) *float64
		limit *float64
		unit  rule.Unit
	}{
		{"involuntary context switches/s/P", nivcsw, &limits.Nivcsw, rule.Number},
		{"run-queue delay of the system", runDelay, nil, rule.Fraction},
		{"taken by the hypervisor", steal, &limits.Steal, rule.Fraction},
		{"used by other processes", foreign, &limits.Foreign, rule.Fraction},
		{"throttled", throttled, &none, rule.Number},
		{"CPU pressure", psi, nil, rule.Fraction},
		{"canary", canary, nil, rule.Nanoseconds},
	} {
		if n, ok := figure(all, f.get); ok {
			n.Name, n.Limit, n.Unit = f.name, f.limit, f.unit
			c.Noise = append(c.Noise, n)
		}
	}
}

func figure(samples []*sample.Sample, get func(*sample.Sample) *float64) (NoiseFigure, bool) {
	var xs []float64
	for _, s := range samples {
		if x := get(s); x != nil {
			xs = append(xs, *x)
		}
	}
	if len(xs) == 0 {
		return NoiseFigure{}, false
	}
	slices.Sort(xs)
	return NoiseFigure{Traces: len(xs), Median: median(xs), P90: xs[(len(xs)*9+9)/10-1], Max: xs[len(xs)-1]}, true
}
