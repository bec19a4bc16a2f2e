package model

import "fmt"

// maxProcID bounds the ids of procs, so that a hostile trace cannot make the
// table of procs huge, which each stop-the-world walks. The runtime itself has
// no limit, but no machine has as many processors.
const maxProcID = 1 << 14

// proc is what is known of one proc.
type proc struct {
	span    ProcSpan // the current interval, which has no end yet
	alive   bool
	thread  *thread    // that holds it, nil if none
	g       *Goroutine // that runs on it or holds it in a system call
	stopped bool       // by a stop-the-world that has not ended
	from    Time
	gone    Time     // when GOMAXPROCS did away with it, if not alive
	absent  Duration // how long it did not exist
	vague   bool     // held by a thread of which the trace has not shown yet what it ran
	times   [NumProcStates]Duration
	uses    [NumProcStates]Duration // of those, not reported yet
	handoff *Handoff                // on its way to a new thread
	waiters int                     // goroutines that became Runnable here and still wait
	ranges  []openRange
}

// procOrNil returns the proc, or nil if it was not seen or is NoProc.
func (m *Machine) procOrNil(id ProcID) *proc {
	if uint(id) < uint(len(m.procs)) {
		return m.procs[id]
	}
	return nil
}

// proc returns the proc, beginning its account, idle since the start, at first
// sight. It returns nil for ids out of any reason.
func (m *Machine) proc(id ProcID) *proc {
	if p := m.procOrNil(id); p != nil {
		return p
	}
	return m.newProc(id)
}

func (m *Machine) newProc(id ProcID) *proc {
	if id < 0 || id >= maxProcID {
		return nil
	}
	if int(id) >= len(m.procs) {
		m.procs = append(m.procs, make([]*proc, int(id)+1-len(m.procs))...)
	}
	p := &proc{alive: true, from: m.start, span: ProcSpan{P: id, State: ProcIdle, Start: m.start, OpenStart: true, G: NoGoroutine, M: NoThread}}
	m.procs[id] = p
	m.seenProcs++
	m.amendIdle(m.countProcs())
	return p
}

// countProcs keeps the number of procs: those seen, or as many as GOMAXPROCS
// says. Procs not seen yet have done nothing, so they are idle. It returns by how
// much the number grew.
func (m *Machine) countProcs() int {
	n := max(m.seenProcs, m.maxProcs) - m.live.Procs
	m.counted = false
	m.live.Idle += n
	m.live.Procs += n
	return n
}

// procTransition moves a proc between threads.
func (m *Machine) procTransition(ev *Event, t *thread, at Time) error {
	if ev.ID < 0 || ev.ID >= maxProcID {
		return fmt.Errorf("proc %d: invalid id", ev.ID)
	}
	from, to := ProcStatus(ev.From), ProcStatus(ev.To)
	if from == to {
		return nil
	}
	p := m.proc(ProcID(ev.ID))
	if !p.alive {
		m.reviveProc(p, at)
	}
	holder := p.holder()
	switch {
	case from == ProcStatusUndetermined || from == ProcStatusNotExist:
		m.firstProcStatus(p, from, to, t, at)
	case to == ProcStatusRunning:
		if p.thread != nil && p.thread != t {
			m.releaseProc(p, nil, at)
		}
		m.acquireProc(p, t, at)
	default:
		m.releaseProc(p, t, at)
	}
	m.stepMove(ev, holder, p.holder())
	return nil
}

// holder returns the thread that has the proc.
func (p *proc) holder() ThreadID {
	if p.thread == nil {
		return NoThread
	}
	return p.thread.span.M
}

// firstProcStatus begins the account of a proc whose state the trace shows for
// the first time: since the start, unless it did not exist then.
func (m *Machine) firstProcStatus(p *proc, from, to ProcStatus, t *thread, at Time) {
	if from == ProcStatusNotExist && p.span.Start == m.start && p.span.OpenStart {
		p.from, p.span.Start, p.span.OpenStart = at, at, false
	}
	if to != ProcStatusRunning || t == nil {
		return
	}
	since := at
	if t.fresh() && !(m.cfg.oldFormat() && m.seenProcs > 1) {
		// Tracing of old formats began with one proc running: others started later.
		t.knownSince(p.span.Start)
		since = p.span.Start
	}
	if p.thread != nil { // as the trace contradicts itself
		p.thread.simple = nil
	}
	p.thread, t.p = t, p.span.P
	m.updateEach(p, t, since)
	if since < at {
		p.vague, t.simple = true, nil
		m.vague++
	}
}

// acquireProc gives a proc to a thread.
func (m *Machine) acquireProc(p *proc, t *thread, at Time) {
	if t != nil {
		if old := m.procOrNil(t.p); old != nil && old != p && old.thread == t {
			m.releaseProc(old, t, at)
		}
		t.p = p.span.P
		t.acquired++
	}
	m.worldRestarts(t, at)
	p.thread, p.stopped = t, false
	if h := p.handoff; h != nil {
		p.handoff = nil
		h.Got = at
		if t != nil {
			h.ToM = t.span.M
		}
		Report(m.obs.handoff, HandoffObserver.Handoff, h)
	}
	m.updateEach(p, t, at)
}

