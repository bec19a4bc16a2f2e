package sums

import "github.com/schedscope/schedscope/model"

// MostBins is the greatest number of bins of what is shown over time.
const MostBins = 2048

// firstWidth is the width of time bins at a trace's beginning, as a power of
// two of nanoseconds: 1.024 us.
const firstWidth = 10

// Bins divides the time since a start into bins of equal width, at most as many as there are
// cells. When time runs past the last one the width doubles and pairs of bins are joined,
// so the division depends on the trace's length only.
type Bins[T any] struct {
	// Settle, if not nil, completes the bins, before they are joined or read.
	Settle func()

	cells []T
	join  func(into, from *T)
	start model.Time
	begun bool
	shift uint8 // log2 of the width
	used  int

	now      *T         // the latest bin that [Bins.In] returned; it
	from, to model.Time // begins at from and ends before to
}

// NewBins returns at most so many bins. Join adds a bin to another.
func NewBins[T any](most int, join func(into, from *T)) Bins[T] {
	return Bins[T]{cells: make([]T, most), join: join, shift: firstWidth}
}

// BeginAt sets the time at which the first bin starts; otherwise it is the first time asked
// for. Times before it belong to the first bin.
func (b *Bins[T]) BeginAt(t model.Time) { b.start, b.begun = t, true }

// Width returns the width of a bin.
func (b *Bins[T]) Width() model.Duration { return 1 << b.shift }

// Used returns the bins in use. The caller must not change them.
func (b *Bins[T]) Used() []T {
	if b.Settle != nil {
		b.Settle()
	}
	return b.cells[:b.used]
}

// Cell returns the i-th bin.
func (b *Bins[T]) Cell(i int) *T { return &b.cells[i] }

// Reach returns an interval as time since the first bin begins, and makes sure that there are
// bins for it. What is before the first bin is left out; the end itself still has a bin.
func (b *Bins[T]) Reach(start, end model.Time) (from, to model.Duration) {
	if !b.begun {
		b.BeginAt(start)
	}
	from, to = max(start.Sub(b.start), 0), max(end.Sub(b.start), 0)
	for to>>b.shift >= model.Duration(len(b.cells)) {
		b.widen()
	}
	b.used = max(b.used, int(to>>b.shift)+1)
	return from, to
}

// In returns the bin in which an interval and its end lie, nil if they lie in several.
// Nearly always it is the same as before.
func (b *Bins[T]) In(start, end model.Time) *T {
	if start >= b.from && end < b.to {
		return b.now
	}
	return b.find(start, end)
}

func (b *Bins[T]) find(start, end model.Time) *T {
	from, to := b.Reach(start, end)
	i := to >> b.shift
	if from>>b.shift != i || start < b.start {
		return nil
	}
	b.now, b.from, b.to = &b.cells[i], b.start+model.Time(i<<b.shift), b.start+model.Time((i+1)<<b.shift)
	return b.now
}

// Bin returns the bin of a point in time.
func (b *Bins[T]) Bin(at model.Time) *T {
	if at < b.from || at >= b.to {
		return b.bin(at)
	}
	return b.now
}

func (b *Bins[T]) bin(at model.Time) *T {
	if x := b.find(at, at); x != nil {
		return x
	}
	return &b.cells[0] // before the first
}

// End returns when the bin of a point in time ends.
func (b *Bins[T]) End(at model.Time) model.Time {
	b.Bin(at)
	return max(b.to, at+1)
}

// First returns when the first bin begins.
func (b *Bins[T]) First() model.Time { return b.start }

// Over calls f with each bin in which an interval or its end lies, in order, and the part of the interval there. What is before
// the first bin is left out.
func (b *Bins[T]) Over(start, end model.Time, f func(x *T, from, to model.Time)) {
	from, to := b.Reach(start, end)
	for i := from >> b.shift; i <= to>>b.shift; i++ {
		f(&b.cells[i], b.start+model.Time(max(from, i<<b.shift)), b.start+model.Time(min(to, (i+1)<<b.shift)))
	}
}

// widen joins pairs of bins: bin i becomes the join of 2i and 2i+1.
func (b *Bins[T]) widen() {
	if b.Settle != nil {
		b.Settle()
	}
	for i := 0; 2*i < b.used; i++ {
		b.cells[i] = b.cells[2*i]
		if 2*i+1 < b.used {
			b.join(&b.cells[i], &b.cells[2*i+1])
		}
	}
	half := (b.used + 1) / 2
	clear(b.cells[half:b.used])
	b.used = half
	b.shift++
	b.to = b.from // the bins have moved
}
