package wire

import (
	"slices"

	"github.com/schedscope/schedscope/model"
)

// thread is the state of a thread and a cursor over its events: the next one,
// which has been read but not yet taken.
type thread struct {
	id   model.ThreadID
	g    model.GoID // that it runs, NoGoroutine if none
	p    model.ProcID
	gi   uint32 // index of the state of g
	seen bool   // an event of the thread, or about it, was looked at

	typ  uint8
	args [8]uint64 // the first is the time since the event before it, and there are up to 4 more
	time model.Time

	buf         []byte // data of the batch being read
	pos         int    // in buf
	first, last int32
	batch       int32 // the one after it, 0 if there is none
}

// threads holds all threads of a generation.
type threads struct {
	list []*thread // in order of appearance; what is beyond its length can be used again
	byID map[model.ThreadID]*thread
}

// maxThreads bounds the memory that a generation can ask for by naming threads.
const maxThreads = 1 << 17

func (t *threads) reset() { *t = threads{t.list[:0], map[model.ThreadID]*thread{}} }

// getOrAdd returns a thread, a new one if there is none yet, or nil if there are
// too many.
func (t *threads) getOrAdd(id int64) *thread {
	if m := t.byID[model.ThreadID(id)]; m != nil {
		return m
	}
	if len(t.list) == maxThreads {
		return nil
	}
	n := len(t.list)
	if n == cap(t.list) {
		t.list = slices.Grow(t.list, 1)
	}
	t.list = t.list[:n+1]
	m := t.list[n]
	if m == nil {
		m = new(thread)
		t.list[n] = m
	}
	*m = thread{id: model.ThreadID(id), g: model.NoGoroutine, p: model.NoProc, buf: m.buf[:0]}
	t.byID[m.id] = m
	return m
}

// reading is the outcome of reading an event.
type reading uint8

const (
	readFailed reading = iota
	readEvent
	readEnd // there are no more
)

// read reads the thread's next event (internal/trace/batchcursor.go: nextEvent,
// readTimedBaseEvent).
func (d *Decoder) read(t *thread) reading {
	if t.pos == len(t.buf) {
		if r := d.nextBatch(t); r != readEvent {
			return r
		}
	}
	buf := t.buf
	typ := buf[t.pos]
	n := argCounts[typ]
	if n == 0 {
		d.refuse("unknown type of event")
		return readFailed
	}
	pos := t.pos + 1
	args := t.args[:n]
	for i := range args { // N.B. this is number, inline: nearly all have one byte or two
		v := &args[i]
		switch {
		case uint(pos) < uint(len(buf)) && buf[pos] < 0x80:
			*v = uint64(buf[pos])
			pos++
		case uint(pos)+1 < uint(len(buf)) && buf[pos+1] < 0x80:
			*v = uint64(buf[pos]&0x7f) | uint64(buf[pos+1])<<7
			pos += 2
		default:
			*v, pos = longNumber(buf, pos)
		}
	}
	t.typ, t.pos = typ, pos
	// Signed conversion is much the faster; larger numbers become negative and
	// are refused.
	t.time += model.Time(float64(int64(t.args[0])) * d.clock.tick)
	if pos > len(buf) || int64(t.args[0]) < 0 || uint64(t.time) >= latest {
		d.refuse("invalid event or time")
		return readFailed
	}
	return readEvent
}

// nextBatch goes on to the thread's next batch that is not empty.
func (d *Decoder) nextBatch(t *thread) reading {
	for t.pos == len(t.buf) {
		if t.batch == 0 {
			return readEnd
		}
		b := &d.batches[t.batch]
		start, ok := d.clock.duration(b.ticks)
		if !ok {
			d.refuse("invalid time")
			return readFailed
		}
		if d.fetch(&t.buf, b.at, int(b.size)) == nil {
			return readFailed
		}
		t.pos, t.time, t.batch = 0, start, b.next
	}
	return readEvent
}
