package ingest

import (
	"bytes"
	"errors"
	"io"

	"github.com/schedscope/schedscope/model/ingest/wire"
)

// Decoder chooses what decodes generations. The events do not depend on it.
type Decoder uint8

const (
	// DecoderAuto decodes what is valid in package wire and leaves the rest to the
	// library.
	DecoderAuto Decoder = iota
	// DecoderLibrary has golang.org/x/exp/trace decode everything, several times
	// as slowly.
	DecoderLibrary
)

// newDecoder returns the decoder that options ask for.
func newDecoder(version int, opts *Options) decoder {
	if opts.Decoder == DecoderLibrary || version < wire.OldestVersion {
		return libraryDecoder{}
	}
	return nativeDecoder{version: version, fallback: opts.Fallback, idle: &freeList[native]{left: &leftNatives}}
}

// nativeDecoder decodes by means of package wire. What that does not support,
// including everything that is not valid, the library decodes instead, so that
// the library's verdict on a trace is always the final one.
type nativeDecoder struct {
	version  int
	fallback func(generation uint64, reason error) // see Options
	idle     *freeList[native]
}

// native is a decoder with the buffer that holds its generation.
type native struct {
	wire.Decoder
	buf bytes.Buffer
}

func (nativeDecoder) lead() int64 { return 32 * chunkEvents * eventSize }

func (n nativeDecoder) close() { n.idle.close() }

func (n nativeDecoder) decode(r io.Reader, g *Generation, out wire.Sink) error {
	w := n.idle.get()
	if w == nil {
		w = new(native)
	}
	defer n.idle.put(w)
	w.buf.Reset()
	if need := headerLen + int(g.Length) + bytes.MinRead; need > w.buf.Cap() {
		w.buf = *bytes.NewBuffer(make([]byte, 0, need+need/8)) // the next one may be a little larger
	}
	if _, err := w.buf.ReadFrom(r); err != nil {
		return plainError(err)
	}
	data := w.buf.Bytes()
	if !g.holds(data) {
		return ErrChanged
	}
	sent, err := w.Decode(data[headerLen:], n.version, out)
	var unsupported *wire.UnsupportedError
	if !errors.As(err, &unsupported) {
		return err
	}
	if n.fallback != nil {
		n.fallback(g.Number, err)
	}
	err = libraryDecoder{}.decode(bytes.NewReader(data), g, &skipSink{out: out, skip: sent})
	if err != nil && unsupported.Stuck != 0 {
		err = &stuckError{err, unsupported.Stuck}
	}
	return err
}

// skipSink drops what has been emitted before.
type skipSink struct {
	out   wire.Sink
	skip  wire.Progress
	spare *wire.Chunk
}

func (s *skipSink) Chunk() *wire.Chunk {
	if c := s.spare; c != nil {
		s.spare = nil
		return c
	}
	return s.out.Chunk()
}

func (s *skipSink) Emit(c *wire.Chunk) bool {
	c.Events = dropFront(c.Events, &s.skip.Events)
	c.Strings = dropFront(c.Strings, &s.skip.Strings)
	c.Stacks = dropFront(c.Stacks, &s.skip.Stacks)
	if len(c.Events) == 0 && len(c.Strings) == 0 && len(c.Stacks) == 0 {
		c.Frames = c.Frames[:0]
		s.spare = c
		return true
	}
	return s.out.Emit(c)
}

// dropFront removes up to n elements from the front of s, in place, and reduces
// n by their number.
func dropFront[E any](s []E, n *int) []E {
	k := min(*n, len(s))
	*n -= k
	if k == 0 {
		return s
	}
	kept := copy(s, s[k:])
	clear(s[kept:])
	return s[:kept]
}
