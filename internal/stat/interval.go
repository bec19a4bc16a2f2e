package stat

import (
	"math"
	"slices"
	"sort"
)

// Ratio returns the Hodges-Lehmann estimate of how many times base cand is, and its
// two-sided interval: the exponentials of the median and of two order statistics of all
// differences of logarithms, from the distribution of U (exact up to a product of the
// sizes of 2500, then normal). With ties its confidence is greater than it says. For an
// upper limit at 95 % ask for 0.90.
//
// There is none if a side is empty or a value is zero, negative or infinite: a ratio of
// counts that may be zero means little. Shift works for them.
func Ratio(base, cand []float64, conf float64) Interval {
	b, okB := logs(base)
	c, okC := logs(cand)
	if !okB || !okC {
		return Interval{}
	}
	return Shift(b, c, conf).exp()
}

// Shift returns the Hodges-Lehmann estimate of how much greater cand is than base, in
// their unit, and its interval, as Ratio does without logarithms. Any finite values will
// do.
func Shift(base, cand []float64, conf float64) Interval {
	n, m := len(base), len(cand)
	if n == 0 || m == 0 || !finite(base) || !finite(cand) {
		return Interval{}
	}
	return central(n*m, differences(sorted(base), sorted(cand)), conf, func(u int) float64 { return uCDF(n, m, u) })
}

// differences returns what finds the k-th smallest, from 0, of the differences of all pairs, without making
// them: of sides of 10,000 there are 10^8. Both are sorted.
func differences(base, cand []float64) func(k int) float64 {
	// place orders finite numbers as they are, and number is its inverse.
	place := func(x float64) int64 {
		n := int64(math.Float64bits(x))
		return n ^ n>>63&math.MaxInt64
	}
	number := func(n int64) float64 { return math.Float64frombits(uint64(n ^ n>>63&math.MaxInt64)) }
	// upTo returns how many are at most x.
	upTo := func(x float64) (n int) {
		i := 0
		for _, b := range base {
			for i < len(cand) && cand[i]-b <= x {
				i++
			}
			n += i
		}
		return n
	}
	return func(k int) float64 {
		lo, hi := place(cand[0]-base[len(base)-1]), place(cand[len(cand)-1]-base[0])
		for lo < hi {
			mid := lo + int64(uint64(hi-lo)/2)
			if upTo(number(mid)) > k {
				hi = mid
			} else {
				lo = mid + 1
			}
		}
		return number(lo) + 0 // of two zeros the positive one
	}
}

// central returns the interval from the k-th smallest to the k-th greatest of n numbers, with
// the greatest k that has the confidence; at returns them in order. cdf is that of the statistic, which is the
// number of them on one side of the truth.
func central(n int, at func(k int) float64, conf float64, cdf func(int) float64) Interval {
	tail := (1 - conf) / 2
	// k is the number of values of the statistic whose probabilities the tail can hold.
	k := sort.Search(n/2, func(u int) bool { return cdf(u) > tail+rounding })
	k = max(k, 1)
	return Interval{
		Est:        medianSorted([]float64{at((n - 1) / 2), at(n / 2)}),
		Low:        at(k - 1),
		High:       at(n - k),
		Confidence: reached(1-2*cdf(k-1), conf),
	}.orNone()
}

// rounding is how far a computed probability may lie above one it equals.
const rounding = 1e-12

// reached returns a computed confidence, at least 0, and the one asked for if it is that
// except for rounding: callers compare the two.
func reached(c, conf float64) float64 {
	if math.Abs(c-conf) <= 2*rounding {
		return conf
	}
	return max(0, steady(c))
}

// MedianBounds returns the median of x, and a lower and an upper bound of the median of
// what x is drawn from, each at confidence conf by itself: order statistics, exact and
// without any assumption. Both together have 2*Confidence-1.
//
// Low > limit exactly if SignTest gives at most 1-conf. Less than five values cannot
// reach 95 %: see Interval.
func MedianBounds(x []float64, conf float64) Interval {
	n := len(x)
	if n == 0 || hasNaN(x) {
		return Interval{}
	}
	s := sorted(x)
	k := sort.Search(n/2, func(b int) bool { return binomial(n, b, 0.5) > 1-conf+rounding })
	k = max(k, 1)
	return Interval{
		Est:        medianSorted(s),
		Low:        s[k-1],
		High:       s[n-k],
		Confidence: reached(1-binomial(n, k-1, 0.5), conf),
	}
}

// SignTest returns the one-sided p of "the median is not above limit": the probability
// that as many of x lie above it if half of all do. A value that equals the limit does
// not lie above. Exact; 1 if x is empty or has a NaN.
func SignTest(x []float64, limit float64) float64 {
	if hasNaN(x) || math.IsNaN(limit) {
		return 1
	}
	not := 0
	for _, v := range x {
		if v <= limit {
			not++
		}
	}
	return steady(binomial(len(x), not, 0.5))
}

func (i Interval) exp() Interval {
	if !i.OK() {
		return Interval{}
	}
	i.Est, i.Low, i.High = steady(math.Exp(i.Est)), steady(math.Exp(i.Low)), steady(math.Exp(i.High))
	return i.orNone()
}

// orNone returns i, or no interval if a number of it is beyond those that there are.
func (i Interval) orNone() Interval {
	if !finite([]float64{i.Est, i.Low, i.High}) {
		return Interval{}
	}
	return i
}

func finite(x []float64) bool {
	return !slices.ContainsFunc(x, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
}
