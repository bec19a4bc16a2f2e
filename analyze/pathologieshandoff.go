package analyze

import (
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// A retake costs sysmon's time, a thread that is woken or created, and the proc's
// queue waits meanwhile: some tens of microseconds. result.RetakeRate of them per second,
// in a tenth of a second, take some percent of a proc's time.
const stormRetakes = result.RetakeRate * int64(stormWindow) / 1_000_000_000

// handoffStorm finds that sysmon takes procs from system calls all the time.
type handoffStorm struct {
	traceClock
	tables *model.Tables
	symptom
	rate    intensity
	calls   int64   // ends of system calls
	gaps    symptom // how long the procs then had no thread; without parties
	threads int64   // created
}

// SyscallExit implements [model.SyscallExitObserver].
func (x *handoffStorm) SyscallExit(*model.SyscallExit) { x.calls++ }

// ThreadStart implements [model.ThreadStartObserver].
func (x *handoffStorm) ThreadStart(*model.ThreadStart) { x.threads++ }

// Handoff implements [model.HandoffObserver].
func (x *handoffStorm) Handoff(h *model.Handoff) {
	at := x.at(h.Lost)
	if h.Cause != model.HandoffSysmon {
		return
	}
	x.rate.add(at, stormRetakes)
	x.single(h.InSyscall, at, h.FromG)
	if !h.Open {
		gap := h.Got.Sub(h.Lost)
		x.gaps.single(gap, at+model.Time(gap), h.FromG)
	}
	x.join(x.tables, result.Party{Role: "in a system call", Proc: h.P, Count: 1, Total: h.InSyscall}, h.FromStack)
}

func (x *handoffStorm) finish(span model.Duration) {
	gaps := &x.gaps
	x.judge("handoff-storm", x.rate.windows > 0,
		perSecond("retakes by sysmon in the worst 100 ms", x.rate.peakRate()),
		counted("retakes by sysmon", x.Count),
		counted("of those in storms", x.rate.inIt),
		sharing("share of system calls", shareOf(x.Count, max(x.calls, x.Count))),
		lasting("procs without a thread after retakes, in all", gaps.Total),
		sharing("share of the time", ratio(gaps.Total, span)),
		counted("new threads", x.threads))
	x.Total, x.Worst, x.At, x.G = gaps.Total, gaps.Worst, gaps.At, gaps.G
	if gaps.Count == 0 {
		x.G = model.NoGoroutine
	}
}
