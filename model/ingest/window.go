package ingest

import (
	"sync"

	"github.com/schedscope/schedscope/model"
)

// window is the part of a trace that is asked for.
type window struct {
	from, to model.Duration // since the trace's start; to 0: its end

	once       sync.Once
	placed     bool          // the trace has a beginning to count from
	ready      chan struct{} // closed when that is known
	start, end model.Time
}

// whole reports whether the window is the whole trace.
func (w *window) whole() bool { return w.from <= 0 && w.to <= 0 }

// begin sets the window's place on the trace's clock by the trace's first
// generation. Later calls change nothing. Nil means that there is none.
func (w *window) begin(g *Generation) {
	w.once.Do(func() {
		if g != nil {
			w.placed = true
			w.start, w.end = g.First+model.Time(w.from), g.First+model.Time(w.to)
		}
		close(w.ready)
	})
}

// skips reports whether the generation ends before the window begins.
func (w *window) skips(j *job) bool { return w.from > 0 && j.hasBoundary && j.boundary <= w.start }

// past reports whether the generation begins after the window's end.
func (w *window) past(g *Generation) bool { return w.to > 0 && g.Frequency != 0 && g.First > w.end }

// beyond reports whether t is after the window's end.
func (w *window) beyond(t model.Time) bool { return w.to > 0 && t > w.end }
