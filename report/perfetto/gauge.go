package perfetto

import "github.com/schedscope/schedscope/model"

// settle is how long a value must last to be written. Queues fill and empty within some
// hundred nanoseconds, when a goroutine wakes another one and then waits; that would
// be most of the output, and can be read from the states of the goroutines.
const settle = 1000

// A gauge follows a number and writes it where it lasts, and at the end.
type gauge struct {
	track  track
	since  model.Time // when the value came
	value  int64
	last   int64 // what was written last
	exists bool  // there is a value
	wrote  bool  // something was written
}

func newGauge(t track) gauge { return gauge{track: t} }

// set writes the value from a time on. Without an encoder it is only kept.
func (g *gauge) set(e *encoder, at model.Time, v int64) {
	if g.exists && v == g.value {
		return
	}
	if e != nil && g.exists && at.Sub(g.since) >= settle {
		g.write(e, g.since)
	}
	if at > g.since || !g.exists {
		g.since = at
	}
	g.value, g.exists = v, true
}

// write writes the value unless it was the last that was written.
func (g *gauge) write(e *encoder, at model.Time) {
	if !g.wrote || g.last != g.value {
		g.last, g.wrote = g.value, true
		e.counter(g.track, at, g.value)
	}
}

// begin has the value count from a time on.
func (g *gauge) begin(at model.Time) { g.since = at }

// finish writes the last value, and once more at the end, where the trace ends.
func (g *gauge) finish(e *encoder, end model.Time) {
	if !g.exists {
		return
	}
	g.write(e, g.since)
	e.counter(g.track, max(end, g.since), g.value)
}
