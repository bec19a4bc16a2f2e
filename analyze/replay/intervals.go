package replay

import (
	"math"

	"github.com/schedscope/schedscope/analyze/workload"
	"github.com/schedscope/schedscope/internal/textui"
)

// An interval says where a figure lies that would be measured under another schedule. The spread over seeds is the
// smallest part of that: there are also what the model has wrong, how one recording differs from the next, and
// that the same work takes other CPU time. None of them shows in one trace, so widths are measured on recordings of both
// schedules, for those that two CPUs allow:
//
//  1. From two procs to one. 67 programs and workloads were recorded both ways, three times each. Of 48, the
//     reference reproduced the recording itself, so that something was claimed. One proc does the same work in less time than
//     two, as these share caches, and often a core: nearly all figures are below the middle of those simulated. So
//     intervals of times reach further down than up, and that of a rate further up.
//  2. What decides how far a figure is off is whether the program's wakes depend on time, see
//     [Result.TimeDependent]. Where they hardly do, nine of ten figures are within toOne, and
//     eight of ten are within toOneTimed where they do.
//  3. From one proc to two it is the other way round, and wider: what would wait on two shows on one only in part, such as who
//     holds a lock while another wants it. Who waits for the disk most of the time was off by 3 to 20 times: no interval is
//     given where system calls that lost their procs take much of the time.
//  4. Where most wakes are by locks, two of four programs were off by more than a hundredfold, and one on a quiet machine by
//     more than eightfold: no interval is given.
//  5. On a quiet machine, from one on which others take half a CPU to two. Where the busy one could not keep up, requests took
//     up to a hundred times as long as then on the quiet one, which no interval that is of use contains: those of requests
//     reach down to a third, and to a twentieth where a few took so long that the mean is ten times the median.
//     What disturbs a recording is left out and need not be reproduced, so that it may be off by three quarters: beyond one,
//     intervals half as wide again contain as much (chosen on one set of recordings next to busy loops, judged on another).
//     Requests under other variants are the same in that, and where the operating system took a tenth of the computing.
//  6. Under a quota that is a third more than what the program uses, with two procs, requests only: the trace does not show
//     what threads use of it in the kernel. Nothing gets faster then, except by chance: intervals of times reach down to four
//     fifths of what was measured.
//  7. More procs seldom make requests slower, or fewer faster: that takes caches, locks or luck. Of 15 figures of which simulations
//     had that by a tenth, 8 were so, by half as much: intervals of requests reach to what was measured.
//
// The programs of fixtures/validation, none of which was among the 67, are to hold 80 % of the intervals:
// go -C fixtures/validation run . replay, and of requests run . whatif. Widths were chosen with some of their recordings in
// view, and judged on others.

// widths say how far intervals reach around what is simulated, of the figures of waits and of requests; nil: it was not
// measured.
type widths struct {
	waits      *[NumFigures]width
	requests   *[NumRequestFigures]width
	queued     *[NumRequestFigures]width // of requests that seem to have stood in a queue, nil: as the others
	least      float64                   // of what was measured, that requests take under less of the CPU
	from, upTo float64                   // of what was measured, that intervals of requests reach; 0: as far as the widths say
	disturbed  bool                      // the operating system took much of the computing
}

// queued is how many times as long as the median requests take on average that seem to have stood in a queue.
const queued = 10

// width says how far an interval reaches below and above the figure simulated: by how much the logarithm of a time differs,
// or a part.
type width struct{ below, above float64 }