// releaseProc takes a proc from the thread that holds it; by is the thread
// that does so, the same one if it gives the proc up.
func (m *Machine) releaseProc(p *proc, by *thread, at Time) {
	holder, g := p.thread, p.g
	if g != nil && g.span.State == GoSyscall {
		p.handoff = m.newHandoff(p, holder, by, at)
		m.loseProc(g)
	}
	p.thread, p.g = nil, nil
	p.stopped = m.stw != nil && !m.stw.restarted
	if holder != nil && holder.p == p.span.P {
		holder.p = NoProc
	} else {
		holder = nil
	}
	m.updateEach(p, holder, at)
	m.worldStops(at)
	if m.maxProcs > 0 && int(p.span.P) >= m.maxProcs {
		m.removeProc(p, at) // the proc on which GOMAXPROCS was lowered
	}
}

// loseProc splits the system call of g where its proc left it.
func (m *Machine) loseProc(g *Goroutine) {
	m.enter(g, GoSyscallBlocked, g.span.Reason, 0)
	g.sys.proc, g.span.P = g.span.P, NoProc
}

// update changes the states of a thread that is simple and of its proc, which now have goroutine g, if any. It returns the proc.
func (m *Machine) update(t *thread, g GoID, fn StringID, state ProcState, does ThreadState) *proc {
	p := t.simple
	s, before := &p.span, p.span.State
	if d := m.now.Sub(s.Start); d > 0 {
		if m.uses != nil && s.Start >= m.part {
			p.uses[before] += d
		} else {
			s.End = m.now
			Report(m.obs.procSpan, ProcSpanObserver.ProcSpan, s)
		}
		p.times[before] += d
		s.Start, s.OpenStart = m.now, false
	}
	if m.now > t.span.Start {
		m.endThreadSpan(t, m.now)
		t.span.OpenStart = false
	}
	s.State, s.G, s.Func, t.span.State, t.span.G = state, g, fn, does, g
	*m.live.procs(before)--
	*m.live.procs(state)++
	m.counted = m.counted && m.coarse // the load is the same
	m.procFrom = before
	return p
}

// updateEach derives the states of a proc and of a thread, either of which may be nil, from what
// they hold and, if anything changed, ends their current intervals. It finds whether the thread is simple.
func (m *Machine) updateEach(p *proc, t *thread, at Time) {
	if p != nil && p.thread != nil {
		p.thread.simple = nil
	}
	if p != nil && p.alive { // a trace that contradicts itself has goroutines on procs that are gone
		state, work, g, fn, mid := ProcIdle, WorkUser, NoGoroutine, StringID(0), NoThread
		if p.thread != nil {
			state, mid = ProcSearching, p.thread.span.M
		} else if p.stopped {
			state = ProcStopped
		}
		if p.g != nil {
			g, fn = p.g.ID, p.g.Func
			if p.thread == nil {
				mid = p.g.span.M
			}
			switch p.g.span.State {
			case GoRunning:
				state, work = ProcRunning, p.g.work
			case GoSyscall:
				state = ProcSyscall
			}
		}
		s := &p.span
		if state == s.State && work == s.Work && g == s.G && mid == s.M {
			s.Func = fn
		} else {
			m.endProcSpan(p, max(at, s.Start))
			if p.vague {
				p.vague = false
				m.vague--
			}
			before := s.State
			m.countProc(p, -1, s.Start)
			s.State, s.Work, s.G, s.Func, s.M, s.OpenStart = state, work, g, fn, mid, s.OpenStart && s.Start == p.from
			m.countProc(p, +1, s.Start)
			if m.log != nil {
				m.reportProc(s, before, s.Start)
			}
		}
	}
	if t == nil {
		return
	}
	if t.simple = nil; p != nil && p.alive && m.settled && !p.vague && p.span.Work == WorkUser && p.thread == t && t.p == p.span.P && p.g == t.g && (p.g == nil || p.g.span.State != GoSyscallBlocked) {
		t.simple = p
	}
	s, state, g := &t.span, ThreadNoProc, NoGoroutine
	if t.p != NoProc {
		state = ThreadSearching
	}
	if t.g != nil {
		g = t.g.ID
		switch t.g.span.State {
		case GoRunning:
			state = ThreadRunning
		case GoSyscall:
			state = ThreadSyscall
		case GoSyscallBlocked:
			if t.p == NoProc {
				state = ThreadSyscallBlocked
			}
		}
	}
	if state == s.State && t.p == s.P && g == s.G {
		return
	}
	switch state {
	case ThreadRunning:
		t.everRan = true
	case ThreadNoProc:
		if s.State == ThreadSearching && t.retook && !t.everRan {
			// Sysmon gives a proc back: it has no other use for one than to create a thread.
			m.borrow = borrow{by: s.M, end: at, valid: true}
		}
	}
	m.endThreadSpan(t, max(at, s.Start))
	s.State, s.P, s.G, s.OpenStart = state, t.p, g, s.OpenStart && s.Start == t.from
}

