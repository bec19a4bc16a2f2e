package refsched

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
	if n > 0 {
		h.sink(e)
	}
	return top
}

// sink puts e where the root was.
func (h *agenda) sink(e event) {
	i, n := 0, len(h.a)
	for {
		first := 4*i + 1
		if first >= n {
			break
		}
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
	h.a[i] = e
}

// plans are the procs that have planned a step, as a heap by time and age. What a proc does next changes with each step
// and is mostly what happens next, so each has one place, which moves.
type plans struct {
	heap  []planned
	place []int32 // by proc, from 1; 0: none
}

// planned is when proc p takes its step.
type planned struct {
	at  int64
	seq uint64
	p   int32
}

func newPlans(procs int) plans { return plans{make([]planned, 0, procs), make([]int32, procs)} }

// first returns the first of all, false if there is none.
func (h *plans) first() (planned, bool) {
	if len(h.heap) == 0 {
		return planned{}, false
	}
	return h.heap[0], true
}

// set puts x in the place of what its proc had planned.
func (h *plans) set(x planned) {
	i := int(h.place[x.p]) - 1
	if i < 0 {
		i = len(h.heap)
		h.heap = append(h.heap, x)
	}
	h.move(x, i)
}

// drop takes out what a proc has planned, if anything.
func (h *plans) drop(p int32) {
	i, n := int(h.place[p])-1, len(h.heap)-1
	if i < 0 {
		return
	}
	h.place[p] = 0
	last := h.heap[n]
	if h.heap = h.heap[:n]; i < n {
		h.move(last, i)
	}
}

// move puts x where i is free, or where it belongs above or below.
func (h *plans) move(x planned, i int) {
	before := func(x, y *planned) bool { return x.at < y.at || x.at == y.at && x.seq < y.seq }
	put := func(x planned, i int) {
		h.heap[i] = x
		h.place[x.p] = int32(i + 1)
	}
	for up := (i - 1) / 2; i > 0 && before(&x, &h.heap[up]); up = (i - 1) / 2 {
		put(h.heap[up], i)
		i = up
	}
	for {
		least := 2*i + 1
		if least >= len(h.heap) {
			break
		}
		if other := least + 1; other < len(h.heap) && before(&h.heap[other], &h.heap[least]) {
			least = other
		}
		if !before(&h.heap[least], &x) {
			break
		}
		put(h.heap[least], i)
		i = least
	}
	put(x, i)
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
