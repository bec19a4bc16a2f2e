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
type traceClock struct{ origin model.Time }

// Begin sets the origin of the trace: results give times as offsets from it.
// Without, they are times of the trace's clock.
func (c *traceClock) Begin(origin model.Time) { c.origin = origin }

func (c *traceClock) at(t model.Time) model.Time { return t - c.origin }

func resultNamed(name string, d *dist.Dist) result.Named {
	return result.Named{Name: name, Dist: result.NewDist(d)}
}

// resultNames returns those distributions that are not empty, which are numbered by what
// they are of.
func resultNames[E interface {
	~uint8
	String() string
}](dists []Dist) []result.Named {
	out := []result.Named{}
	for i := range dists {
		if dists[i].Count() > 0 {
			out = append(out, resultNamed(E(i).String(), &dists[i]))
		}
	}
	return out
}
