package timeline

import (
	"cmp"
	"encoding/binary"
	"math/bits"
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
	mix        mixture
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
	spans int64 // 0: it is no mixture
}

// lane is what one goroutine, proc or thread did, in order: spans as bytes, which take a
// tenth of the memory, and the last one, with which the next may merge.
type lane struct {
	id     int64
	packed []byte     // spans before the last, see [span.pack]
	after  model.Time // where they end
	last   span
	until  model.Time                // what begins before that and is short merges with the last span
	count  int                       // spans, the last one included
	times  [numStates]model.Duration // of all spans ever added
	seen   int64                     // how many spans that was
	ended  bool
	name   model.StringID // goroutines: the start function
	system bool
}

// class is all lanes of one kind, and how coarse they have become.
type class struct {
	lanes   map[int64]*lane
	count   int              // spans in all lanes
	ended   int              // lanes of what is over
	limit   int              // the most there may be
	quantum model.Duration   // spans shorter than that may be merged; 0: none are
	recent  [numRecent]*lane // the latest by id modulo numRecent: it saves looking in lanes
	spare   []byte           // packed spans of the lane merged last
}

const numRecent = 256

func newClass(limit int) class { return class{lanes: map[int64]*lane{}, limit: limit} }

func (c *class) lane(id int64) *lane {
	recent := &c.recent[uint64(id)%numRecent]
	if l := *recent; l != nil && l.id == id {
		return l
	}
	l := c.lanes[id]
	if l == nil {
		l = &lane{id: id}
		c.lanes[id] = l
	}
	*recent = l
	return l
}

// add appends a span, which must not begin before the lane's latest one ended. Once spans
// are being merged, it merges with that if it may.
func (c *class) add(id int64, s *span) *lane {
	l := c.lane(id)
	length := s.end.Sub(s.start)
	l.times[s.state] += length
	l.seen++
	if l.merges(s, c.quantum) {
		l.last.swallow(s)
		return l
	}
	l.push(s, c.quantum)
	c.count++
	if limit := c.most(c.limit); c.count > limit {
		c.shrink(limit * 3 / 4)
	}
	return l
}

// merges reports whether s, which comes next, is to merge with the last span.
func (l *lane) merges(s *span, quantum model.Duration) bool {
	return l.count > 0 && s.start < l.until && s.short(quantum)
}

// push makes s the last span.
func (l *lane) push(s *span, quantum model.Duration) {
	if l.count > 0 {
		l.packed = l.last.pack(l.packed, l.after)
		l.after = l.last.end
	}
	l.count++
	l.last, l.until = *s, s.start
	if quantum > 0 && s.short(quantum) {
		cell := model.Time(quantum * cellQuanta)
		l.until = s.start - s.start%cell + cell
	}
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

// shrink merges spans with a greater quantum until there are at most limit.
func (c *class) shrink(limit int) {
	for c.count > limit && c.quantum < lastQuantum {
		c.quantum = max(firstQuantum, 2*c.quantum)
		c.count = 0
		for _, l := range c.lanes {
			c.spare = l.merge(c.quantum, c.spare)
			c.count += l.count
		}
	}
}

// merge makes mixtures of neighbours shorter than quantum. Time is cut into cells of
// some quanta: what begins in one cell becomes at most one mixture, so that a lane of
// nothing but short spans still shows where it did what. Cells of a greater quantum are
// made of whole cells of the smaller one. It writes into spare, and returns what it read
// from for the next time.
func (l *lane) merge(quantum model.Duration, spare []byte) []byte {
	merged := lane{packed: spare[:0]}
	for s := range l.spans {
		if merged.merges(s, quantum) {
			merged.last.swallow(s)
			continue
		}
		merged.push(s, quantum)
	}
	spare, l.packed = l.packed, merged.packed
	l.after, l.last, l.until, l.count = merged.after, merged.last, merged.until, merged.count
	if cap(l.packed) > 2*len(l.packed)+64 {
		spare, l.packed = l.packed, slices.Clone(l.packed)
	}
	return spare
}

// spans calls yield with each span.
func (l *lane) spans(yield func(*span) bool) {
	var s span
	at := model.Time(0)
	for b := l.packed; len(b) > 0; at = s.end {
		b = s.unpack(b, at)
		if !yield(&s) {
			return
		}
	}
	if l.count > 0 {
		yield(&l.last)
	}
}

// pack appends s to b, after a span that ends at a time: head, distance and length, which
// other fields are not 0, those. None that is absent is less than -1.
func (s *span) pack(b []byte, after model.Time) []byte {
	head := s.state | s.open<<headOpen
	if s.mix.spans > 0 {
		head |= headMixed
	}
	b = append(b, head)
	b = binary.AppendVarint(b, int64(s.start-after))
	b = binary.AppendUvarint(b, uint64(s.end-s.start))
	place := len(b)
	b = append(b, 0)
	for i, v := range s.fields() {
		if v != 0 {
			b[place] |= 1 << i
			b = binary.AppendUvarint(b, v)
		}
	}
	if s.mix.spans > 0 {
		b = binary.AppendUvarint(b, uint64(s.mix.spans))
	}
	return b
}

// fields returns what is packed of s besides its head and its times.
func (s *span) fields() (v [numStates]uint64) {
	if s.mix.spans > 0 {
		for i, d := range s.mix.times {
			v[i] = uint64(d)
		}
		return v
	}
	return [...]uint64{uint64(s.g + 1), uint64(s.thread + 1), uint64(uint32(s.proc + 1)), uint64(s.reason), uint64(s.stack),
		uint64(s.wakerStack), uint64(s.detail), 0}
}

// unpack makes s the first span of b and returns the rest.
func (s *span) unpack(b []byte, after model.Time) []byte {
	head := b[0]
	*s = span{state: head & (1<<headOpen - 1), open: head >> headOpen & (openStart | openEnd)}
	gap, n := binary.Varint(b[1:])
	b = b[1+n:]
	length, n := binary.Uvarint(b)
	s.start = after + model.Time(gap)
	s.end = s.start + model.Time(length)
	set := b[n]
	b = b[n+1:]
	number := func() uint64 {
		v, n := binary.Uvarint(b)
		b = b[n:]
		return v
	}
	var v [numStates]uint64
	for ; set != 0; set &= set - 1 {
		v[bits.TrailingZeros8(set)] = number()
	}
	if head&headMixed == 0 {
		s.g, s.thread, s.proc = model.GoID(v[0])-1, model.ThreadID(v[1])-1, model.ProcID(v[2])-1
		s.reason, s.stack, s.wakerStack, s.detail = model.StringID(v[3]), model.StackID(v[4]), model.StackID(v[5]), uint8(v[6])
		return b
	}
	for i := range v {
		s.mix.times[i] = model.Duration(v[i])
	}
	s.mix.spans = int64(number())
	return b
}

// short reports whether s may be merged.
func (s *span) short(quantum model.Duration) bool {
	return s.mix.spans > 0 || s.end.Sub(s.start) < quantum
}

// swallow makes s a mixture of itself and the next span of its lane.
func (s *span) swallow(next *span) {
	if s.mix.spans == 0 {
		m := mixture{spans: 1}
		m.times[s.state] = s.end.Sub(s.start)
		*s = span{start: s.start, end: s.end, open: s.open, mix: m}
	}
	if m := &next.mix; m.spans > 0 {
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
		c.count -= l.count
		c.end(l, false)
		delete(c.lanes, l.id)
	}
	clear(c.recent[:])
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
