package ingest

import (
	"math"

	"github.com/schedscope/schedscope/model"
)

// Clock chooses the times that events get.
type Clock uint8

const (
	// ClockRaw keeps the times of each generation's own reader: those recorded,
	// plus 1 ns each where the clock was too coarse to tell two events apart
	// (EventSyntheticTime). The statuses of goroutines that did nothing in a
	// generation are written at its end, often after the next one began; they
	// are moved back to its beginning, and whatever else overlaps it is moved
	// forward (EventClamped). Times never decrease.
	ClockRaw Clock = iota
	// ClockReader gives the times of a sequential golang.org/x/exp/trace.Reader:
	// each is at least 1 ns after the one before, so that late statuses push real
	// events forward.
	ClockReader
)

// clock sets times, event by event.
type clock struct {
	mode     Clock
	last     model.Time
	boundary model.Time // beginning of the next generation, or the end of time
}

func newClock(mode Clock) *clock {
	return &clock{mode: mode, last: math.MinInt64, boundary: math.MaxInt64}
}

// begin prepares for the events of a job.
func (c *clock) begin(j *job) {
	c.boundary = math.MaxInt64
	if j.hasBoundary {
		c.boundary = j.boundary
	}
}

// set sets the time of the next event. Statuses are events that only state what
// is.
func (c *clock) set(e *model.Event, status bool) {
	switch {
	case c.mode == ClockReader:
		if e.Time <= c.last {
			e.Time = c.last + 1
			e.Flags |= model.EventSyntheticTime
		}
	default:
		if status && e.Time > c.boundary {
			e.Time = c.boundary
			e.Flags = e.Flags&^model.EventSyntheticTime | model.EventClamped
		}
		if e.Time < c.last {
			e.Time = c.last
			e.Flags = e.Flags&^model.EventSyntheticTime | model.EventClamped
		}
	}
	c.last = e.Time
}

// isStatus reports whether an event as decoded only states what is.
func isStatus(e *model.Event) bool {
	return e.From == uint8(model.GoUndetermined) &&
		(e.Kind == model.EventGoTransition || e.Kind == model.EventProcTransition)
}
