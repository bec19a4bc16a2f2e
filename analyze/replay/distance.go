package replay

import (
	"cmp"
	"math"
	"slices"

	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/model"
)

// Floor is the least length in changes, to which shorter ones are raised: two ticks of the
// trace's clock.
const Floor model.Duration = 128

// W1 returns the Wasserstein-1 distance of two distributions in nanoseconds: the
// area between their distribution functions, which is how far a wait must be moved
// on average to make one of the other. NaN if either is empty.
func W1(a, b *dist.Dist) float64 {
	na, nb := a.Count(), b.Count()
	if na == 0 || nb == 0 {
		return math.NaN()
	}
	// 1. By how much the difference of the two functions, times na times nb, changes at each value. Samples are fewer than
	// 2^31, and lengths shorter than 2^63.
	type change struct {
		at model.Duration
		by int64
	}
	var list []change
	a.Each(func(v model.Duration, n int64) { list = append(list, change{v, n * nb}) })
	b.Each(func(v model.Duration, n int64) { list = append(list, change{v, -n * na}) })
	slices.SortFunc(list, func(x, y change) int { return cmp.Compare(x.at, y.at) })
	// 2. The area, from left to right. Products are rounded by themselves: some processors would add first.
	area, apart := 0.0, list[0].by
	for i, c := range list[1:] {
		area += float64(math.Abs(float64(apart)) * float64(c.at-list[i].at))
		apart += c.by
	}
	return area / float64(na*nb)
}

// mean returns a distribution's mean in nanoseconds, 0 if it is empty.
func mean(d *dist.Dist) float64 { return float64(d.Total()) / float64(max(d.Count(), 1)) }
