package gate

import (
	"fmt"
	"math"
	"slices"

	"github.com/schedscope/schedscope/analyze/experiment"
	"github.com/schedscope/schedscope/analyze/gate/budget"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/internal/stat"
)

const (
	// shown is the confidence of intervals.
	shown = 0.95
	// power is the probability with which an effect must show to count as one that would
	// have been seen.
	power = 0.80
	// detectRoom is what a rule wants to see if it does not say: so many times its margin.
	detectRoom = 1.5
)

// judge computes what can be computed of a rule, and why not if not.
func (c *check) judge(it *item) {
	if c.missing(it) || c.forbidden(it) {
		return
	}
	c.fill(it)
	if c.sampledUnlike(it) {
		return
	}
	c.lacking(it)
	if c.thin(it) {
		return
	}
	if it.rule.Point {
		c.judgePoint(it)
		return
	}
	switch {
	case !it.rule.Bound.Relative:
		c.judgeAbsolute(it)
	default:
		c.judgeRelative(it)
	}
}

func (it *item) stop(why cause, format string, args ...any) {
	it.cause = why
	it.res.Verdict, it.res.Why = Inconclusive, fmt.Sprintf(format, args...)
	if why == causeMissing {
		it.res.Verdict = Unusable
	}
}

// higher says whether higher values are worse.
func (it *item) higher() bool { return it.rule.Op.HigherIsWorse() }

// sign is 1 if higher values are worse, else -1: tests are of "too high".
func (it *item) sign() float64 {
	if it.higher() {
		return 1
	}
	return -1
}

// ruleSides returns the sides whose traces a rule needs.
func (c *check) ruleSides(it *item) []*side {
	if it.rule.Bound.Relative {
		return c.sides()
	}
	return []*side{c.cand}
}

// missing finds a rule that no trace of a side has data for: the gate would never
// judge it, so it must not pass for one that keeps its budget.
func (c *check) missing(it *item) bool {
	for _, s := range c.ruleSides(it) {
		if len(s.whole) == 0 || len(having(s.whole, it.key)) > 0 {
			continue
		}
		reason := ""
		for _, x := range s.whole {
			if reason = x.Missing[it.key]; reason != "" {
				break
			}
		}
		it.stop(causeMissing, "no trace of the %s has data for %s%s%s", s.name, it.key, colon(reason), c.remedy(it))
		return true
	}
	return false
}

// sampledUnlike refuses to compare blame by CPU samples with that without.
func (c *check) sampledUnlike(it *item) bool {
	if it.rule.Quantity.Selected("behind") == nil {
		return false
	}
	var all []*sample.Sample
	for _, s := range c.ruleSides(it) {
		all = append(all, s.used...)
	}
	why := experiment.SampledUnlike(all)
	if why != "" {
		it.stop(causeGuard, "samples: %s", why)
	}
	return why != ""
}

// coverage notes how much of the waiting behind code is estimated, and how much unknown.
func (c *check) coverage(it *item) {
	if it.rule.Quantity.Selected("behind") == nil || it.res.Cand == nil {
		return
	}
	of := func(f func(sample.Value) float64) float64 {
		return *experiment.Median(having(c.cand.used, it.key), func(s *sample.Sample) *float64 { return new(f(s.Values[it.key])) })
	}
	if x := of(func(v sample.Value) float64 { return v.Estimated }); x >= leastNoted {
		it.note(percent(x) + " of it is estimated")
	}
	if x := of(func(v sample.Value) float64 { return v.Unknown }); x >= leastNoted {
		it.note(percent(x) + " of the waiting behind code is behind unknown code, which does not count")
	}
}

// leastNoted is the part from which it is noted.
const leastNoted = 0.01

// lacking tells in how many traces a rule has no data where others have: what is judged
// are those that do.
func (c *check) lacking(it *item) {
	for _, s := range c.ruleSides(it) {
		if n := len(s.used) - len(having(s.used, it.key)); n > 0 {
			c.warn("%s: %d of %s of the %s have no data for it and do not count", it.res.Rule, n, count(len(s.used), "trace"), s.name)
		}
	}
}

func colon(s string) string {
	if s == "" {
		return ""
	}
	return ": " + s
}

func (c *check) forbidden(it *item) bool {
	g := c.blocked(it)
	if g == nil {
		return false
	}
	c.fill(it)
	it.stop(causeGuard, "%s: %s", g.Name, g.Text)
	return true
}

