package ingest

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest/wire"
)

// Options configures a Reader. The zero value reads all of a trace with raw times and
// GOMAXPROCS workers.
type Options struct {
	Clock Clock
	// Workers is the number of generations that are decoded at the same time; 0
	// means GOMAXPROCS. The events do not depend on it.
	Workers int
	// MaxInFlight bounds the memory of what is read ahead, in bytes; 0 means
	// 64 MiB. One generation is always read, however large it is.
	MaxInFlight int64
	// Decoder chooses what decodes generations; the zero value is the fast one.
	Decoder Decoder
	// From and To restrict reading to a window, counted from the trace's start.
	// To 0 is the trace's end. See [Reader.Window].
	From, To model.Duration
	// Regular means that a stream is that of a regular file: no read of it lasts, and Close waits
	// for it.
	Regular bool
	// Index, if not nil, is that of an earlier reading of the same file. What has changed
	// since is lost, with the cause [ErrChanged].
	Index *Index
}

// Reader reads the events of a trace in order. It is not safe for concurrent use.
type Reader struct {
	tables *model.Tables
	src    source
	pipe   *pipeline
	win    *window
	stitch *stitcher
	clock  *clock
	at     io.ReaderAt // nil for a stream

	regular bool // a file, or a stream of one

	job       *job
	chunk     *wire.Chunk // whose events were handed out last
	delivered int64       // events of job
	last      uint64      // number of the latest generation
	events    int64       // all, except Syncs
	read      int64       // bytes of the file header and of generations read to their ends
	missing   error       // what a generation that was read to its end lacks
	doubt     string      // why one may lack something

	size    int64
	version int
	loss    *Loss
	err     error         // what Next returns from now on
	closing []model.Event // the last Sync, to be handed out before err
	leaving bool          // the window's end was passed
}

// NewReader returns a reader of a stream. It reads ahead by one generation. It returns an
// [*EmptyError] if the stream is not a trace.
func NewReader(r io.Reader, opts Options) (*Reader, error) {
	br := bufio.NewReaderSize(r, 4*wire.MaxBatchSize)
	header, version, err := peekHeader(br)
	if err != nil {
		return nil, err
	}
	if version < wire.OldestVersion {
		return start(&wholeSource{version: version, data: br}, version, 0, nil, opts), nil
	}
	if _, err := br.Discard(headerLen); err != nil {
		return nil, err
	}
	return start(newStreamSource(br, header, version), version, 0, nil, opts), nil
}

// NewReaderAt returns a reader of a trace of size bytes, for example a file. It returns an
// [*EmptyError] if r is not a trace. Workers read from r until Close returns.
func NewReaderAt(r io.ReaderAt, size int64, opts Options) (*Reader, error) {
	x, err := opts.Index, error(nil)
	if x == nil {
		x, err = NewIndex(r, size)
	}
	if err != nil {
		return nil, err
	}
	if x.Version < wire.OldestVersion {
		src := &wholeSource{version: x.Version, data: io.NewSectionReader(r, 0, size), want: size}
		return start(src, x.Version, size, r, opts), nil
	}
	src, err := newIndexedSource(r, x)
	if err != nil {
		return nil, err
	}
	return start(src, x.Version, size, r, opts), nil
}

// start sets a reader going.
func start(src source, version int, size int64, at io.ReaderAt, opts Options) *Reader {
	if opts.Workers <= 0 {
		opts.Workers = runtime.GOMAXPROCS(0)
	}
	if opts.MaxInFlight <= 0 {
		opts.MaxInFlight = defaultBudget
	}
	r := &Reader{
		tables:  model.NewTables(),
		src:     src,
		win:     &window{from: opts.From, to: opts.To, ready: make(chan struct{})},
		clock:   newClock(opts.Clock),
		at:      at,
		regular: at != nil || opts.Regular,
		read:    headerLen,
		size:    size,
		version: version,
	}
	r.stitch = newStitcher(r.tables)
	r.pipe = newPipeline(src, newDecoder(version, &opts), r.win, opts.Workers, opts.MaxInFlight)
	r.pipe.reading.Go(r.pipe.run)
	return r
}

// Tables returns the strings and stacks that the events refer to. They grow
// while events are read.
func (r *Reader) Tables() *model.Tables { return r.tables }

// Header is the header of a trace.
type Header struct {
	// Version n says that the trace has the format of Go 1.n. Formats do not
	// change with every version of Go: Go 1.24 writes that of 1.23.
	Version int
}

// Header returns the trace's header.
func (r *Reader) Header() Header { return Header{r.version} }

// Index returns the known structure of the trace: all of a file's, and what has been read of a
// stream's.
func (r *Reader) Index() Index { return r.src.index() }

