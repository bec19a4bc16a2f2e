package stat

import (
	"math"
	"sort"

	"github.com/aclements/go-moremath/mathx"
	"github.com/aclements/go-moremath/stats"
)

// The functions of this file say what Beyond sees of log-normal values against the bound k
// times the baseline. k is the budgeted ratio, s the standard deviation of the logarithms
// between traces (LogSD), n and m the numbers of traces of the two sides, alpha the error
// rate that the rule has: after Holm's correction the family's divided by the number of
// rules, at worst.
//
// They are what Student's t test of the logarithms sees, at an error rate half a step of p
// below the greatest that p can have. From six traces per side that is within 4 points of
// simulation. The usual closed formula is not: it ignores the steps, and promises up to 24
// points too much with six traces.

// MDE returns the smallest true ratio to the baseline that is seen with probability
// power, which is less than 1. It is +Inf if none is: s is not known (NaN), or the sides
// are too small for any p to reach alpha.
func MDE(k, s float64, n, m int, alpha, power float64) float64 {
	d := newDesign(k, s, n, m, alpha)
	if math.IsNaN(s) || math.IsInf(max(d.t, d.same), 1) || !(power < 1) {
		return math.Inf(1)
	}
	const steps = 1 << 20 // of shifts up to 16 standard deviations
	shift := sort.Search(steps, func(i int) bool { return d.power(16*float64(i)/steps) >= power })
	return steady(k * math.Exp(s*16*float64(shift)/steps))
}

// Needed returns how many traces per side show a true ratio of r with probability power.
// It is 0, not known, if r is not above k or s is NaN. It does not know of a least number
// of traces that a budget may ask for.
func Needed(k, r, s, alpha, power float64) int {
	if !(r > k) || !(k > 0) || math.IsNaN(s) || !(power < 1) || !(alpha > 0) {
		return 0
	}
	n := closedNeeded(math.Log(r/k)/s, alpha, power)
	if n >= maxNeeded {
		return maxNeeded
	}
	n = max(1, n-2)
	for Power(k, r, s, n, n, alpha) < power {
		n++
	}
	return n
}

// maxNeeded is where Needed stops counting: nobody records that many.
const maxNeeded = 1_000_000

// Power returns the probability that a true ratio of r is seen. It is 0 if s is not known
// (NaN).
func Power(k, r, s float64, n, m int, alpha float64) float64 {
	d := newDesign(k, s, n, m, alpha)
	switch shift := math.Log(r / k); {
	case math.IsNaN(s) || math.IsInf(max(d.t, d.same), 1):
		return 0
	case s == 0 && shift > 0:
		return 1
	case s == 0:
		return 0
	default:
		return steady(d.power(shift / s))
	}
}

// SignMDE returns the smallest true ratio of the median to the limit that SignTest shows
// with probability power, of n log-normal values; exact. It is +Inf if none is: see MDE.
func SignMDE(s float64, n int, alpha, power float64) float64 {
	most := signMost(n, alpha)
	if math.IsNaN(s) || most < 0 || !(power > 0) || !(power < 1) {
		return math.Inf(1)
	}
	// The probability that a value does not lie above the limit.
	const steps = 1 << 30
	not := sort.Search(steps, func(i int) bool { return binomial(n, most, 0.5-0.5*float64(i)/steps) >= power })
	if not == steps {
		return math.Inf(1)
	}
	return steady(math.Exp(-s * z(0.5-0.5*float64(not)/steps)))
}

// SignNeeded returns how many values show a true ratio of r to the limit with probability
// power; 0 if r is not above 1 or s is not known.
func SignNeeded(r, s, alpha, power float64) int {
	if !(r > 1) || math.IsNaN(s) || !(alpha > 0) || !(power < 1) {
		return 0
	}
	not := within(r, s)
	// The closed formula is within a few; where it asks for very many it will do.
	x := (z(1-alpha) + z(power)) * s / math.Log(r)
	closed := math.Ceil(x * x * math.Pi / 2)
	if closed > 1000 {
		return int(math.Min(closed, maxNeeded))
	}
	n := max(1, int(closed)/2)
	for most := signMost(n, alpha); most < 0 || binomial(n, most, not) < power; most = signMost(n, alpha) {
		n++
	}
	return n
}

