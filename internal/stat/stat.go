// Package stat has the statistics of comparisons: exact where samples are few.
//
// A sample is the values of one quantity, one of each trace, and each trace is of a
// process of its own: that makes them independent, which all of this rests on. Values
// within a trace are not, so nothing here may be given those, except to IAT.
//
// Tests are one-sided. Their null hypothesis is "within the budget", so a small p says
// that the budget is violated. None depends on a seed or a clock, nor on the processor: a
// product that is added to something is converted to float64, since some processors round
// only the sum otherwise.
package stat

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/aclements/go-moremath/stats"
)

// Interval is an estimate with a confidence interval.
type Interval struct {
	Est  float64 `json:"est"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// Confidence is the one that the interval really has, 0 if there is no interval. It
	// is at least the one asked for, unless the sample is too small for that: then Low
	// and High are the extremes, and it is what these have.
	Confidence float64 `json:"confidence"`
}

// OK reports whether there is an interval.
func (i Interval) OK() bool { return i.Confidence > 0 }

// Median returns the median of x, the mean of the middle two if there are two. It is NaN
// of an empty x.
func Median(x []float64) float64 { return medianSorted(sorted(x)) }

func medianSorted(x []float64) float64 {
	n := len(x)
	if n == 0 {
		return math.NaN()
	}
	if n%2 == 1 {
		return x[n/2]
	}
	return x[n/2-1] + (x[n/2]-x[n/2-1])/2
}

// Holm returns Holm's adjusted p values, in the order of p: each is to be compared with
// the error rate of the whole family. A NaN counts as 1: a member that was not tested.
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	adj := make([]float64, len(p))
	for i := range p {
		order[i] = i
		adj[i] = p[i]
		if math.IsNaN(p[i]) {
			adj[i] = 1
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(adj[a], adj[b]) })
	least := 0.0
	for rank, i := range order {
		least = max(least, min(1, adj[i]*float64(len(p)-rank)))
		adj[i] = least
	}
	return adj
}

// LogSD returns the standard deviation of the logarithms between traces, pooled over the
// two sides, each about its own mean; either may be empty. It is NaN, not known, if a
// value is not positive or if no side has two values.
func LogSD(base, cand []float64) float64 {
	ss, df := 0.0, 0
	for _, side := range [][]float64{base, cand} {
		l, ok := logs(side)
		if !ok {
			return math.NaN()
		}
		if len(l) > 1 {
			_, s := meanSS(l)
			ss += s
			df += len(l) - 1
		}
	}
	if df == 0 {
		return math.NaN()
	}
	return steady(math.Sqrt(ss / float64(df)))
}

// tQuantile returns the p quantile of Student's distribution with v degrees of freedom.
func tQuantile(v int, p float64) float64 {
	if v > 1000 {
		return z(p)
	}
	if p < 0.5 {
		return -tQuantile(v, 1-p)
	}
	t := stats.TDist{V: float64(v)}
	lo, hi := 0.0, 1.0
	for t.CDF(hi) < p && hi < 1e12 {
		hi *= 2
	}
	for mid := hi / 2; mid > lo && mid < hi; mid = lo + (hi-lo)/2 {
		if t.CDF(mid) < p {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// logs returns the logarithms of x, or false if a value has none or is infinite.
func logs(x []float64) ([]float64, bool) {
	l := make([]float64, len(x))
	for i, v := range x {
		if !(v > 0) || math.IsInf(v, 1) {
			return nil, false
		}
		l[i] = math.Log(v)
	}
	return l, true
}

// meanSS returns the mean and the sum of squares about it.
func meanSS(x []float64) (mean, ss float64) {
	if slices.Min(x) == slices.Max(x) {
		return x[0], 0 // exactly, which rounding would spoil
	}
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		ss += float64((v - mean) * (v - mean))
	}
	return mean, ss
}

// Slope returns the slope of the least-squares line through the points, NaN if there is none.
func Slope(x, y []float64) float64 {
	mx, squares := meanSS(x)
	sum := 0.0
	for i := range x {
		sum += float64((x[i] - mx) * y[i])
	}
	return steady(sum / squares)
}

// steady rounds a result to twelve digits: logarithms and what is made of them differ in
// their last digits between kinds of processors, and so would reports.
func steady(x float64) float64 {
	x, _ = strconv.ParseFloat(strconv.FormatFloat(x, 'g', 12, 64), 64)
	return x
}

func sorted(x []float64) []float64 {
	s := slices.Clone(x)
	slices.Sort(s)
	return s
}

func hasNaN(x []float64) bool { return slices.ContainsFunc(x, math.IsNaN) }
