package gate

import (
	"slices"

	"github.com/schedscope/schedscope/analyze/gate/budget"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/internal/textui"
)

// A subject is a rule to judge.
type subject struct {
	budget.Rule
	text    string
	key     string
	metric  *rule.Metric // nil: there is none of that name
	counter bool         // it compares a counter per op with a baseline
	added   bool         // not of the budget: the throughput of requests
}

// subjectsOf returns the rules of a budget that are not off.
func subjectsOf(b *budget.Budget) (list []subject) {
	for _, r := range b.Rules {
		if r.Level != budget.Off && r.Rule != nil {
			list = append(list, subjectOf(r))
		}
	}
	return list
}

func subjectOf(r budget.Rule) subject {
	m, _ := rule.Lookup(r.Quantity.Metric)
	return subject{Rule: r, text: r.String(), key: r.Quantity.String(), metric: m, counter: r.Bound.Relative && isCounter(r.Quantity)}
}

// ofFamily reports whether the rule shares alpha with others: those of level error that compare
// with a baseline. An absolute rule has the confidence that it states, and one of level warn
// stands for itself.
func (r *subject) ofFamily() bool { return r.Bound.Relative && r.Level == budget.Error }

func (r *subject) higher() bool { return r.Op.HigherIsWorse() }

// sign is 1 if higher values are worse, else -1: tests are of "too high".
func (r *subject) sign() float64 { return textui.Either[float64](r.higher(), 1, -1) }

// worse returns the ratio x or, where lower is worse, its inverse: above 1 is worse then.
func (r *subject) worse(x float64) float64 { return textui.Either(r.higher(), x, 1/x) }

// confidence of an absolute rule.
func (r *subject) confidence() float64 {
	if c := r.Confidence; c > 0 && c < 1 {
		return c
	}
	return rule.DefaultConfidence
}

// perEvent reports whether a quantity is of single occurrences, which others of them
// dilute.
func (r *subject) perEvent() bool {
	return r.metric.Kind == rule.Distribution && r.Quantity.Per == rule.PerNone && r.Quantity.Agg != rule.Sum
}

// ofRequests reports whether the metric is of requests.
func (r *subject) ofRequests() bool {
	_, _, ok := r.metric.OfRequests()
	return ok
}

// counters are the metrics that a disturbed machine hardly changes if they are counted
// per op: in our experiments a busy machine changed cpu/op by 5 %, where latency was 200
// times what it had been.
var counters = []string{"cpu", "wakes", "starts", "created"}

func isCounter(q rule.Quantity) bool {
	return q.Per == rule.PerOp && slices.Contains(counters, q.Metric)
}

// requestRate is the throughput of requests.
var requestRate = rule.Quantity{Agg: rule.Mean, Metric: "requests", Per: rule.PerSecond}

// diagnostics are the quantities that explain a violation.
func diagnostics(per rule.Per) []rule.Quantity {
	return []rule.Quantity{
		{Agg: rule.Mean, Metric: "cpu", Per: per},
		{Agg: rule.Mean, Metric: "wakes", Per: per},
		{Agg: rule.Mean, Metric: "wait", Per: per},
		{Agg: rule.Quantile, Q: 0.99, Metric: "runnable"},
	}
}

// having returns the samples that have the quantity.
func having(samples []*sample.Sample, key string) []*sample.Sample {
	return slices.DeleteFunc(slices.Clone(samples), func(s *sample.Sample) bool {
		v, ok := s.Values[key]
		return !ok || !finite(v.X)
	})
}

// values returns what samples have of a quantity, in their order.
func values(samples []*sample.Sample, key string) []float64 {
	return mapped(having(samples, key), func(s *sample.Sample) float64 { return s.Values[key].X })
}
