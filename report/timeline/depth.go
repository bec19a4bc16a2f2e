package timeline

import (
	"math/bits"

	"github.com/schedscope/schedscope/model"
)

// depth is how many goroutines were Runnable, over time.
type depth struct {
	steps   []step
	limit   int
	quantum model.Duration
	until   model.Time // what begins before that may join the last step, if both are short
}

// step is a length of time. Of an exact one, area is most times its length.
type step struct {
	start, end model.Time
	area       int64 // goroutines Runnable, times ns
	idle       int64 // procs idle while any goroutine was Runnable, times ns
	most       int   // goroutines Runnable at once
	count      int   // procs that exist
}

func (d *depth) add(c *model.Counts) {
	if c.End <= c.Start {
		return
	}
	length := c.End.Sub(c.Start)
	area, idle := int64(length)*int64(c.Runnable), int64(0)
	if c.Runnable > 0 {
		idle = int64(length) * int64(c.Idle)
	}
	n := len(d.steps)
	if n > 0 && length < d.quantum && c.Start < d.until {
		if last := &d.steps[n-1]; last.end == c.Start && last.short(d.quantum) { // as nearly always in the end
			last.extend(c.End, area, idle, c.Runnable, c.Procs)
			return
		}
	}
	s := step{c.Start, c.End, area, idle, c.Runnable, c.Procs}
	if n > 0 && d.steps[n-1].same(&s) {
		d.steps[n-1].join(&s)
		return
	}
	d.push(&s)
	if len(d.steps) > d.limit {
		d.shrink(d.limit * 3 / 4)
	}
}

// push makes s the last step.
func (d *depth) push(s *step) {
	d.steps = append(room(d.steps, d.limit), *s)
	if d.until = s.start; d.quantum > 0 {
		cell := model.Time(d.quantum * cellQuanta)
		d.until += cell - s.start%cell
	}
}

// same reports whether two exact steps show the same.
func (s *step) same(next *step) bool {
	length, nextLength := int64(s.end-s.start), int64(next.end-next.start)
	idle, part := bits.Mul64(uint64(s.idle), uint64(nextLength))
	nextIdle, nextPart := bits.Mul64(uint64(next.idle), uint64(length))
	return s.end == next.start && s.most == next.most && s.count == next.count && s.exact() && next.exact() &&
		idle == nextIdle && part == nextPart
}

// join adds the next step to s.
func (s *step) join(next *step) { s.extend(next.end, next.area, next.idle, next.most, next.count) }

func (s *step) extend(end model.Time, area, idle int64, most, count int) {
	s.end = end
	s.area += area
	s.idle += idle
	s.most = max(s.most, most)
	s.count = max(s.count, count)
}

// shrink joins neighbours, with a greater quantum, until there are at most limit.
func (d *depth) shrink(limit int) {
	for len(d.steps) > limit && d.quantum < lastQuantum {
		d.quantum = max(firstQuantum, 2*d.quantum)
		d.merge()
	}
}

// merge joins steps shorter than the quantum that begin in the same cell of time.
func (d *depth) merge() {
	steps := d.steps
	d.steps = steps[:0]
	for i := range steps {
		s := steps[i]
		if n := len(d.steps); n > 0 && d.merges(&d.steps[n-1], &s) {
			d.steps[n-1].join(&s)
			continue
		}
		d.push(&s)
	}
}

// merges reports whether the step that comes next is to join the last one.
func (d *depth) merges(last, next *step) bool {
	return next.start < d.until && last.end == next.start && next.short(d.quantum) && last.short(d.quantum)
}

// short reports whether s may be merged.
func (s *step) short(quantum model.Duration) bool { return s.end.Sub(s.start) < quantum || !s.exact() }

// exact reports whether the number was the same all along.
func (s *step) exact() bool { return s.area == int64(s.most)*int64(s.end-s.start) }
