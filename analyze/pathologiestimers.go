package analyze

import (
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
	x.judge("timers-late-behind-busy-proc", x.Count >= lateTimers && float64(x.Count) >= lateTimerShare*float64(x.timers),
		counted("timers on procs that had not looked for 10 ms", x.Count),
		sharing("share of all timers", shareOf(x.Count, x.timers)),
		counted("of those together with another", x.bunched),
		lasting("greatest lateness, at most", x.Worst))
	x.Total = 0 // bounds are never added up
}