// fill tells the values, whether they can be judged or not.
func (c *check) fill(it *item) {
	it.res.Cand = valuesOf(c.cand.used, it.key)
	if c.base == nil {
		return
	}
	it.res.Base = valuesOf(c.base.used, it.key)
	if b := it.res.Base; b != nil && it.rule.Bound.Relative {
		it.setMargin(b.Median)
		b2 := values(c.base.used, it.key)
		if r := stat.Ratio(b2, values(c.cand.used, it.key), shown); r.OK() {
			it.res.Ratio = interval(r)
		}
	}
}

func valuesOf(samples []*sample.Sample, key string) *Values { return valuesIn(values(samples, key)) }

func valuesIn(xs []float64) *Values {
	if len(xs) == 0 {
		return nil
	}
	return &Values{N: len(xs), Median: stat.Median(xs), Values: xs}
}

func interval(i stat.Interval) *stat.Interval {
	if !i.OK() || !finite(i.Est) || !finite(i.Low) || !finite(i.High) {
		return nil
	}
	return &i
}

// setMargin computes what the bound is at a baseline, and which ratio to it that allows.
func (it *item) setMargin(base float64) {
	if b := it.rule.Bound.At(base); finite(b) {
		it.res.Bound = b
		if base > 0 && b > 0 {
			it.margin = b / base
		}
	}
	it.res.Detect = it.detect()
}

// detect is the ratio to the baseline that the rule wants to see. Absolute room can be
// greater than what was declared; then it is room and a half.
func (it *item) detect() float64 {
	if it.margin == 0 {
		return it.rule.Detect
	}
	if it.higher() {
		if it.rule.Detect > it.margin {
			return it.rule.Detect
		}
		return it.margin * detectRoom
	}
	if it.rule.Detect > 0 && it.rule.Detect < it.margin {
		return it.rule.Detect
	}
	return it.margin / detectRoom
}

// thin refuses quantiles that rest on too few values, in the median trace of a side.
func (c *check) thin(it *item) bool {
	q := it.rule.Quantity
	if q.Agg != rule.Quantile {
		return false
	}
	for _, s := range c.ruleSides(it) {
		with := having(s.used, it.key)
		if len(with) == 0 {
			continue
		}
		n := experiment.Median(with, func(x *sample.Sample) *float64 { return new(x.Values[it.key].Beyond(q)) })
		times := math.Ceil(sample.EnoughBeyond / max(*n, 0.01)) // as many values are needed
		switch few := *n < sample.EnoughBeyond-1e-9; {
		case few && it.rule.Level == budget.Error:
			it.stop(causeData, "trace too short for p%.4g: only %.3g values of the %s's median trace lie beyond it, %d are needed: record %.0f times as long, or use p%.4g", 100*q.Q, *n, s.name, sample.EnoughBeyond,
				times, 100*max(1-(1-q.Q)*times, 0.5))
			return true
		case few:
			c.warn("%s: only %.3g values of the %s's median trace lie beyond the quantile", it.res.Rule, *n, s.name)
		}
	}
	return false
}

// judgePoint compares each trace as it is.
func (c *check) judgePoint(it *item) {
	it.res.Point = true
	v := it.res.Cand
	if v == nil {
		it.stop(causeFew, "no trace is left")
		return
	}
	worst := slices.Max(v.Values)
	if !it.higher() {
		worst = slices.Min(v.Values)
	}
	it.res.Why = "one process, no error rate"
	if v.N > 1 {
		it.res.Why = "every trace for itself, no error rate"
	}
	it.res.Verdict = Pass
	switch {
	case !it.rule.Op.Holds(worst, it.res.Bound):
		it.res.Verdict = Fail
	case v.N < len(c.cand.used):
		it.stop(causeData, "%d of %s of the candidate have no data for it", len(c.cand.used)-v.N, count(len(c.cand.used), "trace"))
	}
}

// confidence of an absolute rule.
func (it *item) confidence() float64 {
	if c := it.rule.Confidence; c > 0 && c < 1 {
		return c
	}
	return rule.DefaultConfidence
}

// judgeAbsolute is a sign test of the median over traces against the limit, with the
// rule's own confidence.
func (c *check) judgeAbsolute(it *item) {
	it.alpha = 1 - it.confidence()
	need := budget.SignTraces(it.alpha)
	v := it.res.Cand
	if v == nil || v.N < need {
		c.few(it, need)
		return
	}
	it.res.Test = "sign"
	limit := it.res.Bound
	p := stat.SignTest(scaled(v.Values, it.sign()), it.most())
	it.res.P = &p
	bounds := stat.MedianBounds(v.Values, 1-it.alpha)
	v.Bounds = interval(bounds)
	if it.higher() {
		it.proved = it.rule.Op.Holds(bounds.High, limit)
	} else {
		it.proved = it.rule.Op.Holds(bounds.Low, limit)
	}
	it.spread = stat.LogSD(nil, v.Values)
	it.setOff(v.Median / limit)
}

