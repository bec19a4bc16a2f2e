package model

import (
	"errors"
	"fmt"
	"strings"
)

// wake is how a goroutine's current Runnable interval began.
type wake struct {
	waker  GoID
	thread ThreadID
	stack  StackID
	proc   ProcID
	origin Origin
	pseudo Pseudo // a candidate until the goroutine runs
	named  bool   // what it waited for has a name
	net    bool   // by the network poller; the next two are set then
	poller Poller
	waited Duration
}

// sysCall is a goroutine's current system call.
type sysCall struct {
	start     Time
	stack     StackID
	proc      ProcID // held at the beginning; has a meaning only if known or lost
	blockedAt Time   // when the proc was lost
}

// goTransition moves a goroutine from one state to another.
func (m *Machine) goTransition(ev *Event, t *thread, at Time) error {
	from, to := GoState(ev.From), GoState(ev.To)
	if to == GoUndetermined || max(from, to) > GoSyscall {
		return fmt.Errorf("goroutine %d: %v to %v at %d: no such transition", ev.ID, from, to, at)
	}
	if to == GoWaiting && ev.Str == m.words.sync {
		m.divided = *ev
		m.divided.Str, ev = m.stacks.syncReason(ev.SubjectStack), &m.divided
	}
	g := m.gs.Get(GoID(ev.ID))
	if g != nil && from == to {
		m.learnFunc(g, ev.SubjectStack)
		return nil // each generation repeats the state of every goroutine
	}
	if g == nil || g.State == GoUndetermined {
		return m.firstSight(g, ev, t, at)
	}
	since, reason := g.Since, g.Reason
	have, err := g.State, error(nil)
	if have == GoSyscallBlocked {
		have = GoSyscall
	}
	if have != from {
		err = fmt.Errorf("goroutine %d: %v to %v at %d: got state %v, want %v", g.ID, from, to, at, have, from)
	}
	m.learnFunc(g, ev.SubjectStack)
	switch {
	case to == GoRunning && from == GoRunnable:
		m.goStart(g, ev, t, at)
	case from == GoRunning:
		m.goStop(g, ev, t, at, to)
	case from == GoWaiting && to == GoRunnable:
		m.classifyWake(g, ev, t, at)
		m.enter(g, to, 0, ev, at)
		m.countWaiter(g.wake.proc, +1)
	case from == GoSyscall:
		m.syscallEnd(g, ev, t, at, to)
	default:
		m.unbind(g, at)
		m.enter(g, to, ev.Str, ev, at)
		m.bindIfExecuting(g, ev, t, at)
	}
	m.stepGo(g, ev, from, to, since, reason, at)
	if to == GoNotExist {
		m.endGoroutine(g, at)
	}
	return err
}

// firstSight begins the account of a goroutine: it is created, or the trace
// shows for the first time what state it has been in since the start. In the
// latter case the state holds since the start, because any change in between
// would have been preceded by the same statement.
func (m *Machine) firstSight(g *Goroutine, ev *Event, t *thread, at Time) error {
	from, to := GoState(ev.From), GoState(ev.To)
	if g == nil {
		g = m.newGoroutine(GoID(ev.ID), m.start)
	}
	m.learnFunc(g, ev.SubjectStack)
	switch from {
	case GoUndetermined, to:
		g.State, g.Reason = to, ev.Str
		g.LastStop = ev.SubjectStack
	case GoNotExist:
		g.From, g.Since, g.openStart = at, at, false
		g.SeenCreation = true
		g.State = to
		g.synthetic, g.clamped = ev.Flags&EventSyntheticTime != 0, ev.Flags&EventClamped != 0
	default:
		g.State = from
		if from == GoRunnable {
			m.live.Runnable++
		}
		return errors.Join(fmt.Errorf("goroutine %d: %v to %v at %d: got an unknown goroutine", g.ID, from, to, at),
			m.goTransition(ev, t, at))
	}
	g.wake = wake{waker: NoGoroutine, proc: NoProc, thread: NoThread}
	if to == GoRunnable {
		m.live.Runnable++
		if from == GoNotExist {
			g.wake = wake{origin: OriginCreated, waker: ev.G, stack: ev.Stack, proc: ev.P, thread: ev.M}
			m.countWaiter(ev.P, +1)
		}
	}
	if to == GoRunning {
		g.HasStarted, g.Started = true, at
	}
	m.bindIfExecuting(g, ev, t, g.Since)
	if from == to {
		from = GoUndetermined
	}
	m.stepGo(g, ev, from, to, g.Since, g.Reason, at)
	return nil
}

