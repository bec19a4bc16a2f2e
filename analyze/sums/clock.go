package sums

import (
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// AddCensored counts the interval if it is censored, and reports whether it is.
func AddCensored(c *result.Censored, s *model.GoSpan, at model.Time) bool {
	if s.OpenStart || s.OpenEnd {
		addCensored(c, s, at)
		return true
	}
	return false
}

func addCensored(c *result.Censored, s *model.GoSpan, at model.Time) {
	tally := textui.Either(s.OpenStart, &c.AtStart, &c.AtEnd)
	tally.Add(s.Duration(), at)
}

// Clock is embedded by analyses that keep points in time or single items.
type Clock struct{ origin model.Time }

// Begin sets the origin of the trace: results give times as offsets from it.
// Without, they are times of the trace's clock.
func (c *Clock) Begin(origin model.Time) { c.origin = origin }

// Offset returns a point in time as results have it.
func (c *Clock) Offset(t model.Time) model.Time { return t - c.origin }