// most is the greatest value that keeps an absolute limit, of values times sign: counts
// often lie at the limit itself, which < and > forbid.
func (it *item) most() float64 {
	limit := it.sign() * it.res.Bound
	if !it.rule.Op.Holds(limit, limit) {
		return math.Nextafter(limit, math.Inf(-1))
	}
	return limit
}

// setOff tells how the estimate relates to what the bound allows.
func (it *item) setOff(ratio float64) {
	if !finite(ratio) || ratio <= 0 {
		return
	}
	it.off = ratio
	if !it.higher() {
		it.off = 1 / ratio
	}
}

// few says how many traces are missing.
func (c *check) few(it *item, need int) {
	have := 0
	for i, s := range c.ruleSides(it) {
		if n := len(values(s.used, it.key)); i == 0 || n < have {
			have = n
		}
	}
	it.res.Needed = need
	per := " per side"
	if !it.rule.Bound.Relative {
		per = ""
	}
	it.stop(causeFew, "%s%s, %d needed", count(have, "trace"), per, need)
	if have == 1 && !it.rule.Bound.Relative {
		it.res.Why += "; of one trace only rules with @ point are judged"
	}
}

// scaled returns xs times f.
func scaled(xs []float64, f float64) []float64 {
	out := make([]float64, len(xs))
	for i, x := range xs {
		out[i] = x * f
	}
	return out
}

// mapped returns what the bound allows for each value of the baseline.
func mapped(b rule.Bound, xs []float64) []float64 {
	out := make([]float64, len(xs))
	for i, x := range xs {
		out[i] = b.At(x)
	}
	return out
}

// judgeRelative tests the candidate's values against what the bound allows for the
// baseline's.
func (c *check) judgeRelative(it *item) {
	base, cand := values(c.base.used, it.key), values(c.cand.used, it.key)
	if need := c.minTraces(); min(len(base), len(cand)) < need {
		c.few(it, need)
		return
	}
	if c.noisy && it.counter && it.rule.Quantity.Metric == "cpu" {
		c.atOneRate(it, base, cand)
	}
	bound := mapped(it.rule.Bound, base)
	if !allFinite(bound) {
		it.stop(causeData, "values are too great to be compared")
		return
	}
	p := it.testSides(bound, base, cand)
	it.res.P = &p
}

func allFinite(xs []float64) bool {
	return !slices.ContainsFunc(xs, func(x float64) bool { return !finite(x) })
}

func (it *item) testSides(bound, base, cand []float64) float64 {
	it.res.Test = "permutation"
	it.spread = stat.LogSD(base, cand)
	within := stat.Ratio(bound, cand, shown)
	if within.OK() {
		it.proved = it.within(within, 1)
		it.setOff(within.Est)
	} else {
		it.proved = it.within(stat.Shift(bound, cand, shown), 0)
	}
	return stat.Beyond(base, bound, cand, it.higher())
}

// atOneRate changes values of processor time per op to what they would be if all traces had as
// many ops per second. A process also does things per second, whatever its ops: on a disturbed
// machine, which does not let it keep up, fewer ops share them. How much that is shows in the
// base, whose traces then have very different rates; nothing is said of rates that it did not
// have.
func (c *check) atOneRate(it *item, base, cand []float64) {
	seconds := func(s *side) (perOp []float64) {
		for _, x := range having(s.used, it.key) {
			perOp = append(perOp, experiment.Seconds(x)/float64(x.Ops))
		}
		return perOp
	}
	b, d := seconds(c.base), seconds(c.cand)
	fixed, one := stat.Slope(b, base), stat.Median(d) // ns per second
	if !(fixed > 0) || one < slices.Min(b) || one > slices.Max(b) {
		return
	}
	at := func(perOp, seconds []float64) []float64 {
		x := slices.Clone(perOp)
		for i := range x {
			x[i] += float64(fixed * (one - seconds[i]))
		}
		return x
	}
	newBase, newCand := at(base, b), at(cand, d)
	if min(slices.Min(newBase), slices.Min(newCand)) <= 0 {
		return // the base varies too much for the estimate
	}
	it.note(fmt.Sprintf("at one rate of ops: %.2gms of processor time per second of the base do not depend on it", fixed/1e6))
	copy(base, newBase)
	copy(cand, newCand)
}

// within says whether an interval of the candidate against its bound lies on the good
// side.
func (it *item) within(i stat.Interval, even float64) bool {
	if !i.OK() || i.Confidence < shown-1e-9 {
		return false
	}
	if it.higher() {
		return i.High <= even
	}
	return i.Low >= even
}
