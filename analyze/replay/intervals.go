package replay

import (
	"math"

	"github.com/schedscope/schedscope/analyze/workload"
)

// An interval says where a figure lies that would be measured with another GOMAXPROCS. The spread over seeds is the
// smallest part of that: there are also what the model has wrong, how one recording differs from the next, and
// that the same work takes other CPU time. None of them shows in one trace, so widths are measured:
//
//  1. 67 programs and workloads were recorded with one and with two procs, three times each, those with two were
//     simulated with one, and the expected figures compared with the middle of those then measured. Of 48, the
//     reference reproduced the recording itself, so that something was claimed.
//  2. One proc does the same work in less time than two, as these share caches, and often a core: nearly all figures are
//     below the middle of those simulated. So intervals of times reach further down than up, and that of a rate further up.
//  3. What decides how far a figure is off is whether the program's wakes depend on time, see
//     [Result.TimeDependent]. Where they hardly do, nine of ten figures are within the first row, and
//     eight of ten are within the second where they do.
//  4. Where most wakes are by locks, two of four programs were off by more than a hundredfold: no interval is given.
//
// The programs of fixtures/validation, none of which was among the 67, are to hold 80 % of the intervals:
// go -C fixtures/validation run . replay. How much further down was chosen with some of their recordings in view, and
// judged on others.
var (
	widthsFixed = [NumFigures]width{
		FigureSpan: {0.32, 0.10}, FigureMean: {0.32, 0.12}, FigureP90: {0.40, 0.20}, FigureP99: {0.45, 0.25}, FigureLong: {0.06, 0.06},
	}
	widthsTimed = [NumFigures]width{
		FigureSpan: {0.40, 0.15}, FigureMean: {0.65, 0.35}, FigureP90: {1.80, 1.40}, FigureP99: {2.20, 1.80}, FigureLong: {0.20, 0.20},
	}
)

// width says how far an interval reaches below and above the figure simulated: by how much the logarithm of a time differs,
// or a part.
type width struct{ below, above float64 }

// around returns the interval of a time, or a rate. Seeds may differ by more.
func (w width) around(v Range) Range {
	return Range{v.Mid, min(v.Low, v.Mid/math.Exp(w.below)), max(v.High, v.Mid*math.Exp(w.above))}
}

// widthsRequests are the same of requests. 22 programs with 26 groups of them, those of
// fixtures/validation/requests, of fixtures/programs and two of fixtures/validation/programs, were recorded with two procs
// and with one, at real-time priority. Of the figures so predicted 91 of 104 are inside, and 34 of 40 without the servers of
// fixtures/validation/requests, whose requests come at given times. The widths were chosen with all of them in view, and
// moved as those of waits are.
var widthsRequests = [NumRequestFigures]width{
	RequestP50: {0.34, 0.24}, RequestP99: {0.48, 0.32}, RequestMean: {0.30, 0.18}, RequestRate: {0.10, 0.30},
}

// Parts of the wakes.
const (
	hardlyTimed = 0.10 // that depend on time, up to which an outcome is in the first row
	mostlyLocks = 0.50 // by locks, beyond which no interval is given
)

// checked reports whether one proc is to this trace what it was to those whose errors were measured.
func (r *Result) checked() bool {
	return r.MinProcs == 2 && r.MaxProcs == 2 && !r.Disturbed() &&
		r.share(func(c workload.Class) bool { return c == workload.ClassLock }) <= mostlyLocks
}

// widen gives the figures of an outcome their intervals. Seeds may differ by more.
func (r *Result) widen(o *Outcome, measured [NumFigures]float64) {
	widths := widthsTimed
	if r.TimeDependent() <= hardlyTimed {
		widths = widthsFixed
	}
	for i := range o.Figures {
		k, f := FigureKind(i), &o.Figures[i]
		v, w := f.Value, widths[i]
		if k == FigureLong {
			v.Low, v.High = min(v.Low, max(0, v.Mid-w.below)), max(v.High, min(1, v.Mid+w.above))
		} else {
			v = w.around(v)
		}
		*f = newFigure(k, v, measured[i])
	}
}
