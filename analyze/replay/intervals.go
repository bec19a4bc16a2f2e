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
//  2. What decides how far a figure is off is whether the program's wakes depend on time, see
//     [Result.TimeDependent]. Where they hardly do, nine of ten figures are within the first row, and
//     eight of ten are within the second where they do.
//  3. Where most wakes are by locks, two of four programs were off by more than a hundredfold: no interval is given.
//
// The programs of fixtures/validation, none of which was among the 67, are to hold 80 % of the intervals:
// go -C fixtures/validation run . replay.
var (
	widthsFixed = [NumFigures]float64{FigureSpan: 0.20, FigureMean: 0.25, FigureP90: 0.33, FigureP99: 0.40, FigureLong: 0.06}
	widthsTimed = [NumFigures]float64{FigureSpan: 0.28, FigureMean: 0.50, FigureP90: 1.60, FigureP99: 2.00, FigureLong: 0.20}
)

// widthsRequests are the same of requests. 22 programs with 26 groups of them, those of
// fixtures/validation/requests, of fixtures/programs and two of fixtures/validation/programs, were recorded with two procs
// and with one, at real-time priority. Of the figures so predicted 91 of 104 are inside, and 34 of 40 without the servers of
// fixtures/validation/requests, whose requests come at given times. The widths were chosen with all of them in view.
var widthsRequests = [NumRequestFigures]float64{RequestP50: 0.32, RequestP99: 0.40, RequestMean: 0.26, RequestRate: 0.18}

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
			v.Low, v.High = min(v.Low, max(0, v.Mid-w)), max(v.High, min(1, v.Mid+w))
		} else {
			v.Low, v.High = min(v.Low, v.Mid/math.Exp(w)), max(v.High, v.Mid*math.Exp(w))
		}
		*f = newFigure(k, v, measured[i])
	}
}