// Window returns the beginning and end of the window in the trace's time. It
// waits until the trace's start is known. Ok is false if all of the trace is
// wanted or it has no generation. Next delivers whole generations from before
// start on, one more than the window touches if there is one, so that all states
// are known at start, and nothing after end; if To was 0, end is to be ignored.
func (r *Reader) Window() (start, end model.Time, ok bool) {
	if r.win.whole() {
		return 0, 0, false
	}
	<-r.win.ready
	return r.win.start, r.win.end, r.win.placed
}

// Loss returns the part that could not be read, nil if there is none. It is final when Next
// has returned an error.
func (r *Reader) Loss() *Loss { return r.loss }

// Doubt returns why a batch may be missing undetected; "" without a reason.
func (r *Reader) Doubt() string { return r.doubt }

// Next returns the next events in order, at least one, or io.EOF after the last. They are
// valid until the following call; the caller may change them. A truncated or damaged trace is
// not an error here, see Loss; if there was no event at all, Next returns an [*EmptyError].
func (r *Reader) Next() ([]model.Event, error) {
	for r.err == nil && r.refill() {
		if events := r.stitchAll(r.chunk.Events); len(events) > 0 {
			return events, nil
		}
	}
	if events := r.closing; events != nil {
		r.closing = nil
		return events, nil
	}
	return nil, r.err
}

// stitchAll completes events in place. It returns fewer than it got if reading
// ends there.
func (r *Reader) stitchAll(events []model.Event) []model.Event {
	c, s := r.clock, r.stitch
	step := uint64(longStep)
	if n := len(events); c.mode != ClockRaw || s.v1 || n > 0 && r.win.beyond(events[n-1].Time) {
		step = 0
	}
	for i := 0; ; i++ {
		if i += s.pass(events[i:], &c.last, step); i == len(events) {
			break
		}
		e := &events[i]
		status := isStatus(e)
		err := s.apply(e)
		if err == nil {
			err = c.check(e, s)
		}
		if err != nil {
			r.count(events[:i])
			r.fail(r.job, err)
			return events[:i]
		}
		c.set(e, status)
		if r.win.beyond(e.Time) {
			r.count(events[:i])
			r.leaving = true
			return events[:i]
		}
	}
	r.count(events)
	return events
}

// leave ends reading at the end of the window. If a thread was stuck before, while others
// went on, events are missing from the window: that is known once the generation is
// decoded to its end.
func (r *Reader) leave() {
	c, err := r.pipe.take(r.job)
	for c != nil {
		r.pipe.recycle(c)
		c, err = r.pipe.take(r.job)
	}
	r.clock.last = min(r.clock.last, r.win.end)
	if stuck, ok := errors.AsType[*stuckError](err); ok && stuck.at < r.win.end {
		r.fail(r.job, err)
		return
	}
	if cause := cmp.Or(resized(r.at, r.size), r.missing); cause != nil {
		r.lose(&Loss{Offset: r.size, Size: r.size, Cause: cause})
		return
	}
	r.stop(io.EOF)
}

// count accounts for events that are handed out.
func (r *Reader) count(events []model.Event) {
	r.delivered += int64(len(events))
	r.events += int64(len(events))
	if r.delivered == int64(len(events)) && len(events) > 0 {
		r.events-- // the generation's Sync
	}
}

// refill gets the next chunk. It returns false at the end of what can be read.
func (r *Reader) refill() bool {
	if r.chunk != nil {
		r.pipe.recycle(r.chunk)
		r.chunk = nil
	}
	if r.leaving {
		r.leave()
		return false
	}
	for r.chunk == nil {
		if !r.advance() {
			return false
		}
	}
	return true
}

// advance gets the next chunk, or goes on to the next generation.
func (r *Reader) advance() bool {
	if r.job == nil {
		var err error
		if r.job, err = r.pipe.current(); r.job == nil {
			r.finish(err)
			return false
		}
		r.delivered = 0
		if gen := r.job.gen.Number; r.last != 0 && gen != r.last+1 && !r.job.v1 {
			r.fail(r.job, decodeError(fmt.Sprintf("generation %d follows generation %d: what was between is missing", gen, r.last)))
			return false
		}
		r.last = r.job.gen.Number
		r.stitch.begin(r.job.v1, max(r.size, r.job.gen.Offset+r.job.gen.Length))
		r.clock.begin(r.job)
	}
	c, err := r.pipe.take(r.job)
	switch {
	case c != nil:
		r.stitch.learn(c)
		r.chunk = c
	case err != nil:
		r.fail(r.job, err)
		return false
	case !r.job.gen.Complete && !r.job.v1 && r.delivered == 0:
		r.fail(r.job, nil) // there was not even enough of it for an error
		return false
	default:
		r.missing = cmp.Or(r.missing, r.stitch.end(r.last))
		if n := r.stitch.unused; n > 0 && r.doubt == "" {
			r.doubt = fmt.Sprintf("generation %d has stacks (%d) that none of its events refers to: it may lack a batch", r.last, n)
		}
		r.read += r.job.gen.Length
		r.pipe.advance()
		r.job = nil
	}
	return true
}

