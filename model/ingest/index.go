package ingest

import (
	"errors"
	"fmt"
	"io"

	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest/wire"
)

// Index is the structure of a trace, from its batch headers alone.
type Index struct {
	// Version n says that the trace has the format of Go 1.n.
	Version int
	// Size is the trace's length in bytes, as far as it was read.
	Size int64
	// Generations are in the order of the file. There are none in traces before
	// Go 1.22; those cannot be indexed.
	Generations []Generation
	// Damage is where the walk had to stop, nil if it came to the end.
	Damage *Damage
}

// Generation is one self-contained part of a trace, about one second.
type Generation struct {
	Number         uint64 // the runtime's
	Offset, Length int64  // in bytes; the file header belongs to none
	// First and Last are the earliest and the latest beginning of a batch. No
	// event is before First; the last event comes somewhat after Last. Both are
	// 0 if Frequency is.
	First, Last model.Time
	// Frequency is the clock's, in ticks per second; 0 if the trace ends before
	// it is recorded.
	Frequency uint64
	// Wall is the wall clock at the time Snapshot in Unix nanoseconds, 0 before Go 1.25.
	// Snapshot is up to milliseconds off the beginning.
	Wall     int64
	Snapshot model.Time
	Batches  [NumBatchKinds]BatchSize
	// Complete: the generation ends where it should. What is not complete can be
	// decoded at most in part.
	Complete bool

	minTicks, maxTicks uint64
}

// BatchSize is the number and size of the batches of one kind.
type BatchSize struct {
	Count int64
	Bytes int64 // headers included
}

// Damage is a place in the input beyond which its structure is lost.
type Damage struct {
	Offset int64
	Cause  error
}

// errCutOff is the cause of a damage by which an input ends too early, and errGrowing
// that of one to which more has been written since.
var (
	errCutOff  = errors.New("the trace ends in the middle of a generation")
	errSecond  = errors.New("two traces in one file; the first is analysed")
	errGrowing = fmt.Errorf("%w, and the file has grown since: it is still being written", errCutOff)
)

// errGrown is the cause of a loss if a file that ends with a generation has grown.
var errGrown = errors.New("the file has grown while it was read: it is still being written")

// ErrChanged is the cause of a loss if the file differs from what its index describes.
var ErrChanged = errors.New("the file was truncated or overwritten while it was read")

// Truncated reports whether the damage is merely that the input ends too early.
func (d *Damage) Truncated() bool { return errors.Is(d.Cause, errCutOff) }

// Start returns the time of the trace's first batch, 0 if there is none.
func (x *Index) Start() model.Time {
	if len(x.Generations) == 0 {
		return 0
	}
	return x.Generations[0].First
}

// WallAt returns the wall clock at a time of the trace in Unix nanoseconds, 0 before Go 1.25.
// It is that of the first generation plus the time since: later changes of the wall clock have
// no effect.
func (x *Index) WallAt(t model.Time) int64 {
	if len(x.Generations) == 0 || x.Generations[0].Wall == 0 {
		return 0
	}
	g := &x.Generations[0]
	return g.Wall + int64(t.Sub(g.Snapshot))
}

// Unit returns the length of the clock's tick in nanoseconds, 0 if it is not a
// whole number above one or not known.
func (g *Generation) Unit() model.Duration {
	if g.Frequency == 0 || 1e9%g.Frequency != 0 || g.Frequency == 1e9 {
		return 0
	}
	return model.Duration(1e9 / g.Frequency)
}

// NewIndex walks the batch headers of a trace of size bytes. It reads some 64 bytes per batch,
// which are up to 64 KiB long. Damage is not an error. It returns an [*EmptyError] if r is not
// a trace, or r's own error.
func NewIndex(r io.ReaderAt, size int64) (*Index, error) {
	var header [headerLen]byte
	if n, err := r.ReadAt(header[:min(size, headerLen)], 0); err != nil && (err != io.EOF || int64(n) < min(size, headerLen)) {
		return nil, fmt.Errorf("reading the header: %w", err)
	}
	version, err := parseHeader(header[:min(size, headerLen)])
	if err != nil {
		return nil, &EmptyError{Size: size, Cause: err}
	}
	x := &Index{Version: version, Size: size}
	if version < wire.OldestVersion {
		return x, nil
	}
	w := walker{version: version, offset: headerLen}
	if x.Damage, err = w.walk(r, size); err != nil {
		return nil, err
	}
	x.Generations = w.finish(x.Damage)
	if n := len(x.Generations); x.Damage == nil && n > 0 && !x.Generations[n-1].Complete {
		x.Damage = &Damage{Offset: size, Cause: errCutOff}
	}
	return x, nil
}

// walker follows the batch headers of a trace and adds up generations.
type walker struct {
	version int
	offset  int64 // of the next header
	done    []Generation
	current *Generation // the one being added to, nil between two
	last    BatchKind   // of the batch added last
}

// minGeneration bounds the memory of an index by the length of the trace: a generation takes
// this many bytes on average, except for a few. The shortest that the runtime writes take
// thousands, as each names what all generations have in common.
const minGeneration, fewGenerations = 256, 1 << 10

