package model

import "sync/atomic"

// StepKind says what a [Step] means and which of its fields hold what.
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

// StepFlags marks what is known about a step in addition to its content.
type StepFlags uint8

const (
	StepStatus   StepFlags = 1 << iota // states what began earlier
	StepSystem                         // G is one of the runtime's own goroutines
	StepWorker                         // G is a background mark worker
	StepByWorker                       // By is a background mark worker
	StepWithProc                       // of a StepGo: it changed proc P as well, see [Step.Proc]
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
	Origin     Origin
	Poller     Poller
	Pseudo     Pseudo
	Work       WorkKind
	Flags      StepFlags
	procFrom   uint8 // with StepWithProc; Work is that of the proc then
	procTo     uint8
}

// Proc fills in the StepProc that comes before a StepGo with StepWithProc. It reports whether
// there is one.
func (s *Step) Proc(into *Step) bool {
	if s.Flags&StepWithProc == 0 {
		return false
	}
	*into = Step{Kind: StepProc, Time: s.Time, G: NoGoroutine, By: NoGoroutine, M: s.M, FromM: NoThread, ToM: NoThread,
		P: s.P, From: s.procFrom, To: s.procTo, Work: s.Work}
	if heldBy(ProcState(s.procTo)) {
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

// heldBy reports whether a proc in this state has a goroutine.
func heldBy(state ProcState) bool { return state == ProcRunning || state == ProcSyscall }

// StepObserver is called for each step. The argument is valid during the call only.
type StepObserver interface{ Step(*Step) }

// StepLog collects the steps of a Machine, in place of an observer. A goroutine's step and
// that of its proc, in the same event, are one record; see [Step.Proc].
type StepLog struct {
	Steps []Step
	// Full is called when Steps has no room. It provides some.
	Full func()
	// Gap and Silent, if set, say when no thread did anything: Silent is called for a time
	// of at least Gap without events, before what ended it is logged.
	Gap    Duration
	Silent func(from, to Time)
	// Wait, if set, returns when no other goroutine takes steps any more; see [Line].
	Wait func()

	stopped *atomic.Bool // the Machine's; nil before Log
	active  bool         // there was an event
	last    Time         // the latest
	proc    bool         // the latest step is a StepProc of the event that is being applied
}

// Log makes l collect the steps from now on. Those of the first log are written in place, others
// get copies.
func (m *Machine) Log(l *StepLog) {
	l.stopped = &m.stopped
	m.logs = append(m.logs, l)
}

// Stopped reports whether nobody wants to know any more what the steps show.
func (l *StepLog) Stopped() bool { return l.stopped != nil && l.stopped.Load() }

// Stop has those who take the steps on other goroutines drop what is still to come. Results are
// void then. Any goroutine may call it at any time.
func (m *Machine) Stop() { m.stopped.Store(true) }

// Wait returns when no other goroutine takes steps any more.
func (m *Machine) Wait() {
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
	l.Steps = l.Steps[:len(l.Steps)+1]
	return &l.Steps[len(l.Steps)-1]
}

// copy adds a step of another log.
func (l *StepLog) copy(s *Step) {
	if l.proc && s.Flags&StepWithProc != 0 { // it has taken in that of the proc
		l.Steps[len(l.Steps)-1] = *s
	} else {
		*l.room() = *s
	}
	l.proc = s.Kind == StepProc
}

// event takes that something happened at this time.
func (l *StepLog) event(at Time) {
	if l.active && at.Sub(l.last) >= l.Gap && l.Silent != nil {
		l.Silent(l.last, at)
	}
	l.active, l.last, l.proc = true, max(l.last, at), false
}

// stepping reports whether anybody takes steps.
func (m *Machine) stepping() bool { return len(m.logs) > 0 || len(m.obs.step) > 0 }

// newStep returns an empty step to be filled in and reported. It is filled field by field:
// copying what was just put together would stall the processor.
func (m *Machine) newStep(kind StepKind, at Time) *Step {
	s := &m.step
	if len(m.logs) > 0 {
		l := m.logs[0]
		s, l.proc = l.room(), kind == StepProc
	}
	*s = Step{}
	s.Kind, s.Time = kind, at
	s.G, s.By, s.M, s.FromM, s.ToM, s.P = NoGoroutine, NoGoroutine, NoThread, NoThread, NoThread, NoProc
	return s
}

// goStep returns the step of goroutine g on thread id and proc p: that of the proc, which was
// logged just before, if that says the same of g, thread and proc.
func (m *Machine) goStep(g *Goroutine, id ThreadID, p ProcID, at Time) *Step {
	if len(m.logs) > 0 && m.logs[0].proc {
		l := m.logs[0]
		s := &l.Steps[len(l.Steps)-1]
		state, owner, fn := ProcState(s.To), NoGoroutine, StringID(0)
		if heldBy(state) {
			owner, fn = g.ID, g.Func
		}
		if s.Time == at && s.P == p && s.M == id && s.G == owner && s.Func == fn {
			l.proc = false
			s.Kind, s.Flags, s.procFrom, s.procTo = StepGo, StepWithProc, s.From, s.To
			return s
		}
	}
	return m.newStep(StepGo, at)
}

func (m *Machine) reportStep(s *Step) {
	if len(m.logs) > 1 {
		for _, l := range m.logs[1:] {
			l.copy(s)
		}
	}
	if len(m.obs.step) > 0 && s.Flags&StepWithProc != 0 {
		alone := *s // observers have got the step of the proc
		alone.Flags &^= StepWithProc
		s = &alone
	}
	for _, o := range m.obs.step {
		o.Step(s)
	}
}

// stepGo reports a goroutine's transition, after it was applied. since and reason
// are those of the state that it left.
func (m *Machine) stepGo(g *Goroutine, ev *Event, from, to GoState, since Time, reason StringID, at Time) {
	if !m.stepping() {
		return
	}
	s := m.goStep(g, ev.M, ev.P, at)
	s.Since, s.G, s.By, s.M, s.P = since, g.ID, ev.G, ev.M, ev.P
	s.From, s.To, s.Func, s.Reason, s.Stack = uint8(from), uint8(to), g.Func, ev.Str, ev.Stack
	if from == GoUndetermined {
		s.Flags |= StepStatus
	}
	if g.System {
		s.Flags |= StepSystem
	}
	if g.worker {
		s.Flags |= StepWorker
	}
	if to == GoRunnable || from == GoRunnable {
		w := &g.wake
		s.Origin, s.Pseudo = w.origin, w.pseudo
		if w.net {
			s.Poller = w.poller
		}
	}
	if from == GoWaiting {
		s.Reason = reason
		if by := m.gs.Get(ev.G); by != nil && by.worker {
			s.Flags |= StepByWorker
		}
	}
	if from == GoRunning {
		s.Stack = ev.SubjectStack
	}
	m.reportStep(s)
}

// stepMove reports a proc's way between threads.
func (m *Machine) stepMove(ev *Event, from, to ThreadID, at Time) {
	if !m.stepping() {
		return
	}
	s := m.newStep(StepMove, at)
	s.By, s.M, s.FromM, s.ToM, s.P = ev.G, ev.M, from, to, ProcID(ev.ID)
	if ProcStatus(ev.From) == ProcStatusUndetermined {
		s.Flags = StepStatus
	}
	m.reportStep(s)
}

// stepProc reports the proc's new state.
func (m *Machine) stepProc(p *proc, before ProcState, at Time) {
	if !m.stepping() {
		return
	}
	s := m.newStep(StepProc, at)
	s.G, s.M, s.P, s.From, s.To, s.Func, s.Work = p.span.G, p.span.M, p.span.P, uint8(before), uint8(p.span.State), p.span.Func, p.span.Work
	m.reportStep(s)
}

// stepPhase reports a step that concerns all procs.
func (m *Machine) stepPhase(kind StepKind, g GoID, t *thread, reason StringID, stack StackID, n int, at Time) {
	if !m.stepping() {
		return
	}
	s := m.newStep(kind, at)
	s.G, s.By, s.Stack, s.Reason, s.N = g, g, stack, reason, int32(n)
	if t != nil {
		s.M = t.span.M
	}
	m.reportStep(s)
}
