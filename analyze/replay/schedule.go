package replay

import (
	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/model"
)

// Schedule is the schedule of the work of one or several windows: as recorded, or simulated
// under one configuration and seed.
type Schedule struct {
	// Waits of the program's goroutines that are compared: true and whole ones, that end
	// after the warm-up.
	Waits *dist.Dist
	// Requests are how long requests took that begin after the warm-up.
	Requests map[Group]*dist.Dist
	// Starts are how many goroutines were started, in whole windows and with the runtime's own.
	Starts int64
	// Span is from the beginning of each window to the end of the last work in it,
	// added up.
	Span model.Duration
	// Work is the CPU time of all segments that were to run, and Ran how long goroutines
	// that are not the runtime's own ran.
	Work, Ran model.Duration
}

// enough is the part of the work that a simulation must do to count as finished. Goroutines that
// wait for what does not come, and for which nobody else waits, matter little.
const enough = 0.99

// Finished reports whether a simulation came to the end of its work.
func (s *Schedule) Finished() bool { return float64(s.Ran) >= enough*float64(s.Work) }

func newSchedule() *Schedule { return &Schedule{Waits: &dist.Dist{}, Requests: map[Group]*dist.Dist{}} }

// merge adds another window's.
func (s *Schedule) merge(o *Schedule) {
	s.Waits.Merge(o.Waits)
	for g, d := range o.Requests {
		s.group(g).Merge(d)
	}
	s.Starts += o.Starts
	s.Span += o.Span
	s.Work += o.Work
	s.Ran += o.Ran
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
}

// GoSpan implements [model.GoSpanObserver].
func (g *gauge) GoSpan(s *model.GoSpan) {
	if s.State == model.GoRunning && !s.System {
		g.schedule.Ran += s.Duration()
	}
	if !isWait(s) || s.End < g.from {
		return
	}
	d := (s.Duration() + grain/2) / grain * grain
	g.schedule.Waits.Add(d, s.Start+model.Time(d))
}

// recording measures the recorded schedule, window by window. The waits of a window
// are kept until it is over: only then is known how long its warm-up is.
type recording struct {
	origin model.Time      // of the trace: points in time count from it
	start  model.Time      // of the window
	waits  [][2]model.Time // from and to
}

// begin forgets the window before.
func (r *recording) begin(at model.Time) {
	r.start, r.waits = at, r.waits[:0]
}

// GoSpan implements [model.GoSpanObserver].
func (r *recording) GoSpan(s *model.GoSpan) {
	if s.Start >= r.start && isWait(s) {
		r.waits = append(r.waits, [2]model.Time{s.Start, s.End})
	}
}

// schedule returns the recorded schedule, with the waits that end in [from, to].
func (r *recording) schedule(from, to model.Time) *Schedule {
	s := newSchedule()
	for _, w := range r.waits {
		if w[1] >= from && w[1] <= to {
			s.Waits.Add(w[1].Sub(w[0]), w[1]-r.origin)
		}
	}
	return s
}
