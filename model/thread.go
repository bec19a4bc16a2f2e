package model

import (
	"maps"
	"slices"
)

// thread is what is known of one thread.
type thread struct {
	span       ThreadSpan // the current interval, which has no end yet
	from, last Time       // beginning of its account, its latest event that prev leaves out
	created    bool
	p          ProcID
	g          *Goroutine
	simple     *proc // if not nil, the proc that it has, which does a user's work and has the same goroutine or none, and is settled
	starts     int64
	acquired   int64
	times      [NumThreadStates]Duration
	everRan    bool // ran a goroutine
	retook     bool // took procs as only sysmon does
	prev       lastEvent
	poller     Poller // of the latest network wake
	coroutine  GoID   // being switched to
}

// lastEvent is the latest event of a thread, as far as rules look back.
type lastEvent struct {
	kind     EventKind
	from, to uint8
	id       int64
	g        GoID
	at       Time
}

// woke reports whether the event made goroutine id Runnable.
func (e *lastEvent) woke(id GoID) bool {
	return e.kind == EventGoTransition && e.from == uint8(GoWaiting) && e.to == uint8(GoRunnable) && e.id == int64(id)
}

// leftSyscall reports whether the event took goroutine id out of a system call
// into Runnable.
func (e *lastEvent) leftSyscall(id GoID) bool {
	return e.kind == EventGoTransition && e.from == uint8(GoSyscall) && e.to == uint8(GoRunnable) && e.id == int64(id)
}

// remember keeps the event for the rules that look at a thread's latest one.
// Samples of the profiler fall in anywhere, and do not count, nor do statuses.
func (t *thread) remember(ev *Event, at Time) {
	if ev.Flags&EventStatus != 0 || ev.Kind == EventStackSample || ev.Kind == EventSync {
		t.last = at
		return
	}
	// Field by field: copying what was just put together would stall the processor.
	l := &t.prev
	l.kind, l.from, l.to, l.id, l.g, l.at = ev.Kind, ev.From, ev.To, ev.ID, ev.G, at
}

// findThread returns the event's thread, beginning its account at first sight.
func (m *Machine) findThread(ev *Event) *thread {
	t := m.threads[ev.M]
	if t == nil {
		t = m.newThread(ev, m.now)
	}
	m.recent[uint64(ev.M)%uint64(len(m.recent))] = t
	return t
}

func (m *Machine) newThread(ev *Event, at Time) *thread {
	t := &thread{from: at, p: NoProc, coroutine: NoGoroutine, span: ThreadSpan{M: ev.M, State: ThreadNoProc, P: NoProc, G: NoGoroutine, Start: at}}
	if firstSeen(ev) {
		// What it holds it has held since the start.
		t.from, t.span.Start, t.span.OpenStart = m.start, m.start, true
	} else {
		t.created = true
		m.threadStarted(t, at)
	}
	m.threads[ev.M] = t
	return t
}

// fresh reports whether the thread has not held anything so far.
func (t *thread) fresh() bool {
	return t.span.State == ThreadNoProc && t.span.Start == t.from && t.acquired == 0
}

// knownSince moves the beginning of a fresh thread's account back to a time
// since which, as the trace shows only now, it has held something.
func (t *thread) knownSince(at Time) {
	if at < t.from {
		t.from, t.span.Start, t.span.OpenStart, t.created = at, at, true, false
	}
}

// firstSeen reports whether the event states what was so from the start.
func firstSeen(ev *Event) bool {
	switch ev.Kind {
	case EventGoTransition:
		to := GoState(ev.To)
		return GoState(ev.From) == GoUndetermined && (to == GoRunning || to == GoSyscall)
	case EventProcTransition:
		return ProcStatus(ev.From) == ProcStatusUndetermined && ProcStatus(ev.To) == ProcStatusRunning
	}
	return false
}

// borrow is a proc held by a thread without work: what a thread without a proc
// does to create another one (runtime/proc.go: allocm).
type borrow struct {
	by    ThreadID
	end   Time
	valid bool
}

// borrowWindow is how soon the new thread's first event must follow.
const borrowWindow Duration = 1_000_000

// threadStarted reports the creation of a thread if the borrowing was seen.
func (m *Machine) threadStarted(t *thread, at Time) {
	if !m.borrow.valid || m.borrow.by == t.span.M || at.Sub(m.borrow.end) > borrowWindow {
		return
	}
	m.borrow.valid = false
	s := ThreadStart{M: t.span.M, Creator: m.borrow.by, Time: at}
	Report(m.obs.threadStart, ThreadStartObserver.ThreadStart, &s)
}

// endThreadSpan adds the current interval to the thread's totals and reports it.
func (m *Machine) endThreadSpan(t *thread, at Time) {
	s := &t.span
	if at > s.Start && len(m.obs.threadSpan) > 0 {
		s.End = at
		Report(m.obs.threadSpan, ThreadSpanObserver.ThreadSpan, s)
	}
	t.times[s.State] += at.Sub(s.Start)
	s.Start = at
}

// finishThreads closes the accounts of all threads.
func (m *Machine) finishThreads(end Time) {
	for _, id := range slices.Sorted(maps.Keys(m.threads)) {
		t := m.threads[id]
		t.span.OpenEnd = true
		m.endThreadSpan(t, end)
		m.checkTimes("thread", int64(t.span.M), threadStateNames, t.times[:], end.Sub(t.from))
		sum := Thread{M: t.span.M, First: t.from, Last: max(t.last, t.prev.at), Created: t.created, Starts: t.starts, Acquired: t.acquired, Times: t.times}
		Report(m.obs.thread, ThreadObserver.Thread, &sum)
	}
}
