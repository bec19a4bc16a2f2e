package model

import (
	"fmt"
	"strings"
)

// wake is what else than [GoSpan] says is known of how a Runnable interval began.
type wake struct {
	named  bool // what it waited for has a name
	net    bool // by the network poller; the next is set then
	poller Poller
}

// sysCall is a goroutine's current system call.
type sysCall struct {
	start Time // of a goroutine that the network poller has made Runnable: of its wait for the network
	stack StackID
	proc  ProcID // held at the beginning; has a meaning only if known or lost
}

// change moves a goroutine from the state that the event says to the other.
func (m *Machine) change(g *Goroutine, ev *Event, t *thread) {
	from, to := GoState(ev.From), GoState(ev.To)
	if to == GoWaiting && ev.Str == m.words.sync {
		ev = m.divide(ev)
	}
	m.learnFunc(g, ev.SubjectStack)
	var p *proc
	switch {
	case to == GoRunning && from == GoRunnable:
		p = m.goStart(g, ev, t)
	case from == GoRunning:
		p = m.goStop(g, ev, t, to)
	case from == GoWaiting && to == GoRunnable:
		m.goReady(g, ev, t)
	case from == GoSyscall:
		p = m.syscallEnd(g, ev, t, to)
	default:
		m.unbind(g, t)
		m.enter(g, to, ev.Str, ev.Flags)
		if m.bindIfExecuting(g, ev, t, m.now); from == GoUndetermined {
			m.leftFlags |= StepStatus
		}
	}
	if m.log != nil {
		m.stepGo(g, ev, p)
	}
	if from == GoRunnable && to != GoRunnable {
		g.span.forgetWake()
	}
	if to == GoNotExist {
		m.endGoroutine(g)
	}
}

// divide returns the event with the [SyncReason] for its own.
func (m *Machine) divide(ev *Event) *Event {
	m.divided = *ev
	m.divided.Str = m.stacks.syncReason(ev.SubjectStack)
	return &m.divided
}

// unusual applies the transition of a goroutine that is not known, g is nil then, or is not in the state that
// the event says: the error says so.
func (m *Machine) unusual(g *Goroutine, ev *Event, t *thread) error {
	from, to := GoState(ev.From), GoState(ev.To)
	if to == GoWaiting && ev.Str == m.words.sync {
		ev = m.divide(ev)
	}
	if to == GoUndetermined || max(from, to) > GoSyscall {
		return fmt.Errorf("goroutine %d: %v to %v at %d: no such transition", ev.ID, from, to, m.now)
	}
	if g != nil && from == to {
		m.learnFunc(g, ev.SubjectStack)
		return nil // each generation repeats the state of every goroutine
	}
	var err error
	if g == nil || g.span.State == GoUndetermined {
		if g, err = m.firstSight(g, ev, t); g == nil {
			return nil
		}
	} else if have := g.span.State; have != from && (have != GoSyscallBlocked || from != GoSyscall) {
		if have == GoSyscallBlocked {
			have = GoSyscall
		}
		err = fmt.Errorf("goroutine %d: %v to %v at %d: got state %v, want %v", g.ID, from, to, m.now, have, from)
		g.strayed = true
	}
	m.change(g, ev, t)
	if err != nil && to != GoRunnable {
		g.span.forgetWake()
	}
	return err
}

// firstSight begins the account of a goroutine: it is created, or the trace
// shows for the first time what state it has been in since the start. In the
// latter case the state holds since the start, because any change in between
// would have been preceded by the same statement. It returns the goroutine, nil if nothing is left
// to be done, and an error if it should have been known.
func (m *Machine) firstSight(g *Goroutine, ev *Event, t *thread) (*Goroutine, error) {
	from, to := GoState(ev.From), GoState(ev.To)
	if g == nil {
		g = m.newGoroutine(GoID(ev.ID), m.start)
	}
	m.learnFunc(g, ev.SubjectStack)
	s := &g.span
	m.leftFlags = 0
	switch from {
	case GoUndetermined, to:
		m.leftFlags = StepStatus
		s.State, s.Reason = to, ev.Str
		g.LastStop = ev.SubjectStack
		if to != GoRunning {
			s.Stack = g.LastStop
		}
	case GoNotExist:
		g.From, g.SeenCreation = m.now, true
		s.Start, s.OpenStart, s.State = m.now, false, to
		s.mark(ev.Flags)
	default:
		s.State = from
		if from == GoRunnable {
			m.countRunnable(+1)
		}
		return g, fmt.Errorf("goroutine %d: %v to %v at %d: got an unknown goroutine", g.ID, from, to, m.now)
	}
	if to == GoRunnable {
		m.countRunnable(+1)
		if from == GoNotExist {
			s.Origin, s.Waker, s.WakerStack, s.WakerProc, s.WakerThread = OriginCreated, ev.G, ev.Stack, ev.P, ev.M
			m.countWaiter(ev.P, +1)
		}
	}
	if to == GoRunning {
		g.HasStarted, g.Started = true, m.now
	}
	m.bindIfExecuting(g, ev, t, s.Start)
	if m.left, m.leftReason = s.Start, s.Reason; m.log != nil {
		m.stepGo(g, ev, nil)
	}
	return nil, nil
}

