package replay

import (
	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/model"
)

// Schedule is what became of the work of one or several windows: as it was
// recorded, or under one configuration and seed.
type Schedule struct {
	// Waits of the program's goroutines that are compared: true and whole ones, that end
	// after the warm-up. byOrigin and dwells divide them; those of what-ifs are nil.
	Waits    *dist.Dist
	byOrigin *[model.NumOrigins]dist.Dist
	dwells   map[Dwell]*stays
	// Starts are how many goroutines were started, in whole windows and with the runtime's own.
	Starts int64
	// Span is from the beginning of each window to the end of the last work in it,
	// added up.
	Span model.Duration
	// Work is the CPU time of all segments that were to run, and Ran how long goroutines
	// that are not the runtime's own ran.
	Work, Ran model.Duration
	// Forced counts waits that had to be ended: see [refsched.Result].
	Forced int64

	requests served
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

// newSchedule returns an empty Schedule, with details or without.
func newSchedule(details bool) *Schedule {
	s := &Schedule{Waits: &dist.Dist{}}
	if details {
		s.byOrigin, s.dwells = new([model.NumOrigins]dist.Dist), map[Dwell]*stays{}
	}
	return s
}

// merge adds another window's.
func (s *Schedule) merge(o *Schedule) {
	s.Waits.Merge(o.Waits)
	if s.byOrigin != nil {
		for i := range s.byOrigin {
			s.byOrigin[i].Merge(&o.byOrigin[i])
		}
	}
	s.Starts += o.Starts
	s.Span += o.Span
	s.Work += o.Work
	s.Ran += o.Ran
	s.Forced += o.Forced
	s.requests.merge(&o.requests)
	for k, v := range o.dwells {
		s.stays(k).merge(v)
	}
}

// finish completes the schedule of a window from the time in states, nil without details.
func (s *Schedule) finish(t *model.Tables, d *dwells) {
	if d == nil {
		return
	}
	d.named(t, s)
	for i := range s.byOrigin {
		s.Waits.Merge(&s.byOrigin[i])
	}
}

// grain is the tick of the clock of most traces. Simulated waits are rounded to it,
// as a trace would show them.
const grain = 64

// isWait reports whether an interval is a true and whole wait of a goroutine of the
// program.
func isWait(s *model.GoSpan) bool {
	return s.State == model.GoRunnable && s.Pseudo == model.NotPseudo && !s.System && !s.OpenStart && !s.OpenEnd
}

// gauge measures a simulated schedule.
type gauge struct {
	schedule *Schedule
	from     model.Time // waits that end before are not compared
	dwells   *dwells    // nil without details
}

// GoSpan implements [model.GoSpanObserver].
func (g *gauge) GoSpan(s *model.GoSpan) {
	if s.State == model.GoRunning && !s.System {
		g.schedule.Ran += s.Duration()
	}
	var at *stays
	if g.dwells != nil {
		at = g.dwells.add(s)
	}
	if !isWait(s) || s.End < g.from {
		return
	}
	d := (s.Duration() + grain/2) / grain * grain
	into := g.schedule.Waits
	if at != nil {
		into = &at.waits
	}
	into.Add(d, s.Start+model.Time(d))
}

// recording measures the recorded schedule, window by window. The waits of a window
// are kept until it is over: only then is known how long its warm-up is.
type recording struct {
	origin model.Time // of the trace: points in time count from it
	start  model.Time // of the window
	waits  []recordedWait
	dwells *dwells
}

// recordedWait is what matters of an interval that is a wait.
type recordedWait struct {
	start, end model.Time
	at         *stays
}

// begin forgets the window before.
func (r *recording) begin(at model.Time) {
	r.start, r.waits, r.dwells = at, r.waits[:0], newDwells()
}

// GoSpan implements [model.GoSpanObserver].
func (r *recording) GoSpan(s *model.GoSpan) {
	if s.Start < r.start {
		return
	}
	at := r.dwells.add(s)
	if isWait(s) {
		r.waits = append(r.waits, recordedWait{s.Start, s.End, at})
	}
}

// schedule returns the recorded schedule, with the waits that end in [from, to].
func (r *recording) schedule(t *model.Tables, from, to model.Time) *Schedule {
	s := newSchedule(true)
	for i := range r.waits {
		if w := &r.waits[i]; w.end >= from && w.end <= to {
			w.at.waits.Add(w.end.Sub(w.start), w.end-r.origin)
		}
	}
	s.finish(t, r.dwells)
	return s
}
