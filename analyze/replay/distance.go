package replay

import (
	"math"
	"math/bits"

	"github.com/schedscope/schedscope/internal/dist"

	"github.com/schedscope/schedscope/model"
)

// Floor is the length below which quantiles are not told apart: two ticks of
// the trace's clock.
const Floor model.Duration = 128

// W1 returns the Wasserstein-1 distance of two distributions in nanoseconds: the
// area between their distribution functions, which is how far a wait must be moved
// on average to make one of the other. NaN if either is empty.
func W1(a, b *dist.Dist) float64 {
	if a.Count() == 0 || b.Count() == 0 {
		return math.NaN()
	}
	return distance(steps(a), steps(b), a.Count(), b.Count())
}

// step is a value of a distribution and how often it occurs.
type step struct {
	value model.Duration
	n     int64
}

// steps returns the values of a distribution in increasing order.
func steps(d *dist.Dist) []step {
	var out []step
	d.Each(func(v model.Duration, n int64) { out = append(out, step{v, n}) })
	return out
}

// distance sums up the area between two distribution functions from left to
// right, in whole numbers: na times nb times the distance. Samples are fewer than 2^31, and
// lengths shorter than 2^63.
func distance(a, b []step, na, nb int64) float64 {
	var hi, lo uint64 // of the sum
	var belowA, belowB int64
	var last model.Duration
	for len(a) > 0 || len(b) > 0 {
		v := next(a, b)
		apart := belowA*nb - belowB*na
		if apart < 0 {
			apart = -apart
		}
		h, l := bits.Mul64(uint64(apart), uint64(v-last))
		var carry uint64
		lo, carry = bits.Add64(lo, l, 0)
		hi += h + carry
		if len(a) > 0 && a[0].value == v {
			belowA += a[0].n
			a = a[1:]
		}
		if len(b) > 0 && b[0].value == v {
			belowB += b[0].n
			b = b[1:]
		}
		last = v
	}
	return (float64(hi)*(1<<64) + float64(lo)) / float64(na*nb)
}

// next returns the smaller first value of two lists, not both empty.
func next(a, b []step) model.Duration {
	if len(b) == 0 || len(a) > 0 && a[0].value < b[0].value {
		return a[0].value
	}
	return b[0].value
}

// QuantileError returns by which part of the measured value the simulated one is
// too long; negative if it is too short. Both count as at least [Floor].
func QuantileError(measured, simulated model.Duration) float64 {
	m, s := max(measured, Floor), max(simulated, Floor)
	return float64(s-m) / float64(m)
}

// mean returns a distribution's mean in nanoseconds, 0 if it is empty.
func mean(d *dist.Dist) float64 {
	if d.Count() == 0 {
		return 0
	}
	return float64(d.Total()) / float64(d.Count())
}
