package analyze

import (
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/sums"
	"github.com/schedscope/schedscope/model"
)

// Syscalls measures system calls that the trace shows from beginning to end.
type Syscalls struct {
	sums.Clock
	All Dist // whole length; set by Finish, as those below
	// WithProc is the part in which the goroutine kept its proc, of each call;
	// Blocked the part without, of those calls that lost it.
	WithProc, Blocked Dist
	// ByPath is the whole length by the way out.
	ByPath [model.NumSyscallExitPaths]Dist
	funcs  sums.Dists
	calls  sums.Grid // by function and, twice, way out: of calls that kept their proc, and of others
}

// NewSyscalls returns an empty Syscalls.
func NewSyscalls(t *model.Tables) *Syscalls { return &Syscalls{calls: sums.NewGrid(t)} }

// SyscallExit implements [model.SyscallExitObserver].
func (c *Syscalls) SyscallExit(s *model.SyscallExit) {
	at, d := c.Offset(s.End), s.End.Sub(s.Start)
	kind := 2 * int(s.Path)
	if s.Blocked > 0 {
		kind++
		c.WithProc.Add(d-s.Blocked, at)
		c.Blocked.Add(s.Blocked, at)
	}
	c.calls.At(s.Func, kind).Add(d, at)
}

// Finish sums up the calls. Call it after the last one.
func (c *Syscalls) Finish() {
	var kinds [2 * model.NumSyscallExitPaths]Dist
	c.funcs = c.calls.Sums(kinds[:])
	c.calls = sums.Grid{}
	for i := range kinds {
		c.ByPath[i/2].Merge(&kinds[i])
		if i%2 == 0 {
			c.WithProc.Merge(&kinds[i])
		}
	}
	for i := range c.ByPath {
		c.All.Merge(&c.ByPath[i])
	}
}

// ByFunc returns the whole lengths by start function of the calling goroutine,
// greatest total first.
func (c *Syscalls) ByFunc() []result.Named { return c.funcs.Rows() }

// Result adds the results to v.
func (s *Syscalls) Result(v *result.Report) {
	v.Syscalls = result.Syscalls{All: result.NewDist(&s.All), WithProc: result.NewDist(&s.WithProc), Blocked: result.NewDist(&s.Blocked),
		ByWayOut: sums.NamedDists[model.SyscallExitPath](s.ByPath[:]), ByFunction: s.ByFunc()}
}

// Handoffs measures how procs left threads that were in system calls.
type Handoffs struct {
	sums.Clock
	ByCause [model.NumHandoffCauses]CauseHandoffs
}

// CauseHandoffs are the handoffs for one cause.
type CauseHandoffs struct {
	Count     int64 // all
	Open      int64 // the proc was still without a thread at the trace's end; not in Gap
	Gap       Dist  // from the loss until the next thread had the proc
	InSyscall Dist  // from the beginning of the system call until the loss
}

// Handoff implements [model.HandoffObserver].
func (h *Handoffs) Handoff(x *model.Handoff) {
	if x.Cause >= model.NumHandoffCauses {
		return
	}
	c := &h.ByCause[x.Cause]
	c.Count++
	c.InSyscall.Add(x.InSyscall, h.Offset(x.Lost))
	if x.Open {
		c.Open++
		return
	}
	c.Gap.Add(x.Got.Sub(x.Lost), h.Offset(x.Got))
}

// Result adds the results to v.
func (h *Handoffs) Result(v *result.Report) {
	out := []result.Handoff{}
	for c := range h.ByCause {
		if x := &h.ByCause[c]; x.Count > 0 {
			out = append(out, result.Handoff{Cause: model.HandoffCause(c).String(), Count: x.Count, Open: x.Open, Gap: result.NewDist(&x.Gap), InSyscall: result.NewDist(&x.InSyscall)})
		}
	}
	v.Handoffs = out
}