// fail ends reading at a generation that is not valid. If it is incomplete,
// that is the cause.
func (r *Reader) fail(j *job, cause error) {
	if cause == errStopped {
		r.stop(cause)
		return
	}
	r.pipe.drain()
	x := r.src.index()
	if !j.gen.Complete && !j.v1 {
		cause = errCutOff
		if x.Damage != nil {
			cause = x.Damage.Cause
		}
	}
	l := &Loss{Generation: j.gen.Number, Delivered: r.delivered, Offset: j.gen.Offset, Size: x.Size, Cause: cause}
	if _, read := cause.(undefinedError); read {
		l.Offset = x.Size
	}
	r.lose(l)
}

// finish ends reading after the last generation, or before, with an error.
func (r *Reader) finish(err error) {
	if err != nil {
		r.stop(err)
		return
	}
	x := r.src.index()
	if x.Damage != nil && !r.pipe.cut {
		l := &Loss{Offset: x.Damage.Offset, Size: x.Size, Cause: x.Damage.Cause}
		if n := len(x.Generations); n > 0 && !x.Generations[n-1].Complete {
			l.Generation, l.Delivered = x.Generations[n-1].Number, r.delivered
		}
		r.lose(l)
		return
	}
	if r.events == 0 {
		cause := errors.New("the trace has no events")
		if !r.win.whole() {
			cause = fmt.Errorf("%w in the given window", cause)
		}
		r.stop(&EmptyError{Size: x.Size, Version: r.version, Cause: cause})
		return
	}
	r.end()
}

// end ends reading where nothing seems to be missing: if that is the end of the trace, all bytes
// must have been read, and if it is a file, it must have the size that it had.
func (r *Reader) end() {
	x := r.src.index()
	cause := resized(r.at, x.Size)
	if cause == nil && r.win.whole() && r.version >= wire.OldestVersion && r.read != x.Size {
		cause = fmt.Errorf("%d bytes were skipped", x.Size-r.read)
	}
	if cause = cmp.Or(cause, r.missing); cause != nil {
		r.lose(&Loss{Offset: x.Size, Size: x.Size, Cause: cause})
		return
	}
	r.close()
}

// lose ends reading with a loss.
func (r *Reader) lose(l *Loss) {
	l.LostBytes = l.Size - l.Offset
	r.loss = l
	l.LastTime, l.Sound = r.clock.last, r.clock.last
	if stuck, ok := errors.AsType[*stuckError](l.Cause); ok {
		l.Sound, l.Cause = min(l.Sound, stuck.at), stuck.err
	}
	if s, ok := r.src.(*indexedSource); ok && l.LostBytes > 0 && s.growing(l.Offset) {
		l.Cause = errGrowing
	}
	if r.events == 0 {
		r.stop(&EmptyError{Size: l.Size, Version: r.version, Cause: l.Cause})
		return
	}
	r.close()
}

// close ends reading with a last Sync, as the decoder does at a trace's end.
func (r *Reader) close() {
	r.stop(io.EOF)
	r.stitch.syncs++
	r.closing = []model.Event{{
		Kind: model.EventSync, Time: r.clock.last, ID: r.stitch.syncs,
		G: model.NoGoroutine, P: model.NoProc, M: model.NoThread,
	}}
	r.clock.set(&r.closing[0], false)
}

// stop makes Next return err from now on.
func (r *Reader) stop(err error) {
	r.err = err
	r.Close()
}

// Close ends reading and waits for all that it started, except for a read from a stream that
// is not a regular file, which may last. The error is always nil.
func (r *Reader) Close() error {
	if r.err == nil {
		r.err = errStopped
	}
	r.pipe.close(r.regular)
	return nil
}

// Stop makes Next return soon. It is safe for concurrent use.
func (r *Reader) Stop() { r.pipe.stop() }

// Each calls f with each event until the end, or until f returns an error,
// which it passes on. The event is valid during the call. It closes the reader.
func Each(r *Reader, f func(*model.Event) error) error {
	defer r.Close()
	for {
		events, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		for i := range events {
			if err := f(&events[i]); err != nil {
				return err
			}
		}
	}
}
