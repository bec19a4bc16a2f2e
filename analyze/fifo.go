package analyze

// fifo is a queue.
type fifo[T any] struct {
	items []T
	head  int // before it is garbage
}

func (q *fifo[T]) empty() bool { return q.head == len(q.items) }

// front returns the first item.
func (q *fifo[T]) front() *T { return &q.items[q.head] }

// all returns the items in order.
func (q *fifo[T]) all() []T { return q.items[q.head:] }

func (q *fifo[T]) push(x T) { q.items = append(q.items, x) }

// pop removes the first item.
func (q *fifo[T]) pop() {
	var zero T
	q.items[q.head] = zero
	q.head++
	switch {
	case q.empty():
		q.items, q.head = q.items[:0], 0
	case q.head >= 1024 && 2*q.head >= len(q.items):
		q.filter(func(T) bool { return true })
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
	clear(q.items[len(kept):])
	q.items, q.head = kept, 0
}
