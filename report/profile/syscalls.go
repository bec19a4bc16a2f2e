package profile

import (
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// syscalls counts system calls that the trace shows from beginning to end.
type syscalls struct {
	c     *Collector
	exits []model.StringID
}

// SyscallExit implements [model.SyscallExitObserver].
func (x *syscalls) SyscallExit(s *model.SyscallExit) {
	x.c.add(x.c.own(s.Stack, s.Func), values{1, int64(s.End.Sub(s.Start)), int64(s.Blocked)}, x.exits[s.Path], x.c.name(s.Func))
}

// handoffs counts procs that left threads which were in system calls.
type handoffs struct {
	c      *Collector
	causes []model.StringID
}

// Handoff implements [model.HandoffObserver].
func (x *handoffs) Handoff(h *model.Handoff) {
	gap := textui.Either(h.Open, 0, h.Got.Sub(h.Lost)) // 0: it has not ended
	stack := x.c.own(h.FromStack, 0)
	x.c.add(stack, values{int64(h.InSyscall), int64(gap), 1}, x.causes[h.Cause], x.c.proc(h.P), x.c.root(stack))
}
