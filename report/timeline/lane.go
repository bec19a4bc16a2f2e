package timeline

import (
	"cmp"
	"encoding/binary"
	"maps"
	"math"
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
	spans int64 // 0: it is not a mixture
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
	size   int                       // bits of the length of the latest span that did not merge when it was added
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
	// How many spans did not merge when they were added, by the bits of the length of the longer one
	// of each and the one before, 64 of the first; those before omit are left out. Both of one that
	// merged were short, for every later quantum too.
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
// are being merged, it merges with that if it may. Else add returns it, for the caller to set what
// it refers to and its detail, and then to call bound.
func (c *class) add(id int64, start, end model.Time, state, open uint8) (*lane, *span) {
	l := c.lane(id)
	length := end.Sub(start)
	l.times[state%numStates] += length
	l.seen++
	if length < c.quantum && start < l.until && l.count > 0 {
		l.last.absorb(end, length, state, open)
		return l, nil
	}
	n := bits.Len64(uint64(length))
	c.lengths[max(n, l.size)]++
	l.size = n
	if l.count > 0 {
		l.packed = l.last.pack(l.packed, l.after)
		l.after = l.last.end
	}
	l.count++
	c.count++
	s := &l.last
	s.start, s.end, s.state, s.open, s.mix.spans = start, end, state, open, 0
	l.until = reach(start, length < c.quantum, c.quantum)
	return l, s
}

// bound merges spans if there are too many.
func (c *class) bound() {
	if limit := c.most(c.limit); c.count > limit {
		c.shrink(limit * 3 / 4)
	}
}

// reach returns how far the last span of a lane may grow that begins at start.
func reach(start model.Time, short bool, quantum model.Duration) model.Time {
	if !short {
		return start
	}
	cell := model.Time(quantum * cellQuanta)
	return start + cell - start%cell
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
// from for the next time. What does not merge is copied as it is packed: a mixture ends where
// the last of its parts did.
func (l *lane) merge(quantum model.Duration, spare []byte) []byte {
	b, merged := l.bytes(), spare[:0]
	var last, next span
	from, copied, grown := 0, 0, false // where last begins in b, what has been written of b, whether last has grown
	end := model.Time(0)               // of the span before
	l.after, l.count, l.until = 0, 0, math.MinInt64
	for at := 0; at < len(b); {
		p := (*form)(b[at:cap(b)])
		before := end
		word, start, length := p.times(before)
		end = start + model.Time(length)
		size := int(word >> sizeShift & 0xff)
		short := length < quantum || word&headMixed != 0
		if short && start < l.until {
			if !grown {
				merged = append(merged, b[copied:from]...)
				last.skim((*form)(b[from:cap(b)]), l.after)
			}
			next.skim(p, before)
			last.swallow(&next)
			copied, grown = at+size, true
		} else {
			if grown {
				merged, grown = last.pack(merged, l.after), false
			}
			l.after, from, l.until = before, at, reach(start, short, quantum)
			l.count++
		}
		at += size
	}
	if !grown {
		merged = append(merged, b[copied:from]...)
		last.read((*form)(b[from:cap(b)]), l.after)
	}
	l.last, l.packed = last, merged
	if cap(merged) > 2*len(merged)+64 {
		b, l.packed = merged, slices.Clone(merged)
	}
	return b
}

// bytes returns all spans packed, with room for a form from each of them on.
func (l *lane) bytes() []byte {
	b := l.last.pack(l.packed, l.after)
	l.packed = b[:len(l.packed)]
	return b
}

// spans calls yield with each span.
func (l *lane) spans(yield func(*span) bool) {
	var s span
	b := l.bytes()
	for at := 0; at < len(b); {
		at += s.read((*form)(b[at:cap(b)]), s.end)
		if !yield(&s) {
			return
		}
	}
}

// exact calls yield with each span that is not a mixture. Their times are not set.
func (l *lane) exact(yield func(*span) bool) {
	var s span
	b := l.bytes()
	for at := 0; at < len(b); {
		p := (*form)(b[at:cap(b)])
		word := binary.LittleEndian.Uint64(p[:])
		if word&headMixed == 0 {
			s.refer(p)
			if !yield(&s) {
				return
			}
		}
		at += int(word >> sizeShift & 0xff)
	}
}

// A packed span is a word and numbers, each of as many bytes as it needs. From its lowest bits on, the word has the head in one
// byte, the size of the whole in another, and the width of each number in four bits. Number 0 is the signed distance from the end
// of the span before, 1 the length. From 2 on are the other fields, or of a mixture its times and how many spans it has.
const (
	wordSize    = 8
	sizeShift   = 8
	widthsShift = 16
	widthBits   = 4
	maxPacked   = 128 // at least (1 + 2 + numStates + 1) * wordSize
)

// form is a packed span and what comes after it: numbers are read and written as words.
type form [maxPacked + wordSize]byte

// masks have the lowest bytes of a number, as many as their index.
var masks = [1 << widthBits]uint64{0, 1<<8 - 1, 1<<16 - 1, 1<<24 - 1, 1<<32 - 1, 1<<40 - 1, 1<<48 - 1, 1<<56 - 1, 1<<64 - 1}

// put writes v, the number i of a packed span, to p[n:]. It returns the word with its width, and where the next number goes.
func (p *form) put(word uint64, n uint, i int, v uint64) (uint64, uint) {
	if v == 0 { // as most are
		return word, n
	}
	binary.LittleEndian.PutUint64(p[n%maxPacked:], v)
	width := (uint(bits.Len64(v)) + 7) / 8
	return word | uint64(width)<<((widthsShift+widthBits*i)%64), n + width
}

// get returns the number i of a packed span, which is at p[at:], and where the next one is.
func (p *form) get(word uint64, at uint, i int) (uint64, uint) {
	width := word >> ((widthsShift + widthBits*i) % 64) % uint64(len(masks))
	return binary.LittleEndian.Uint64(p[at%maxPacked:]) & masks[width], at + uint(width)
}

// pack appends s to b, after a span that ends at a time. No field is less than -1.
func (s *span) pack(b []byte, after model.Time) []byte {
	if cap(b)-len(b) < len(form{}) {
		b = slices.Grow(b, max(len(form{}), len(b)/2))
	}
	p := (*form)(b[len(b):cap(b)])
	gap := int64(s.start - after)
	word, n := p.put(uint64(s.state|s.open<<headOpen), wordSize, 0, uint64(gap<<1^gap>>63))
	word, n = p.put(word, n, 1, uint64(s.end-s.start))
	if s.mix.spans == 0 {
		word, n = p.put(word, n, 2, uint64(s.g+1))
		word, n = p.put(word, n, 3, uint64(s.thread+1))
		word, n = p.put(word, n, 4, uint64(uint32(s.proc+1)))
		word, n = p.put(word, n, 5, uint64(s.reason))
		word, n = p.put(word, n, 6, uint64(s.stack))
		word, n = p.put(word, n, 7, uint64(s.wakerStack))
		word, n = p.put(word, n, 8, uint64(s.detail))
	} else {
		for i, d := range s.mix.times {
			word, n = p.put(word, n, 2+i, uint64(d))
		}
		word, n = p.put(word|headMixed, n, 2+numStates, uint64(s.mix.spans))
	}
	binary.LittleEndian.PutUint64(p[:], word|uint64(n)<<sizeShift)
	return b[:len(b)+int(n)]
}

// times returns the word of p, and when the span begins and how long it is.
func (p *form) times(after model.Time) (word uint64, start model.Time, length model.Duration) {
	word = binary.LittleEndian.Uint64(p[:])
	gap, at := p.get(word, wordSize, 0)
	n, _ := p.get(word, at, 1)
	return word, after + model.Time(gap>>1^-(gap&1)), model.Duration(n)
}

// read sets s to what is packed after a span that ends at a time, and returns how many bytes that is.
func (s *span) read(p *form, after model.Time) int {
	size := s.skim(p, after)
	if s.mix.spans == 0 {
		s.refer(p)
	}
	return size
}

// skim is read without what a span refers to.
func (s *span) skim(p *form, after model.Time) int {
	word, start, length := p.times(after)
	s.start, s.end = start, start+model.Time(length)
	s.state, s.open, s.mix.spans = uint8(word&(1<<headOpen-1)), uint8(word>>headOpen&(openStart|openEnd)), 0
	if word&headMixed != 0 {
		s.mix.times = [numStates]model.Duration{}
		at := wordSize + uint(word>>widthsShift&0xf+word>>(widthsShift+widthBits)&0xf)
		var v uint64
		for set := word >> (widthsShift + 2*widthBits) % (1 << (numStates * widthBits)); set != 0; {
			i := bits.TrailingZeros64(set) / widthBits % numStates
			set &^= (1<<widthBits - 1) << (widthBits * i)
			v, at = p.get(word, at, 2+i)
			s.mix.times[i] = model.Duration(v)
		}
		v, _ = p.get(word, at, 2+numStates)
		s.mix.spans = int64(v)
	}
	return int(word >> sizeShift & 0xff)
}

// refer sets what a span that is not a mixture refers to, and its detail.
func (s *span) refer(p *form) {
	word := binary.LittleEndian.Uint64(p[:])
	at := wordSize + uint(word>>widthsShift&0xf+word>>(widthsShift+widthBits)&0xf)
	var v [7]uint64
	for i := range v {
		v[i], at = p.get(word, at, 2+i)
	}
	s.g, s.thread, s.proc, s.reason = model.GoID(v[0])-1, model.ThreadID(v[1])-1, model.ProcID(v[2])-1, model.StringID(v[3])
	s.stack, s.wakerStack, s.detail = model.StackID(v[4]), model.StackID(v[5]), uint8(v[6])
}

// swallow makes s a mixture of itself and the next span of its lane.
func (s *span) swallow(next *span) {
	if next.mix.spans == 0 {
		s.absorb(next.end, next.end.Sub(next.start), next.state, next.open)
		return
	}
	s.mixed()
	s.mix.spans += next.mix.spans
	for i, d := range next.mix.times {
		s.mix.times[i] += d
	}
	s.end = next.end
	s.open |= next.open
}

// absorb is swallow for a span of one state.
func (s *span) absorb(end model.Time, length model.Duration, state, open uint8) {
	s.mixed()
	s.mix.spans++
	s.mix.times[state%numStates] += length
	s.end = end
	s.open |= open
}

// mixed makes s a mixture, if only of itself.
func (s *span) mixed() {
	if s.mix.spans == 0 {
		s.mix = mixture{spans: 1}
		s.mix.times[s.state%numStates] = s.end.Sub(s.start)
		s.state = 0
	}
}

// sorted returns the lanes by id.
func (c *class) sorted() []*lane {
	return slices.SortedFunc(maps.Values(c.lanes), func(a, b *lane) int { return cmp.Compare(a.id, b.id) })
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
	list := slices.DeleteFunc(slices.Collect(maps.Values(c.lanes)), func(l *lane) bool { return !l.ended && !live })
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
