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
	length := int64(c.End.Sub(c.Start))
	s := step{start: c.Start, end: c.End, area: length * int64(c.Runnable), most: c.Runnable, count: c.Procs}
	if c.Runnable > 0 {
		s.idle = length * int64(c.Idle)
	}
	if n := len(d.steps); n > 0 {
		if last := &d.steps[n-1]; last.mergeable(&s, d.quantum) || last.same(&s) {
			last.join(&s)
			return
		}
	}
	d.steps = append(d.steps, s)
	if len(d.steps) > d.limit {
		d.shrink(d.limit * 3 / 4)
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
func (s *step) join(next *step) {
	s.end = next.end
	s.area += next.area
	s.idle += next.idle
	s.most = max(s.most, next.most)
	s.count = max(s.count, next.count)
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
	kept := d.steps[:0]
	for _, s := range d.steps {
		if n := len(kept); n > 0 && kept[n-1].mergeable(&s, d.quantum) {
			kept[n-1].join(&s)
			continue
		}
		kept = append(kept, s)
	}
	d.steps = kept
}

func (s *step) mergeable(next *step, quantum model.Duration) bool {
	cell := model.Time(quantum * cellQuanta)
	short := func(x *step) bool { return x.end.Sub(x.start) < quantum || !x.exact() }
	return quantum > 0 && s.end == next.start && short(s) && short(next) && s.start/cell == next.start/cell
}

// exact reports whether the number was the same all along.
func (s *step) exact() bool { return s.area == int64(s.most)*int64(s.end-s.start) }
