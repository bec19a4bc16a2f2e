package modeltest

import (
	"fmt"

	"github.com/schedscope/schedscope/model"
)

// A Thread emits events of one thread of a [Builder], in the context (G, P, M)
// that the events before have put it into. All methods return the Thread.
type Thread struct {
	b     *Builder
	id    model.ThreadID
	p     model.ProcID
	g     model.GoID
	funcs []string // of the next event's stack
}

// With sets the stack of the next event that has one, innermost frame first. The running
// goroutine's start function is added as the outermost frame. Without With, a stack consists
// of the start function alone.
func (m *Thread) With(funcs ...string) *Thread {
	m.funcs = funcs
	return m
}

// emit emits an event in the thread's present context.
func (m *Thread) emit(e model.Event) *Thread {
	e.G, e.P, e.M = m.g, m.p, m.id
	m.b.Raw(e)
	return m
}

// stack returns the stack for the next event and forgets what With said.
// Outside of a goroutine the runtime records none.
func (m *Thread) stack() model.StackID {
	funcs := m.funcs
	m.funcs = nil
	if g := m.b.gs[m.g]; g != nil && g.fn != "" {
		funcs = append(funcs[:len(funcs):len(funcs)], g.fn)
	}
	return m.b.stack(funcs)
}

// transition emits a transition of goroutine id in the present context.
func (m *Thread) transition(id model.GoID, from, to model.GoState, e model.Event) {
	e.Kind, e.ID, e.From, e.To = model.EventGoTransition, int64(id), uint8(from), uint8(to)
	m.b.gs[id].state = to
	m.emit(e)
}

// Running emits the status of goroutine g, which runs on the thread when the trace starts.
func (m *Thread) Running(g model.GoID, fn string) *Thread {
	return m.has(g, model.GoRunning, fn)
}

// InSyscall emits the status of goroutine g, which is in a system call on this thread when the
// trace starts, with the thread's proc if it has one.
func (m *Thread) InSyscall(g model.GoID, fn string) *Thread {
	return m.has(g, model.GoSyscall, fn)
}

func (m *Thread) has(g model.GoID, state model.GoState, fn string) *Thread {
	m.Status(g, state, fn)
	m.b.gs[g].m, m.g = m.id, g
	return m
}

// Status emits the state of goroutine g at the start of the trace, in the thread's current
// context. Running and Syscall have methods of their own.
func (m *Thread) Status(g model.GoID, state model.GoState, fn string) *Thread {
	m.b.goroutine("Status", g, model.GoUndetermined).fn = fn
	stack := m.b.stack([]string{fn})
	m.transition(g, model.GoUndetermined, state, model.Event{Stack: stack, SubjectStack: stack})
	return m
}

// Create is a go statement (or, without a goroutine, a timer's AfterFunc).
func (m *Thread) Create(g model.GoID, fn string) *Thread {
	return m.create("Create", g, fn, model.GoRunnable)
}

// CreateBlocked creates a goroutine that waits to be switched to (runtime.newcoro).
func (m *Thread) CreateBlocked(g model.GoID, fn string) *Thread {
	return m.create("CreateBlocked", g, fn, model.GoWaiting)
}

func (m *Thread) create(method string, g model.GoID, fn string, to model.GoState) *Thread {
	m.b.goroutine(method, g, model.GoNotExist).fn = fn
	e := model.Event{Stack: m.stack(), SubjectStack: m.b.stack([]string{fn})}
	m.transition(g, model.GoNotExist, to, e)
	return m
}

// Start runs goroutine g.
func (m *Thread) Start(g model.GoID) *Thread {
	m.mustHave("Start", false, true)
	m.b.goroutine("Start", g, model.GoRunnable).m = m.id
	m.transition(g, model.GoRunnable, model.GoRunning, model.Event{})
	m.g = g
	return m
}

// Stop makes the running goroutine Runnable: "preempted" or "runtime.Gosched".
func (m *Thread) Stop(reason string) *Thread { return m.leave("Stop", model.GoRunnable, reason) }

// Block makes the running goroutine wait.
func (m *Thread) Block(reason string) *Thread { return m.leave("Block", model.GoWaiting, reason) }

// Exit ends the running goroutine.
func (m *Thread) Exit() *Thread {
	m.mustHave("Exit", true, true)
	g := m.b.goroutine("Exit", m.g, model.GoRunning)
	m.transition(m.g, model.GoRunning, model.GoNotExist, model.Event{})
	g.m, m.g = model.NoThread, model.NoGoroutine
	return m
}

func (m *Thread) leave(method string, to model.GoState, reason string) *Thread {
	m.mustHave(method, true, true)
	g := m.b.goroutine(method, m.g, model.GoRunning)
	s := m.stack()
	m.transition(m.g, model.GoRunning, to, model.Event{Str: m.b.str(reason), Stack: s, SubjectStack: s})
	g.m, m.g = model.NoThread, model.NoGoroutine
	return m
}

// Unblock makes goroutine g Runnable.
func (m *Thread) Unblock(g model.GoID) *Thread {
	m.b.goroutine("Unblock", g, model.GoWaiting)
	m.transition(g, model.GoWaiting, model.GoRunnable, model.Event{Stack: m.stack()})
	return m
}

// Switch passes the thread to goroutine g directly (runtime.coroswitch): three events, which
// the decoder makes of the runtime's one.
func (m *Thread) Switch(g model.GoID) *Thread { return m.switchTo("Switch", g, false) }

// SwitchExit is Switch by a goroutine that ends with it.
func (m *Thread) SwitchExit(g model.GoID) *Thread { return m.switchTo("SwitchExit", g, true) }

func (m *Thread) switchTo(method string, next model.GoID, exit bool) *Thread {
	m.mustHave(method, true, true)
	cur := m.g
	m.Unblock(next)
	if exit {
		m.Exit()
	} else {
		m.b.goroutine(method, cur, model.GoRunning).m = model.NoThread
		m.transition(cur, model.GoRunning, model.GoWaiting, model.Event{})
		m.g = model.NoGoroutine
	}
	return m.Start(next)
}

// mustHave panics unless the thread has, or has not, a goroutine and a proc.
func (m *Thread) mustHave(method string, g, p bool) {
	if (m.g != model.NoGoroutine) != g || (m.p != model.NoProc) != p {
		panic(fmt.Sprintf("modeltest.Thread.%s: thread %d has goroutine %d and proc %d", method, m.id, m.g, m.p))
	}
}
