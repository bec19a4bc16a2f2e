package analyze

import (
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// Thresholds of late timers. A timer on a proc that runs one goroutine for a
// whole time slice is late by up to that; a few of them happen whenever
// something computes.
const (
	lateTimer      = timeSlice
	lateTimers     = 5
	lateTimerShare = 0.10
)

// lateTimersBehind finds timers that fired only when a long burst on their proc
// ended.
type lateTimersBehind struct {
	symptom
	timers  int64 // fired, all
	bunched int64 // late ones beyond the first after one burst

	begun bool // the next two: the latest burst that one was late behind
	last  model.ProcID
	ended model.Time
}

func (x *lateTimersBehind) wake(t *model.Tables, s *model.Step, bound model.Duration, looks *procLooks, at model.Time) {
	x.timers++
	if bound < lateTimer { // or not known
		return
	}
	if x.begun && x.last == s.P && x.ended == looks.stopped {
		x.bunched++
	}
	x.begun, x.last, x.ended = true, s.P, looks.stopped
	x.single(bound, at, s.G)
	x.party(t, "waited for a timer", s.Func, 0, s.P, 0)
	x.party(t, "ran", looks.fn, 0, s.P, 0)
}

func (x *lateTimersBehind) finish() {
	x.found = x.cases.Count >= lateTimers && float64(x.cases.Count) >= lateTimerShare*float64(x.timers)
}

func (x *lateTimersBehind) tell() Pathology {
	p := x.pathology("timers-late-behind-busy-proc")
	p.Total = 0 // bounds are never added up
	p.Grade = result.Inferred
	p.Evidence = []Evidence{
		{Name: "timers on procs that had not looked for 10 ms", Value: float64(p.Count), Unit: "count"},
		{Name: "share of all timers", Value: float64(p.Count) / float64(max(x.timers, 1)), Unit: "share"},
		{Name: "of those together with another", Value: float64(x.bunched), Unit: "count"},
		{Name: "greatest lateness, at most", Value: float64(p.Worst), Unit: "ns"},
	}
	p.Meaning = "Timers are kept by the proc where they were set and fire only when it looks at them between two goroutines, so these were late by up to the length of what ran before."
	p.Advice = "Do not rely on timers finer than 10 to 20 ms beside goroutines that compute; keep a proc free for them (fewer computing goroutines than GOMAXPROCS, and enough CPUs)."
	return p
}