func (m *Machine) newGoroutine(id GoID, from Time) *Goroutine {
	var g *Goroutine
	if n := len(m.ended) - 1; n < 0 {
		g = new(Goroutine)
	} else {
		g, m.ended = m.ended[n], m.ended[:n]
	}
	*g = Goroutine{ID: id, Marks: &noMarks, From: from, Block: g.Block[:0]}
	g.span = GoSpan{G: id, Start: from, OpenStart: true, P: NoProc, M: NoThread}
	g.span.forgetWake()
	m.gs.Put(g.ID, g)
	return g
}

// learnFunc finds the name of a goroutine that has none yet.
func (m *Machine) learnFunc(g *Goroutine, stack StackID) {
	if g.Func == 0 {
		m.findFunc(g, stack)
	}
}

// findFunc takes the name that the reader has for the goroutine, or the start function from
// the root of the goroutine's stack.
func (m *Machine) findFunc(g *Goroutine, stack StackID) {
	if g.Func = m.tables.Name(g.ID); g.Func == 0 && stack != 0 {
		g.Func = m.stacks.root(stack)
	}
	if g.Func != 0 {
		g.System = isSystemFunc(m.tables.String(g.Func))
		g.span.Func, g.span.System = g.Func, g.System
		m.learnWork(g)
	}
}

// isSystemFunc reports whether a start function is the runtime's: its own
// goroutines and the tracer's reader. The main goroutine and coroutines
// (runtime.corostart) run the program's code.
func isSystemFunc(name string) bool {
	if name == "runtime.main" || name == "runtime.corostart" {
		return false
	}
	return strings.HasPrefix(name, "runtime.") || strings.HasPrefix(name, "runtime/trace.")
}

// goReady makes a Waiting goroutine Runnable.
func (m *Machine) goReady(g *Goroutine, ev *Event, t *thread) {
	w := wake{named: g.span.Reason != 0}
	origin := OriginUnknown
	origin, w.poller, w.net = m.classifyWake(g, ev, t)
	if w.net {
		g.sysKnown, g.sys.start = false, g.span.Start
	}
	m.enter(g, GoRunnable, 0, ev.Flags)
	s := &g.span
	s.Origin, s.Waker, s.WakerStack, s.WakerProc, s.WakerThread = origin, ev.G, ev.Stack, ev.P, ev.M
	g.wake = w
	m.countWaiter(ev.P, +1)
	if ev.G != NoGoroutine && m.byWorker(ev, t) {
		m.leftFlags |= StepByWorker
	}
}

// goStart makes a Runnable goroutine run on the event's thread and proc. Like goStop and syscallEnd, it returns the proc if
// that is simple: then it has changed with the goroutine.
func (m *Machine) goStart(g *Goroutine, ev *Event, t *thread) *proc {
	g.span.P, g.span.M = ev.P, ev.M
	if t == nil || t.coroutine == g.ID || g.span.Pseudo != NotPseudo {
		m.confirmPseudo(g, t)
	}
	if g.wake.net {
		m.reportNetpoll(g, t, false)
	}
	m.enter(g, GoRunning, 0, ev.Flags)
	if t != nil {
		t.starts++
		if t.simple != nil && t.g == nil && t.p == ev.P && g.work == WorkUser {
			t.g, t.simple.g, t.everRan = g, g, true
			return m.update(t, g.ID, g.Func, ProcRunning, ThreadRunning)
		}
	}
	m.bindIfExecuting(g, ev, t, m.now)
	return nil
}

// simply reports whether it is simple that a goroutine which runs, or is in a system call, changes: the event is of its thread
// and proc, and what is known of those agrees.
func (t *thread) simply(g *Goroutine, ev *Event) bool {
	return t != nil && t.simple != nil && t.g == g && t.p == ev.P && g.span.P == ev.P && g.span.M == ev.M
}

