package wire

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// Types of events that structure a generation (internal/trace/tracev2/events.go,
// Go 1.26).
const (
	evEventBatch        = 1
	evStacks            = 2
	evStack             = 3
	evStrings           = 4
	evString            = 5
	evCPUSamples        = 6
	evCPUSample         = 7
	evFrequency         = 8
	evExperimentalBatch = 49
	evSync              = 50
	evClockSnapshot     = 51
	evEndOfGeneration   = 52
)

// Limits of the format (internal/trace/tracev2/spec.go, events.go, Go 1.26).
const (
	maxBatchSize  = 64 << 10
	maxStringSize = 1 << 10
	maxFrames     = 128

	// allocFree is the only experiment there is.
	allocFree = 1
)

// batch is a batch of events of one thread: buf[from:to].
type batch struct {
	from, to int
	ticks    uint64
	next     int32 // of the same thread, an index; 0 if there is none
}

// header is the header of any batch.
type header struct {
	experiment byte
	generation uint64
	thread     int64
	ticks      uint64
	from, to   int // of the data
}

// load walks the batches of the generation and fills the tables. It returns
// false if the generation is not fit for decoding
// (internal/trace/generation.go: readGeneration, readGenerationWithSpill).
func (d *Decoder) load() bool {
	if d.version < oldestVersion || d.version > newestVersion {
		return d.refuse("unknown version")
	}
	d.batches = append(d.batches, batch{}) // index 0 means none
	generation, pos := uint64(0), 0
	for pos < len(d.buf) && d.buf[pos] != evEndOfGeneration {
		h, ok := d.header(pos)
		if !ok {
			return d.refuse("invalid batch header")
		}
		if generation == 0 {
			generation = h.generation
		}
		if h.generation == 0 || h.generation != generation {
			return d.refuse("batches of several generations")
		}
		if !d.add(&h) {
			return d.refuse("invalid batch")
		}
		if d.clock.minTicks == 0 || h.ticks < d.clock.minTicks {
			d.clock.minTicks = h.ticks
		}
		pos = h.to
	}
	switch {
	case generation == 0:
		return d.refuse("no batches")
	case d.version >= endMarkVersion && pos != len(d.buf)-1:
		return d.refuse("the end of the generation is not at the end")
	case d.version < endMarkVersion && pos != len(d.buf):
		return d.refuse("unexpected end of generation")
	case !d.clock.known || d.version >= syncVersion && !d.clock.hasWall:
		return d.refuse("no clock")
	}
	return d.stacks.link(&d.strings) || d.refuse("stack with invalid string or frame")
}

// header reads the batch header at pos (internal/trace/batch.go: readBatch).
func (d *Decoder) header(pos int) (h header, ok bool) {
	typ := d.buf[pos]
	pos++
	switch typ {
	case evEventBatch:
	case evExperimentalBatch:
		if pos == len(d.buf) || d.buf[pos] != allocFree {
			return h, false
		}
		h.experiment = d.buf[pos]
		pos++
	default:
		return h, false
	}
	var thread, size uint64
	h.generation, pos = number(d.buf, pos)
	thread, pos = number(d.buf, pos)
	h.ticks, pos = number(d.buf, pos)
	size, pos = number(d.buf, pos)
	if pos > len(d.buf) || size > maxBatchSize || size > uint64(len(d.buf)-pos) {
		return h, false
	}
	h.thread, h.from, h.to = int64(thread), pos, pos+int(size)
	return h, true
}

// add adds the content of a batch to where it belongs
// (internal/trace/generation.go: processBatch).
func (d *Decoder) add(h *header) bool {
	if h.experiment != 0 {
		return true
	}
	data := d.buf[h.from:h.to]
	if len(data) > 0 {
		switch data[0] {
		case evStrings:
			return d.strings.add(data[1:], d.maxID())
		case evStacks:
			return d.stacks.add(data[1:], d.maxID())
		case evCPUSamples:
			return d.samples.add(data[1:])
		case evFrequency:
			return d.version < syncVersion && d.clock.add(data, h.ticks, false)
		case evSync:
			return d.version >= syncVersion && d.clock.add(data[1:], h.ticks, true)
		case evEndOfGeneration:
			return false
		}
	}
	t := d.threads.getOrAdd(h.thread)
	if t == nil || len(d.batches) == math.MaxInt32 {
		return false
	}
	i := int32(len(d.batches))
	d.batches = append(d.batches, batch{from: h.from, to: h.to, ticks: h.ticks})
	if t.last == 0 {
		t.first = i
	} else {
		d.batches[t.last].next = i
	}
	t.last = i
	return true
}

// maxID bounds the numbers of strings and stacks. Each takes 4 bytes at least,
// or there are few of them, and numbers are dense, though not in order.
func (d *Decoder) maxID() uint64 { return uint64(len(d.buf))/4 + 1024 }

// none is the position after a number that is not there or not valid. It lies
// beyond the end of any data, and so does every position that follows from it.
const none = math.MaxInt

// number reads the varint at b[pos:] and returns the position after it.
func number(b []byte, pos int) (v uint64, next int) {
	if uint(pos) < uint(len(b)) {
		if c := b[pos]; c < 0x80 {
			return uint64(c), pos + 1
		}
	}
	return longNumber(b, pos)
}

// longNumber is number for those that have more than one byte. Up to eight bytes
// are taken at once: without a loop, there is no branch to mispredict on lengths
// that follow no pattern.
func longNumber(b []byte, pos int) (v uint64, next int) {
	if uint(pos) >= uint(len(b)) {
		return 0, none
	}
	const ends = 0x8080808080808080
	b = b[pos:]
	if len(b) >= 8 {
		w := binary.LittleEndian.Uint64(b)
		if end := ^w & ends; end != 0 {
			w &= end ^ (end - 1) // up to the byte that ends the number
			w &^= ends
			w = w&0x007f007f007f007f | w&0x7f007f007f007f00>>1
			w = w&0x00003fff00003fff | w&0x3fff00003fff0000>>2
			w = w&0x000000000fffffff | w&0x0fffffff00000000>>4
			return w, pos + bits.TrailingZeros64(end)/8 + 1
		}
	}
	v, n := binary.Uvarint(b)
	if n <= 0 {
		return 0, none
	}
	return v, pos + n
}
