package analyze

import "sync"

// recycler keeps the storage of slices that are done with for the next trace. For a
// small one, to grow it anew and clear it costs as much as to use it. What nobody asks
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