// SignPower returns the probability that SignTest shows a true ratio of r to the limit, of n
// log-normal values; exact. It is 0 if s is not known.
func SignPower(r, s float64, n int, alpha float64) float64 {
	most := signMost(n, alpha)
	if math.IsNaN(s) || most < 0 {
		return 0
	}
	return steady(binomial(n, most, within(r, s)))
}

// within returns the probability that a value does not lie above the limit, of which the
// median is r times.
func within(r, s float64) float64 {
	switch {
	case s > 0:
		return stats.StdNormal.CDF(-math.Log(r) / s)
	case r > 1:
		return 0
	}
	return 1
}

// signMost returns how many of n values may lie within the limit if SignTest is to give at
// most alpha, or -1 if none may.
func signMost(n int, alpha float64) int {
	return sort.Search(n, func(k int) bool { return binomial(n, k, 0.5) > alpha+rounding }) - 1
}

// binomial returns the probability of at most k of n with probability p each.
func binomial(n, k int, p float64) float64 {
	if p <= 0 || k >= n {
		return 1
	}
	sum := 0.0
	for i := 0; i <= k; i++ {
		sum += math.Exp(mathx.Lchoose(n, i) + float64(float64(i)*math.Log(p)) + float64(float64(n-i)*math.Log1p(-p)))
	}
	return math.Min(1, sum)
}

// design is a test with numbers of traces and an error rate, of values of standard deviation 1.
type design struct {
	free   float64 // degrees of freedom
	se     float64 // of the difference between the sides
	t      float64 // critical value against the bound, +Inf: no p reaches the error rate
	same   float64 // against the base, -Inf: that is not asked
	margin float64 // of the bound above the base, in standard errors
}

func newDesign(k, s float64, n, m int, alpha float64) design {
	d := design{t: math.Inf(1), same: math.Inf(-1)}
	if n <= 0 || m <= 0 || !(alpha > 0) || !(alpha < 1) {
		return d
	}
	d.free, d.se = float64(max(n+m-2, 1)), math.Sqrt(1/float64(n)+1/float64(m))
	step := max(MinP(n, m), rounding)
	critical := func(alpha float64) float64 {
		if alpha -= math.Mod(alpha+rounding, step) + step/2; alpha <= 0 {
			return math.Inf(1)
		}
		return tQuantile(int(d.free), 1-alpha)
	}
	d.t = critical(alpha)
	if k > 1 {
		d.same, d.margin = critical(alpha/Unchanged), math.Log(k)/s/d.se
	}
	return d
}

// power returns the probability that the test fails values that are greater than the bound by
// shift on the candidate's side: the mean over the standard deviations w that the traces may
// seem to have.
func (d design) power(shift float64) float64 {
	sum, all := 0.0, 0.0
	width := min(1, 6/math.Sqrt(2*d.free))
	const slices = 128
	for i := range slices {
		w := 1 + float64(width*(2*(float64(i)+0.5)/slices-1))
		density := math.Exp(float64((d.free-1)*math.Log(w)) - float64(d.free*(w*w-1)/2))
		least := max(float64(d.t*w), float64(d.same*w)-d.margin)
		all += density
		sum += float64(density * stats.StdNormal.CDF(shift/d.se-least))
	}
	return sum / all
}

// closedNeeded is the usual formula of how many values per side show a shift of so many
// standard deviations: a few less than it takes.
func closedNeeded(shift, alpha, power float64) int {
	x := (z(1-alpha) + z(power)) / shift
	return int(math.Ceil(math.Min(float64(2*x*x)-rounding, maxNeeded)))
}

func z(p float64) float64 { return stats.StdNormal.InvCDF(p) }
