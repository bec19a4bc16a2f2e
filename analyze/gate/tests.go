package gate

import (
	"fmt"
	"math"
	"slices"

	"github.com/schedscope/schedscope/analyze/compare"
	"github.com/schedscope/schedscope/analyze/gate/budget"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/stat"
	"github.com/schedscope/schedscope/internal/textui"
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

// judged is what is known of a rule: first what tests computed, or why they did not, then the
// verdict.
type judged struct {
	subject
	res      RuleResult
	cause    cause
	proved   bool
	margin   float64 // the ratio that the bound allows, at the baseline's median
	spread   float64 // SD of logs, NaN: unknown
	alpha    float64 // of the rule at worst, in its family
	off      float64 // how far the estimate lies beyond what the bound allows, 1: at it
	warnings []string
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

// judgedOf returns what is known of a rule before any test.
func judgedOf(r subject) judged {
	return judged{subject: r, spread: math.NaN(), res: RuleResult{
		Rule: r.text, Slug: r.Slug(), Level: r.Level, Owner: r.Owner, Unit: r.Quantity.Unit(), Point: r.Point,
		Relative: r.Bound.Relative, LowerIsWorse: !r.higher(), Verdict: Inconclusive, Bound: r.Bound.Add,
	}}
}

// stop returns j without a verdict.
func (j judged) stop(why cause, format string, args ...any) judged {
	j.cause = why
	j.res.Verdict, j.res.Why = Inconclusive, fmt.Sprintf(format, args...)
	if why == causeMissing {
		j.res.Verdict = Unusable
	}
	return j
}

// note returns j with one reason more; "" is none.
func (j judged) note(text string) judged {
	if j.res.Why != "" && text != "" {
		text = "; " + text
	}
	j.res.Why += text
	return j
}

// tests computes what can be computed of each rule, and why not if not. Those of a family share
// its error rate.
func tests(g guarded) []judged {
	var all []judged
	var family []int
	var ps []float64
	for i, r := range g.rules {
		j := g.test(r)
		switch {
		case j.res.P == nil || !r.Bound.Relative:
		case r.ofFamily():
			family, ps = append(family, i), append(ps, *j.res.P)
		default:
			j.alpha = g.Budget.Alpha
		}
		all = append(all, j)
	}
	for i, p := range stat.Holm(ps) {
		j := &all[family[i]]
		j.res.PAdj, j.alpha = &p, g.Budget.Alpha/float64(len(ps))
	}
	return all
}

// test computes what can be computed of a rule by itself.
func (g *guarded) test(r subject) judged {
	j := judgedOf(r)
	if text := g.noData(&r); text != "" {
		return j.stop(causeMissing, "%s", text)
	}
	base, cand := values(g.used.base(), r.key), values(g.used.cand(), r.key)
	j.res.Base, j.res.Cand = valuesOf(base), valuesOf(cand)
	if j.res.Base != nil && r.Bound.Relative {
		j = j.withMargin(j.res.Base.Median)
		j.res.Ratio = interval(stat.Ratio(base, cand, shown))
	}
	if text := g.blocked(&r); text != "" {
		return j.stop(causeGuard, "%s", text)
	}
	if text := g.sampledUnlike(&r); text != "" {
		return j.stop(causeGuard, "samples: %s", text)
	}
	// A rule may have no data in traces where it has some in others: judged are those that do.
	for _, s := range g.used.of(&r) {
		if n := len(s.samples) - len(having(s.samples, r.key)); n > 0 {
			j.warnings = append(j.warnings, fmt.Sprintf("%s: %d of %s of the %s have no data for it and do not count", r.text, n, textui.Plural(len(s.samples), "trace"), s.name))
		}
	}
	thin, warnings := g.thin(&r)
	j.warnings = append(j.warnings, warnings...)
	switch need := g.minTraces(); {
	case thin != "":
		if least, violated := g.atLeast(j); violated {
			return least
		}
		return j.stop(causeData, "%s", thin)
	case r.Point:
		return j.point(len(g.used.cand()))
	case !r.Bound.Relative:
		return j.absolute(cand)
	case min(len(base), len(cand)) < need:
		return j.few(min(len(base), len(cand)), need)
	}
	if g.noisy && r.counter && r.Quantity.Metric == "cpu" {
		var text string
		base, cand, text = g.atOneRate(r.key, base, cand)
		j = j.note(text)
	}
	bound := mapped(base, r.Bound.At)
	if !slices.ContainsFunc(bound, func(x float64) bool { return !finite(x) }) {
		return j.relative(bound, base, cand)
	}
	return j.stop(causeData, "values are too great to be compared")
}

// noData says that no trace of a side has data for a rule, "" if all sides have: the gate would
// never judge it, so it must not pass for one that keeps its budget.
func (g *guarded) noData(r *subject) string {
	for _, s := range g.all.of(r) {
		if len(having(s.samples, r.key)) > 0 {
			continue
		}
		reason := ""
		if i := slices.IndexFunc(s.samples, func(x *sample.Sample) bool { return x.Missing[r.key] != "" }); i >= 0 {
			reason = ": " + s.samples[i].Missing[r.key]
		}
		return fmt.Sprintf("no trace of the %s has data for %s%s%s", s.name, r.key, reason, g.remedy(r))
	}
	return ""
}

// sampledUnlike refuses to compare blame by CPU samples with that without.
func (g *guarded) sampledUnlike(r *subject) string {
	if r.Quantity.Selected("behind") == nil {
		return ""
	}
	var all []*sample.Sample
	for _, s := range g.used.of(r) {
		all = append(all, s.samples...)
	}
	return compare.SampledUnlike(all)
}

// nameless reports whether the handler of some requests is not known.
func nameless(s *sample.Sample) bool {
	return s.Requests != nil && s.Requests.Count > result.Sum(s.Requests.Groups, func(g *sample.RequestGroup) int64 {
		return textui.Either(g.Name == result.NoName, 0, g.Count)
	})
}

// thin refuses quantiles that rest on too few values, in the median trace of a side: of a rule
// that only warns by a warning.
func (g *guarded) thin(r *subject) (why string, warnings []string) {
	q := r.Quantity
	for _, s := range g.used.of(r) {
		with := having(s.samples, r.key)
		if q.Agg != rule.Quantile || len(with) == 0 {
			continue
		}
		n := *compare.Median(with, func(x *sample.Sample) *float64 { return new(x.Values[r.key].Beyond(q)) })
		times := math.Ceil(sample.EnoughBeyond / max(n, 0.01)) // as many values are needed
		unseen := slices.ContainsFunc(q.Select, func(x rule.Selector) bool { return x.Key == "name" }) && slices.ContainsFunc(with, nameless)
		switch few := n < sample.EnoughBeyond-1e-9; {
		case few && r.Level == budget.Error && unseen:
			return fmt.Sprintf("only %.3g values of the %s's median trace lie beyond p%.4g, %d are needed: a handler is seen only in requests that wait; name all of them by trace.WithRegion", n, s.name, 100*q.Q, sample.EnoughBeyond), warnings
		case few && r.Level == budget.Error:
			return fmt.Sprintf("trace too short for p%.4g: only %.3g values of the %s's median trace lie beyond it, %d are needed: record %.0f times as long, or use p%.4g", 100*q.Q, n, s.name, sample.EnoughBeyond,
				times, 100*max(1-(1-q.Q)*times, 0.5)), warnings
		case few:
			warnings = append(warnings, fmt.Sprintf("%s: only %.3g values of the %s's median trace lie beyond the quantile", r.text, n, s.name))
		}
	}
	return "", warnings
}

// atLeast reports whether a limit is violated by lower quantiles, of which enough values lie beyond: this one is at least as great.
func (g *guarded) atLeast(j judged) (judged, bool) {
	if j.Bound.Relative || !j.higher() {
		return j, false
	}
	least := mapped(having(g.used.cand(), j.key), func(s *sample.Sample) float64 {
		v := s.Values[j.key]
		return textui.Either(v.Few(j.Quantity), v.Least, v.X)
	})
	j = j.note("too few values lie beyond it, but lower quantiles of which enough do are above the limit")
	if j.Point {
		j.res.Verdict = Fail
		return j, !j.Op.Holds(j.extreme(least), j.res.Bound)
	}
	cand := *j.res.Cand
	j.res.Cand = &cand
	j = j.absolute(least)
	cand.Bounds = nil // those of the lower ones
	return j, j.cause == causeNone && j.violated(g.Budget.Alpha)
}

func valuesOf(xs []float64) *Values {
	if len(xs) == 0 {
		return nil
	}
	return &Values{N: len(xs), Median: stat.Median(xs), Values: xs}
}

// interval returns i, nil if there is none.
func interval(i stat.Interval) *stat.Interval {
	if !i.OK() {
		return nil
	}
	return &i
}

// mapped returns f of each of xs.
func mapped[T any](xs []T, f func(T) float64) []float64 {
	out := make([]float64, len(xs))
	for i, x := range xs {
		out[i] = f(x)
	}
	return out
}

// withMargin returns j with what the bound is at a baseline, which ratio to it that allows, and
// which the rule wants to see. Absolute room can be greater than what was declared; then it is
// room and a half.
func (j judged) withMargin(base float64) judged {
	if b := j.Bound.At(base); finite(b) {
		j.res.Bound = b
		if base > 0 && b > 0 {
			j.margin = b / base
		}
	}
	declared := j.Detect > 0 && j.sign()*j.Detect > j.sign()*j.margin
	switch {
	case j.margin == 0 || declared:
		j.res.Detect = j.Detect
	case j.higher():
		j.res.Detect = j.margin * detectRoom
	default:
		j.res.Detect = j.margin / detectRoom
	}
	return j
}

// few says how many traces are missing.
func (j judged) few(have, need int) judged {
	j.res.Needed = need
	switch traces := textui.Plural(have, "trace"); {
	case j.Bound.Relative:
		return j.stop(causeFew, "%s per side, %d needed", traces, need)
	case have == 1:
		return j.stop(causeFew, "%s, %d needed; of one trace only rules with @ point are judged", traces, need)
	default:
		return j.stop(causeFew, "%s, %d needed", traces, need)
	}
}

// point compares each of so many traces as it is.
func (j judged) point(traces int) judged {
	v := j.res.Cand
	if v == nil {
		return j.stop(causeFew, "no trace is left")
	}
	j.res.Verdict, j.res.Why = Pass, "one process, no error rate"
	if v.N > 1 {
		j.res.Why = "every trace for itself, no error rate"
	}
	switch {
	case !j.Op.Holds(j.extreme(v.Values), j.res.Bound):
		j.res.Verdict = Fail
	case v.N < traces:
		return j.stop(causeData, "%d of %s of the candidate have no data for it", traces-v.N, textui.Plural(traces, "trace"))
	}
	return j
}

// extreme returns the worst value.
func (r *subject) extreme(xs []float64) float64 {
	if r.higher() {
		return slices.Max(xs)
	}
	return slices.Min(xs)
}

// absolute is a sign test of the median over traces against the limit, with the rule's own
// confidence.
func (j judged) absolute(cand []float64) judged {
	j.alpha = 1 - j.confidence()
	if need := budget.SignTraces(j.alpha); len(cand) < need {
		return j.few(len(cand), need)
	}
	// The greatest value that keeps the limit, times sign: counts often lie at the limit itself,
	// which < and > forbid.
	most := j.sign() * j.res.Bound
	if !j.Op.Holds(j.res.Bound, j.res.Bound) {
		most = math.Nextafter(most, math.Inf(-1))
	}
	j.res.Test = "sign"
	j.res.P = new(stat.SignTest(mapped(cand, func(x float64) float64 { return x * j.sign() }), most))
	bounds := stat.MedianBounds(cand, 1-j.alpha)
	j.res.Cand.Bounds = interval(bounds)
	j.proved = j.Op.Holds(bounds.Low, j.res.Bound)
	if j.higher() {
		j.proved = j.Op.Holds(bounds.High, j.res.Bound)
	}
	j.spread = stat.LogSD(nil, cand)
	j.off = j.offOf(j.res.Cand.Median / j.res.Bound)
	return j
}

// offOf says how an estimate relates to what the bound allows, 0 if that is not known.
func (r *subject) offOf(ratio float64) float64 {
	if !finite(ratio) || ratio <= 0 {
		return 0
	}
	return r.worse(ratio)
}

// relative tests the candidate's values against what the bound allows for the baseline's.
func (j judged) relative(bound, base, cand []float64) judged {
	j.res.Test = "permutation"
	j.res.P = new(stat.Beyond(base, bound, cand, j.higher()))
	j.spread = stat.LogSD(base, cand)
	even := 1.0
	within := stat.Ratio(bound, cand, shown)
	if within.OK() {
		j.off = j.offOf(within.Est)
	} else {
		even, within = 0, stat.Shift(bound, cand, shown)
	}
	worst := textui.Either(j.higher(), within.High, within.Low)
	j.proved = within.OK() && within.Confidence >= shown-1e-9 && j.sign()*worst <= j.sign()*even
	return j
}

// atOneRate returns values of processor time per op as they would be if all traces had as many ops
// per second, and a note of it. A process also does things per second, whatever its ops: on a
// disturbed machine, which does not let it keep up, fewer ops share them. How much that is shows in
// the base, whose traces then have very different rates; nothing is said of rates that it did not
// have.
func (g *guarded) atOneRate(key string, base, cand []float64) (newBase, newCand []float64, note string) {
	seconds := func(samples []*sample.Sample) (perOp []float64) {
		return mapped(having(samples, key), func(x *sample.Sample) float64 { return compare.Seconds(x) / float64(x.Ops) })
	}
	b, d := seconds(g.used.base()), seconds(g.used.cand())
	fixed, one := stat.Slope(b, base), stat.Median(d) // ns per second
	if !(fixed > 0) || one < slices.Min(b) || one > slices.Max(b) {
		return base, cand, ""
	}
	at := func(perOp, seconds []float64) []float64 {
		x := slices.Clone(perOp)
		for i := range x {
			x[i] += float64(fixed * (one - seconds[i]))
		}
		return x
	}
	newBase, newCand = at(base, b), at(cand, d)
	if min(slices.Min(newBase), slices.Min(newCand)) <= 0 {
		return base, cand, "" // the base varies too much for the estimate
	}
	return newBase, newCand, fmt.Sprintf("at one rate of ops: %.2gms of processor time per second of the base do not depend on it", fixed/1e6)
}
