package wire

import "github.com/schedscope/schedscope/model"

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

// add takes what a batch says of the clock. It returns false if that was said before.
func (c *clock) add(s *Sync) bool {
	if s.Frequency != 0 && c.known || s.HasWall && c.hasWall {
		return false
	}
	if s.HasWall {
		c.hasWall, c.wall = true, s.Wall
	}
	if f := s.Frequency; f != 0 {
		c.known = true
		c.tick = 1.0 / (float64(f) / 1e9)
		if f < 1e9 && 1e9%f == 0 {
			c.unit = model.Time(1e9 / f)
			if c.unit&(c.unit-1) == 0 {
				c.mask = c.unit - 1
			}
		}
	}
	return true
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
