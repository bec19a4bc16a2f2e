package gate

import (
	"slices"

	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/gate/sample"
)

// counters are the metrics that a disturbed machine hardly changes if they are counted
// per op: in our experiments a busy machine changed cpu/op by 5 %, where latency was 200
// times what it had been.
var counters = []string{"cpu", "wakes", "starts", "created"}

func isCounter(q rule.Quantity) bool {
	return q.Per == rule.PerOp && slices.Contains(counters, q.Metric)
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
	var with []*sample.Sample
	for _, s := range samples {
		if v, ok := s.Values[key]; ok && finite(v.X) {
			with = append(with, s)
		}
	}
	return with
}

// values returns what samples have of a quantity, in their order.
func values(samples []*sample.Sample, key string) []float64 {
	var xs []float64
	for _, s := range having(samples, key) {
		xs = append(xs, s.Values[key].X)
	}
	return xs
}
