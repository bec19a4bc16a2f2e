package model

import "strings"

// How a goroutine became Runnable is not written in the trace; it follows from
// who emitted the event, in which context, and from stacks. The rules below
// hold for Go 1.22 to 1.26 (runtime/proc.go, netpoll.go, time.go, mgc*.go).

// classifyWake finds how a Waiting goroutine is being made Runnable: if by the network
// poller, also by whom that was.
func (m *Machine) classifyWake(g *Goroutine, ev *Event, t *thread) (origin Origin, poller Poller, net bool) {
	if ev.G != NoGoroutine {
		origin, poller, net = m.wokenByGoroutine(g, ev, t)
	} else {
		// Emitted on a scheduler stack: poller, timer, or the runtime's own lists.
		switch reason := g.span.Reason; {
		case reason == m.words.network:
			origin, poller, net = OriginNetpoll, m.pollerOf(ev, t), true
		case g.worker:
			origin = OriginGC // findRunnableGCWorker: run at once
		case g.System || reason == m.words.systemWait:
			origin = OriginInjected // forcegc helper, scavenger, finalizer, trace reader
		case reason == m.words.preempted:
			origin = OriginGC
		case reason == 0 && g.span.OpenStart:
			origin = OriginExternal // a trace does not record for what goroutines wait when it begins
		default:
			origin = OriginTimer
		}
	}
	if t != nil {
		t.poller = PollerNonBlocking // whoever runs timers polls next (findRunnable)
		if net {
			t.poller = poller
		}
	}
	return origin, poller, net
}

// wokenByGoroutine is classifyWake for an event emitted by a goroutine.
func (m *Machine) wokenByGoroutine(g *Goroutine, ev *Event, t *thread) (Origin, Poller, bool) {
	reason := g.span.Reason
	switch {
	case reason == m.words.assistWait, reason == m.words.preempted:
		// Assist credit, or the end of a stack scan (runtime/mgcmark.go).
		return OriginGC, 0, false
	case reason == m.words.network && m.byWorker(ev, t):
		return OriginNetpoll, PollerGCWorker, true // runtime/proc.go: pollWork
	case reason == m.words.network && m.stw != nil && m.stw.G == ev.G:
		return OriginNetpoll, PollerSTW, true // runtime/proc.go: startTheWorldWithSema
	case m.stacks.of(ev.Stack)&stackRuntimeWaker != 0:
		return OriginInjected, 0, false // runtime/proc.go: injectglist
	}
	return OriginGoroutine, 0, false
}

// byWorker reports whether a background mark worker emitted the event.
func (m *Machine) byWorker(ev *Event, t *thread) bool {
	if t != nil && t.g != nil && t.g.ID == ev.G {
		return t.g.worker // as nearly always
	}
	by := m.gs.Get(ev.G)
	return by != nil && by.worker
}

// Gaps between a thread's ProcStart and the network wake that follows. A
// thread that slept in epoll has its events in hand when it gets a proc; one
// that was just woken has yet to poll. On Linux, amd64, Go 1.26, the medians
// were 1.4 us and 7.8 us: the bounds leave what lies between undecided. They
// are not constants of the runtime, and another machine has other gaps.
const (
	pollInHand  Duration = 2500
	pollAtLeast Duration = 6000
)

// pollerOf finds who polled, for a network wake without a goroutine in context.
func (m *Machine) pollerOf(ev *Event, t *thread) Poller {
	if t == nil {
		return PollerAmbiguous
	}
	if ev.P == NoProc {
		switch {
		case t.everRan:
			return PollerBlockingNoProc
		case t.retook:
			return PollerSysmon
		}
		return PollerAmbiguous // a poller asleep since before the trace, or sysmon
	}
	prev := &t.prev
	switch {
	case prev.kind == EventGoTransition && prev.from == uint8(GoWaiting) && prev.to == uint8(GoRunnable):
		return t.poller // another goroutine of the same list
	case prev.kind == EventGoTransition:
		return PollerNonBlocking
	case prev.kind == EventProcTransition && prev.to == uint8(ProcStatusRunning):
		switch gap := m.now.Sub(prev.at); {
		case gap <= pollInHand:
			return PollerBlocking
		case gap >= pollAtLeast:
			return PollerNonBlocking
		}
	}
	return PollerAmbiguous
}

// reportNetpoll reports a network wake when the goroutine runs, or at the end.
func (m *Machine) reportNetpoll(g *Goroutine, t *thread, open bool) {
	w, n := &g.wake, &m.netpollWake
	*n = NetpollWake{G: g.ID, Func: g.Func, Time: g.span.Start, Poller: w.poller, Waited: g.span.Start.Sub(g.sys.start),
		M: g.span.WakerThread, P: g.span.WakerProc, Started: m.now, Open: open}
	n.Direct = !open && t != nil && t.span.M == n.M && t.prev.woke(g.ID)
	Report(m.obs.netpoll, NetpollObserver.Netpoll, n)
}

// stopOrigin finds why a running goroutine became Runnable.
func (m *Machine) stopOrigin(g *Goroutine, ev *Event) Origin {
	if ev.Str == m.words.gosched {
		return OriginGosched
	}
	if ev.Str != m.words.preempted {
		return OriginUnknown
	}
	if c := m.stacks.of(ev.SubjectStack); c&stackAsyncPreempt == 0 && c&stackYield != 0 {
		// runtime/proc.go: goyield, called by semrelease with handoff.
		return OriginGoyield
	}
	if m.stw != nil && m.stw.G != g.ID && !m.stw.restarted {
		return OriginSTW
	}
	return OriginPreempted
}

