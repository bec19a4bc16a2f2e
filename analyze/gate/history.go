package gate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/analyze/experiment"
	"github.com/schedscope/schedscope/analyze/gate/budget"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/internal/stat"
)

// FullHistory is how many sessions it takes for a violation to fail. Sessions differ by
// what no number of traces of one shows, and fewer do not tell by how much.
const FullHistory = 20

// A session of a history, with the traces that count.
type session struct {
	id      string
	samples []*sample.Sample
}

// readHistory takes the comparable sessions. It returns what makes the history unusable.
func (c *check) readHistory() []string {
	f := c.in.Baseline
	c.res.Base = &Side{Name: "history", Traces: []string{}}
	switch {
	case f.MetricDefs != rule.MetricDefs:
		return []string{fmt.Sprintf("the history has metrics as defined in %q, want %q", f.MetricDefs, rule.MetricDefs)}
	case c.b.Workload != "" && f.Workload != c.b.Workload:
		return []string{fmt.Sprintf("the history is of workload %q, the budget for %q", f.Workload, c.b.Workload)}
	case len(f.Sessions) == 0:
		return []string{"the history has no sessions"}
	case len(c.cand.given) == 0:
		return nil // told
	}
	id := c.cand.given[0].Identity
	for i := range f.Sessions {
		s := session{id: f.Sessions[i].ID}
		if Differs(c.b, f.Sessions[i].Spec) != "" {
			continue
		}
		var all []*sample.Sample
		for j := range f.Sessions[i].Samples {
			x := &f.Sessions[i].Samples[j]
			if x.Whole && c.alike(x.Identity, id) {
				all = append(all, x)
			}
		}
		if shared(all, c.cand.given) != nil {
			continue // the candidate is in the history already
		}
		limits := limitsOf(all, c.b.Guards)
		all = slices.DeleteFunc(all, unknownNoise) // the candidate's must be known, too
		s.samples = slices.DeleteFunc(all, func(x *sample.Sample) bool { return limits.Disturbed(x.Noise) != "" })
		if len(s.samples) > 0 {
			c.past = append(c.past, s)
			c.res.Base.Traces = append(c.res.Base.Traces, s.id)
		}
	}
	if n := len(c.past); n > 0 {
		c.res.Base.Identity = c.past[n-1].samples[0].Identity
		c.res.Base.Commit = c.res.Base.Identity.Commit
	}
	return nil
}

// alike says whether traces of the two identities are comparable.
func (c *check) alike(a, b sample.Identity) bool {
	if a.MetricDefs != b.MetricDefs || a.Op != b.Op || a.MinProcs != a.MaxProcs {
		return false
	}
	return !slices.ContainsFunc(c.b.Guards.Same, func(name string) bool {
		x, y := experiment.Identity(&a, name), experiment.Identity(&b, name)
		return x != y && (name != "samples" || x != "" && y != "") // older sessions do not say
	})
}

// comparable says how much of a history is comparable.
func (c *check) comparable() Guard {
	g := Guard{Name: "history", Status: GuardOK}
	k, all := len(c.past), len(c.in.Baseline.Sessions)
	g.Text = fmt.Sprintf("%d of %s comparable: known to be undisturbed, not the candidate itself, and the same in op, window and %s", k, count(all, "session"), strings.Join(c.b.Guards.Same, ", "))
	switch {
	case k == 0:
		g.Status, g.Blocks = GuardFailed, blocksRelative
	case k < FullHistory:
		g.Status = GuardFlag
		c.warn("%s; with less than %d, rules that compare with it only warn", g.Text, FullHistory)
	}
	return g
}

// before is the median of a figure in what the candidate is compared with, nil if it is
// not known: over traces, or over the medians of sessions.
func (c *check) before(f experiment.Figure) *float64 {
	if c.base != nil {
		return experiment.Median(c.base.used, f)
	}
	var xs []float64
	for _, s := range c.past {
		x := experiment.Median(s.samples, f)
		if x == nil {
			return nil
		}
		xs = append(xs, *x)
	}
	if len(xs) == 0 {
		return nil
	}
	return new(stat.Median(xs))
}

// judgeHistory compares the candidate, as one more session, with the limit below which
// Student's t predicts the next session to stay.
func (c *check) judgeHistory(it *item) {
	var past []float64
	for _, s := range c.past {
		if xs := values(s.samples, it.key); len(xs) > 0 {
			past = append(past, stat.Median(xs))
		}
	}
	if len(past) == 0 {
		it.stop(causeMissing, "no session of the history has data for %s", it.key)
		return
	}
	it.res.Base = &Values{N: len(past), Median: stat.Median(past), Values: past}
	it.setMargin(it.res.Base.Median)
	if len(past) < FullHistory && it.level == budget.Error {
		it.cap(fmt.Sprintf("warns only: %s of history, %d needed", count(len(past), "session"), FullHistory))
	}
	if need := c.minTraces(); it.res.Cand == nil || it.res.Cand.N < need {
		c.few(it, need)
		return
	}
	bound := mapped(it.rule.Bound, past)
	y := it.res.Cand.Median
	if !it.higher() {
		past, bound, y = inverse(past), inverse(bound), 1/y
	}
	if len(past) < 2 || math.IsInf(stat.Predict(bound, 0.5), 1) || !allFinite(bound) || !finite(y) || y <= 0 {
		it.stop(causeFew, "the history does not say how sessions differ: %s, or values of zero", count(len(past), "session"))
		return
	}
	it.res.Test = "history"
	p := stat.PredictP(bound, y)
	it.res.P = &p
	it.proved = stat.PredictP(inverse(bound), 1/y) <= (1-shown)/2
	it.spread = stat.LogSD(nil, past)
	it.res.Ratio = it.historyRatio(past, y)
	it.past, it.bound = past, bound
	it.off = y / stat.Predict(bound, 0.5) // both inverse if lower is worse
}

func inverse(xs []float64) []float64 {
	out := make([]float64, len(xs))
	for i, x := range xs {
		out[i] = 1 / x
	}
	return out
}

// historyRatio is how many times the history the candidate is, with what the sessions'
// own differences leave open.
func (it *item) historyRatio(past []float64, y float64) *stat.Interval {
	tail := (1 - shown) / 2
	i := stat.Interval{
		Est: y / stat.Predict(past, 0.5), Low: y / stat.Predict(past, 1-tail), High: y * stat.Predict(inverse(past), 1-tail),
		Confidence: shown,
	}
	if !it.higher() {
		i.Est, i.Low, i.High = 1/i.Est, 1/i.High, 1/i.Low
	}
	return interval(i)
}
