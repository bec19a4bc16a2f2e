package analyze

import (
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// Syscalls measures system calls that the trace shows from beginning to end.
type Syscalls struct {
	traceClock
	All Dist // whole length
	// WithProc is the part in which the goroutine kept its proc, of each call;
	// Blocked the part without, of those calls that lost it.
	WithProc, Blocked Dist
	// ByPath is the whole length by the way out.
	ByPath [model.NumSyscallExitPaths]Dist
	funcs  distsByName
}

// NewSyscalls returns an empty Syscalls.
func NewSyscalls(t *model.Tables) *Syscalls { return &Syscalls{funcs: newDistsByName(t)} }

// SyscallExit implements [model.SyscallExitObserver].
func (c *Syscalls) SyscallExit(s *model.SyscallExit) {
	at, d := c.at(s.End), s.End.Sub(s.Start)
	c.All.Add(d, at)
	c.WithProc.Add(d-s.Blocked, at)
	if s.Blocked > 0 {
		c.Blocked.Add(s.Blocked, at)
	}
	if s.Path < model.NumSyscallExitPaths {
		c.ByPath[s.Path].Add(d, at)
	}
	c.funcs.get(s.Func).Add(d, at)
}

// ByFunc returns the whole lengths by start function of the calling goroutine,
// greatest total first.
func (c *Syscalls) ByFunc() []result.Named { return c.funcs.rows() }

// Result adds what was found to v.
func (s *Syscalls) Result(v *result.Report) {
	v.Syscalls = result.Syscalls{All: result.NewDist(&s.All), WithProc: result.NewDist(&s.WithProc), Blocked: result.NewDist(&s.Blocked),
		ByWayOut: resultNames[model.SyscallExitPath](s.ByPath[:]), ByFunction: s.ByFunc()}
}
