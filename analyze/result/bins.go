package result

import (
	"iter"
	"math"
	"slices"
)

// The most bins and columns that a [Report] has. Pictures of a page are hardly wider.
const (
	SeriesBins = 512
	HeatCols   = 256
	CauseBins  = 128 // of the curves of causes
)

// JoinedBins returns the number of neighbouring bins to join so that at most limit of n
// remain. It is a power of two: the bins of any two reports fit into each other.
func JoinedBins(n, limit int) int {
	joined := 1
	for CeilDiv(n, joined) > limit {
		joined *= 2
	}
	return joined
}

// CeilDiv returns the quotient rounded up, at least 1 so that it can be a divisor.
func CeilDiv(a, b int) int { return max(1, (a+b-1)/b) }

// Points of a spectrum: so many for each factor of ten of 1-q, and those that people
// name, as long as so many waits are beyond.
const (
	spectrumPerDecade = 24
	spectrumBeyond    = 10
)

var spectrumNamed = []float64{0.5, 0.75, 0.95, 0.995, 0.9995} // those of 0.9, 0.99 and so on are points anyway

// NewSpectrum returns the points of d that the number of its values supports, none if the
// values are not known.
func NewSpectrum(name string, d *Dist) Spectrum {
	v := Spectrum{Name: name, Points: []Quantile{}}
	values := d.Values()
	if values == nil {
		return v
	}
	qs := spectrumQuantiles(d.Count)
	for i, value := range values.Quantiles(qs...) {
		v.Points = append(v.Points, Quantile{qs[i], value})
	}
	return v
}

// spectrumQuantiles returns of which quantiles a spectrum of n waits has points. They are
// whole parts of 10^12: powers differ in their last digit between kinds of processors.
func spectrumQuantiles(n int64) []float64 {
	const whole = 1e12
	var qs []float64
	for i := 0; ; i++ {
		beyond := math.Round(whole * math.Pow(10, -float64(i)/spectrumPerDecade))
		if float64(n)*beyond < spectrumBeyond*whole {
			break
		}
		qs = append(qs, (whole-beyond)/whole)
	}
	for _, q := range spectrumNamed {
		if float64(n)*(1-q) >= spectrumBeyond {
			qs = append(qs, q)
		}
	}
	slices.Sort(qs)
	return qs
}

// Each returns f of each element. The result is never nil: JSON has [] and not null.
func Each[S, T any](list []S, f func(*S) T) []T {
	out := make([]T, 0, len(list))
	for i := range list {
		out = append(out, f(&list[i]))
	}
	return out
}

// Refs yields a pointer to each element.
func Refs[T any](list []T) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for i := 0; i < len(list) && yield(&list[i]); i++ {
		}
	}
}

// Find returns the first element that is as f says, nil if none is.
func Find[T any](list []T, f func(*T) bool) *T {
	for i := range list {
		if f(&list[i]) {
			return &list[i]
		}
	}
	return nil
}

// CountOf returns how many elements are as f says.
func CountOf[T any](list []T, f func(*T) bool) (n int) {
	for i := range list {
		if f(&list[i]) {
			n++
		}
	}
	return n
}

// Sum returns the sum of f over all elements.
func Sum[T any, N ~int | ~int64 | ~float64](list []T, f func(*T) N) (sum N) {
	for i := range list {
		sum += f(&list[i])
	}
	return sum
}

// First sorts a list and returns its first few.
func First[T any](list []T, most int, order func(a, b T) int) []T {
	slices.SortStableFunc(list, order)
	return list[:min(len(list), most)]
}

// Slot returns the place of element i in a list that grows as needed: the elements are by number, of few or of
// those without gaps, as those of [model.Tables] are.
func Slot[T any](list *[]T, i int) *T {
	if n := i + 1 - len(*list); n > 0 {
		*list = append(*list, make([]T, n)...)
	}
	return &(*list)[i]
}
