package refsched

import (
	"math"
	"math/bits"
	"slices"
)

// agenda is a 4-ary heap of events, ordered by time, kind and age. The first of all is kept
// apart if it came last: mostly it is the next to happen, and costs nothing to put there and take away.
type agenda struct {
	a       []event
	next    event
	hasNext bool
}

func (h *agenda) len() int {
	if h.hasNext {
		return len(h.a) + 1
	}
	return len(h.a)
}

// first returns when the first event is due.
func (h *agenda) first() int64 {
	switch {
	case h.hasNext:
		return h.next.at
	case len(h.a) == 0:
		return never
	}
	return h.a[0].at
}

func (e *event) before(o *event) bool { return e.at < o.at || e.at == o.at && e.seq < o.seq }

func (h *agenda) push(e event) {
	switch {
	case h.hasNext && e.before(&h.next):
		e, h.next = h.next, e
	case h.hasNext, len(h.a) > 0 && !e.before(&h.a[0]):
	default:
		h.next, h.hasNext = e, true
		return
	}
	h.a = append(h.a, e)
	i := len(h.a) - 1
	for i > 0 {
		up := (i - 1) / 4
		if !e.before(&h.a[up]) {
			break
		}
		h.a[i] = h.a[up]
		i = up
	}
	h.a[i] = e
}

func (h *agenda) pop() event {
	if h.hasNext {
		h.hasNext = false
		return h.next
	}
	top := h.a[0]
	n := len(h.a) - 1
	e := h.a[n]
	h.a = h.a[:n]
	i := 0
	for first := 1; first < n; first = 4*i + 1 {
		least := first
		for j := first + 1; j < min(first+4, n); j++ {
			if h.a[j].before(&h.a[least]) {
				least = j
			}
		}
		if !h.a[least].before(&e) {
			break
		}
		h.a[i] = h.a[least]
		i = least
	}
	if n > 0 {
		h.a[i] = e
	}
	return top
}

// plans are what procs do next, by time and age. That changes with each step, and is mostly what happens next, so it is a
// tournament: of each pair the first one goes on, and a change is played again from its place to the top, which takes as
// many comparisons as there are levels and no branches that depend on them.
type plans struct {
	of  []planned // by proc, and nothing for as many more as make a power of two
	won []int32   // by place: the one that won it, of those at twice as far and the next; 1 is the top, and procs come last
}

// planned is when a proc takes its step.
type planned struct {
	at  int64
	seq uint64
}

// noPlan is the age of nothing, which comes last.
const noPlan = math.MaxUint64

func newPlans(procs int) plans {
	n := 1 << bits.Len(uint(procs-1))
	h := plans{slices.Repeat([]planned{{never, noPlan}}, n), make([]int32, 2*n)}
	for p := range n {
		h.won[n+p] = int32(p)
		h.set(int32(p), planned{never, noPlan})
	}
	return h
}

// first returns the first of all and its proc, or nothing.
func (h *plans) first() (planned, int32) {
	p := h.won[1]
	return h.of[p], p
}

// set puts x in the place of what p had planned.
func (h *plans) set(p int32, x planned) {
	of, won := h.of, h.won
	of[p] = x
	for i := uint32(len(of)) + uint32(p); i > 1; i /= 2 {
		rival := won[i^1]
		y := &of[rival]
		_, less := bits.Sub64(y.seq, x.seq, 0)
		if _, less = bits.Sub64(uint64(y.at), uint64(x.at), less); less != 0 { // before both in time and age, as one number
			p, x = rival, *y
		}
		won[i/2] = p
	}
}

// drop takes out what a proc has planned, if anything.
func (h *plans) drop(p int32) {
	if h.of[p].seq != noPlan {
		h.set(p, planned{never, noPlan})
	}
}

// ring is a FIFO of goroutines.
type ring struct {
	a    []int32 // length a power of two
	head int
	n    int
}

func (r *ring) len() int { return r.n }

func (r *ring) push(g int32) {
	if r.n == len(r.a) {
		r.grow()
	}
	r.a[(r.head+r.n)&(len(r.a)-1)] = g
	r.n++
}

func (r *ring) grow() {
	a := make([]int32, max(8, 2*len(r.a)))
	for i := range r.n {
		a[i] = r.a[(r.head+i)&(len(r.a)-1)]
	}
	r.a, r.head = a, 0
}

// pop removes the oldest; the ring must not be empty.
func (r *ring) pop() int32 {
	g := r.a[r.head]
	r.head = (r.head + 1) & (len(r.a) - 1)
	r.n--
	return g
}