// learnWork finds what kind of work the goroutine does when it runs. It is to be called
// after each change of the name, the label, or the ranges.
func (m *Machine) learnWork(g *Goroutine) {
	g.work = m.workerMode(g)
	g.worker = g.Func == m.words.gcWorker || g.work != WorkUser
	switch {
	case g.work != WorkUser:
	case g.System:
		g.work = WorkSystem
	case hasRange(g.ranges, m.words.markAssist):
		g.work = WorkGCAssist
	}
	g.flags = 0
	if g.System {
		g.flags = StepSystem
	}
	if g.worker {
		g.flags |= StepWorker
	}
}

// endProcSpan reports the current interval and adds it to the proc's totals.
func (m *Machine) endProcSpan(p *proc, at Time) {
	s := &p.span
	if s.End = at; at > s.Start {
		Report(m.obs.procSpan, ProcSpanObserver.ProcSpan, s)
	}
	p.times[s.State] += at.Sub(s.Start)
	s.Start = at
}

// reportUses reports what procs did in the part of time that ends. The next one begins at t.
func (m *Machine) reportUses(t Time) {
	if m.uses == nil {
		return
	}
	for _, p := range m.procs {
		if p == nil {
			continue
		}
		for state, d := range p.uses {
			if d > 0 {
				m.uses.ProcSpan(&ProcSpan{P: p.span.P, State: ProcState(state), G: NoGoroutine, M: NoThread, Start: m.now - Time(d), End: m.now})
				p.uses[state] = 0
			}
		}
	}
	m.part, m.partEnd = t, m.uses.PartEnd(t)
}

// countProc adds n times the proc to the numbers since a time: the live ones, and, if
// the trace shows late what the proc did, what was not reported yet.
func (m *Machine) countProc(p *proc, n int, at Time) {
	p.count(&m.live, n)
	m.counted = false
	if m.settled || at >= m.now {
		return
	}
	for i := range m.held {
		if c := &m.held[i]; c.Start >= at {
			p.count(c, n)
		}
	}
	if m.pend.Start >= at {
		p.count(&m.pend, n)
	}
}

// count adds n times the proc to the numbers.
func (p *proc) count(c *Counts, n int) {
	*c.procs(p.span.State) += n
	if p.span.State == ProcRunning && p.span.Work.IsGC() && p.span.Work != WorkGCAssist {
		c.GC += n
	}
	if p.overloaded() {
		c.Overloaded += n
	}
}

func (p *proc) overloaded() bool { return p.alive && p.waiters > 0 && p.span.State != ProcIdle }

// countWaiter adds n to the goroutines that became Runnable on a proc and wait.
func (m *Machine) countWaiter(id ProcID, n int) {
	p := m.procOrNil(id)
	if p == nil {
		return
	}
	was := p.overloaded()
	p.waiters += n
	if p.overloaded() != was {
		m.live.Overloaded += n
		m.counted = false
	}
}

// resizeProcs follows a change of GOMAXPROCS: procs beyond it cease to exist
// (runtime/proc.go: procresize), inside a stop-the-world.
func (m *Machine) resizeProcs(n int, at Time) {
	first := m.maxProcs == 0
	m.maxProcs = n
	m.stepPhase(StepProcs, NoGoroutine, nil, 0, 0, n)
	for _, p := range m.procs[min(n, len(m.procs)):] {
		if p != nil && p.alive && p.thread == nil {
			m.removeProc(p, at)
		}
	}
	if grown := m.countProcs(); first {
		m.amendIdle(grown) // each generation records GOMAXPROCS where it begins
	}
}

// removeProc ends the existence of a proc that nobody holds.
func (m *Machine) removeProc(p *proc, at Time) {
	m.endProcSpan(p, at)
	m.countProc(p, -1, m.now)
	p.alive, p.gone = false, at
	m.seenProcs--
	m.live.Procs--
}

// reviveProc begins the account of a proc that GOMAXPROCS brought back.
func (m *Machine) reviveProc(p *proc, at Time) {
	p.alive, p.stopped, p.span.State, p.span.Work = true, false, ProcIdle, WorkUser
	p.span.G, p.span.Func, p.span.M = NoGoroutine, 0, NoThread
	p.span.Start = at
	p.absent += at.Sub(p.gone)
	m.seenProcs++
	if m.seenProcs > m.live.Procs {
		m.countProcs()
	}
}

// finishProcs closes the accounts of all procs.
func (m *Machine) finishProcs(t Time) {
	for _, p := range m.procs {
		if p == nil {
			continue
		}
		end := p.gone
		if p.alive {
			p.span.OpenEnd = true
			m.endProcSpan(p, t)
			end = t
		}
		m.checkTimes("proc", int64(p.span.P), procStateNames, p.times[:], end.Sub(p.from)-p.absent)
		if p.handoff != nil {
			p.handoff.Open, p.handoff.Got = true, t
			Report(m.obs.handoff, HandoffObserver.Handoff, p.handoff)
		}
	}
}
