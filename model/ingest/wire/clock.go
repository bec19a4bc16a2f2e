package wire

import (
	"time"

	"github.com/schedscope/schedscope/model"
)

// clock turns time stamps into times.
type clock struct {
	known    bool
	tick     float64 // nanoseconds per tick
	unit     model.Time
	mask     model.Time // unit-1 if unit is a power of two
	minTicks uint64     // of any batch
	hasWall  bool
	wall     int64      // Unix nanoseconds
	last     model.Time // of the event emitted last
}

// latest bounds times, so that adding to one cannot overflow.
const latest = 1 << 62

// add reads a batch that describes the clock: its frequency and, if wall says
// so, a snapshot of all clocks (internal/trace/generation.go: setSyncBatch).
func (c *clock) add(data []byte, ticks uint64, wall bool) bool {
	for pos := 0; pos < len(data); {
		typ := data[pos]
		pos++
		switch {
		case typ == evFrequency && !c.known:
			var frequency uint64
			frequency, pos = number(data, pos)
			if pos > len(data) || frequency == 0 {
				return false
			}
			c.setFrequency(frequency)
		case typ == evClockSnapshot && wall && !c.hasWall:
			var args [4]uint64 // ticks, monotonic, seconds, nanoseconds
			for i := range args {
				args[i], pos = number(data, pos)
			}
			c.hasWall, c.wall = true, time.Unix(int64(args[2]), int64(args[3])).UnixNano()
		default:
			return false
		}
		if pos > len(data) {
			return false
		}
	}
	return true
}

// setFrequency sets the clock's frequency in ticks per second.
func (c *clock) setFrequency(f uint64) {
	c.known = true
	c.tick = 1.0 / (float64(f) / 1e9)
	if f < 1e9 && 1e9%f == 0 {
		c.unit = model.Time(1e9 / f)
		if c.unit&(c.unit-1) == 0 {
			c.mask = c.unit - 1
		}
	}
}

// duration converts ticks exactly as the reader does (internal/trace/base.go:
// frequency.mul).
func (c *clock) duration(ticks uint64) (t model.Time, ok bool) {
	t = model.Time(float64(ticks) * c.tick)
	return t, 0 <= t && t < latest
}

// step returns the next event's time and flags, given the time it claims: no two
// events have the same time.
func (c *clock) step(t model.Time) (model.Time, model.EventFlags) {
	if t <= c.last {
		t = c.last + 1
	}
	c.last = t
	if c.mask != 0 {
		if t&c.mask != 0 {
			return t, model.EventSyntheticTime
		}
		return t, 0
	}
	if c.unit != 0 && t%c.unit != 0 {
		return t, model.EventSyntheticTime
	}
	return t, 0
}
