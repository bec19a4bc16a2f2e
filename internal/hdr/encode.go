package hdr

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"

	"github.com/klauspost/compress/zlib" // its output does not change with the Go release
)

// The V2 encoding (HdrHistogram's EncodableHistogram.java): big-endian, a header of
// headerSize bytes, then the counts by bucket as zigzag varints, a negative one being as
// many empty buckets. Compressed it stands as a zlib stream behind a cookie and its length.
const (
	cookie           = 0x1c849303 | 0x10
	compressedCookie = 0x1c849304 | 0x10
	cookieMask       = ^uint32(0xf0) // what may differ: the width of words
	headerSize       = 40
	digits           = 2
	// maxVarint is the length of the longest varint of a count: from the ninth byte on
	// the format is another than Go's, for counts past 1<<55.
	maxVarint = 8
)

// Encode returns the histogram in the compressed encoding as base64.
func (h *Histogram) Encode() string { return h.Pack().Encode() }

// Encode returns the counts in the compressed encoding as base64.
func (p Packed) Encode() string {
	raw := make([]byte, 0, headerSize+len(p.payload))
	raw = binary.BigEndian.AppendUint32(raw, cookie)
	raw = binary.BigEndian.AppendUint32(raw, uint32(len(p.payload)))
	raw = binary.BigEndian.AppendUint32(raw, 0) // offset of indexes
	raw = binary.BigEndian.AppendUint32(raw, digits)
	raw = binary.BigEndian.AppendUint64(raw, 1) // the lowest value distinguished from 0
	raw = binary.BigEndian.AppendUint64(raw, p.highest())
	raw = binary.BigEndian.AppendUint64(raw, math.Float64bits(1)) // ratio of values
	raw = append(raw, p.payload...)
	return base64.StdEncoding.EncodeToString(compress(raw))
}

// highest returns the greatest value that the buckets in use can hold.
func (p Packed) highest() uint64 {
	if p.buckets == 0 {
		return 2 // the least that decoders accept
	}
	_, hi := Bounds(bucketMiddle(p.buckets - 1))
	return max(hi-1, 2)
}

// writers keeps compressors, which are large.
var writers = sync.Pool{New: func() any {
	w, err := zlib.NewWriterLevel(nil, zlib.BestSpeed)
	if err != nil {
		panic("hdr: " + err.Error())
	}
	return w
}}

func compress(raw []byte) []byte {
	b := bytes.NewBuffer(make([]byte, 8, 8+len(raw)))
	w := writers.Get().(*zlib.Writer)
	defer writers.Put(w)
	w.Reset(b)
	_, err := w.Write(raw)
	if err := errors.Join(err, w.Close()); err != nil {
		panic("hdr: compressing into memory: " + err.Error())
	}
	out := b.Bytes()
	binary.BigEndian.PutUint32(out, compressedCookie)
	binary.BigEndian.PutUint32(out[4:], uint32(len(out)-8))
	return out
}

// Packed are the counts of a histogram as they are encoded: small, and known to be valid. The
// zero value is empty.
type Packed struct {
	payload []byte
	buckets int // up to the last that is not empty
	// Total is the sum of all counts.
	Total int64
}

// Pack returns the counts.
func (h *Histogram) Pack() (p Packed) {
	for b, n := range h.counts {
		p.add(b, n)
	}
	return p
}

// add counts n in bucket b, which lies beyond those so far.
func (p *Packed) add(b int, n int64) {
	if n == 0 {
		return
	}
	if b > p.buckets {
		p.payload = binary.AppendVarint(p.payload, int64(p.buckets-b))
	}
	p.payload = binary.AppendVarint(p.payload, n)
	p.buckets = b + 1
	p.Total += n
}

// Bytes returns the input of Counts. The caller must not change it.
func (p Packed) Bytes() []byte { return p.payload }

// cursor goes through the buckets that are not empty.
type cursor struct {
	rest   []byte
	bucket int64 // the next one
}

// next returns a bucket with its count, 0 at the end.
func (c *cursor) next() (b int, n int64) {
	for len(c.rest) > 0 {
		n, k := binary.Varint(c.rest)
		c.rest = c.rest[k:]
		if n > 0 {
			c.bucket++
			return int(c.bucket - 1), n
		}
		c.bucket += max(-n, 1)
	}
	return maxBuckets, 0
}

