package result

import (
	"cmp"
	"math"
	"slices"

	"github.com/schedscope/schedscope/model"
)

// headlines are the kinds of findings about scheduling latency as a whole: each verdict has one.
var headlines = []string{"waiting", "no-notable-waiting", "no-waits"}

// Figures returns the figures of a report of one trace.
func (v *Report) Figures() TraceFigures {
	all := &v.Latency.All
	f := TraceFigures{
		Span: v.Totals.Span, Procs: v.Procs.Mean, Waits: all.Count, Total: all.Total, Waiting: Ratio(all.Total, v.Totals.Span),
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
	f.Verdict, f.Sample = v.Verdict.Word, v.sample()
	return f
}

// Woken are the origins that count as being created or woken: the goroutine did not want to
// run before, or was not there.
var Woken = []model.Origin{model.OriginCreated, model.OriginGoroutine, model.OriginTimer, model.OriginNetpoll, model.OriginGC, model.OriginInjected, model.OriginExternal}

// sample returns what a report of one trace has to be compared.
func (v *Report) sample() *TraceSample {
	l, b := &v.Latency, &v.Bursts
	s := &TraceSample{
		Events: v.Totals.Events, CPUSamples: v.Blame.Samples, MinProcs: v.Totals.Procs, MaxProcs: v.Totals.Procs, Capacity: model.Duration(v.procsTime()),
		Run: b.All.Total + b.Censored.Total(), Wait: l.All.Total + l.Censored.Total(), P90: l.All.P90, Blocked: v.Waiting.All.Total, STW: v.STW.Effective.Total,
		Starts: l.All.Count + l.Censored.AtStart.Count,
	}
	for i, x := range v.Totals.GOMAXPROCS {
		n := int(min(x.Procs, math.MaxInt32))
		if i == 0 {
			s.MinProcs, s.MaxProcs = n, n
		}
		s.MinProcs, s.MaxProcs = min(s.MinProcs, n), max(s.MaxProcs, n)
	}
	s.Running = Sum(v.Goroutines, func(g *Group) model.Duration { return g.States[model.GoRunning] })
	s.Handoffs = Sum(v.Handoffs, func(h *Handoff) int64 { return h.Count })
	if v.Queues.Refused == "" {
		s.Steals = new(v.Queues.Steals)
	}
	if v.GC.Cycles > 0 || v.GC.Marks.Count == 0 { // older versions do not have it
		s.GC = new(v.GC.Cycles)
	}
	begun := func(origins ...model.Origin) *int64 {
		n := int64(0)
		for _, o := range origins {
			if d := named(l.ByOrigin, o.String()); d != nil {
				n += d.Count
			}
			for _, x := range l.AtEnd {
				if x.Name == o.String() {
					n += x.Count
				}
			}
		}
		return &n
	}
	if known := Sum(l.AtEnd, func(x *Count) int64 { return x.Count }); known == l.Censored.AtEnd.Count {
		s.Wakes, s.Created, s.Preemptions = begun(Woken...), begun(model.OriginCreated), begun(model.OriginPreempted)
	}
	if len(v.Requests) > 0 && v.Requests[0].Count > 0 {
		k := &v.Requests[0]
		s.RequestKind, s.Requests = k.Kind, []TraceRequests{{"", k.Count, k.Total, k.P50, k.P99}}
		for _, g := range k.Sets() {
			if g.Name != "" {
				s.Requests = append(s.Requests, TraceRequests{g.Name, g.Count, g.Total, g.P50, g.P99})
			}
		}
	}
	return s
}

// spreadFigures are the figures of which the spread is reported.
var spreadFigures = []struct {
	name, unit string
	ofWaits    bool // not known of a trace without waits
	value      func(*TraceFigures) float64
}{
	{"span_ns", "ns", false, func(f *TraceFigures) float64 { return float64(f.Span) }},
	{"procs", "procs", false, func(f *TraceFigures) float64 { return f.Procs }},
	{"waits", "count", false, func(f *TraceFigures) float64 { return float64(f.Waits) }},
	{"total_ns", "ns", false, func(f *TraceFigures) float64 { return float64(f.Total) }},
	{"waiting", "goroutines", false, func(f *TraceFigures) float64 { return f.Waiting }},
	{"p50_ns", "ns", true, func(f *TraceFigures) float64 { return float64(f.P50) }},
	{"p99_ns", "ns", true, func(f *TraceFigures) float64 { return float64(f.P99) }},
	{"p99_9_ns", "ns", true, func(f *TraceFigures) float64 { return float64(f.P999) }},
	{"max_ns", "ns", true, func(f *TraceFigures) float64 { return float64(f.Max) }},
	{"utilisation", "share", false, func(f *TraceFigures) float64 { return f.Utilisation }},
}

// SpreadOf returns how much the figures of traces differ, nil for fewer than two traces.
// A figure that no trace has is left out.
func SpreadOf(list []TraceFigures) []Spread {
	if len(list) < 2 {
		return nil
	}
	var out []Spread
	for _, x := range spreadFigures {
		var having []*TraceFigures
		for i := range list {
			if f := &list[i]; !x.ofWaits || f.Waits > 0 {
				having = append(having, f)
			}
		}
		if len(having) == 0 {
			continue
		}
		slices.SortStableFunc(having, func(a, b *TraceFigures) int { return cmp.Compare(x.value(a), x.value(b)) })
		at := func(q float64) float64 { return x.value(having[NearestRank(q, len(having))]) }
		last := len(having) - 1
		greatest, _ := slices.BinarySearchFunc(having, x.value(having[last]), func(f *TraceFigures, v float64) int { return cmp.Compare(x.value(f), v) })
		out = append(out, Spread{Name: x.name, Unit: x.unit, Traces: len(having),
			Min: at(0), Q1: at(0.25), Median: at(0.5), Q3: at(0.75), Max: x.value(having[last]),
			MinTrace: having[0].Trace, MaxTrace: having[greatest].Trace})
	}
	return out
}

// NearestRank returns the place, from 0, of the q-quantile among n sorted values.
func NearestRank(q float64, n int) int { return min(max(int(math.Ceil(q*float64(n)))-1, 0), n-1) }