var (
	// Of the requests, 22 programs with 26 groups were recorded with two procs and with one, at real-time priority.
	requestsToOne = &[NumRequestFigures]width{RequestP50: {0.34, 0.24}, RequestP99: {0.48, 0.32}, RequestMean: {0.30, 0.30}, RequestRate: {0.10, 0.30}}
	requestsToTwo = &[NumRequestFigures]width{RequestP50: {0.24, 0.34}, RequestP99: {0.32, 0.48}, RequestMean: {0.30, 0.30}, RequestRate: {0.30, 0.10}}
	toOne         = widths{waits: &[NumFigures]width{
		FigureSpan: {0.32, 0.10}, FigureMean: {0.32, 0.12}, FigureP90: {0.40, 0.20}, FigureP99: {0.45, 0.25}, FigureLong: {0.06, 0.06},
	}, requests: requestsToOne, upTo: 1}
	toOneTimed = widths{waits: &[NumFigures]width{
		FigureSpan: {0.40, 0.15}, FigureMean: {0.65, 0.35}, FigureP90: {1.80, 1.40}, FigureP99: {2.20, 1.80}, FigureLong: {0.20, 0.20},
	}, requests: requestsToOne, upTo: 1}
	toTwo = widths{waits: &[NumFigures]width{
		FigureSpan: {0.15, 0.35}, FigureMean: {0.20, 0.50}, FigureP90: {0.25, 0.45}, FigureP99: {0.35, 0.80}, FigureLong: {0.12, 0.12},
	}, requests: requestsToTwo, from: 1}
	toTwoTimed = widths{waits: &[NumFigures]width{
		FigureSpan: {0.15, 0.40}, FigureMean: {0.35, 0.65}, FigureP90: {1.40, 1.80}, FigureP99: {1.80, 2.20}, FigureLong: {0.20, 0.20},
	}, requests: requestsToTwo, from: 1}
	toQuiet = widths{waits: &[NumFigures]width{
		FigureSpan: {0.35, 0.10}, FigureMean: {0.30, 0.35}, FigureP90: {0.50, 0.75}, FigureP99: {1.40, 0.35}, FigureLong: {0.10, 0.10},
	}, requests: &[NumRequestFigures]width{RequestP50: {0.80, 0.40}, RequestP99: {1.20, 0.45}, RequestMean: {1.20, 0.45}, RequestRate: {0.10, 0.30}},
		queued: &[NumRequestFigures]width{RequestP50: {0.80, 0.40}, RequestP99: {3.00, 0.45}, RequestMean: {3.00, 0.45}, RequestRate: {0.10, 0.30}}}
	toQuota = widths{least: 0.8, requests: &[NumRequestFigures]width{RequestP50: {0.20, 1.15}, RequestP99: {1.80, 0.50}, RequestMean: {1.40, 0.60}, RequestRate: {0.10, 0.30}}}
)

// of returns the width where the recording is reproduced: half as much again if that is poorly so.
func (w width) of(poor bool) width {
	return textui.Either(poor, width{1.5 * w.below, 1.5 * w.above}, w)
}

// around returns the interval of a time, or a rate, which is not below that of a lower quantile, if there is one.
// Seeds may differ by more.
func (w width) around(v, lower Range) Range {
	return Range{v.Mid, min(v.Low, max(v.Mid/math.Exp(w.below), lower.Low)), max(v.High, v.Mid*math.Exp(w.above), lower.High)}
}

// Parts of the wakes.
const (
	hardlyTimed = 0.10 // that depend on time, up to which figures are as if none did
	mostlyLocks = 0.50 // by locks, beyond which no interval is given
)

// muchLost is how long system calls take that lost their procs, as a part of all time, beyond which no interval is given of two
// procs.
const muchLost = 0.05

// widths returns those of a variant's figures. What the operating system took, quiet leaves out: how far other variants are off then
// was measured of requests alone.
func (r *Result) widths(v *Variant) (w widths) {
	timed := r.TimeDependent() > hardlyTimed
	switch from, to := r.MinProcs, v.Procs(); {
	case from != r.MaxProcs:
	case from == 2 && v.only("quota"):
		w = toQuota
	case r.share(func(c workload.Class) bool { return c == workload.ClassLock }) > mostlyLocks:
	case from == 2 && v.only("quiet"):
		if w = toQuiet; r.Outages.Blind > 0 {
			w.upTo = 1
		}
		return w
	case !v.only("procs") || from+to != 3:
	case to == 1:
		w = map[bool]widths{false: toOne, true: toOneTimed}[timed]
	case float64(r.Lost) <= muchLost*float64(r.Length):
		w = map[bool]widths{false: toTwo, true: toTwoTimed}[timed]
	}
	if w.requests != nil && r.Disturbed() {
		w.waits, w.disturbed = nil, true
	}
	return w
}

// widen gives the figures of an outcome their intervals. Seeds may differ by more.
func (o *Outcome) widen(measured [NumFigures]float64, all Row) {
	for i := range o.Figures {
		k, f := FigureKind(i), &o.Figures[i]
		v, w, lower := f.Value, o.widths.waits[i].of(all.poor()), Range{}
		if k == FigureP99 {
			lower = o.Figures[FigureP90].Value
		}
		if k == FigureLong {
			v.Low, v.High = min(v.Low, max(0, v.Mid-w.below)), max(v.High, min(1, v.Mid+w.above))
		} else {
			v = w.around(v, lower)
		}
		*f = newFigure(k, v, measured[i])
	}
}
