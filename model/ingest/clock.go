package ingest

import (
	"fmt"
	"math"
	"math/bits"
	"time"

	"github.com/schedscope/schedscope/model"
)

// Clock chooses the times that events get.
type Clock uint8

const (
	// ClockRaw keeps the times of each generation's own reader: those recorded,
	// plus 1 ns each where the clock was too coarse to separate two events
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
	room     uint64     // what the long steps left of mostTime
}

// mostTime is how long goroutines, procs, threads, tasks and regions may live in all, so that no
// sum of their times overflows: 146 years. It is reached only where a time is damaged, so only steps of more
// than longStep count against it.
const (
	mostTime = 1 << 62
	longStep = 1 << 32
)

// check reports an error if the next event is at a time from which on times do not add up.
func (c *clock) check(e *model.Event, s *stitcher) error {
	if c.last < 0 || e.Time-c.last < longStep {
		return nil
	}
	over, lived := bits.Mul64(uint64(e.Time-c.last), s.lives())
	if over != 0 || lived > c.room {
		return decodeError(fmt.Sprintf("an event is %v after the one before: its time is damaged", time.Duration(e.Time-c.last)))
	}
	c.room -= lived
	return nil
}

func newClock(mode Clock) *clock {
	return &clock{mode: mode, last: math.MinInt64, boundary: math.MaxInt64, room: mostTime}
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
