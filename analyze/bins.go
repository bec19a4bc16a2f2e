package analyze

import "github.com/schedscope/schedscope/model"

// firstWidth is the width of time bins at a trace's beginning, as a power of
// two of nanoseconds: 1.024 us.
const firstWidth = 10

// bins divides the time since a start into at most a fixed number of bins of
// equal width. When time runs past the last bin the width doubles and pairs of
// bins are joined, so the division depends on the trace's length only.
type bins struct {
	start model.Time
	begun bool
	shift uint8 // log2 of the width
	used  int
}

// begin sets the start. Without, the first time asked for is the start; times
// before the start belong to the first bin.
func (b *bins) begin(t model.Time) { b.start, b.begun = t, true }

// offset returns t as nanoseconds since the start, at least 0.
func (b *bins) offset(t model.Time) uint64 {
	if !b.begun {
		b.begin(t)
	}
	return uint64(max(t-b.start, 0))
}

// width returns the width of the bins.
func (b *bins) width() model.Duration { return 1 << b.shift }

// foldPairs joins pairs of the first used bins: bin i becomes the join of 2i
// and 2i+1. It leaves the others zero.
func foldPairs[T any](all []T, used int, join func(into *T, from *T)) {
	for i := 0; 2*i < used; i++ {
		x := all[2*i]
		if 2*i+1 < used {
			join(&x, &all[2*i+1])
		}
		all[i] = x
	}
	clear(all[(used+1)/2 : used])
}
