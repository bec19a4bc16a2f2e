package refsched

// agenda is a 4-ary heap of events, ordered by time, kind and age. The first of all is kept
// apart if it came last: mostly what a proc does next is what happens next, and costs
// nothing to put there and take away.
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
