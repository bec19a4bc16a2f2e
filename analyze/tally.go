package analyze

import "github.com/schedscope/schedscope/model"

// Tally sums up durations without their distribution.
type Tally struct {
	Count      int64
	Total, Max model.Duration
	MaxAt      model.Time // with Max; the first of equals seen
}

func (t *Tally) add(d model.Duration, at model.Time) {
	if t.Count == 0 || d > t.Max {
		t.Max, t.MaxAt = d, at
	}
	t.Count++
	t.Total += d
}

func (t *Tally) merge(o *Tally) {
	if o.Count == 0 {
		return
	}
	if t.Count == 0 || o.Max > t.Max {
		t.Max, t.MaxAt = o.Max, o.MaxAt
	}
	t.Count += o.Count
	t.Total += o.Total
}

// Censored are intervals whose true length is unknown because the trace began
// or ended within them. Their totals and maxima are lower bounds. They are not
// part of distributions.
type Censored struct {
	AtStart Tally // began before the trace; those open at both ends as well
	AtEnd   Tally // went on after it
}

// add counts the interval if it is censored, and reports whether it is.
func (c *Censored) add(s *model.GoSpan, at model.Time) bool {
	switch {
	case s.OpenStart:
		c.AtStart.add(s.Duration(), at)
	case s.OpenEnd:
		c.AtEnd.add(s.Duration(), at)
	default:
		return false
	}
	return true
}

func (c *Censored) merge(o *Censored) {
	c.AtStart.merge(&o.AtStart)
	c.AtEnd.merge(&o.AtEnd)
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
