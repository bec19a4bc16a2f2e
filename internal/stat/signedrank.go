package stat

import (
	"math"
	"slices"

	"github.com/aclements/go-moremath/stats"
)

// SignedRank returns the one-sided p of "the median of d is not above 0" of paired
// differences d, whose distribution is taken as symmetric: Wilcoxon's signed-rank test.
//
// Zeros take part in the ranking and then have no sign (Pratt 1959), ties have the mean
// of their ranks, and the distribution is that of all signs of the ranks seen. It is
// exact up to 200 values and beyond that the normal approximation with corrections,
// whose error is below 0.001. It is 1 if d has no value other than 0, or a NaN.
func SignedRank(d []float64) float64 {
	if hasNaN(d) {
		return 1
	}
	ranks, positive := signedRanks(d)
	if len(ranks) == 0 {
		return 1
	}
	if len(d) > exactSigned {
		return signedNormal(ranks, positive)
	}
	p := signedDist(ranks)
	return math.Min(1, sum(p[positive:]))
}

// exactSigned is the greatest number of differences for which the distribution is
// computed.
const exactSigned = 200

// signedRanks returns twice the rank of each difference other than 0, and the sum of
// those of the positive ones.
func signedRanks(d []float64) (ranks []int, positive int) {
	d = slices.Clone(d)
	slices.SortFunc(d, func(a, b float64) int { return cmpFloat(math.Abs(a), math.Abs(b)) })
	for i := 0; i < len(d); {
		j := i
		for j < len(d) && math.Abs(d[j]) == math.Abs(d[i]) {
			j++
		}
		twice := i + 1 + j // ranks i+1 to j
		for ; i < j; i++ {
			if d[i] == 0 {
				continue
			}
			ranks = append(ranks, twice)
			if d[i] > 0 {
				positive += twice
			}
		}
	}
	return ranks, positive
}

// signedDist returns the probability of each sum of a random half of the ranks.
func signedDist(ranks []int) []float64 {
	p := make([]float64, sum(ranks)+1)
	p[0] = 1
	top := 0
	for _, r := range ranks {
		top += r
		for s := top; s >= 0; s-- {
			p[s] /= 2
			if s >= r {
				p[s] += p[s-r] / 2
			}
		}
	}
	return p
}

func signedNormal(ranks []int, positive int) float64 {
	mean, variance := float64(sum(ranks))/2, 0.0
	for _, r := range ranks {
		variance += float64(r) * float64(r) / 4
	}
	// One step of a rank sum is 2 in doubled ranks, half of that the correction.
	return stats.StdNormal.CDF(-(float64(positive) - 1 - mean) / math.Sqrt(variance))
}

// signedCDF returns the probability that the rank sum of n values is at most w, without
// ties.
func signedCDF(n int) func(w int) float64 {
	ranks := make([]int, n)
	for i := range ranks {
		ranks[i] = i + 1
	}
	if n > exactSigned {
		return func(w int) float64 {
			mean := float64(n) * float64(n+1) / 4
			sd := math.Sqrt(mean * float64(2*n+1) / 6)
			return stats.StdNormal.CDF((float64(w) + 0.5 - mean) / sd)
		}
	}
	p := signedDist(ranks)
	return func(w int) float64 { return sum(p[:w+1]) }
}

func sum[T int | float64](x []T) (s T) {
	for _, v := range x {
		s += v
	}
	return s
}
