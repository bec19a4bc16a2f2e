package model

import "sync/atomic"

// StepKind is the kind of a [Step]. It determines the meaning of the step's fields.
type StepKind uint8

// Kinds of steps. Fields that a kind does not name are zero, or their No...
// value.
const (
	// StepGo: goroutine G changed from GoState From to GoState To, or, with
	// StepStatus, was found to be in To. By, M and P are the context of the event:
	// the goroutine that emitted it (NoGoroutine on a scheduler stack), its thread
	// and its proc. Func and System are G's. Reason is why it stopped, or, when
	// it is woken, what it had waited for. To Runnable: Origin and Poller say what
	// made it so. Runnable to Running: Origin and Pseudo belong to the interval
	// that ends, which began at Since, and M and P run it. Stack is the stack of
	// the goroutine that emitted the event; of a stop, G's own.
	StepGo StepKind = iota
	// StepMove: proc P moved from thread FromM to thread ToM (NoThread: it is
	// idle). M is the thread that did it and By the goroutine on it; if M is neither
	// FromM nor ToM, or is ToM while FromM held it, the proc was taken away.
	// With StepStatus nothing moved: the trace shows who has held it.
	StepMove
	// StepProc: from now on proc P is in ProcState To (before: From), doing Work
	// for goroutine G with start function Func on thread M.
	StepProc
	// StepStopping: goroutine G on thread M begins to stop the world for Reason, in Stack.
	StepStopping
	// StepStopped: no proc but the stopper's is active any more.
	StepStopped
	// StepRestarted: the first proc was seen active again, or the stop ended.
	StepRestarted
	// StepProcs: the program has N procs (GOMAXPROCS).
	StepProcs
)

// StepFlags marks properties of a step in addition to its content.
type StepFlags uint8

const (
	StepStatus   StepFlags = 1 << iota // states what began earlier
	StepSystem                         // G is one of the runtime's own goroutines
	StepWorker                         // G is a background mark worker
	StepByWorker                       // By is a background mark worker
	StepWithProc                       // of a StepGo: it changed proc P as well, see [Step.Proc]
	StepWait                           // of a StepGo: the interval from Since on was a wait by origin Waited, see [GoSpan.Waits]
	StepClamped                        // the same, and an end of it was moved to a generation's boundary
)

// Step is one change of the modelled state, reported at the moment of the event
// that made it, while intervals are reported when they end. It holds no pointers.
// Steps of one event come in the order procs, then goroutine.
type Step struct {
	Time       Time
	Since      Time
	G, By      GoID
	M          ThreadID
	FromM, ToM ThreadID
	P          ProcID
	N          int32
	Reason     StringID
	Func       StringID
	Stack      StackID
	Kind       StepKind
	From, To   uint8
	Flags      StepFlags
	Origin     Origin // N.B. from here on a goroutine's step is cleared in one go
	Poller     Poller
	Pseudo     Pseudo
	Work       WorkKind
	procFrom   uint8 // with StepWithProc; Work is that of the proc then
	procTo     uint8
	Waited     Origin
}

// Proc fills in the StepProc that comes before a StepGo with StepWithProc. It reports whether
// there is one.
func (s *Step) Proc(into *Step) bool {
	if s.Flags&StepWithProc == 0 {
		return false
	}
	*into = Step{Kind: StepProc, Time: s.Time, G: NoGoroutine, By: NoGoroutine, M: s.M, FromM: NoThread, ToM: NoThread,
		P: s.P, From: s.procFrom, To: s.procTo, Work: s.Work}
	if ProcState(s.procTo).Held() {
		into.G, into.Func = s.G, s.Func
	}
	return true
}

// ProcStates returns the states between which the proc changes in a StepProc, or before a StepGo with
// StepWithProc. It reports whether there are any.
func (s *Step) ProcStates() (from, to ProcState, ok bool) {
	if s.Kind == StepProc {
		return ProcState(s.From), ProcState(s.To), true
	}
	return ProcState(s.procFrom), ProcState(s.procTo), s.Flags&StepWithProc != 0
}

// Held reports whether a proc in this state has a goroutine.
func (s ProcState) Held() bool { return s == ProcRunning || s == ProcSyscall }

// StepObserver is called for each step. The argument is valid during the call only.
type StepObserver interface{ Step(*Step) }

// StepLog collects the steps of a Machine, in place of an observer. A goroutine's step and
// that of its proc, in the same event, are one record; see [Step.Proc].
type StepLog struct {
	Steps []Step
	// Full is called when Steps has no room. It provides some.
	Full func()
	// Wait, if set, returns when no other goroutine takes steps any more; see [Line].
	Wait func()

	stopped *atomic.Bool // the Machine's; nil before Log
}

// Log starts logging steps to l. The first log is written in place, others get copies.
func (m *Machine) Log(l *StepLog) {
	l.stopped = &m.stopped
	m.logs = append(m.logs, l)
	m.log, m.shared = m.logs[0], m.shared || len(m.logs) > 1
}

// Stopped reports whether the steps are unwanted by now.
func (l *StepLog) Stopped() bool { return l.stopped != nil && l.stopped.Load() }

