package stat

import (
	"math"
	"slices"

	"github.com/aclements/go-moremath/mathx"
)

// Beyond returns the one-sided p of "cand is not beyond bound", which has what a budget allows
// for each value of base: by MeanLogs, above it if higher values are worse, else below.
//
// Where the bound allows more than the base, p is at least twice that of "cand is not beyond
// base": an unchanged program fails with at most half of the error rate, also if its traces
// differ by far more than the bound allows.
func Beyond(base, bound, cand []float64, higher bool) float64 {
	beyond, room := MeanLogs, Median(bound)-Median(base)
	if !higher {
		beyond, room = func(limit, cand []float64) float64 { return MeanLogs(cand, limit) }, -room
	}
	p := beyond(bound, cand)
	if room > 0 {
		p = min(1, max(p, Unchanged*beyond(base, cand)))
	}
	return p
}

// Unchanged is how many times less often an unchanged program may fail, and how many times more
// than MinP the least p is where there is room.
const Unchanged = 2

// The steps of logarithms in a standard deviation, and how many of these count: what lies
// farther off counts as if it lay there. The p99s of queues have long tails.
const (
	steps   = 32
	farther = 2
)

// MeanLogs returns the one-sided p of "cand is not above bound", as MannWhitney does, by the
// means of the logarithms: the share of all ways to deal the values out in which the mean of
// the candidate's is as great. Of log-normal values it sees what Student's t test sees, and
// it does not trust that they are.
//
//  1. Logarithms become whole numbers: their distances from the median of all values, in
//     steps of a 32nd of the standard deviation that the median distance shows. That does
//     not depend on which side a value is of.
//  2. The ways to choose as many values as the candidate has are counted by their sums,
//     from the greatest value down: exact.
//
// Where a value has no logarithm, or half of them are equal, it is MannWhitney, and of more
// than 100, of which ranks see nearly as much.
func MeanLogs(bound, cand []float64) float64 {
	x, ok := logs(slices.Concat(bound, cand))
	if !ok || len(bound) == 0 || len(cand) == 0 || len(x) > 100 {
		return MannWhitney(bound, cand)
	}
	mid, far := Median(x), make([]float64, len(x)) // 1
	for i := range x {
		far[i] = math.Abs(x[i] - mid)
	}
	sd := Median(far) / normalMAD
	if !(sd > rounding) {
		return MannWhitney(bound, cand)
	}
	less, seen := make([]int, len(x)), 0 // below the greatest that counts
	for i := range x {
		less[i] = int(math.Round(steps * (farther - max(-farther, min(farther, (x[i]-mid)/sd)))))
		if i >= len(bound) {
			seen += less[i]
		}
	}
	return dealt(less, len(cand), seen) // 2
}

// normalMAD is the median distance of normal values from their median, in standard deviations.
const normalMAD = 0.6744897501960817

// dealt returns the share of all ways to take m of x that have a sum of at most seen.
func dealt(x []int, m, seen int) float64 {
	slices.Sort(x)
	ways := make([][]float64, m+1) // by how many were taken, and their sum
	for j := range ways {
		ways[j] = make([]float64, seen+1)
	}
	ways[0][0] = 1
	for i, v := range x {
		for j := min(i+1, m); j > max(0, m-len(x)+i); j-- {
			// Each of those that are still to be taken is at least v.
			for s := v; s <= seen-(m-j)*v; s++ {
				ways[j][s] += ways[j-1][s-v]
			}
		}
	}
	few := 0.0
	for _, w := range ways[m] {
		few += w
	}
	return math.Min(1, steady(few*math.Exp(-mathx.Lchoose(len(x), m))))
}
