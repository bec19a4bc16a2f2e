package timeline

import (
	"cmp"
	"slices"

	"github.com/schedscope/schedscope/model"
)

// numStates is how many states a lane's spans can have: at least as many as
// goroutines, procs and threads have.
const numStates = 8

// span is an interval on a lane. Which fields mean what depends on the class of the
// lane and on the state.
type span struct {
	start, end model.Time
	g          model.GoID // procs, threads: whom it ran or held; goroutines, Runnable: the waker
	thread     model.ThreadID
	proc       model.ProcID   // goroutines, Runnable: that of the waker
	reason     model.StringID // procs: the start function of g
	stack      model.StackID
	wakerStack model.StackID
	state      uint8
	detail     uint8 // goroutines, Runnable: origin and pseudo; procs, Running: the kind of work
	open       uint8 // openStart, openEnd
	mix        *mixture
}

// Bits of span.open.
const (
	openStart = 1 << iota
	openEnd
)

func openBits(start, end bool) (bits uint8) {
	if start {
		bits |= openStart
	}
	if end {
		bits |= openEnd
	}
	return bits
}

// mixture says what several merged spans consisted of. Their times may add up to less
// than its length: in between, what the lane is about was not there.
type mixture struct {
	times [numStates]model.Duration
	spans int64
}

// lane is what one goroutine, proc or thread did, in order.
type lane struct {
	id     int64
	spans  []span
	times  [numStates]model.Duration // of all spans ever added
	seen   int64                     // how many spans that was
	ended  bool
	name   model.StringID // goroutines: the start function
	system bool
}

// class is all lanes of one kind, and how coarse they have become.
type class struct {
	lanes   map[int64]*lane
	count   int            // spans in all lanes
	ended   int            // lanes of what is over
	limit   int            // the most there may be
	quantum model.Duration // spans shorter than that may be merged; 0: none are
	last    *lane          // of the latest span: spans come in runs
}

func newClass(limit int) class { return class{lanes: map[int64]*lane{}, limit: limit} }

func (c *class) lane(id int64) *lane {
	if c.last != nil && c.last.id == id {
		return c.last
	}
	l := c.lanes[id]
	if l == nil {
		l = &lane{id: id}
		c.lanes[id] = l
	}
	c.last = l
	return l
}

// add appends a span, which must not begin before the lane's latest one ended.
func (c *class) add(id int64, s span) *lane {
	l := c.lane(id)
	l.spans = append(l.spans, s)
	l.times[s.state] += s.end.Sub(s.start)
	l.seen++
	c.count++
	if limit := c.most(c.limit); c.count > limit {
		c.shrink(limit * 3 / 4)
	}
	return l
}

// most returns limit, or more if there are so many lanes that each would have next to
// no spans.
func (c *class) most(limit int) int { return max(limit, 4*len(c.lanes)) }

// firstQuantum is the quantum that merging begins with, and cellQuanta how many
// quanta a mixture may reach over.
const (
	firstQuantum = 512 // ns
	cellQuanta   = 8
	lastQuantum  = model.Duration(1) << 58
)

// shrink merges spans until there are at most limit: those that came since the last
// time first, with a greater quantum only if that is not enough.
func (c *class) shrink(limit int) {
	c.quantum = max(firstQuantum, c.quantum)
	for c.merge(); c.count > limit && c.quantum < lastQuantum; c.merge() {
		c.quantum *= 2
	}
}

func (c *class) merge() {
	c.count = 0
	for _, l := range c.lanes {
		l.merge(c.quantum)
		c.count += len(l.spans)
	}
}

// merge makes mixtures of neighbours shorter than quantum. Time is cut into cells of
// some quanta: what begins in one cell becomes at most one mixture, so that a lane of
// nothing but short spans still shows where it did what. Cells of a greater quantum are
// made of whole cells of the smaller one.
func (l *lane) merge(quantum model.Duration) {
	cell := model.Time(quantum * cellQuanta)
	merged := l.spans[:0]
	for _, s := range l.spans {
		if last := len(merged) - 1; last >= 0 && merged[last].short(quantum) && s.short(quantum) && merged[last].start/cell == s.start/cell {
			merged[last].swallow(&s)
			continue
		}
		merged = append(merged, s)
	}
	clear(l.spans[len(merged):])
	l.spans = merged
	if cap(merged) > 2*len(merged)+8 {
		l.spans = slices.Clip(slices.Clone(merged))
	}
}

// short reports whether s may be merged.
func (s *span) short(quantum model.Duration) bool {
	return s.mix != nil || s.end.Sub(s.start) < quantum
}

// swallow makes s a mixture of itself and the next span of its lane.
func (s *span) swallow(next *span) {
	if s.mix == nil {
		m := &mixture{spans: 1}
		m.times[s.state] = s.end.Sub(s.start)
		*s = span{start: s.start, end: s.end, open: s.open, mix: m}
	}
	if m := next.mix; m != nil {
		s.mix.spans += m.spans
		for i, d := range m.times {
			s.mix.times[i] += d
		}
	} else {
		s.mix.spans++
		s.mix.times[next.state] += next.end.Sub(next.start)
	}
	s.end = next.end
	s.open |= next.open
}

// sorted returns the lanes by id.
func (c *class) sorted() []*lane {
	list := make([]*lane, 0, len(c.lanes))
	for _, l := range c.lanes {
		list = append(list, l)
	}
	slices.SortFunc(list, func(a, b *lane) int { return cmp.Compare(a.id, b.id) })
	return list
}

// Omitted counts goroutines that have no lane of their own, and what they did.
type omitted struct {
	lanes, spans int64
	times        [numStates]model.Duration
}

// omit removes lanes until at most limit are left: those that have ended before the
// others, which stay altogether unless live is set, and first those whose time in state
// was shortest.
func (c *class) omit(limit int, live bool, state uint8, o *omitted) {
	excess := len(c.lanes) - limit
	if excess <= 0 {
		return
	}
	var list []*lane
	for _, l := range c.lanes {
		if l.ended || live {
			list = append(list, l)
		}
	}
	slices.SortFunc(list, func(a, b *lane) int {
		if a.ended != b.ended {
			if a.ended {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.times[state], b.times[state]), cmp.Compare(b.id, a.id))
	})
	for _, l := range list[:min(excess, len(list))] {
		o.lanes++
		o.spans += l.seen
		for i, d := range l.times {
			o.times[i] += d
		}
		c.count -= len(l.spans)
		c.end(l, false)
		delete(c.lanes, l.id)
	}
	c.last = nil
}

// end notes whether what a lane is about is over.
func (c *class) end(l *lane, over bool) {
	if l.ended == over {
		return
	}
	l.ended = over
	if over {
		c.ended++
	} else {
		c.ended--
	}
}
