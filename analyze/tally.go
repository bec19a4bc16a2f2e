package analyze

import (
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/model"
)

// addCensored counts the interval if it is censored, and reports whether it is.
func addCensored(c *Censored, s *model.GoSpan, at model.Time) bool {
	switch {
	case s.OpenStart:
		c.AtStart.Add(s.Duration(), at)
	case s.OpenEnd:
		c.AtEnd.Add(s.Duration(), at)
	default:
		return false
	}
	return true
}

// traceClock is embedded by analyses that keep points in time or single items.
type traceClock struct {
	origin model.Time
	traces int // merged into this one, itself not counted
}

// Begin sets the origin of the trace: results give times as offsets from it.
// Without, they are times of the trace's clock.
func (c *traceClock) Begin(origin model.Time) { c.origin = origin }

func (c *traceClock) at(t model.Time) model.Time { return t - c.origin }

// joined counts another clock's traces and returns what must be added to the
// ordinal numbers of traces in its items.
func (c *traceClock) joined(o *traceClock) int {
	shift := c.traces + 1
	c.traces += o.traces + 1
	return shift
}

func resultNamed(name string, d *dist.Dist) result.Named {
	return result.Named{Name: name, Dist: result.NewDist(d)}
}

func resultRow(r *DistRow) result.Named { return resultNamed(r.Name, r.Dist) }
