package timeline

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/klauspost/compress/gzip"

	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// Magic begins what is encoded, once inflated; the number after it is the version of
// the format. A reader refuses another one.
const (
	Magic   = "schedscope timeline"
	Version = 2
)

// level is that of the compression: the next ones save 2 % of the bytes for half as much time
// again, and more than twice.
const level = 4

// Encode returns the recording as gzip'ed binary of at most Options.Bytes: it merges
// more intervals if it must. That fails only if what cannot be merged is too large.
//
// After [Magic] all numbers are varints: unsigned ones, or zigzag where the text says
// signed. Strings are a length and bytes. Points in time count from the recording's
// origin, in nanoseconds. What refers to a table counts from 1, 0 is none.
//
//	version, start, end
//	words:     for each list of words.go: number, strings
//	strings:   number, strings
//	frames:    number, (function, file, line)...      both refer to strings, from 0
//	stacks:    number, (place, number, frames...)...  innermost first, from 0; place is the frame of [result.PlaceIn] if it is the program's, from 1
//	goroutines: number, (id more than the last one's, name, 1 if of the runtime)...
//	threads:   number, (id more than the last one's)...
//	classes:   goroutines, procs, threads; see class below
//	omitted goroutines: number, spans, 8 times by state
//	least:     length from which on waits have causes
//	depth:     quantum, number, (signed gap, length, most, most*length - area, idle, procs)...
//	stops:     left out, number, (start more than the last one's, to stopped, to effective, length, reason, goroutine, open)...
//	marks:     left out, number, (start more than the last one's, length)...
//	tasks:     left out, number, (start more than the last one's, length, id, parent, goroutine, name, open)...
//	regions:   left out, number, (start more than the last one's, length, goroutine, name, depth, open)...
//	steals:    log 2 of how many one was kept of, number, (time more than the last one's, thief, victim, size, goroutine, 1 if from runnext)...
//
// A class is
//
//	quantum, 8 sets of columns by state (bits in the order of the columns)
//	number of lanes, (id, spans, spans seen, ended, 8 times by state)...
//	number of columns, (bytes, values...)...
//
// Lanes of goroutines and threads refer to their tables, procs to themselves from 0. The values of
// all spans of a lane come one after another, lane by lane, in every column; a span
// has a value in a column if the set of its state has the column: head always. Head is the state,
// plus 8 if it began before start, 16 if it went on after end, 32 if it is a mixture,
// which has the columns gap, length and mix alone, plus 64 if it is a wait with causes.
func (r *Recorder) Encode() ([]byte, error) {
	r.waits.sort()
	for {
		blob, err := r.encode()
		if err != nil || len(blob) <= r.o.Bytes {
			return blob, err
		}
		if !r.smaller(len(blob)) {
			return nil, fmt.Errorf("the timeline takes %d bytes, more than %d, and nothing more can be merged", len(blob), r.o.Bytes)
		}
	}
}

// smaller merges spans so that what took size bytes takes as many as it may. It
// reports whether there is less now.
func (r *Recorder) smaller(size int) bool {
	less := false
	for _, c := range []*class{&r.goroutines, &r.procs, &r.threads} {
		before := c.count
		c.shrink(int(int64(before) * int64(r.o.Bytes) / int64(size) * 9 / 10))
		less = less || c.count < before
	}
	before := len(r.depth.steps)
	r.depth.shrink(before * 2 / 3)
	return less || len(r.depth.steps) < before
}