// Stop makes consumers of steps on other goroutines drop the remaining ones. Results are then
// void. It is safe for concurrent use.
func (m *Machine) Stop() { m.stopped.Store(true) }

// OnWait makes Wait call f as well.
func (m *Machine) OnWait(f func()) { m.waits = append(m.waits, f) }

// Wait blocks until no other goroutine takes steps, or what else [Machine.OnWait] is about.
func (m *Machine) Wait() {
	for _, f := range m.waits {
		f()
	}
	for _, l := range m.logs {
		if l.Wait != nil {
			l.Wait()
		}
	}
}

// room returns the place of the next step, whatever it holds.
func (l *StepLog) room() *Step {
	if len(l.Steps) == cap(l.Steps) {
		l.Full()
	}
	n := len(l.Steps)
	l.Steps = l.Steps[:n+1]
	return &l.Steps[n]
}

// silence reports that nothing happened from m.now until a time.
func (m *Machine) silence(until Time) {
	for _, o := range m.obs.silence {
		if m.now >= o.from {
			o.Silence(m.now, until)
		}
	}
}

// newStep returns an empty step to be filled in and reported. It is filled field by field:
// copying what was just put together would stall the processor.
func (m *Machine) newStep(kind StepKind) *Step {
	s := m.log.room()
	*s = Step{}
	s.Kind, s.Time = kind, m.now
	s.G, s.By, s.M, s.FromM, s.ToM, s.P = NoGoroutine, NoGoroutine, NoThread, NoThread, NoThread, NoProc
	return s
}

// share hands a step that was filled in on to other logs and to observers, if there are any.
func (m *Machine) share(s *Step) {
	if m.shared {
		m.handOn(s)
	}
}

func (m *Machine) handOn(s *Step) {
	for i := 1; i < len(m.logs); i++ {
		*m.logs[i].room() = *s
	}
	if len(m.obs.step) > 0 {
		if p := &m.apart[0]; s.Proc(p) {
			Report(m.obs.step, StepObserver.Step, p)
			p = &m.apart[1]
			*p = *s
			p.Flags, p.Work = p.Flags&^StepWithProc, WorkUser
			s = p
		}
		Report(m.obs.step, StepObserver.Step, s)
	}
}

// reportProc reports a proc's state.
func (m *Machine) reportProc(p *ProcSpan, before ProcState, at Time) {
	s := m.newStep(StepProc)
	s.Time = at
	s.G, s.M, s.P, s.From, s.To, s.Func, s.Work = p.G, p.M, p.P, uint8(before), uint8(p.State), p.Func, p.Work
	m.share(s)
}

// stepGo reports a goroutine's transition, after it was applied, with that of the proc: of p, if it is not nil.
func (m *Machine) stepGo(g *Goroutine, ev *Event, p *proc) {
	flags := g.flags | m.leftFlags
	l, from, to := m.log, GoState(ev.From), GoState(ev.To)
	if len(l.Steps) == cap(l.Steps) {
		l.Full()
	}
	l.Steps = l.Steps[:len(l.Steps)+1] // N.B. not by a call of room
	s := &l.Steps[len(l.Steps)-1]
	s.Kind, s.Time, s.Since, s.G, s.By, s.M, s.P = StepGo, m.now, m.left, g.ID, ev.G, ev.M, ev.P
	s.FromM, s.ToM, s.N, s.Func, s.Reason, s.Stack = NoThread, NoThread, 0, g.Func, ev.Str, ev.Stack
	s.From, s.To, s.Flags = ev.From, ev.To, flags
	s.Origin, s.Poller, s.Pseudo, s.Work, s.procFrom, s.procTo = OriginUnknown, PollerAmbiguous, NotPseudo, WorkUser, 0, 0
	s.Waited = m.waited
	switch {
	case flags&StepStatus != 0:
		s.From = uint8(GoUndetermined)
	case from == GoRunning:
		s.Stack = ev.SubjectStack
	case from == GoWaiting:
		s.Reason = m.leftReason
	}
	if to == GoRunnable || from == GoRunnable {
		s.Origin, s.Pseudo, s.Poller = g.span.Origin, g.span.Pseudo, g.wake.poller
	}
	if p != nil {
		s.Flags |= StepWithProc
		s.Work, s.procFrom, s.procTo = p.span.Work, uint8(m.procFrom), uint8(p.span.State)
	}
	m.share(s)
}

// stepMove reports a proc's way between threads.
func (m *Machine) stepMove(ev *Event, from, to ThreadID) {
	if m.log == nil {
		return
	}
	s := m.newStep(StepMove)
	s.By, s.M, s.FromM, s.ToM, s.P = ev.G, ev.M, from, to, ProcID(ev.ID)
	if ProcStatus(ev.From) == ProcStatusUndetermined {
		s.Flags = StepStatus
	}
	m.share(s)
}

// stepPhase reports a step that concerns all procs.
func (m *Machine) stepPhase(kind StepKind, g GoID, t *thread, reason StringID, stack StackID, n int) {
	if m.log == nil {
		return
	}
	s := m.newStep(kind)
	s.G, s.By, s.Stack, s.Reason, s.N = g, g, stack, reason, int32(n)
	if t != nil {
		s.M = t.span.M
	}
	m.share(s)
}
