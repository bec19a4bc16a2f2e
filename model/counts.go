package model

// maxHeld bounds the elementary intervals that are held back, of 88 bytes each,
// while there are less than 64 procs; with more it is less, because each proc may
// change them all. When there are more, procs not seen yet count as idle after all.
const maxHeld = 1 << 17

// startReason is the stop-the-world in which tracing begins (runtime/trace.go:
// StartTrace; runtime/proc.go: stwReasonStrings, Go 1.26).
const startReason = "start trace"

// countRunnable adds n to the goroutines that are Runnable.
func (m *Machine) countRunnable(n int) {
	m.live.Runnable += n
	m.counted = false
}

// takeCounts ends the pending elementary interval at m.now, if the numbers differ from then on.
func (m *Machine) takeCounts() {
	m.counted = true
	c := &m.pend
	if !c.sameLoad(&m.live) || !(m.coarse && m.settled) && !c.sameNumbers(&m.live) {
		if c.End = m.now; !m.settled {
			m.flushCounts(m.now)
		} else if c.End > c.Start {
			m.reportCounts(c)
			c.Start = c.End
		}
		if c.takeLoad(&m.live); !m.coarse || !m.settled {
			c.takeNumbers(&m.live)
		}
	}
	if c.Runnable > m.peak {
		m.peak = c.Runnable
		for _, o := range m.obs.peak {
			o.PeakAt(c.Start, m.peak)
		}
	}
}

// sameLoad and takeLoad, and sameNumbers and takeNumbers, which are about the others, work field by field: right after
// single fields were written, reading them in larger units would stall the processor.

func (c *Counts) sameLoad(o *Counts) bool {
	return c.Runnable == o.Runnable && c.Idle == o.Idle && c.Overloaded == o.Overloaded && c.Procs == o.Procs
}

func (c *Counts) sameNumbers(o *Counts) bool {
	return c.Running == o.Running && c.Searching == o.Searching && c.Syscall == o.Syscall && c.GC == o.GC && c.Stopped == o.Stopped
}

func (c *Counts) takeLoad(o *Counts) {
	c.Runnable, c.Idle, c.Overloaded, c.Procs = o.Runnable, o.Idle, o.Overloaded, o.Procs
}

func (c *Counts) takeNumbers(o *Counts) {
	c.Running, c.Searching, c.Syscall, c.GC, c.Stopped = o.Running, o.Searching, o.Syscall, o.GC, o.Stopped
}

// flushCounts ends the pending elementary interval at t and reports it, or holds it
// back while what is to come may change it.
func (m *Machine) flushCounts(t Time) {
	if t <= m.pend.Start {
		return
	}
	m.pend.End = t
	if !m.settled && len(m.held) < maxHeld/(1+len(m.procs)/64) && !m.allProcsSeen() {
		m.held = append(m.held, m.pend)
	} else {
		m.settle()
		m.reportCounts(&m.pend)
	}
	m.pend.Start = t
}

func (m *Machine) reportCounts(c *Counts) {
	if m.obs.counts != nil {
		m.obs.counts.Counts(c)
	}
}

// allProcsSeen reports whether the trace has shown the state of each proc. Formats
// before Go 1.22 do not record states: their procs are idle until they start.
func (m *Machine) allProcsSeen() bool {
	return m.cfg.oldFormat() || m.maxProcs > 0 && m.seenProcs >= m.maxProcs && m.vague == 0
}

// settle reports what was held back. Where tracing begins, the world is stopped,
// so procs not seen yet are idle. A trace that begins later, such as one of the
// flight recorder, states what a proc has done since its start only when the
// proc next comes to a safe point.
func (m *Machine) settle() {
	m.settled = true
	for i := range m.held {
		m.reportCounts(&m.held[i])
	}
	m.held = nil
}

// amendIdle adds n idle procs to what was not reported yet: the trace shows late that
// there are as many.
func (m *Machine) amendIdle(n int) {
	if m.settled || n == 0 {
		return
	}
	for i := range m.held {
		m.held[i].addIdle(n)
	}
	m.pend.addIdle(n)
}

// procs returns the number of the procs in a state.
func (c *Counts) procs(state ProcState) *int {
	switch state {
	case ProcIdle:
		return &c.Idle
	case ProcRunning:
		return &c.Running
	case ProcSearching:
		return &c.Searching
	case ProcSyscall:
		return &c.Syscall
	}
	return &c.Stopped
}

func (c *Counts) addIdle(n int) {
	c.Idle += n
	c.Procs += n
}

// Free returns how many procs have nothing to run: they are idle, or their threads look for work.
func (m *Machine) Free() int { return m.live.Idle + m.live.Searching }