func (r *Recorder) encode() ([]byte, error) {
	e := &encoder{r: r, refs: newRefs(r)}
	body := e.body()
	var head buffer
	head.b = append(head.b, Magic...)
	head.put(Version)
	head.time(r.start.Sub(r.origin))
	head.time(r.end.Sub(r.origin))
	head.words()
	e.refs.write(&head)
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, level)
	if err != nil {
		return nil, err
	}
	for _, part := range append([][]byte{head.b}, body...) {
		if _, err := z.Write(part); err != nil {
			return nil, err
		}
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// buffer is bytes being written.
type buffer struct{ b []byte }

func (b *buffer) put(v uint64) {
	if v < 0x80 { // as most are
		b.b = append(b.b, byte(v))
	} else {
		b.b = binary.AppendUvarint(b.b, v)
	}
}

func (b *buffer) int(v int64)           { b.put(uint64(max(v, 0))) }
func (b *buffer) signed(v int64)        { b.b = binary.AppendVarint(b.b, v) }
func (b *buffer) time(d model.Duration) { b.int(int64(d)) }
func (b *buffer) string(s string)       { b.put(uint64(len(s))); b.b = append(b.b, s...) }
func (b *buffer) times(t *[numStates]model.Duration) {
	for _, d := range t {
		b.time(d)
	}
}

// encoder writes the body and notes what it refers to.
type encoder struct {
	buffer
	parts [][]byte // what comes before the buffer
	r     *Recorder
	refs  *refs
}

func (e *encoder) body() [][]byte {
	r := e.r
	e.class(&r.goroutines, goroutineColumns, func(l *lane) uint64 { return e.refs.goroutine(model.GoID(l.id)) })
	e.class(&r.procs, procColumns, func(l *lane) uint64 { return uint64(l.id) })
	e.class(&r.threads, threadColumns, func(l *lane) uint64 { return e.refs.thread(model.ThreadID(l.id)) })
	e.int(r.omitted.lanes)
	e.int(r.omitted.spans)
	e.times(&r.omitted.times)
	e.time(r.waits.least)
	e.depth()
	e.bands()
	e.steals()
	return append(e.parts, e.b)
}

// Columns of a class, in order.
const (
	colHead = iota
	colGap  // signed: from the end of the span before, or from the recording's start
	colLength
	colG
	colThread
	colProc
	colReason
	colStack
	colWakerStack
	colDetail
	colMix  // 8 times by state, and how many spans
	colWait // source, grade, last proc, victim, number of causes, (cause, time)...
	numColumns
)

const always = 1<<colHead | 1<<colGap | 1<<colLength

// The columns that spans have by state. Waiting and the like happen nowhere.
var (
	goroutineColumns = [numStates]uint64{
		model.GoRunnable:       always | 1<<colG | 1<<colThread | 1<<colProc | 1<<colReason | 1<<colStack | 1<<colWakerStack | 1<<colDetail,
		model.GoRunning:        always | 1<<colThread | 1<<colProc | 1<<colStack,
		model.GoWaiting:        always | 1<<colReason | 1<<colStack,
		model.GoSyscall:        always | 1<<colThread | 1<<colProc | 1<<colStack,
		model.GoSyscallBlocked: always | 1<<colThread | 1<<colStack,
	}
	procColumns = [numStates]uint64{
		model.ProcRunning:   always | 1<<colG | 1<<colThread | 1<<colDetail,
		model.ProcSyscall:   always | 1<<colG | 1<<colThread,
		model.ProcSearching: always | 1<<colThread,
	}
	threadColumns = [numStates]uint64{
		model.ThreadRunning:        always | 1<<colG | 1<<colProc,
		model.ThreadSearching:      always | 1<<colG | 1<<colProc,
		model.ThreadSyscall:        always | 1<<colG | 1<<colProc,
		model.ThreadSyscallBlocked: always | 1<<colG,
	}
)

// Bits of the head next to the state.
const (
	headOpen  = 3 // shift of span.open
	headMixed = 1 << 5
	headWait  = 1 << 6
)

func (e *encoder) class(c *class, sets [numStates]uint64, id func(*lane) uint64) {
	e.time(c.quantum)
	for _, set := range sets {
		e.put(set | always)
	}
	lanes := c.sorted()
	e.int(int64(len(lanes)))
	var cols [numColumns]buffer
	for _, l := range lanes {
		e.put(id(l))
		e.int(int64(l.count))
		e.int(l.seen)
		e.flag(l.ended)
		e.times(&l.times)
		from := e.r.start
		var waits []int32
		if c == &e.r.goroutines {
			waits = e.r.waits.byG[model.GoID(l.id)]
		}
		for s := range l.spans {
			e.span(&cols, s, sets[s.state]|always, from, &waits)
			from = s.end
		}
	}
	e.put(numColumns)
	for i := range cols {
		e.put(uint64(len(cols[i].b)))
		e.parts, e.b = append(e.parts, e.b, cols[i].b), nil
	}
}

func (b *buffer) flag(set bool) { b.put(textui.Either[uint64](set, 1, 0)) }

func (e *encoder) span(cols *[numColumns]buffer, s *span, set uint64, from model.Time, waits *[]int32) {
	cols[colGap].signed(int64(s.start.Sub(from)))
	cols[colLength].time(s.end.Sub(s.start))
	head := uint64(s.state) | uint64(s.open)<<headOpen
	if s.mix.spans > 0 {
		cols[colHead].put(head | headMixed)
		cols[colMix].times(&s.mix.times)
		cols[colMix].int(s.mix.spans)
		return
	}
	if len(*waits) > 0 && s.state == uint8(model.GoRunnable) {
		var w *wait
		if w, *waits = e.r.waits.at(*waits, s.start); w != nil {
			head |= headWait
			cols[colWait].b = append(cols[colWait].b, e.r.waits.encoded(w)...)
		}
	}
	cols[colHead].put(head)
	for rest := set &^ always; rest != 0; rest &= rest - 1 {
		col := bits.TrailingZeros64(rest)
		cols[col].put(e.value(col, s))
	}
}

// value returns what span s has in a column.
func (e *encoder) value(col int, s *span) uint64 {
	switch col {
	case colG:
		return e.refs.goroutine(s.g)
	case colThread:
		return e.refs.thread(s.thread)
	case colProc:
		return uint64(s.proc + 1)
	case colReason:
		return e.refs.string(s.reason)
	case colStack:
		return e.refs.stack(s.stack)
	case colWakerStack:
		return e.refs.stack(s.wakerStack)
	default:
		return uint64(s.detail)
	}
}
