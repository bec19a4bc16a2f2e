package ingest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"

	"golang.org/x/exp/trace"

	"github.com/schedscope/schedscope/model/ingest/wire"
)

// decoder decodes one generation, or a whole trace of a format that has none.
// The stitcher makes no assumption beyond this: transitions that only state
// what is (GoStatus, ProcStatus) come as Undetermined->X the first time that the
// generation mentions a goroutine or proc, and as X->X later.
type decoder interface {
	// decode decodes a generation: data is all of it, without the file header. It
	// fills chunks with the events in order and hands them to out. The error, if
	// there is one, comes after all events before it. It has a text fit to be
	// printed.
	decode(header []byte, data io.ReaderAt, g *Generation, out wire.Sink) error
	// cost is the peak memory of decoding a generation in bytes, about.
	cost(g *Generation) int64
	// lead is how many bytes of events are worth having ready for the consumer: a
	// few if decoding is much faster than what comes after it, for they then stay
	// in the processor's cache; whole generations if it is not.
	lead() int64
	// close says that no more will be decoded but what is being decoded.
	close()
}

// errDamagedV1 stands for all errors in traces before Go 1.22. Their decoder goes
// through the procs in the order of a Go map and names whatever it meets first.
const errDamagedV1 = decodeError("the trace, of a format before Go 1.22, is damaged or cut off")

// libraryDecoder decodes by means of golang.org/x/exp/trace.
type libraryDecoder struct{}

// cost: 5 to 7 times the length were measured.
func (libraryDecoder) cost(g *Generation) int64 { return 6 * g.Length }

func (libraryDecoder) lead() int64 { return math.MaxInt64 }

func (libraryDecoder) close() {}

// minBatch bounds the library's memory by the length of a generation: a batch takes this many
// bytes on average, except for a few. The library keeps 512 bytes or more for each.
const minBatch, fewBatches = 64, 1 << 12

func (libraryDecoder) decode(header []byte, data io.ReaderAt, g *Generation, out wire.Sink) error {
	var n int64
	for _, b := range g.Batches {
		n += b.Count
	}
	if n > fewBatches+g.Length/minBatch {
		return decodeError(fmt.Sprintf("%d batches in %d bytes, more than one in %d", n, g.Length, minBatch))
	}
	return convert(io.MultiReader(bytes.NewReader(header), io.NewSectionReader(data, 0, g.Length)), g, out)
}

// convert decodes what r has: file header and generation or, if g is nil, a whole trace before
// Go 1.22.
func convert(r io.Reader, g *Generation, out wire.Sink) (err error) {
	c := newConverter(g, out)
	var cut error // why what was read is not whole
	defer func() {
		if v := recover(); v != nil {
			err = panicError(v)
		}
		if err != nil && c.v1 && err != errTooDeepV1 {
			err = errDamagedV1
		}
		if err == nil {
			err = cut
		}
		c.flush()
	}()
	if c.v1 {
		if r, cut, err = guardV1(r); err != nil {
			return err
		}
	}
	tr, err := trace.NewReader(bufio.NewReaderSize(r, wire.MaxBatchSize))
	if err != nil {
		return plainError(err)
	}
	for !c.stopped {
		e, err := tr.ReadEvent()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return plainError(err)
		}
		if err := c.add(&e); err != nil {
			return err
		}
	}
	return nil
}
