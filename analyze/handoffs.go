package analyze

import (
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// Handoffs measures how procs left threads that were in system calls.
type Handoffs struct {
	traceClock
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
	c.InSyscall.Add(x.InSyscall, h.at(x.Lost))
	if x.Open {
		c.Open++
		return
	}
	c.Gap.Add(x.Got.Sub(x.Lost), h.at(x.Got))
}

// Result adds what was found to v.
func (h *Handoffs) Result(v *result.Report) {
	out := []result.Handoff{}
	for c := range h.ByCause {
		if x := &h.ByCause[c]; x.Count > 0 {
			out = append(out, result.Handoff{Cause: model.HandoffCause(c).String(), Count: x.Count, Open: x.Open, Gap: result.NewDist(&x.Gap), InSyscall: result.NewDist(&x.InSyscall)})
		}
	}
	v.Handoffs = out
}
