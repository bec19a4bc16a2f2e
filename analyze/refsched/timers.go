package refsched

// timers are the timers of a proc, a 4-ary heap as in runtime/time.go: each is an event that
// happens when a thread looks for it after it is due, not when it is.
type timers struct{ agenda }

// addTimer puts a timer on a proc that wakes g, if that still is in its wait number gen. A
// thread that sleeps in the poller for longer is woken, and if none does another one may
// (runtime/proc.go: wakeNetPoller): since Go 1.23 only if it is the proc's first timer
// (runtime/time.go: maybeAdd; before, addtimer and modtimer).
func (s *sim) addTimer(p int32, when int64, g int32, gen uint32) {
	if s.rules.Ideal {
		s.at(when, evTimer, g, 0, gen)
		return
	}
	h := &s.ps[p].timers
	first := when < h.first()
	s.seq++
	h.push(event{at: when, seq: s.seq, kind: evTimer, id: g, gen: gen})
	if first || s.rules.Version < 23 {
		s.wakePoller(when)
	}
}

// runTimers runs what is due of v's timers on p and reports whether anything was. What
// they make runnable is put on p (runtime/time.go: timers.check).
func (s *sim) runTimers(v, p int32) bool {
	h := &s.ps[v].timers
	ran := false
	for h.first() <= s.now {
		t := h.pop()
		if t.kind == evArrival {
			s.arrive(int(t.id), s.onProc(p))
		} else {
			s.timerDue(s.onProc(p), t.id, t.gen)
		}
		ran = true
	}
	return ran
}

// timerDue wakes g, in a context: with an ideal scheduler timers are on time, by nobody, as assist credit is.
func (s *sim) timerDue(c where, g int32, gen uint32) {
	if x := &s.gs[g]; x.gen == gen && x.state == gWaiting {
		s.wakeFrom(c, g, 0, true)
	}
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
	if d <= 0 {
		return 0
	}
	return max(ms, d/ms*ms)
}