// confirmPseudo decides, when g starts, whether its Runnable interval was a
// wait at all. Both kinds need the start to be the thread's very next event; that of a
// coroutine is 1 ns after the stop, see [Machine.coroutineTarget].
func (m *Machine) confirmPseudo(g *Goroutine, t *thread) {
	s := &g.span
	switch {
	case t == nil:
		s.Pseudo = NotPseudo
	case t.coroutine == g.ID && m.now.Sub(t.prev.at) <= 1:
		s.Origin, s.Pseudo = OriginCoroutine, PseudoCoroutine
		t.coroutine = NoGoroutine
	case s.Pseudo == PseudoSyscall && !(t.span.M == s.WakerThread && t.prev.leftSyscall(g.ID)):
		s.Pseudo = NotPseudo
	}
}

// coroutineTarget returns the goroutine that the thread is switching to, if the
// event, which ends a goroutine or has it wait for nothing, is the middle one of the three that the decoder makes of a coroutine
// switch: wake next, stop current, start next, 1 ns apart (runtime/coro.go:
// coroswitch_m, Go 1.23). Other events are as near where a clock stood still or went
// back, so that next must have waited for nothing that has a name, as coroutines do.
func (m *Machine) coroutineTarget(t *thread, ev *Event) GoID {
	p := &t.prev
	if p.kind == EventGoTransition && p.from == uint8(GoWaiting) && p.to == uint8(GoRunnable) && p.g == ev.G && m.now.Sub(p.at) <= 1 {
		if g := m.gs.Get(GoID(p.id)); g != nil && !g.wake.named {
			return g.ID
		}
	}
	return NoGoroutine
}

// workerMode returns the mode of a mark worker from its latest label, WorkUser
// if it has none.
func (m *Machine) workerMode(g *Goroutine) WorkKind {
	switch g.Label {
	case m.words.gcDedicated:
		return WorkGCDedicated
	case m.words.gcFractional:
		return WorkGCFractional
	case m.words.gcIdle:
		return WorkGCIdle
	}
	return WorkUser
}

// stackClass says what the rules need to know of a stack.
type stackClass uint8

const (
	stackSeen         stackClass = 1 << iota
	stackAsyncPreempt            // stopped by a preemption signal
	stackYield                   // the runtime yields after it has handed over a semaphore
	stackRuntimeWaker            // the runtime woke on its own account, not for the caller
)

// stackClasses caches what the rules need of stacks by ID.
type stackClasses struct {
	tables *Tables
	yield  string // innermost frame of a goyield
	class  []stackClass
	roots  []StringID
	syncs  []StringID // [SyncReason], 0: not asked yet
}

func (c *stackClasses) of(id StackID) stackClass {
	if id == 0 {
		return 0
	}
	c.see(id)
	return c.class[id]
}

// root returns the outermost function of a stack: the goroutine's start function, 0 if it does not show that. CPU samples have one
// more, from which it returns.
func (c *stackClasses) root(id StackID) StringID {
	c.see(id)
	return c.roots[id]
}

// syncReason returns the [SyncReason] of a stack.
func (c *stackClasses) syncReason(id StackID) StringID {
	c.see(id)
	if c.syncs[id] == 0 {
		c.syncs[id] = c.tables.AddString(SyncReason(c.tables.Stack(id)))
	}
	return c.syncs[id]
}

func (c *stackClasses) see(id StackID) {
	if int(id) < len(c.class) && c.class[id] != 0 {
		return
	}
	if n := max(int(id)+1, c.tables.NumStacks()); n > len(c.class) {
		c.class = append(c.class, make([]stackClass, n-len(c.class))...)
		c.roots = append(c.roots, make([]StringID, n-len(c.roots))...)
		c.syncs = append(c.syncs, make([]StringID, n-len(c.syncs))...)
	}
	frames := c.tables.Stack(id)
	c.class[id] = classify(frames, c.yield)
	if n := len(frames); n > 1 && frames[n-1].Func == "runtime.goexit" {
		frames = frames[:n-1]
	}
	if n := len(frames); n > 0 && isStart(frames[n-1].Func) {
		c.roots[id] = c.tables.AddString(frames[n-1].Func)
	}
}

// yieldFrame returns the function that the stack of a goyield begins with. Until
// Go 1.24 the frames of goyield itself are left out, so that a preemption right in
// the caller looks the same.
func yieldFrame(version int) string {
	if version >= 25 {
		return "runtime.goyield"
	}
	return "runtime.semrelease1"
}

// classify looks at the innermost frames, where the runtime's own are.
func classify(frames []Frame, yield string) stackClass {
	class := stackSeen
	for i, f := range frames[:min(len(frames), 6)] {
		switch name := f.Func; {
		case i < 2 && strings.HasPrefix(name, "runtime.asyncPreempt"):
			class |= stackAsyncPreempt
		case i == 0 && name == yield:
			class |= stackYield
		case i == 0 && name == "runtime.systemstack_switch", strings.HasPrefix(name, "runtime.gcStart"),
			strings.HasPrefix(name, "runtime.gcMark"), strings.HasPrefix(name, "runtime.gcSweep"):
			class |= stackRuntimeWaker
		}
	}
	return class
}
