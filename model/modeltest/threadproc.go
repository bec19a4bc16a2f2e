package modeltest

import (
	"fmt"

	"github.com/schedscope/schedscope/model"
)

// Proc emits the status of proc p, which the thread holds when the trace starts.
func (m *Thread) Proc(p model.ProcID) *Thread {
	m.procTransition(p, model.ProcStatusUndetermined, model.ProcStatusRunning)
	m.p = p
	return m
}

// IdleProc emits the status of proc p, which is idle when the trace starts.
func (m *Thread) IdleProc(p model.ProcID) *Thread {
	m.procTransition(p, model.ProcStatusUndetermined, model.ProcStatusIdle)
	return m
}

// ProcStart acquires the idle proc p.
func (m *Thread) ProcStart(p model.ProcID) *Thread {
	if m.p != model.NoProc {
		panic(fmt.Sprintf("modeltest.Thread.ProcStart: thread %d has proc %d", m.id, m.p))
	}
	m.procTransition(p, model.ProcStatusIdle, model.ProcStatusRunning)
	m.p = p
	return m
}

// ProcStop releases the thread's proc.
func (m *Thread) ProcStop() *Thread {
	if m.p == model.NoProc {
		panic(fmt.Sprintf("modeltest.Thread.ProcStop: thread %d has no proc", m.id))
	}
	m.procTransition(m.p, model.ProcStatusRunning, model.ProcStatusIdle)
	m.p = model.NoProc
	return m
}

// ProcSteal takes proc p away from the thread that is in a system call with it.
func (m *Thread) ProcSteal(p model.ProcID) *Thread {
	for _, v := range m.b.ms {
		if v.p == p && m.b.gs[v.g] != nil && m.b.gs[v.g].state == model.GoSyscall {
			m.procTransition(p, model.ProcStatusRunning, model.ProcStatusIdle)
			v.p = model.NoProc
			return m
		}
	}
	panic(fmt.Sprintf("modeltest.Thread.ProcSteal: proc %d is not in a system call", p))
}

func (m *Thread) procTransition(p model.ProcID, from, to model.ProcStatus) {
	if s := m.b.ps[p]; s != from {
		panic(fmt.Sprintf("modeltest: proc %d has status %d, want %d", p, s, from))
	}
	m.b.setProc(p, to)
	m.emit(model.Event{Kind: model.EventProcTransition, ID: int64(p), From: uint8(from), To: uint8(to)})
}

// Syscall begins a system call.
func (m *Thread) Syscall() *Thread {
	m.mustHave("Syscall", true, true)
	s := m.stack()
	m.transition(m.g, model.GoRunning, model.GoSyscall, model.Event{Stack: s, SubjectStack: s})
	return m
}

// SyscallEnd ends a system call with the proc that it began with.
func (m *Thread) SyscallEnd() *Thread {
	m.mustHave("SyscallEnd", true, true)
	m.b.goroutine("SyscallEnd", m.g, model.GoSyscall)
	m.transition(m.g, model.GoSyscall, model.GoRunning, model.Event{})
	return m
}

// SyscallEndBlocked ends a system call that has lost its proc. The thread has
// another one by now, or none.
func (m *Thread) SyscallEndBlocked() *Thread {
	g := m.b.goroutine("SyscallEndBlocked", m.g, model.GoSyscall)
	m.transition(m.g, model.GoSyscall, model.GoRunnable, model.Event{})
	g.m, m.g = model.NoThread, model.NoGoroutine
	return m
}

// CreateInSyscall creates goroutine g for a C thread that calls into Go (runtime.needm).
func (m *Thread) CreateInSyscall(g model.GoID) *Thread {
	m.b.goroutine("CreateInSyscall", g, model.GoNotExist).m = m.id
	m.transition(g, model.GoNotExist, model.GoSyscall, model.Event{})
	m.g = g
	return m
}

// DestroyInSyscall ends such a goroutine (runtime.dropm). If the thread still
// has a proc it loses it, in an event that the decoder adds.
func (m *Thread) DestroyInSyscall() *Thread {
	g := m.b.goroutine("DestroyInSyscall", m.g, model.GoSyscall)
	p := m.p
	if p != model.NoProc {
		m.procTransition(p, model.ProcStatusRunning, model.ProcStatusIdle)
	}
	// N.B. The decoder gives both events the context of before.
	m.transition(m.g, model.GoSyscall, model.GoNotExist, model.Event{})
	g.m, m.g, m.p = model.NoThread, model.NoGoroutine, model.NoProc
	return m
}
