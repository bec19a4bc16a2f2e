package stat

import (
	"math"
	"sort"

	"github.com/aclements/go-moremath/mathx"
	"github.com/aclements/go-moremath/stats"
)

// The functions of this file say what MannWhitney sees of log-normal values against the
// bound k times the baseline. k is the budgeted ratio, s the standard deviation of the
// logarithms between traces (LogSD), n and m the numbers of traces of the two sides,
// alpha the error rate that the rule has: after Holm's correction the family's divided by
// the number of rules, at worst.
//
// They rest on the exact critical value of U and on a beta-binomial distribution of U
// with the mean and the variance that U really has (power, below). From six traces per
// side that is within 4 points of simulation. The usual closed formula is not: it knows
// neither that p has steps nor how ranks saturate, and promises up to 24 points too much
// with six traces. It is used beyond a product of sizes of 10 000.

// MDE returns the smallest true ratio to the baseline that is seen with probability
// power, which is less than 1. It is +Inf if none is: s is not known (NaN), or the sides
// are too small for any p to reach alpha.
func MDE(k, s float64, n, m int, alpha, power float64) float64 {
	d := newDesign(n, m, alpha)
	if math.IsNaN(s) || d.most < 0 || !(power < 1) {
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
	d := newDesign(n, m, alpha)
	switch shift := math.Log(r / k); {
	case math.IsNaN(s) || d.most < 0:
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

// design is a test with numbers of traces and an error rate.
type design struct {
	n, m  int
	alpha float64
	most  int // greatest U that fails the rule; -1: none does
}

func newDesign(n, m int, alpha float64) design {
	d := design{n, m, alpha, -1}
	if n <= 0 || m <= 0 || !(alpha > 0) || !(alpha < 1) || MinP(n, m) > alpha+rounding {
		return d
	}
	if d.closed() {
		d.most = 0
		return d
	}
	// The normal approximation is a step or two away.
	nm := float64(n * m)
	d.most = max(0, int(nm/2+float64(z(alpha)*math.Sqrt(nm*float64(n+m+1)/12))-0.5))
	for d.most > 0 && uCDF(n, m, d.most) > alpha+rounding {
		d.most--
	}
	for d.most < n*m && uCDF(n, m, d.most+1) <= alpha+rounding {
		d.most++
	}
	return d
}

// closed reports whether there are so many traces that the closed formula will do.
func (d design) closed() bool { return float64(d.n)*float64(d.m) > 100*100 }

// power returns the probability that the test fails normal values of standard deviation 1
// that are greater by shift on the candidate's side.
//
// U is the number of pairs in which the candidate is less. Its mean follows from the
// probability of one such pair, its variance from that of two that share a value
// (Mann and Whitney 1947; Lehmann, Nonparametrics, 2.3). Of the distributions with these,
// the beta-binomial has the right range and lies close.
func (d design) power(shift float64) float64 {
	if d.closed() {
		return stats.StdNormal.CDF(shift/(ranking*math.Sqrt(1/float64(d.n)+1/float64(d.m))) - z(1-d.alpha))
	}
	one := stats.StdNormal.CDF(-shift / math.Sqrt2)
	if one < 1e-12 {
		return 1
	} else if one > 1-1e-12 {
		return 0
	}
	both := 0.0 // of two values on one side against the same on the other
	const step = 1. / 16
	for x := -8.0; x <= 8; x += step {
		below := stats.StdNormal.CDF(x - shift)
		both += float64(stats.StdNormal.PDF(x) * step * below * below)
	}
	pairs := float64(d.n * d.m)
	// How much two pairs correlate, on average over all pairs of pairs.
	corr := (both - float64(one*one)) / (one * (1 - one)) * float64(d.n+d.m-2) / math.Max(1, pairs-1)
	return betaBinomialCDF(int(pairs), d.most, one, max(corr, 1e-9))
}

// betaBinomialCDF returns the probability of at most k of n successes that each have
// probability p and correlate by corr.
func betaBinomialCDF(n, k int, p, corr float64) float64 {
	size := (1 - corr) / corr
	a, b := float64(size*p), float64(size*(1-p))
	sum := 0.0
	for i := 0; i <= k; i++ {
		sum += math.Exp(mathx.Lchoose(n, i) + lbeta(float64(i)+a, float64(n-i)+b) - lbeta(a, b))
	}
	return math.Min(1, sum)
}

func lbeta(a, b float64) float64 {
	x, _ := math.Lgamma(a)
	y, _ := math.Lgamma(b)
	z, _ := math.Lgamma(a + b)
	return x + y - z
}

// ranking is how much more spread ranks leave than means do: sqrt(pi/3), of normal values.
const ranking = 1.0233267079464885

// closedNeeded is the usual formula of how many values per side show a shift of so many
// standard deviations.
func closedNeeded(shift, alpha, power float64) int {
	x := (z(1-alpha) + z(power)) * ranking / shift
	return int(math.Ceil(math.Min(float64(2*x*x)-rounding, maxNeeded)))
}

func z(p float64) float64 { return stats.StdNormal.InvCDF(p) }
