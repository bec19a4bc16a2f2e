package wire

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
)

// batch is a batch of events of one thread.
type batch struct {
	at    int64 // of its data in the input
	ticks uint64
	size  int32
	next  int32 // of the same thread, an index; 0 if there is none
}

// load walks the batches of the generation and fills the tables. It returns
// false if the generation is not fit for decoding
// (internal/trace/generation.go: readGeneration, readGenerationWithSpill).
func (d *Decoder) load() bool {
	if d.version < OldestVersion || d.version > NewestVersion {
		return d.refuse("unknown version")
	}
	d.batches = append(d.batches, batch{}) // index 0 means none
	generation, pos, ended := uint64(0), int64(0), false
	for pos < d.size && !ended {
		head := d.fetch(&d.scratch, pos, int(min(MaxHeader+1, d.size-pos)))
		if head == nil {
			return false
		}
		h, err := ParseHeader(head, d.version)
		from := pos + int64(h.Length)
		pos = from + int64(h.Size)
		if err != nil || pos > d.size {
			return d.refuse("invalid batch header")
		}
		if ended = h.End; ended {
			break
		}
		if generation == 0 {
			generation = h.Generation
		}
		if h.Generation != generation {
			return d.refuse("batches of several generations")
		}
		if !d.add(&h, from, head[h.Length:]) {
			return d.refuse("invalid batch")
		}
		if d.clock.minTicks == 0 || h.Time < d.clock.minTicks {
			d.clock.minTicks = h.Time
		}
	}
	switch {
	case generation == 0:
		return d.refuse("no batches")
	case pos != d.size || ended != (d.version >= EndMarkVersion):
		return d.refuse("the end of the generation is not at the end")
	case !d.clock.known || d.version >= syncVersion && !d.clock.hasWall:
		return d.refuse("no clock")
	}
	return d.stacks.link(&d.strings) || d.refuse("stack with invalid string or frame")
}

// add adds the content of a batch, the input from a place on, to where it belongs
// (internal/trace/generation.go: processBatch). It begins with the bytes of start.
func (d *Decoder) add(h *Header, from int64, start []byte) bool {
	if h.Experimental {
		return false // so rare that the library decodes it
	}
	if h.Size > 0 && (start[0] < evProcsChange || start[0] >= evSync) {
		data := d.fetch(&d.scratch, from, h.Size)
		if data == nil {
			return false
		}
		switch {
		case data[0] == EvStrings:
			return d.strings.add(data[1:], d.maxID())
		case data[0] == EvStacks:
			return d.stacks.add(data[1:], d.maxID())
		case data[0] == EvCPUSamples:
			return d.samples.add(data[1:])
		case IsSync(data[0], d.version):
			s, ok := ParseSync(data, d.version)
			return ok && d.clock.add(&s)
		case data[0] == evFrequency, data[0] == evSync, data[0] == evEndOfGeneration:
			return false
		}
	}
	t := d.threads.getOrAdd(int64(h.Thread))
	if t == nil || len(d.batches) == math.MaxInt32 {
		return false
	}
	i := int32(len(d.batches))
	d.batches = append(d.batches, batch{at: from, size: int32(h.Size), ticks: h.Time})
	if t.last == 0 {
		t.first = i
	} else {
		d.batches[t.last].next = i
	}
	t.last = i
	return true
}

// fetch reads bytes of the input into a buffer. It returns nil if it cannot.
func (d *Decoder) fetch(buf *[]byte, at int64, size int) []byte {
	b := slices.Grow((*buf)[:0], max(size, 1))[:size] // not nil, also of an empty batch
	*buf = b
	if n, err := d.in.ReadAt(b, at); n < size {
		d.refuse("reading failed")
		d.err = err
		return nil
	}
	return b
}

// maxID bounds the numbers of strings and stacks. Each takes 4 bytes at least,
// or there are few of them, and numbers are dense, though not in order.
func (d *Decoder) maxID() uint64 { return uint64(d.size)/4 + 1024 }

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

// ends are the bits that are not set in the last byte of a number.
const ends = 0x8080808080808080

// longNumber is number for those that have more than one byte. Up to eight bytes
// are taken at once: without a loop, there is no branch to mispredict on lengths
// that follow no pattern.
func longNumber(b []byte, pos int) (v uint64, next int) {
	if uint(pos) >= uint(len(b)) {
		return 0, none
	}
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