// goStop takes a running goroutine off its proc, or into a system call.
func (m *Machine) goStop(g *Goroutine, ev *Event, t *thread, to GoState) (p *proc) {
	g.span.Stack = ev.SubjectStack
	if ev.SubjectStack != 0 {
		g.LastStop = ev.SubjectStack
	}
	pid, mid, simple := g.span.P, g.span.M, t.simply(g, ev)
	if t != nil {
		t.coroutine = NoGoroutine
		if to == GoWaiting && ev.Str == 0 || to == GoNotExist {
			t.coroutine = m.coroutineTarget(t, ev)
		}
	}
	m.enter(g, to, ev.Str, ev.Flags)
	if to == GoSyscall {
		g.sysKnown, g.sys = true, sysCall{start: m.now, stack: ev.SubjectStack, proc: pid}
		if simple {
			return m.update(t, g.ID, g.Func, ProcSyscall, ThreadSyscall)
		}
		m.updateEach(m.procOrNil(pid), t, m.now)
		return nil
	}
	if simple {
		t.g, t.simple.g, g.span.P, g.span.M = nil, nil, NoProc, NoThread
		p = m.update(t, NoGoroutine, 0, ProcSearching, ThreadSearching)
	} else {
		m.unbind(g, t)
	}
	if to == GoRunnable {
		g.wake = wake{}
		g.span.Origin, g.span.WakerProc, g.span.WakerThread = m.stopOrigin(g, ev), pid, mid
		m.countWaiter(pid, +1)
	}
	return p
}

// syscallEnd is one of the four ways out of a system call, or the end of a C
// thread's goroutine.
func (m *Machine) syscallEnd(g *Goroutine, ev *Event, t *thread, to GoState) *proc {
	sys, blocked := &g.sys, Duration(0)
	if g.span.State == GoSyscallBlocked {
		blocked = m.now.Sub(g.span.Start)
	}
	if g.sysKnown && m.obs.syscallExit != nil {
		m.syscallExit = SyscallExit{G: g.ID, Func: g.Func, M: ev.M, Stack: sys.stack, Start: sys.start, End: m.now,
			Blocked: blocked, OldProc: sys.proc, NewProc: ev.P, Path: m.exitPath(to, sys.proc, ev.P)}
		m.obs.syscallExit.SyscallExit(&m.syscallExit)
	}
	if to == GoNotExist {
		m.markDestroyed(g, m.now)
	}
	simple := t.simply(g, ev)
	m.enter(g, to, 0, ev.Flags)
	if to == GoRunning {
		if simple && g.work == WorkUser {
			t.everRan = true
			return m.update(t, g.ID, g.Func, ProcRunning, ThreadRunning)
		}
		m.bindIfExecuting(g, ev, t, m.now)
		return nil
	}
	m.unbind(g, t)
	if to == GoRunnable {
		g.wake = wake{}
		g.span.Origin, g.span.WakerProc, g.span.WakerThread = OriginSyscall, ev.P, ev.M
		if ev.P != NoProc {
			g.span.Pseudo = PseudoSyscall
		}
		m.countWaiter(ev.P, +1)
	}
	return nil
}

func (m *Machine) exitPath(to GoState, before, after ProcID) SyscallExitPath {
	switch {
	case to == GoNotExist:
		return ExitDestroyed
	case to == GoRunning:
		return ExitKeptProc
	case m.cfg.oldFormat():
		return ExitUnknown
	case after == NoProc:
		return ExitQueued
	case after == before:
		return ExitOldProc
	}
	return ExitOtherProc
}

// enter ends the goroutine's current interval now, adds it to its totals, reports
// it, and begins the next. Flags are those of the event.
func (m *Machine) enter(g *Goroutine, to GoState, reason StringID, flags EventFlags) {
	s, was := &g.span, g.span.State
	m.left, m.leftReason, m.leftFlags = s.Start, s.Reason, 0
	d := m.now.Sub(s.Start)
	g.Times[was] += d
	switch was {
	case GoWaiting:
		g.Block = addReason(g.Block, s.Reason, d)
	case GoRunnable:
		m.countRunnable(-1)
		m.countWaiter(s.WakerProc, -1)
		if s.Pseudo == NotPseudo {
			g.RunnableTruly += d
		}
	}
	s.mark(flags)
	if was == GoRunnable && d > 0 && s.Waits() {
		if m.leftFlags, m.waited = StepWait, s.Origin; s.Clamped {
			m.leftFlags |= StepClamped
		}
	}
	if d > 0 && m.obs.goSpan != nil {
		s.End, s.Next = m.now, to
		m.obs.goSpan.GoSpan(s)
	}
	s.State, s.Reason, s.Stack = to, reason, g.LastStop
	s.Start, s.OpenStart, s.Synthetic, s.Clamped = m.now, false, false, false
	s.mark(flags)
	switch to {
	case GoRunnable:
		m.countRunnable(+1)
		if was == GoRunnable {
			s.forgetWake() // it is another wait
		}
	case GoRunning:
		s.Stack = 0 // known at its end
		if !g.HasStarted {
			g.HasStarted, g.Started = true, m.now
		}
	}
}