func (m *Machine) newGoroutine(id GoID, from Time) *Goroutine {
	g := &Goroutine{ID: id, Marks: &noMarks, From: from, Since: from, openStart: true, proc: NoProc, thread: NoThread}
	g.wake = wake{waker: NoGoroutine, proc: NoProc, thread: NoThread}
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

// goStart makes a Runnable goroutine run on the event's thread and proc.
func (m *Machine) goStart(g *Goroutine, ev *Event, t *thread, at Time) {
	g.proc, g.thread = ev.P, ev.M
	m.confirmPseudo(g, t, at)
	if g.wake.net {
		m.reportNetpoll(g, t, at, false)
	}
	m.enter(g, GoRunning, 0, ev, at)
	if t != nil {
		t.starts++
	}
	m.bindIfExecuting(g, ev, t, at)
}

// goStop takes a running goroutine off its proc, or into a system call.
func (m *Machine) goStop(g *Goroutine, ev *Event, t *thread, at Time, to GoState) {
	if ev.SubjectStack != 0 {
		g.LastStop = ev.SubjectStack
	}
	pid, mid := g.proc, g.thread
	if t != nil {
		t.coroutine = m.coroutineTarget(t, ev, at)
	}
	m.stopStack = ev.SubjectStack
	m.enter(g, to, ev.Str, ev, at)
	m.stopStack = 0
	if to == GoSyscall {
		g.sysKnown, g.sys = true, sysCall{start: at, stack: ev.SubjectStack, proc: pid}
		m.update(m.procOrNil(pid), t, at)
		return
	}
	m.unbind(g, at)
	if to == GoRunnable {
		g.wake = wake{origin: m.stopOrigin(g, ev), waker: NoGoroutine, proc: pid, thread: mid}
		m.countWaiter(pid, +1)
	}
}

// syscallEnd is one of the four ways out of a system call, or the end of a C
// thread's goroutine.
func (m *Machine) syscallEnd(g *Goroutine, ev *Event, t *thread, at Time, to GoState) {
	sys, blocked := g.sys, Duration(0)
	if g.State == GoSyscallBlocked {
		blocked = at.Sub(sys.blockedAt)
	}
	if g.sysKnown && len(m.obs.syscallExit) > 0 {
		m.syscallExit = SyscallExit{G: g.ID, Func: g.Func, M: ev.M, Stack: sys.stack, Start: sys.start, End: at,
			Blocked: blocked, OldProc: sys.proc, NewProc: ev.P, Path: m.exitPath(to, sys.proc, ev.P)}
		Report(m.obs.syscallExit, SyscallExitObserver.SyscallExit, &m.syscallExit)
	}
	if to == GoNotExist {
		m.markDestroyed(g, at)
	}
	m.enter(g, to, 0, ev, at)
	if to == GoRunning {
		m.bindIfExecuting(g, ev, t, at)
		return
	}
	m.unbind(g, at)
	if to == GoRunnable {
		g.wake = wake{origin: OriginSyscall, waker: NoGoroutine, proc: ev.P, thread: ev.M}
		if ev.P != NoProc {
			g.wake.pseudo = PseudoSyscall
		}
		m.countWaiter(ev.P, +1)
	}
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

// enter ends the goroutine's current interval at time at and begins the next.
func (m *Machine) enter(g *Goroutine, to GoState, reason StringID, ev *Event, at Time) {
	if g.State == GoRunnable {
		for _, l := range m.logs {
			l.proc = false // the end of a wait comes right before the step that ends it
		}
		m.live.Runnable--
		m.countWaiter(g.wake.proc, -1)
	}
	synthetic, clamped := ev.Flags&EventSyntheticTime != 0, ev.Flags&EventClamped != 0
	m.endSpan(g, at, to, synthetic, clamped, false)
	if to == GoRunnable {
		m.live.Runnable++
	}
	g.State, g.Reason, g.openStart = to, reason, false
	g.synthetic, g.clamped = synthetic, clamped
	if to == GoRunning && !g.HasStarted {
		g.HasStarted, g.Started = true, at
	}
}

// endSpan adds the current interval to the goroutine's totals and reports it.
func (m *Machine) endSpan(g *Goroutine, at Time, next GoState, synthetic, clamped, openEnd bool) {
	d := at.Sub(g.Since)
	g.Times[g.State] += d
	switch g.State {
	case GoWaiting:
		g.Block = addReason(g.Block, g.Reason, d)
	case GoRunnable:
		if g.wake.pseudo == NotPseudo {
			g.RunnableTruly += d
		}
	}
	if d > 0 && len(m.obs.goSpan) > 0 {
		s := &m.goSpan
		s.G, s.Func, s.System = g.ID, g.Func, g.System
		s.State, s.Reason, s.Start, s.End = g.State, g.Reason, g.Since, at
		s.OpenStart, s.OpenEnd = g.openStart, openEnd
		s.Synthetic, s.Clamped = synthetic || g.synthetic, clamped || g.clamped
		s.P, s.M, s.Stack, s.Next = g.proc, g.thread, g.LastStop, next
		if g.State == GoRunning {
			s.Stack = m.stopStack
		}
		if g.State == GoRunnable {
			w := &g.wake
			s.Origin, s.Pseudo, s.Waker, s.WakerStack, s.WakerProc, s.WakerThread = w.origin, w.pseudo, w.waker, w.stack, w.proc, w.thread
		} else {
			s.Origin, s.Pseudo, s.Waker, s.WakerStack, s.WakerProc, s.WakerThread = OriginUnknown, NotPseudo, NoGoroutine, 0, NoProc, NoThread
		}
		for _, o := range m.obs.goSpan {
			o.GoSpan(s)
		}
	}
	g.Since = at
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
	if g.State != GoRunning && g.State != GoSyscall {
		return
	}
	if m.cfg.oldFormat() && g.State == GoSyscall && ev.M == NoThread {
		// Go 1.21 and older list who is in a system call, but not where.
		g.proc, g.thread = NoProc, NoThread
		return
	}
	g.thread = ev.M
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
	p := m.procOrNil(pid)
	if g.openStart && g.State == GoSyscall && p != nil && t != nil && t.acquired > 0 && p.thread == t {
		pid = NoProc // it got that one just now, on its way out, and has not had it since the start
	}
	if pid == NoProc {
		g.proc = NoProc
		if g.State == GoSyscall {
			g.State, g.sys.blockedAt = GoSyscallBlocked, at
		}
	} else if p = m.proc(pid); p != nil {
		g.proc = pid
		p.g = g
	}
	m.update(m.procOrNil(g.proc), t, at)
}

// unbind frees the goroutine's thread and proc of it.
func (m *Machine) unbind(g *Goroutine, at Time) {
	var t *thread
	if g.thread != NoThread {
		if t = m.recent[uint64(g.thread)%uint64(len(m.recent))]; t == nil || t.span.M != g.thread {
			t = m.threads[g.thread]
		}
		if t != nil && t.g == g {
			t.g = nil
		}
	}
	p := m.procOrNil(g.proc)
	if p != nil && p.g == g {
		p.g = nil
	}
	m.update(p, t, at)
	g.proc, g.thread = NoProc, NoThread
}

// endGoroutine closes the account of a goroutine that exited.
func (m *Machine) endGoroutine(g *Goroutine, at Time) {
	g.HasEnded, g.Ended = true, at
	m.closeAnnotations(g, at, false)
	m.reportGoEnd(g)
	m.gs.Remove(g.ID)
}

func (m *Machine) reportGoEnd(g *Goroutine) {
	m.checkGoroutine(g)
	Report(m.obs.goEnd, GoEndObserver.GoEnd, g)
}

// finishGoroutines closes the accounts of those still alive.
func (m *Machine) finishGoroutines(t Time) {
	m.gs.All(func(g *Goroutine) {
		if g.State == GoRunnable && g.wake.net {
			m.reportNetpoll(g, nil, t, true)
		}
		if g.State == GoRunnable {
			g.wake.pseudo = NotPseudo // it did not go on at once
		}
		m.endSpan(g, t, GoUndetermined, false, false, true)
		g.Ended = t
		m.closeAnnotations(g, t, true)
		m.reportGoEnd(g)
		g.Block = nil // there may be very many
	})
}
