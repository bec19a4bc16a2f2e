package analyze

import "slices"

// top keeps the greatest few of many items.
type top[T any] struct {
	limit int
	// compare is negative if a is to stand before b. It must order items fully,
	// so that what is kept does not depend on the order of adding.
	compare func(a, b T) int
	items   []T // sorted
}

// add takes x if it is among the greatest and returns what had to go for it,
// if anything.
func (t *top[T]) add(x T) (evicted T, ok bool) {
	if t.limit <= 0 {
		return evicted, false
	}
	if n := len(t.items); n == t.limit {
		if t.compare(x, t.items[n-1]) >= 0 {
			return evicted, false
		}
		evicted, ok = t.items[n-1], true
		t.items = t.items[:n-1]
	}
	i, _ := slices.BinarySearchFunc(t.items, x, t.compare)
	t.items = slices.Insert(t.items, i, x)
	return evicted, ok
}

// full returns the last item kept if no more fit, so that callers can tell
// cheaply that a new one is too small.
func (t *top[T]) full() (last T, ok bool) {
	if n := len(t.items); n > 0 && n >= t.limit {
		return t.items[n-1], true
	}
	return last, false
}
