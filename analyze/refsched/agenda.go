package refsched

import "slices"

// agenda is a 4-ary heap of events, ordered by time, kind and age.
type agenda struct{ a []event }

// first returns when the first event is due.
func (h *agenda) first() int64 {
	if len(h.a) == 0 {
		return never
	}
	return h.a[0].at
}

func (e *event) before(o *event) bool { return e.at < o.at || e.at == o.at && e.seq < o.seq }

func (h *agenda) push(e event) {
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

// plans are what procs do next, the last of all first, and of those at the same time the one planned last. That changes with
// each step, and what is planned is mostly what happens next: it finds its place from the end.
type plans []planned

// planned is when a proc takes its step.
type planned struct {
	at int64
	p  int32
}

// first returns when the first step is due.
func (h plans) first() int64 {
	if len(h) == 0 {
		return never
	}
	return h[len(h)-1].at
}

func (h *plans) push(x planned) {
	list := append(*h, x)
	i := len(list) - 1
	for ; i > 0 && list[i-1].at <= x.at; i-- {
		list[i] = list[i-1]
	}
	list[i] = x
	*h = list
}

// drop takes out what a proc has planned, if anything.
func (h *plans) drop(p int32) {
	*h = slices.DeleteFunc(*h, func(x planned) bool { return x.p == p })
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
