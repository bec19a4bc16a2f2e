package chart

import (
	"fmt"
	"math"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/analyze/result"
)

// Dashboard returns the picture that shows, on one clock, a heat map of
// scheduling latencies, what the procs did, how many goroutines were runnable
// and the heap. It is the one to take if there is to be only one.
func Dashboard(r *analyze.Report, source string) *Picture {
	return newDashboard("Scheduling latency, procs and run queues on one clock", summary(r, source), timelineOf(r))
}

// timelineOf copies what the dashboard needs.
func timelineOf(r *analyze.Report) timeline {
	t := timeline{
		start: float64(r.Timeline.Start()),
		span:  float64(r.Totals.Span),
		waits: r.Latency.All.Count(),
		heat:  heatOf(r.Heat),
		worst: point{float64(r.Latency.All.MaxAt()), float64(r.Latency.All.Max())},
		bands: bandsOf(r.Timeline),
	}
	bins := r.Timeline.Bins()
	if r.Totals.Traces > 1 { // they lie on top of each other, Span is their sum
		t.span = float64(r.Timeline.Width()) * float64(len(bins))
	}
	t.depth.most = seriesOf(r.Timeline, func(b *analyze.TimeBin) float64 { return float64(b.MaxRunnable) })
	t.depth.mean = seriesOf(r.Timeline, (*analyze.TimeBin).MeanRunnable)
	if r.Totals.Traces > 1 {
		// Heaps of several processes have no common curve: no panel. Not all
		// traces need to reach to the end.
		t.means = fmt.Sprintf(", mean over up to %d traces", r.Totals.Traces)
	} else {
		t.heap = heapOf(r.Timeline)
	}
	for i := range bins {
		t.procs = max(t.procs, math.Round(bins[i].MeanProcs()))
	}
	return t
}

// seriesOf returns a value of each bin of tl.
func seriesOf(tl *analyze.Timeline, value func(*analyze.TimeBin) float64) series {
	bins := tl.Bins()
	s := series{x0: float64(tl.Start()), dx: float64(tl.Width()), v: make([]float64, len(bins))}
	for i := range bins {
		s.v[i] = value(&bins[i])
	}
	return s
}

// heatOf copies the counts of h.
func heatOf(h *analyze.Heat) heatmap {
	lo, _ := analyze.HeatBounds(0)
	_, end := analyze.HeatBounds(analyze.HeatRows - 1)
	m := heatmap{
		cols: h.Cols(), rows: analyze.HeatRows,
		x0: float64(h.Start()), dx: float64(h.Width()),
		y0: log10ns(float64(lo)),
	}
	m.dy = (log10ns(float64(end)) - m.y0) / float64(m.rows)
	m.count = make([]uint32, m.cols*m.rows)
	for i := range m.cols {
		for j := range m.rows {
			m.count[i*m.rows+j] = h.Count(i, j)
		}
	}
	return m
}

// uses maps what analyses tell apart to what pictures do.
var uses = [result.NumUses]occupation{
	result.UseUser:      occUser,
	result.UseGC:        occGC,
	result.UseAssist:    occAssist,
	result.UseRuntime:   occRuntime,
	result.UseSyscall:   occSyscall,
	result.UseSearching: occSearching,
	result.UseStopped:   occStopped,
	result.UseIdle:      occIdle,
	result.UseUnknown:   occUnknown,
}

// bandsOf returns the procs' uses as layers, without those that do not occur.
// Unknown is left out: it stays white.
func bandsOf(tl *analyze.Timeline) []band {
	var bands []band
	for _, o := range []occupation{occUser, occSyscall, occGC, occAssist, occRuntime, occSearching, occStopped, occIdle} {
		occurs := false
		s := seriesOf(tl, func(b *analyze.TimeBin) float64 {
			mean := 0.0
			for u, as := range uses {
				if as == o {
					mean += b.MeanUse(result.Use(u))
				}
			}
			occurs = occurs || mean > 0
			return mean
		})
		if occurs {
			bands = append(bands, band{occupations[o].name, occupations[o].col, s})
		}
	}
	return bands
}

// noGoal is where heap goals end and the runtime's way to say that there is
// none begins: all bits set, with GOGC=off (runtime/mgcpacer.go, Go 1.26).
const noGoal = 1 << 60

// heapOf returns the heap's size and goal, each kept until its next sample or
// until the trace has a gap; empty if there are no samples.
func heapOf(tl *analyze.Timeline) heap {
	held := func(value func(*analyze.TimeBin) uint64) series {
		last, any := uint64(0), false
		s := seriesOf(tl, func(b *analyze.TimeBin) float64 {
			if v := value(b); v >= noGoal || v == 0 && b.Covered <= 0 {
				last = 0
			} else if v != 0 {
				last, any = v, true
			}
			return float64(last)
		})
		if !any {
			return series{}
		}
		return s
	}
	return heap{
		live: held(func(b *analyze.TimeBin) uint64 { return b.Heap }),
		goal: held(func(b *analyze.TimeBin) uint64 { return b.Goal }),
	}
}
