package causes

import (
	"slices"
	"sync"
)

// fifo is a queue. It may hold on to items that were removed.
type fifo[T any] struct {
	items []T
	head  int // before it is garbage
}

// largeQueue is how many items there may be room for without any.
const largeQueue = 1 << 12

func (q *fifo[T]) empty() bool { return q.head == len(q.items) }

// front returns the first item.
func (q *fifo[T]) front() *T { return &q.items[q.head] }

// all returns the items in order.
func (q *fifo[T]) all() []T { return q.items[q.head:] }

func (q *fifo[T]) push(x T) { *q.room() = x }

// room returns the place of a new last item, whatever it holds.
func (q *fifo[T]) room() *T {
	n := len(q.items)
	if n == cap(q.items) {
		q.items = slices.Grow(q.items, max(n, 16)) // twice as many: to touch new memory costs more than to have it
	}
	q.items = q.items[:n+1]
	return &q.items[n]
}

// insert adds an item in order, behind those that are equal. Few come late, and by little.
func (q *fifo[T]) insert(x T, compare func(a, b *T) int) {
	q.push(x)
	all := q.all()
	for i := len(all) - 1; i > 0 && compare(&all[i-1], &all[i]) > 0; i-- {
		all[i-1], all[i] = all[i], all[i-1]
	}
}

// pop removes the first item.
func (q *fifo[T]) pop() { q.drop(1) }

// drop removes the first n items.
func (q *fifo[T]) drop(n int) {
	q.head += n
	if q.head >= 1024 && 2*q.head >= len(q.items) || q.empty() {
		kept := q.items[:0]
		if cap(kept) > largeQueue && len(q.all()) < largeQueue/8 {
			kept = nil // most of what a burst took is given back
		}
		q.items, q.head = append(kept, q.all()...), 0
	}
}

// filter removes the items that f does not want kept.
func (q *fifo[T]) filter(keep func(T) bool) {
	kept := q.items[:0]
	for _, x := range q.all() {
		if keep(x) {
			kept = append(kept, x)
		}
	}
	q.items, q.head = kept, 0
}

// recycler keeps the storage of slices that are done with for the next trace. For a
// small one, to grow it again and clear it costs as much as to use it. What nobody asks
// for goes with the garbage.
type recycler[T any] struct{ pool sync.Pool }

// get returns an empty slice. What lies beyond its end is left from before.
func (r *recycler[T]) get() []T {
	s, ok := r.pool.Get().(*[]T)
	if !ok {
		return nil
	}
	return (*s)[:0]
}

// put takes a slice that nobody uses any more, and its items.
func (r *recycler[T]) put(s []T) {
	if cap(s) > 0 {
		r.pool.Put(&s)
	}
}
