package gate

import (
	"slices"

	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/internal/stat"
)

// counters are the metrics that a disturbed machine hardly changes if they are counted
// per op: in our experiments a busy machine changed cpu/op by 5 %, where latency was 200
// times what it had been.
var counters = []string{"cpu", "wakes", "starts", "created"}

func isCounter(q rule.Quantity) bool {
	return q.Per == rule.PerOp && slices.Contains(counters, q.Metric)
}

func isSim(q rule.Quantity) bool {
	m, ok := rule.Lookup(q.Metric)
	return ok && m.Sim
}

// perEvent says whether a quantity is of single occurrences, which others of them
// dilute.
func perEvent(q rule.Quantity) bool {
	m, ok := rule.Lookup(q.Metric)
	return ok && m.Kind == rule.Distribution && q.Per == rule.PerNone && q.Agg != rule.Sum
}

// diagnostics are the quantities that explain a violation.
func diagnostics(ops, sim bool) []rule.Quantity {
	per := rule.PerOp
	if !ops {
		per = rule.PerSecond
	}
	qs := []rule.Quantity{
		{Agg: rule.Mean, Metric: "cpu", Per: per},
		{Agg: rule.Mean, Metric: "wakes", Per: per},
		{Agg: rule.Mean, Metric: "wait", Per: per},
		{Agg: rule.Quantile, Q: 0.99, Metric: "runnable"},
	}
	if sim {
		qs = append(qs, simP99, rule.Quantity{Agg: rule.Mean, Metric: "sim.wait", Per: per})
	}
	return qs
}

var simP99 = rule.Quantity{Agg: rule.Quantile, Q: 0.99, Metric: "sim.runnable"}

// values returns what samples have of a quantity, in their order.
func values(samples []*sample.Sample, key string) []float64 {
	var xs []float64
	for _, s := range samples {
		if v, ok := s.Values[key]; ok && finite(v.X) {
			xs = append(xs, v.X)
		}
	}
	return xs
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

// medianOf returns the median of what f finds of the samples, nil if one has none.
func medianOf(samples []*sample.Sample, f func(*sample.Sample) *float64) *float64 {
	var xs []float64
	for _, s := range samples {
		x := f(s)
		if x == nil {
			return nil
		}
		xs = append(xs, *x)
	}
	if len(xs) == 0 {
		return nil
	}
	m := stat.Median(xs)
	return &m
}

func seconds(s *sample.Sample) float64 { return float64(s.To-s.From) / 1e9 }

// opRate returns ops per second, nil if ops are not known.
func opRate(s *sample.Sample) *float64 {
	if s.Ops <= 0 || s.To <= s.From {
		return nil
	}
	r := float64(s.Ops) / seconds(s)
	return &r
}

func ops(s *sample.Sample) *float64 {
	if s.Ops <= 0 {
		return nil
	}
	n := float64(s.Ops)
	return &n
}

func eventsPerOp(s *sample.Sample) *float64 {
	if s.Ops <= 0 || s.Events <= 0 {
		return nil
	}
	r := float64(s.Events) / float64(s.Ops)
	return &r
}

func eventRate(s *sample.Sample) *float64 {
	if s.Events <= 0 || s.To <= s.From {
		return nil
	}
	r := float64(s.Events) / seconds(s)
	return &r
}

func busy(s *sample.Sample) *float64 {
	if s.Capacity <= 0 {
		return nil
	}
	r := float64(s.Running) / float64(s.Capacity)
	return &r
}

// noiseOf returns a function that picks a figure of a sample's noise.
func noiseOf(f func(*sample.Noise) *float64) func(*sample.Sample) *float64 {
	return func(s *sample.Sample) *float64 {
		if s.Noise == nil {
			return nil
		}
		return f(s.Noise)
	}
}

var (
	nivcsw    = noiseOf(func(n *sample.Noise) *float64 { return n.Nivcsw })
	runDelay  = noiseOf(func(n *sample.Noise) *float64 { return n.RunDelay })
	steal     = noiseOf(func(n *sample.Noise) *float64 { return n.Steal })
	foreign   = noiseOf(func(n *sample.Noise) *float64 { return n.Foreign })
	throttled = noiseOf(func(n *sample.Noise) *float64 { return n.Throttled })
	psi       = noiseOf(func(n *sample.Noise) *float64 { return n.PSI })
	canary    = noiseOf(func(n *sample.Noise) *float64 { return n.Canary })
)

// noise returns the medians of the disturbances, nil if nothing is known.
func noise(samples []*sample.Sample) *sample.Noise {
	n := sample.Noise{
		Nivcsw: medianOf(samples, nivcsw), RunDelay: medianOf(samples, runDelay),
		Steal: medianOf(samples, steal), Foreign: medianOf(samples, foreign),
		Throttled: medianOf(samples, throttled), PSI: medianOf(samples, psi), Canary: medianOf(samples, canary),
	}
	if n == (sample.Noise{}) {
		return nil
	}
	return &n
}
