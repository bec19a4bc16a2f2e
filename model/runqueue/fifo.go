package runqueue

import "slices"

// slot names a runnable that the replay keeps track of.
type slot int32

const noSlot slot = -1

// fifo is a queue of slots.
type fifo struct {
	buf  []slot
	head int
}

func (q *fifo) items() []slot { return q.buf[q.head:] }

func (q *fifo) len() int { return len(q.buf) - q.head }

// push appends s. Room at the front is used again once it is half of the buffer,
// so that a push costs the same on average however long the queue is.
func (q *fifo) push(s slot) {
	if len(q.buf) == cap(q.buf) && q.head >= q.len() && q.head > 0 {
		q.buf = q.buf[:copy(q.buf, q.items())]
		q.head = 0
	}
	q.buf = append(q.buf, s)
}

// index returns where s stands, -1 if it does not.
func (q *fifo) index(s slot) int { return slices.Index(q.items(), s) }

// removeAt takes out the element at i.
func (q *fifo) removeAt(i int) {
	if i == 0 {
		q.head++
		if q.head == len(q.buf) {
			q.buf, q.head = q.buf[:0], 0
		}
		return
	}
	items := q.items()
	if 2*i < len(items) {
		copy(items[1:i+1], items[:i])
		q.head++
		return
	}
	copy(items[i:], items[i+1:])
	q.buf = q.buf[:len(q.buf)-1]
}

// drop takes out the first n elements.
func (q *fifo) drop(n int) {
	q.head += n
	if q.head == len(q.buf) {
		q.buf, q.head = q.buf[:0], 0
	}
}

// set makes list all there is; it takes it over.
func (q *fifo) set(list []slot) { q.buf, q.head = list, 0 }

// unshift puts list before everything else.
func (q *fifo) unshift(list []slot) { q.set(slices.Concat(list, q.items())) }

// equal reports whether the same stands in both.
func (q *fifo) equal(o *fifo) bool {
	return q.len() == o.len() && (q.len() == 0 || slices.Equal(q.items(), o.items()))
}

// copyFrom makes q equal to o, reusing its memory.
func (q *fifo) copyFrom(o *fifo) {
	q.buf = append(q.buf[:0], o.items()...)
	q.head = 0
}
