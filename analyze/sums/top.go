package sums

import (
	"slices"

	"github.com/schedscope/schedscope/model"
)

// Top keeps the greatest few of many items.
type Top[T any] struct {
	Limit int
	// Compare is negative if a is to stand before b. It must order items fully,
	// so that what is kept does not depend on the order of adding.
	Compare func(a, b T) int
	Items   []T // sorted
}

// Add takes x if it is among the greatest.
func (t *Top[T]) Add(x T) {
	if n := len(t.Items); n > 0 && n == t.Limit {
		if t.Compare(x, t.Items[n-1]) >= 0 {
			return
		}
		t.Items = t.Items[:n-1]
	}
	if t.Limit > 0 {
		i, _ := slices.BinarySearchFunc(t.Items, x, t.Compare)
		t.Items = slices.Insert(t.Items, i, x)
	}
}

// Full returns the last item kept if no more fit, so that callers
// can see cheaply that a new one is too small.
func (t *Top[T]) Full() (last T, ok bool) {
	if n := len(t.Items); n > 0 && n >= t.Limit {
		return t.Items[n-1], true
	}
	return last, false
}

// Longest returns the line with the most time, 0 if there is none.
func Longest(lines map[uint64]model.Duration) uint64 {
	best, most := uint64(0), model.Duration(-1)
	for line, d := range lines {
		if d > most || d == most && line < best {
			best, most = line, d
		}
	}
	return best
}
