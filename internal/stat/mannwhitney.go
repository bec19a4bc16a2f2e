package stat

import (
	"math"

	"github.com/aclements/go-moremath/mathx"
	"github.com/aclements/go-moremath/stats"
)

// MannWhitney returns the one-sided p of "cand is not above bound", of two independent
// samples: the probability that the bound values beat the candidate's in as few pairs as
// they do, or fewer, if both are of one distribution. bound holds the values of the
// baseline, already mapped to what the budget allows for them.
//
// Where lower is worse, give the sides the other way round. Ties count half, and the
// distribution is the one with the ties seen (Klotz 1966). It is exact up to 50 values
// per side without ties and 25 with ties; beyond that it is the normal approximation
// with corrections for continuity and ties, whose error is below 0.001 where p is below
// 0.1, and below 0.003 at very unequal sizes such as 6 and 60; below 0.01 it gives too
// much rather than too little.
//
// It is 1, nothing shown, if a side is empty, if a value is NaN, or if all are equal.
func MannWhitney(bound, cand []float64) float64 {
	if hasNaN(bound) || hasNaN(cand) {
		return 1
	}
	// N.B. LocationGreater is wrong where there are ties.
	r, err := stats.MannWhitneyUTest(bound, cand, stats.LocationLess)
	if err != nil {
		return 1
	}
	return math.Min(1, steady(r.P))
}

// MinP returns the smallest p that MannWhitney can give for n and m values: with every
// value of one side above all of the other. It is 1 if a side is empty.
func MinP(n, m int) float64 {
	if n <= 0 || m <= 0 {
		return 1
	}
	return steady(math.Exp(-mathx.Lchoose(n+m, n)))
}

// exactU is the greatest product of sizes for which the distribution of U is computed.
const exactU = 50 * 50

// uCDF returns the probability of U <= u, without ties.
func uCDF(n, m, u int) float64 {
	if n*m <= exactU {
		return stats.UDist{N1: n, N2: m}.CDF(float64(u))
	}
	nm := float64(n) * float64(m)
	sd := math.Sqrt(nm * float64(n+m+1) / 12)
	return stats.StdNormal.CDF((float64(u) + 0.5 - float64(nm/2)) / sd)
}