// Plus returns the counts of both.
func (p Packed) Plus(o Packed) Packed {
	sum := Packed{payload: make([]byte, 0, len(p.payload)+len(o.payload))}
	x, y := cursor{rest: p.payload}, cursor{rest: o.payload}
	a, n := x.next()
	b, m := y.next()
	for n+m > 0 {
		switch {
		case a < b:
			sum.add(a, n)
			a, n = x.next()
		case b < a:
			sum.add(b, m)
			b, m = y.next()
		default:
			sum.add(a, n+m)
			a, n = x.next()
			b, m = y.next()
		}
	}
	return sum
}

// MergePacked adds counts.
func (h *Histogram) MergePacked(p Packed) {
	h.reach(p.buckets - 1)
	for c := (cursor{rest: p.payload}); ; {
		b, n := c.next()
		if n == 0 {
			return
		}
		h.counts[b] += n
	}
}

// Unpack returns the counts that s encodes, a histogram of 2 significant digits from 1 on,
// as those of Encode are.
func Unpack(s string) (Packed, error) {
	data, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return Packed{}, fmt.Errorf("histogram: %w", err)
	}
	if len(data) < 8 || binary.BigEndian.Uint32(data)&cookieMask != compressedCookie&cookieMask {
		return Packed{}, errors.New("histogram: not in the V2 compressed encoding")
	}
	if n := binary.BigEndian.Uint32(data[4:]); int64(n) != int64(len(data)-8) {
		return Packed{}, fmt.Errorf("histogram: %d bytes where it says %d", len(data)-8, n)
	}
	raw, err := decompress(data[8:])
	if err != nil {
		return Packed{}, fmt.Errorf("histogram: %w", err)
	}
	return unpack(raw)
}

// readers keeps decompressors, which are large.
var readers sync.Pool

func decompress(data []byte) ([]byte, error) {
	z, ok := readers.Get().(io.ReadCloser)
	var err error
	if ok {
		err = z.(zlib.Resetter).Reset(bytes.NewReader(data), nil)
	} else {
		z, err = zlib.NewReader(bytes.NewReader(data))
	}
	if err != nil {
		return nil, err
	}
	defer readers.Put(z)
	// No more than a histogram can have is looked at.
	return io.ReadAll(io.LimitReader(z, headerSize+maxBuckets*maxVarint+1))
}

// unpack checks what decompress returned.
func unpack(raw []byte) (Packed, error) {
	if len(raw) < headerSize || binary.BigEndian.Uint32(raw)&cookieMask != cookie&cookieMask {
		return Packed{}, errors.New("histogram: not in the V2 encoding")
	}
	payload := raw[headerSize:]
	if n := binary.BigEndian.Uint32(raw[4:]); int64(n) != int64(len(payload)) {
		return Packed{}, fmt.Errorf("histogram: %d bytes of counts where it says %d", len(payload), n)
	}
	if d, lowest := binary.BigEndian.Uint32(raw[12:]), binary.BigEndian.Uint64(raw[16:]); d != digits || lowest != 1 {
		return Packed{}, fmt.Errorf("histogram: of %d significant digits from %d on, not of %d from 1 on", d, lowest, digits)
	}
	return Counts(payload)
}

// Counts validates the output of Bytes and takes ownership of it.
func Counts(payload []byte) (Packed, error) {
	p, b := Packed{payload: payload}, int64(0)
	for rest := payload; len(rest) > 0; {
		n, k := binary.Varint(rest[:min(len(rest), maxVarint)])
		if k <= 0 {
			return Packed{}, errors.New("histogram: a count that cannot be")
		}
		rest = rest[k:]
		switch {
		case n < -(maxBuckets - b), n >= 0 && b >= maxBuckets:
			return Packed{}, errors.New("histogram: more buckets than there are")
		case n > math.MaxInt64-p.Total:
			return Packed{}, errors.New("histogram: counts add up to too much")
		case n <= 0:
			b += max(-n, 1)
		default:
			p.Total += n
			b++
			p.buckets = int(b)
		}
	}
	return p, nil
}
