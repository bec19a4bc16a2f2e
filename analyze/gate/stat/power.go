package stat

import (
	"math"

	"github.com/aclements/go-moremath/stats"
)

// The functions of this file say what MannWhitney sees of log-normal values against the
// bound k times the baseline. k is the budgeted ratio, s the standard deviation of the
// logarithms between traces (LogSD), n and m the numbers of traces of the two sides,
// alpha the error rate that the rule has: after Holm's correction the family's divided by
// the number of rules, at worst.

// ranking is how much more spread ranks leave than means do: sqrt(pi/3), of normal values.
const ranking = 1.0233267079464885

// MDE returns the smallest true ratio to the baseline that is seen with probability
// power. It is +Inf if none is: s is not known (NaN), or the sides are too small for any
// p to reach alpha.
func MDE(k, s float64, n, m int, alpha, power float64) float64 {
	if math.IsNaN(s) || MinP(n, m) > alpha+rounding {
		return math.Inf(1)
	}
	return k * math.Exp((z(1-alpha)+z(power))*spread(s, n, m))
}

// Needed returns how many traces per side show a true ratio of r with probability power.
// It is 0, not known, if r is not above k or s is NaN. It does not know of a least number
// of traces that a budget may ask for.
func Needed(k, r, s, alpha, power float64) int {
	if !(r > k) || !(k > 0) || math.IsNaN(s) {
		return 0
	}
	x := (z(1-alpha) + z(power)) * s * ranking / math.Log(r/k)
	n := math.Ceil(2*x*x - rounding)
	if n > maxNeeded {
		return maxNeeded
	}
	least := 1
	for MinP(least, least) > alpha+rounding {
		least++
	}
	return max(int(n), least)
}

// maxNeeded is where Needed stops counting: nobody records that many.
const maxNeeded = 1_000_000

// Power returns the probability that a true ratio of r is seen.
func Power(k, r, s float64, n, m int, alpha float64) float64 {
	switch {
	case math.IsNaN(s) || MinP(n, m) > alpha+rounding:
		return 0
	case s == 0 && r > k:
		return 1
	case s == 0:
		return 0
	}
	return stats.StdNormal.CDF(math.Log(r/k)/spread(s, n, m) - z(1-alpha))
}

// spread returns the standard error of the logarithm of a Hodges-Lehmann ratio.
func spread(s float64, n, m int) float64 {
	return s * ranking * math.Sqrt(1/float64(n)+1/float64(m))
}

func z(p float64) float64 { return stats.StdNormal.InvCDF(p) }
