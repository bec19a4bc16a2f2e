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
	detail     uint8   // goroutines, Runnable: origin and pseudo; procs, Running: the kind of work
	open       uint8   // openStart, openEnd
	mix        mixture // that has what the fields above up to state would say
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
	size   int                       // bits of the length of the latest span added
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
	// How many spans were added, by the bits of the length of the longer one of each and the one
	// before, 64 of the first; those before omit are left out.
	lengths [65]int
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
		l = &lane{id: id, size: 64}
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
	n := bits.Len64(uint64(length))
	c.lengths[max(n, l.size)]++
	l.size = n
	if l.merges(s, c.quantum) {
		l.last.swallow(s)
		return l
	}
	l.push(s, c.quantum, nil)
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

// push makes s the last span. Of the one before it packed is the packed form, if that is known.
func (l *lane) push(s *span, quantum model.Duration, packed []byte) {
	if l.count > 0 {
		if packed == nil {
			l.packed = l.last.pack(l.packed, l.after)
		} else {
			l.packed = append(l.packed, packed...)
		}
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
		if c.quantum < lastQuantum && c.least() > limit {
			continue // one pass with the next quantum has the same result as two
		}
		c.count = 0
		for _, l := range c.lanes {
			c.spare = l.merge(c.quantum, c.spare)
			c.count += l.count
		}
	}
}

// least returns a lower bound of how many spans are left: those that are not short stay, and so does
// one after each of them.
func (c *class) least() int {
	n := 0
	for _, k := range c.lengths[bits.Len64(uint64(c.quantum)):] {
		n += k
	}
	return n
}

// merge makes mixtures of neighbours shorter than quantum. Time is cut into cells of
// some quanta: what begins in one cell becomes at most one mixture, so that a lane of
// nothing but short spans still shows where it did what. Cells of a greater quantum are
// made of whole cells of the smaller one. It writes into spare, and returns what it read
// from for the next time. Spans that stay as they are are not unpacked.
func (l *lane) merge(quantum model.Duration, spare []byte) []byte {
	merged := lane{packed: spare[:0]}
	var packed []byte                                      // the form of merged.last, if that has been skimmed only
	take := func(s *span, from []byte, after model.Time) { // from: of s, if that has been skimmed only
		if !merged.merges(s, quantum) {
			merged.push(s, quantum, packed)
			packed = from
			return
		}
		if packed != nil {
			merged.last.unpack(packed, merged.after)
			packed = nil
		}
		if from != nil {
			s.unpack(from, after)
		}
		merged.last.swallow(s)
	}
	var s span
	at := model.Time(0)
	for b := l.packed; len(b) > 0; at = s.end {
		_, n := s.skim(b, at)
		take(&s, b[:n], at)
		b = b[n:]
	}
	if l.count > 0 {
		take(&l.last, nil, 0)
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

// maxPacked is the most bytes that a span is packed in.
const maxPacked = 3 + (2+numStates+1)*binary.MaxVarintLen64

// pack appends s to b, after a span that ends at a time: head, distance and length, which
// other fields are not 0, the size of those, they. None that is absent is less than -1.
func (s *span) pack(b []byte, after model.Time) []byte {
	b = slices.Grow(b, maxPacked)
	p := b[len(b) : len(b)+maxPacked]
	gap := int64(s.start - after)
	n := 1 + binary.PutVarint(p[1:], gap)
	n += binary.PutUvarint(p[n:], uint64(s.end-s.start))
	set, size := uint8(0), n+1
	n += 2
	for i, v := range s.fields() {
		if v != 0 {
			set |= 1 << i
			n += binary.PutUvarint(p[n:], v)
		}
	}
	p[0] = s.state | s.open<<headOpen
	if s.mix.spans > 0 {
		p[0] |= headMixed
		n += binary.PutUvarint(p[n:], uint64(s.mix.spans))
	}
	p[size-1], p[size] = set, uint8(n-size-1)
	return b[:len(b)+n]
}

// fields returns what is packed of s apart from its head and its times.
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

// skim sets the times of s to those of the first span of b, and whether it is a mixture. It returns
// where what it does not read lies.
func (s *span) skim(b []byte, after model.Time) (at, end int) {
	gap, n := binary.Varint(b[1:])
	at = 1 + n
	length, n := binary.Uvarint(b[at:])
	at += n
	s.start = after + model.Time(gap)
	s.end = s.start + model.Time(length)
	s.mix.spans = int64(b[0] / headMixed & 1)
	return at, at + 2 + int(b[at+1])
}

// unpack makes s the first span of b and returns the rest.
func (s *span) unpack(b []byte, after model.Time) []byte {
	at, end := s.skim(b, after)
	s.state, s.open = b[0]&(1<<headOpen-1), b[0]>>headOpen&(openStart|openEnd)
	set := b[at]
	at += 2
	var v [numStates]uint64
	for ; set != 0; set &= set - 1 {
		x, n := binary.Uvarint(b[at:])
		v[bits.TrailingZeros8(set)] = x
		at += n
	}
	if s.mix.spans == 0 {
		s.g, s.thread, s.proc = model.GoID(v[0])-1, model.ThreadID(v[1])-1, model.ProcID(v[2])-1
		s.reason, s.stack, s.wakerStack, s.detail = model.StringID(v[3]), model.StackID(v[4]), model.StackID(v[5]), uint8(v[6])
		return b[end:]
	}
	for i := range v {
		s.mix.times[i] = model.Duration(v[i])
	}
	spans, _ := binary.Uvarint(b[at:])
	s.mix.spans = int64(spans)
	return b[end:]
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
	clear(c.lengths[:])
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