// mark takes over how an event, which begins or ends the interval, got its time.
func (s *GoSpan) mark(flags EventFlags) {
	if flags != 0 {
		s.Synthetic = s.Synthetic || flags&EventSyntheticTime != 0
		s.Clamped = s.Clamped || flags&EventClamped != 0
	}
}

// forgetWake takes out what is said of Runnable intervals only.
func (s *GoSpan) forgetWake() {
	s.Origin, s.Pseudo, s.Waker, s.WakerStack, s.WakerProc, s.WakerThread = OriginUnknown, NotPseudo, NoGoroutine, 0, NoProc, NoThread
}

// maxReasons bounds lists of totals by name. The runtime knows some 40 reasons
// to wait and 20 to stop the world (runtime/runtime2.go: waitReason,
// runtime/proc.go: stwReason, Go 1.26); a hostile trace can name any number.
const maxReasons = 256

// addReason adds d to the total under a name, or under the empty name if there
// are too many.
func addReason(list []ReasonTime, reason StringID, d Duration) []ReasonTime {
	for i := range list {
		if list[i].Reason == reason {
			list[i].Count++
			list[i].Total += d
			return list
		}
	}
	if len(list) >= maxReasons && reason != 0 {
		return addReason(list, 0, d)
	}
	return append(list, ReasonTime{Reason: reason, Count: 1, Total: d})
}

// bindIfExecuting ties a goroutine that runs, or is in a system call, to the
// event's thread and proc.
func (m *Machine) bindIfExecuting(g *Goroutine, ev *Event, t *thread, at Time) {
	s := &g.span
	if s.State != GoRunning && s.State != GoSyscall {
		return
	}
	if m.cfg.oldFormat() && s.State == GoSyscall && ev.M == NoThread {
		// Go 1.21 and older list who is in a system call, but not where.
		s.P, s.M = NoProc, NoThread
		return
	}
	g.strayed = g.strayed || s.M != NoThread && s.M != ev.M || s.P != NoProc && s.P != ev.P
	s.M = ev.M
	pid := ev.P
	if t != nil {
		if t.fresh() {
			t.knownSince(at)
		}
		t.g = g
		if pid == NoProc {
			pid = t.p
		}
	}
	if s.OpenStart && s.State == GoSyscall && t != nil && t.acquired > 0 {
		if p := m.procOrNil(pid); p != nil && p.thread == t {
			pid = NoProc // it got that one just now, on its way out, and has not had it since the start
		}
	}
	p := m.procOrNil(pid)
	if p == nil {
		p = m.newProc(pid)
	}
	switch {
	case p != nil:
		s.P = pid
		p.g = g
	case pid != NoProc:
		p = m.procOrNil(s.P)
	default:
		s.P = NoProc
		if s.State == GoSyscall {
			s.State = GoSyscallBlocked
		}
	}
	m.updateEach(p, t, at)
}

// unbind frees the goroutine's thread and proc of it. T is the event's thread.
func (m *Machine) unbind(g *Goroutine, t *thread) {
	s := &g.span
	if t == nil || t.span.M != s.M {
		t = m.threads[s.M] // nil for NoThread
	}
	if t != nil && t.g == g {
		t.g = nil
	}
	p := m.procOrNil(s.P)
	if p != nil && p.g == g {
		p.g = nil
	}
	m.updateEach(p, t, m.now)
	s.P, s.M = NoProc, NoThread
}

// endGoroutine closes the account of a goroutine that exited.
func (m *Machine) endGoroutine(g *Goroutine) {
	g.HasEnded, g.Ended = true, m.now
	m.closeAnnotations(g, m.now, false)
	m.reportGoEnd(g)
	m.gs.Remove(g.ID)
	if !g.strayed {
		m.ended = append(m.ended, g)
	}
}

func (m *Machine) reportGoEnd(g *Goroutine) {
	m.checkGoroutine(g)
	Report(m.obs.goEnd, GoEndObserver.GoEnd, g)
}

// finishGoroutines closes the accounts of those still alive.
func (m *Machine) finishGoroutines(t Time) {
	m.gs.All(func(g *Goroutine) {
		if g.span.State == GoRunnable {
			if g.wake.net {
				m.reportNetpoll(g, nil, true)
			}
			g.span.Pseudo = NotPseudo // it did not go on at once
		}
		g.span.OpenEnd = true
		m.enter(g, GoUndetermined, 0, 0)
		g.Ended = t
		m.closeAnnotations(g, t, true)
		m.reportGoEnd(g)
		g.Block = nil // there may be very many
	})
}
