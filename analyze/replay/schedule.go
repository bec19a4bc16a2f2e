package replay

import (
	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// Schedule is what became of the work of one or several windows: as it was
// recorded, or under one configuration and seed.
type Schedule struct {
	// Waits of the program's goroutines that are compared: true and whole ones, that end
	// after the warm-up. Of what-ifs Latency is nil.
	Waits   *dist.Dist
	Latency *analyze.Latency
	// Counts are how often it did what, in whole windows and with the runtime's own goroutines.
	Counts [NumCounts]int64
	// Span is from the beginning of each window to the end of the last work in it,
	// added up.
	Span model.Duration
	// Work is the CPU time of all segments that were to run, and Ran how long goroutines
	// that are not the runtime's own ran.
	Work, Ran model.Duration
	// Forced counts waits that had to be ended: see [refsched.Result].
	Forced int64
	dwells map[Dwell]model.Duration // nil as Latency
}

// enough is the part of the work that a simulation must do to count as finished. Goroutines that
// wait for what does not come, and for which nobody else waits, matter little.
const enough = 0.99

// Finished reports whether a simulation came to the end of its work, and goroutines did not come
// to wait for each other on the way: a wait is only ended when nothing else is left to do, which
// in a program that has timers takes as long as these.
func (s *Schedule) Finished() bool {
	return float64(s.Ran) >= enough*float64(s.Work) && s.Forced == 0
}

// Count is something that a scheduler does.
type Count int

// What a scheduler does.
const (
	CountStarts Count = iota
	CountSteals
	CountWakeups
	CountPreemptions
	CountRetakes
	NumCounts
)

// String returns the count's name as tables print it.
func (c Count) String() string {
	return [...]string{"starts", "steals", "wakeups", "preemptions", "retakes"}[c]
}

// newSchedule returns an empty Schedule, with details or without.
func newSchedule(t *model.Tables, details bool) *Schedule {
	s := &Schedule{Waits: &dist.Dist{}}
	if details {
		s.Latency = analyze.NewLatency(t, 1)
		s.dwells = map[Dwell]model.Duration{}
	}
	return s
}

// merge adds another window's.
func (s *Schedule) merge(o *Schedule) {
	s.Waits.Merge(o.Waits)
	if s.Latency != nil {
		s.Latency.Merge(o.Latency)
	}
	for i, n := range o.Counts {
		s.Counts[i] += n
	}
	s.Span += o.Span
	s.Work += o.Work
	s.Ran += o.Ran
	s.Forced += o.Forced
	for k, v := range o.dwells {
		s.dwells[k] += v
	}
}

// finish completes the schedule of a window. The time in states may be nil.
func (s *Schedule) finish(t *model.Tables, d dwells) {
	if s.Latency != nil {
		s.Latency.Finish()
		s.dwells = d.named(t)
	}
}

// grain is the tick of the clock of most traces. Simulated waits are rounded to it,
// as a trace would show them.
const grain = 64

// wait counts an interval if it is one of those that are compared: see Waits.
func (s *Schedule) wait(x *model.GoSpan) {
	s.Waits.Add(x.Duration(), x.End)
	if s.Latency != nil {
		s.Latency.GoSpan(x)
	}
}

// isWait reports whether an interval is a true and whole wait of a goroutine of the
// program.
func isWait(s *model.GoSpan) bool {
	return s.State == model.GoRunnable && s.Pseudo == model.NotPseudo && !s.System && !s.OpenStart && !s.OpenEnd
}

// isPreemption reports whether an interval begins with a preemption.
func isPreemption(s *model.GoSpan) bool {
	return s.State == model.GoRunnable && s.Origin == model.OriginPreempted && !s.OpenStart
}

// gauge measures a simulated schedule. It observes the Machine that gets the
// simulation's events.
type gauge struct {
	schedule *Schedule
	from     model.Time // waits that end before are not compared
	dwells   dwells     // nil without details
}

// GoSpan implements [model.GoSpanObserver].
func (g *gauge) GoSpan(s *model.GoSpan) {
	if g.dwells != nil {
		g.dwells.GoSpan(s)
	}
	if s.State == model.GoRunning && !s.System {
		g.schedule.Ran += s.Duration()
	}
	if isPreemption(s) {
		g.schedule.Counts[CountPreemptions]++
	}
	if !isWait(s) || s.End < g.from {
		return
	}
	x := *s
	x.End = x.Start + model.Time((s.Duration()+grain/2)/grain*grain)
	g.schedule.wait(&x)
}

// Handoff implements [model.HandoffObserver].
func (g *gauge) Handoff(h *model.Handoff) {
	if h.Cause == model.HandoffSysmon {
		g.schedule.Counts[CountRetakes]++
	}
}

// recording measures the recorded schedule, window by window. The waits of a window
// are kept until it is over: only then is known how long its warm-up is.
type recording struct {
	origin model.Time // of the trace: points in time count from it
	start  model.Time // of the window
	waits  []recordedWait
	counts [NumCounts]int64
	dwells dwells
}

// recordedWait is what matters of an interval that is a wait.
type recordedWait struct {
	start, end model.Time
	fn         model.StringID
	origin     model.Origin
}

// begin forgets the window before.
func (r *recording) begin(at model.Time) {
	r.start, r.waits, r.counts, r.dwells = at, r.waits[:0], [NumCounts]int64{}, dwells{}
}

// GoSpan implements [model.GoSpanObserver].
func (r *recording) GoSpan(s *model.GoSpan) {
	if s.Start < r.start {
		return
	}
	r.dwells.GoSpan(s)
	if isPreemption(s) {
		r.counts[CountPreemptions]++
	}
	if isWait(s) {
		r.waits = append(r.waits, recordedWait{s.Start, s.End, s.Func, s.Origin})
	}
}

// Handoff implements [model.HandoffObserver].
func (r *recording) Handoff(h *model.Handoff) {
	if h.Cause == model.HandoffSysmon && h.Lost >= r.start {
		r.counts[CountRetakes]++
	}
}

// Steal implements [runqueue.StealObserver].
func (r *recording) Steal(s *runqueue.Steal) {
	if s.Time >= r.start {
		r.counts[CountSteals]++
	}
}

// Wakeup implements [runqueue.WakeupObserver].
func (r *recording) Wakeup(w *runqueue.Wakeup) {
	if !w.Handoff && w.Got >= r.start {
		r.counts[CountWakeups]++
	}
}

// schedule returns the recorded schedule, with the waits that end in [from, to].
func (r *recording) schedule(t *model.Tables, from, to model.Time) *Schedule {
	s := newSchedule(t, true)
	s.Counts = r.counts
	for i := range r.waits {
		if w := &r.waits[i]; w.end >= from && w.end <= to {
			s.wait(&model.GoSpan{State: model.GoRunnable, Func: w.fn, Origin: w.origin,
				Start: w.start - r.origin, End: w.end - r.origin})
		}
	}
	s.finish(t, r.dwells)
	return s
}