// walk adds all batches up to size.
func (w *walker) walk(r io.ReaderAt, size int64) (*Damage, error) {
	var buf [wire.MaxHeader + maxSync]byte
	for w.offset < size {
		b := buf[:min(int64(len(buf)), size-w.offset)]
		n, err := r.ReadAt(b, w.offset)
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("reading at offset %d: %w", w.offset, err)
		}
		if n < len(b) {
			return &Damage{Offset: w.offset, Cause: ErrChanged}, nil
		}
		h, err := w.header(b)
		if err == nil && w.begins(&h) {
			w.end(true)
		}
		if err == nil && w.offset+int64(h.Length+h.Size) > size {
			err = errCutOff
		}
		if err != nil {
			return &Damage{Offset: w.offset, Cause: err}, nil
		}
		w.add(&h, b[h.Length:])
	}
	return nil, nil
}

// header reads the header at the walker's offset from b. It refuses what cannot
// follow the batches so far.
func (w *walker) header(b []byte) (wire.Header, error) {
	h, err := wire.ParseHeader(b, w.version)
	if err == io.ErrUnexpectedEOF {
		err = errCutOff
	}
	// No batch begins as the header of a file does. Whoever appends one to another has two traces.
	if err != nil && len(b) >= headerLen {
		if _, not := parseHeader(b[:headerLen]); not == nil {
			err = errSecond
		}
	}
	if err == nil && h.End && w.current == nil {
		err = errors.New("a generation ends that has not begun")
	}
	if n := int64(len(w.done)); err == nil && n > fewGenerations+w.offset/minGeneration {
		err = fmt.Errorf("%d generations in %d bytes, more than one in %d", n, w.offset, minGeneration)
	}
	if err != nil || h.End || w.current == nil || h.Generation == w.current.Number {
		return h, err
	}
	if w.version >= wire.EndMarkVersion {
		return h, fmt.Errorf("generation %d is not ended where generation %d begins", w.current.Number, h.Generation)
	}
	if h.Generation != w.current.Number+1 {
		return h, fmt.Errorf("generation %d follows generation %d", h.Generation, w.current.Number)
	}
	return h, nil
}

// begins reports whether the batch is the first of a generation and ends the
// current one by that, as was usual before Go 1.26. The current one is to be
// ended before the batch is added.
func (w *walker) begins(h *wire.Header) bool {
	return w.current != nil && !h.End && h.Generation != w.current.Number
}

// add accounts for the batch at the walker's offset and moves beyond it. data
// is the beginning of its data, or all of it.
func (w *walker) add(h *wire.Header, data []byte) {
	if w.current == nil {
		w.current = &Generation{Number: h.Generation, Offset: w.offset}
	}
	g := w.current
	size := int64(h.Length + h.Size)
	w.offset += size
	g.Length += size
	if h.End {
		w.end(true)
		return
	}
	kind := kindOf(h, data, w.version)
	w.last = kind
	g.Batches[kind].Count++
	g.Batches[kind].Bytes += size
	if g.minTicks == 0 || h.Time < g.minTicks {
		g.minTicks = h.Time
	}
	g.maxTicks = max(g.maxTicks, h.Time)
	if kind == BatchSync {
		s, _ := wire.ParseSync(data[:min(h.Size, len(data), maxSync)], w.version)
		g.Frequency, g.Wall = s.Frequency, s.Wall
		if g.Frequency != 0 {
			g.Snapshot = ticksToTime(h.Time+s.Ticks, g.Frequency)
		}
	}
}

// end closes the current generation.
func (w *walker) end(complete bool) {
	g := w.current
	w.current = nil
	g.Complete = complete
	if g.Frequency != 0 {
		g.First, g.Last = ticksToTime(g.minTicks, g.Frequency), ticksToTime(g.maxTicks, g.Frequency)
	}
	w.done = append(w.done, *g)
}

// finish closes the last generation and returns all. Without a mark at the end, a
// generation ends with its strings (runtime/trace.go: traceAdvance, Go 1.22 to 1.25).
// So does the last before a second trace.
func (w *walker) finish(damage *Damage) []Generation {
	if w.current != nil {
		whole := damage == nil || damage.Cause == errSecond
		w.end(whole && w.version < wire.EndMarkVersion && w.last == BatchStrings)
	}
	return w.done
}

// check returns an error unless data is the generation that the index describes, in full
// length.
func (g *Generation) check(data io.ReaderAt, version int) error {
	w := walker{version: version}
	damage, err := w.walk(data, g.Length)
	if err != nil {
		return plainError(err)
	}
	got := w.finish(damage)
	if n, _ := data.ReadAt(make([]byte, 1), g.Length-1); n == 0 || len(got) != 1 {
		return ErrChanged
	}
	got[0].Offset, got[0].Complete = g.Offset, g.Complete // by itself it cannot know these
	if got[0] != *g {
		return ErrChanged
	}
	return nil
}

// ticksToTime converts a time stamp exactly as the decoder does
// (internal/trace/base.go: frequency.mul).
func ticksToTime(ticks, frequency uint64) model.Time {
	return model.Time(float64(ticks) * (1.0 / (float64(frequency) / 1e9)))
}
