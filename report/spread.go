package report

import (
	"cmp"
	"math"
	"slices"

	"github.com/schedscope/schedscope/analyze"
)

// traceFigures returns the figures of the report of one trace.
func traceFigures(r *analyze.Report) V1TraceFigures {
	all := &r.Latency.All
	q := all.Quantiles(0.5, 0.99, 0.999)
	f := V1TraceFigures{
		Span: int64(r.Totals.Span), Procs: r.Idle.MeanProcs(), Waits: all.Count(), Total: int64(all.Total()),
		Waiting: perNano(int64(all.Total()), int64(r.Totals.Span)),
		P50:     int64(q[0]), P99: int64(q[1]), P999: int64(q[2]), Max: int64(all.Max()), MaxAt: int64(all.MaxAt()),
		Utilisation: r.Idle.Utilisation(), Severity: analyze.WaitSeverity(r).String(),
	}
	if causes := causesByTotal(r.Causes); len(causes) > 0 {
		f.MainCause = causes[0].String()
	}
	return f
}

// headlines are the kinds of findings about scheduling latency as a whole: each verdict has one.
var headlines = []string{"waiting", "no-notable-waiting", "no-waits"}

// savedFigures returns the figures of the saved report of one trace, the same as
// traceFigures.
func savedFigures(v *V1) V1TraceFigures {
	all := &v.Latency.All
	f := V1TraceFigures{
		Span: v.Totals.Span, Procs: v.Procs.Mean, Waits: all.Count, Total: all.Total, Waiting: perNano(all.Total, v.Totals.Span),
		P50: all.P50, P99: all.P99, P999: all.P999, Max: all.Max, MaxAt: all.MaxAt, Utilisation: v.Procs.Utilisation,
	}
	if len(v.Causes.Rows) > 0 {
		f.MainCause = v.Causes.Rows[0].Cause
	}
	for i := range v.Findings {
		if slices.Contains(headlines, v.Findings[i].Kind) {
			f.Severity = v.Findings[i].Severity
		}
	}
	return f
}

func perNano(total, span int64) float64 {
	if span <= 0 {
		return 0
	}
	return float64(total) / float64(span)
}

// figures returns the figures of each trace, nil unless there are several.
func (d *Document) figures() []V1TraceFigures {
	if len(d.Traces) < 2 {
		return nil
	}
	out := make([]V1TraceFigures, len(d.Traces))
	for i := range d.Traces {
		out[i] = d.Traces[i].Figures
		out[i].Trace = i
	}
	return out
}

// spreadFigures are the figures of which the spread is told.
var spreadFigures = []struct {
	name, unit string
	ofWaits    bool // not known of a trace without waits
	value      func(*V1TraceFigures) float64
}{
	{"span_ns", "ns", false, func(f *V1TraceFigures) float64 { return float64(f.Span) }},
	{"procs", "procs", false, func(f *V1TraceFigures) float64 { return f.Procs }},
	{"waits", "count", false, func(f *V1TraceFigures) float64 { return float64(f.Waits) }},
	{"total_ns", "ns", false, func(f *V1TraceFigures) float64 { return float64(f.Total) }},
	{"waiting", "goroutines", false, func(f *V1TraceFigures) float64 { return f.Waiting }},
	{"p50_ns", "ns", true, func(f *V1TraceFigures) float64 { return float64(f.P50) }},
	{"p99_ns", "ns", true, func(f *V1TraceFigures) float64 { return float64(f.P99) }},
	{"p99_9_ns", "ns", true, func(f *V1TraceFigures) float64 { return float64(f.P999) }},
	{"max_ns", "ns", true, func(f *V1TraceFigures) float64 { return float64(f.Max) }},
	{"utilisation", "share", false, func(f *V1TraceFigures) float64 { return f.Utilisation }},
}

// spreadOf tells how much the figures of several traces differ, nil of fewer. A figure
// that no trace has is left out.
func spreadOf(list []V1TraceFigures) []V1Spread {
	if len(list) < 2 {
		return nil
	}
	var out []V1Spread
	for _, x := range spreadFigures {
		var having []*V1TraceFigures
		for i := range list {
			if f := &list[i]; !x.ofWaits || f.Waits > 0 {
				having = append(having, f)
			}
		}
		if len(having) == 0 {
			continue
		}
		slices.SortStableFunc(having, func(a, b *V1TraceFigures) int { return cmp.Compare(x.value(a), x.value(b)) })
		at := func(q float64) float64 { return x.value(having[nearestRank(q, len(having))]) }
		last := len(having) - 1
		greatest, _ := slices.BinarySearchFunc(having, x.value(having[last]), func(f *V1TraceFigures, v float64) int { return cmp.Compare(x.value(f), v) })
		out = append(out, V1Spread{Name: x.name, Unit: x.unit, Traces: len(having),
			Min: at(0), Q1: at(0.25), Median: at(0.5), Q3: at(0.75), Max: x.value(having[last]),
			MinTrace: having[0].Trace, MaxTrace: having[greatest].Trace})
	}
	return out
}

// nearestRank returns the place, from 0, of the q-quantile among n sorted values.
func nearestRank(q float64, n int) int {
	return min(max(int(math.Ceil(q*float64(n)))-1, 0), n-1)
}
