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
	return nativeDecoder{version, &freeList[native]{left: &leftNatives}}
}

// nativeDecoder decodes by means of package wire. What that does not support,
// including everything that is not valid, the library decodes instead, so that
// the library's verdict on a trace is always the final one.
type nativeDecoder struct {
	version int
	idle    *freeList[native]
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
	err = libraryDecoder{}.decode(bytes.NewReader(data), g, &skipSink{out, sent})
	if err != nil && unsupported.Stuck != 0 {
		err = &stuckError{err, unsupported.Stuck}
	}
	return err
}

// skipSink drops what has been emitted before.
type skipSink struct {
	wire.Sink
	skip wire.Progress
}

func (s *skipSink) Emit(c *wire.Chunk) bool {
	c.Events = dropFront(c.Events, &s.skip.Events)
	c.Strings = dropFront(c.Strings, &s.skip.Strings)
	c.Stacks = dropFront(c.Stacks, &s.skip.Stacks)
	return s.Sink.Emit(c)
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
