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
	places  map[model.StackID]string
}

// placeOf remembers places: there are many handoffs and few stacks.
func (x *handoffStorm) placeOf(id model.StackID, frames []model.Frame) string {
	place, ok := x.places[id]
	if !ok {
		if x.places == nil {
			x.places = map[model.StackID]string{}
		}
		place = result.PlaceOf(frames)
		x.places[id] = place
	}
	return place
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
	x.rate.limit = stormRetakes
	x.rate.add(at)
	x.single(h.InSyscall, at, h.FromG)
	if !h.Open {
		gap := h.Got.Sub(h.Lost)
		x.gaps.single(gap, at+model.Time(gap), h.FromG)
	}
	frames := x.tables.Stack(h.FromStack)
	x.join(partyKey{role: "in a system call", place: x.placeOf(h.FromStack, frames)},
		Party{Stack: frames, Proc: h.P, Count: 1, Total: h.InSyscall})
}

func (x *handoffStorm) finish() {
	x.found = x.rate.Windows > 0
	x.places = nil
}

func (x *handoffStorm) tell(span model.Duration) Pathology {
	p := x.pathology("handoff-storm")
	gaps := &x.gaps.cases
	p.Total, p.Worst, p.At, p.Goroutine, p.Trace = gaps.Total, gaps.Max, gaps.MaxAt, x.gaps.g, x.gaps.trace
	if gaps.Count == 0 {
		p.Goroutine = model.NoGoroutine
	}
	p.Evidence = []Evidence{
		{Name: "retakes by sysmon in the worst 100 ms", Value: x.rate.peakRate(), Unit: "per second"},
		{Name: "retakes by sysmon", Value: float64(x.cases.Count), Unit: "count"},
		{Name: "of those in storms", Value: float64(x.rate.InIt), Unit: "count"},
		{Name: "share of system calls", Value: float64(x.cases.Count) / float64(max(x.calls, x.cases.Count, 1)), Unit: "share"},
		{Name: "procs without a thread after retakes, in all", Value: float64(gaps.Total), Unit: "ns"},
		{Name: "share of the time", Value: ratio(gaps.Total, span), Unit: "share"},
		{Name: "new threads", Value: float64(x.threads), Unit: "count"},
	}
	p.Meaning = "System calls are so slow, and so many, that sysmon keeps taking procs away from them and other threads must take over each time."
	p.Advice = "Make fewer and larger calls (buffer, batch), limit how many goroutines call at once, or use what does not block a thread, such as files and sockets that the network poller can watch."
	return p
}
