package refsched

import "github.com/schedscope/schedscope/model"

// wakep has one more thread search for work, if none does and a proc is idle
// (runtime/proc.go: wakep).
func (s *sim) wakep() {
	if s.rules.Ideal {
		s.startIdle(s.global.len())
		return
	}
	if s.nspin > 0 {
		return
	}
	p := s.popIdle()
	if p < 0 {
		s.needspin = true // runtime/proc.go: pidlegetSpinning
		return
	}
	s.wake(p, true)
}

// startIdle has up to n idle procs look for work (runtime/proc.go: injectglist).
func (s *sim) startIdle(n int) {
	for range n {
		p := s.popIdle()
		if p < 0 {
			s.needspin = true
			return
		}
		s.wake(p, false)
	}
}

// wake has a sleeping thread, the one that went to sleep last, or a new one get proc p, which is on no list
// (runtime/proc.go: startm, mget).
func (s *sim) wake(p int32, spinning bool) {
	var m int32
	var cost model.Duration
	if n := len(s.idleMs); n > 0 {
		m, cost = s.idleMs[n-1], s.drawn(CostWake, p)
		s.idleMs = s.idleMs[:n-1]
	} else {
		m, cost = s.newThread(), s.costs.Single[CostClone]
	}
	s.res.Wakeups++
	s.ms[m].gets = p
	if spinning {
		s.spin(m)
	}
	s.at(s.now+int64(cost), evThread, m, 0, 0)
}

// newThread makes a thread where none sleeps. It never ends (runtime/proc.go: newm).
func (s *sim) newThread() int32 {
	s.ms = append(s.ms, thread{p: -1, g: -1, gets: -1})
	return int32(len(s.ms) - 1)
}

// drawn returns what something costs: one of the quantiles, instead of the last one of the tail, or the single value if there are
// none.
func (s *sim) drawn(c Cost, p int32) model.Duration {
	q := s.costs.Drawn[c]
	switch n := uint64(len(q)); {
	case n == 0:
		return s.costs.Single[c]
	case n&(n-1) == 0: // as a rule: no division
		d := s.draw(p)
		if t := s.costs.Tail[c]; d&(n-1) == n-1 && len(t) > 0 {
			return t[d>>32%uint64(len(t))]
		}
		return q[d&(n-1)]
	default:
		return q[s.draw(p)%n]
	}
}

// threadUp gives a thread that has woken up its proc (runtime/proc.go: stopm).
func (s *sim) threadUp(m int32) {
	p := s.ms[m].gets
	s.ms[m].gets = -1
	s.acquire(m, p)
	s.plan(p, stepFind, 0)
}

// handoff finds another thread for a proc that lost its own to a system call
// (runtime/proc.go: handoffp). Nobody has the proc.
func (s *sim) handoff(p int32) {
	x := &s.ps[p]
	x.m, x.g, x.status = -1, -1, pIdle
	s.cancel(p)
	s.offCore(p)
	switch {
	case s.rules.Ideal && !s.stw.on:
		s.idle(p)
		s.startIdle(s.global.len())
	case s.stw.on:
		x.status = pStopped
		s.stopped()
	case x.busy() || s.global.len() > 0 || s.gcWants(p):
		s.wake(p, false)
	case s.nspin+len(s.idlePs) == 0:
		s.wake(p, true)
	case len(s.idlePs) == s.n-1 && s.poller < 0:
		s.wake(p, false)
	default:
		s.idle(p)
		if t := x.timers.first(); t < never {
			s.wakePoller(t)
		}
	}
}
