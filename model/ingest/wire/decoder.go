package wire

import (
	"fmt"
	"io"

	"github.com/schedscope/schedscope/model"
)

// Chunk carries events from a [Decoder] to its [Sink], together with the strings
// and stacks that these events are the first of the generation to mention. The
// i-th string of all chunks of a generation has number i, counted from 1, and
// likewise the stacks.
type Chunk struct {
	Events  []model.Event
	Strings []string
	Stacks  [][]model.Frame
	Frames  []model.Frame // backs Stacks
	Roster  *model.Roster // of the generation, in its first chunk
	// Unused, in the last chunk, is the number of stacks that a running goroutine has had, as far as
	// they show, and that no event of the generation refers to.
	Unused int
}

// Sink provides and receives chunks.
type Sink interface {
	// Chunk returns an empty chunk. The decoder fills Events up to its capacity,
	// which must be 4 at least.
	Chunk() *Chunk
	// Emit passes a chunk on. False means that nobody wants any more.
	Emit(*Chunk) bool
}

// Progress is the output of a [Decoder] so far: the first Events events of the generation,
// with the first Strings strings and Stacks stacks.
type Progress struct {
	Events, Strings, Stacks int
}

// UnsupportedError is returned for a generation that the Decoder cannot decode to its end.
type UnsupportedError struct {
	Reason string
	// Stuck, if not 0, is the time of the earliest event that could not come: that
	// of its thread is missing from then on, though later events of other threads
	// were emitted before all were stuck.
	Stuck model.Time
}

func (e *UnsupportedError) Error() string {
	return "decoding natively: " + e.Reason
}

// Decoder decodes generations one after another. It keeps its memory for the
// next; the zero Decoder is ready for use. A Decoder is not safe for concurrent
// use.
type Decoder struct {
	in      io.ReaderAt
	size    int64
	scratch []byte // what was read last of what is not a thread's
	version int
	reason  string     // why decoding cannot go on
	err     error      // of reading the input
	stuck   model.Time // see UnsupportedError
	failed  bool       // an event names a string or stack that does not exist; the chunk is full then

	sink  Sink
	chunk *Chunk
	sent  Progress

	events  []model.Event // of chunk
	n, most int           // so many of them are filled; if that is more than most, the chunk is full

	batches []batch
	heap    []entry
	clock   clock
	samples samples
	strings stringTable
	stacks  stackTable

	threads threads
	gos     goroutines
	procs   []proc
	gc      gcState
	tasks   map[uint64]task
	regions []region
}

// Decode decodes one generation, the size bytes of a trace of version Go 1.version
// between its file header and the next generation, and emits its events. What it
// has emitted is right even if there is an error, which is that of reading the input,
// or an [*UnsupportedError]; what is missing then is for another decoder to find. If
// the sink wants no more, decoding ends without an error.
//
// The batches of each thread are read one after another, as they are needed: twice,
// so the input should be in memory or in the system's cache.
func (d *Decoder) Decode(in io.ReaderAt, size int64, version int, out Sink) (sent Progress, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &UnsupportedError{Reason: fmt.Sprintf("internal error: %v", v)}
		}
		sent = d.sent
		d.in, d.sink, d.chunk, d.events = nil, nil, nil, nil // what belongs to the caller, or to the tables of the generation
		d.strings.reset()
	}()
	d.reset(in, size, version, out)
	switch ok := d.load() && d.start() && d.run(); {
	case d.err != nil:
		return d.sent, d.err
	case !ok:
		return d.sent, &UnsupportedError{d.reason, d.stuck}
	}
	return d.sent, nil
}

// Slim reports whether the memory that the decoder keeps is worth keeping: not if the latest
// generation had very many goroutines, threads or frames.
func (d *Decoder) Slim() bool {
	return len(d.gos.list)+len(d.threads.list)+len(d.stacks.frames) < 1<<16
}

// reset forgets everything about the generation before.
func (d *Decoder) reset(in io.ReaderAt, size int64, version int, out Sink) {
	d.in, d.size, d.version, d.sink = in, size, version, out
	d.chunk, d.sent, d.reason, d.err, d.stuck, d.failed = nil, Progress{}, "", nil, 0, false
	d.batches, d.heap = d.batches[:0], d.heap[:0]
	d.clock = clock{}
	d.samples.reset()
	d.strings.reset()
	d.stacks.reset()
	d.threads.reset()
	d.gos.reset()
	d.procs = d.procs[:0]
	d.gc = gcState{}
	clear(d.tasks)
	d.regions = d.regions[:0]
}

// refuse notes why decoding cannot go on, and returns false.
func (d *Decoder) refuse(reason string) bool {
	if d.reason == "" {
		d.reason = reason
	}
	return false
}
