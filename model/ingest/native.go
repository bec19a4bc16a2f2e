package ingest

import (
	"errors"
	"io"

	"github.com/schedscope/schedscope/model/ingest/wire"
)

// Decoder selects the decoder of generations. The events do not depend on it.
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
	return nativeDecoder{version, &freeList[wire.Decoder]{left: &leftDecoders}}
}

// nativeDecoder decodes by means of package wire. What that does not support,
// including everything that is not valid, the library decodes instead, so that
// the library's verdict on a trace is always the final one.
type nativeDecoder struct {
	version int
	idle    *freeList[wire.Decoder]
}

// cost is mostly that of strings, stacks, and one batch of each thread.
func (nativeDecoder) cost(g *Generation) int64 { return g.Length / 8 }

func (nativeDecoder) lead() int64 { return 8 * chunkEvents * eventSize }

func (n nativeDecoder) close() { n.idle.close() }

func (n nativeDecoder) decode(header []byte, data io.ReaderAt, g *Generation, out wire.Sink) error {
	if err := g.check(data, n.version); err != nil {
		return err
	}
	w := n.idle.get()
	if w == nil {
		w = new(wire.Decoder)
	}
	sent, err := w.Decode(data, g.Length, n.version, out)
	if w.Slim() {
		n.idle.put(w)
	}
	if err == nil {
		return nil
	}
	if unsupported, ok := errors.AsType[*wire.UnsupportedError](err); !ok {
		err = plainError(err)
	} else if err = (libraryDecoder{}).decode(header, data, g, &skipSink{out, sent}); err != nil && unsupported.Stuck != 0 {
		err = &stuckError{err, unsupported.Stuck}
	}
	if changed := g.check(data, n.version); err != nil && changed != nil {
		return changed
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
