package refsched

// timer wakes a goroutine from the wait that ends a segment.
type timer struct {
	when int64
	seq  uint64
	g    int32
	gen  uint32
	// kind: a sleep, or an arrival (g is its index).
	arrival bool
}

// timers are the timers of a proc: a 4-ary heap, as in runtime/time.go.
type timers struct{ a []timer }

func (h *timers) first() int64 {
	if len(h.a) == 0 {
		return never
	}
	return h.a[0].when
}

func (t *timer) before(o *timer) bool { return t.when < o.when || t.when == o.when && t.seq < o.seq }

func (h *timers) push(t timer) {
	h.a = append(h.a, t)
	i := len(h.a) - 1
	for i > 0 && t.before(&h.a[(i-1)/4]) {
		h.a[i] = h.a[(i-1)/4]
		i = (i - 1) / 4
	}
	h.a[i] = t
}

func (h *timers) pop() timer {
	top, n := h.a[0], len(h.a)-1
	t := h.a[n]
	h.a = h.a[:n]
	if n == 0 {
		return top
	}
	i := 0
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
		if !h.a[least].before(&t) {
			break
		}
		h.a[i] = h.a[least]
		i = least
	}
	h.a[i] = t
	return top
}

// addTimer puts a timer on a proc. A thread that sleeps in the poller for longer is woken, and if
// none does another one may (runtime/proc.go: wakeNetPoller): since Go 1.23 only if it is the
// proc's first timer (runtime/time.go: maybeAdd; before, addtimer and modtimer).
func (s *sim) addTimer(p int32, t timer) {
	if s.rules.Ideal {
		arg := int32(0)
		if t.arrival {
			arg = 1
		}
		s.at(max(t.when, s.now), evTimer, t.g<<1|arg, 0, t.gen)
		return
	}
	h := &s.ps[p].timers
	first := t.when < h.first()
	s.seq++
	t.seq = s.seq
	h.push(t)
	if first || s.rules.Version < 23 {
		s.wakePoller(t.when)
	}
}

// runTimers runs what is due of v's timers on p and reports whether anything was. What
// they make runnable is put on p.
func (s *sim) runTimers(v, p int32) bool {
	h := &s.ps[v].timers
	ran := false
	for h.first() <= s.now {
		t := h.pop()
		s.fire(&t, p)
		ran = true
	}
	return ran
}

// fire wakes whom the timer is for.
func (s *sim) fire(t *timer, p int32) {
	c := nobody
	if p >= 0 {
		c = s.onProc(p)
	}
	if t.arrival {
		s.arriveOn(int(t.g), c)
		return
	}
	if g := &s.gs[t.g]; g.gen == t.gen && g.state == gWaiting {
		s.wakeFrom(c, t.g, 0, true)
	}
}

// timerDue is the ideal scheduler's: timers are on time.
func (s *sim) timerDue(id int32, gen uint32) {
	t := timer{g: id >> 1, gen: gen, arrival: id&1 == 1}
	s.fire(&t, -1)
}

// nextTimer returns when the first timer of all procs is due.
func (s *sim) nextTimer() int64 {
	t := int64(never)
	for i := range s.ps {
		t = min(t, s.ps[i].timers.first())
	}
	return t
}

// epollSleep is how long a thread sleeps in epoll until a timer that is due after
// d: whole milliseconds, one at least (runtime/netpoll_epoll.go: netpoll).
func epollSleep(d int64) int64 {
	const ms = 1_000_000
	switch {
	case d <= 0:
		return 0
	case d < ms:
		return ms
	}
	return d / ms * ms
}
