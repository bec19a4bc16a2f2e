package capture

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/metrics"
	"runtime/trace"
	"sync"
	"time"

	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/internal/atomicfile"
)

// ErrClosed is returned after Close.
var ErrClosed = errors.New("capture: closed")

// Recorder keeps the last seconds of the program. Its methods may be called by several
// goroutines, and of a nil Recorder: they do nothing then.
type Recorder struct {
	o       Options
	fr      *trace.FlightRecorder
	slow    chan Cause
	signals chan os.Signal
	ahead   chan struct{} // holds a token while the Handler answers
	quit    chan struct{} // closed by Close
	once    sync.Once
	wg      sync.WaitGroup

	now  func() time.Time
	read func() *metrics.Float64Histogram

	taking  sync.Mutex // one snapshot at a time
	closed  bool       // under taking
	tracing sync.Mutex // held while the Handler records ahead

	begins   sync.Mutex // while a record of the begin is written
	sampling bool       // the Handler has samples taken; under begins

	mu    sync.Mutex
	limit limiter
	stats Stats
}

// Snapshot is a file that was written.
type Snapshot struct {
	File  string
	Bytes int64
	Time  time.Time // when it was taken: the end of the trace
	Cause Cause
}

// Stats counts the actions of a Recorder.
type Stats struct {
	Snapshots  int64            // files written
	Failed     int64            // files that could not be written
	Suppressed map[Reason]int64 // causes that were not acted on, by MinInterval or since a file was just being written
	Err        error            // of the last file that failed; nil after one that did not
}

// Start begins to keep the last seconds. The Recorder must be closed. It fails if options
// cannot be, if Dir cannot be made, or if another flight recorder is active in the process.
func Start(o Options) (*Recorder, error) { return start(o, time.Now, readLatencies) }

func start(o Options, now func() time.Time, read func() *metrics.Float64Histogram) (*Recorder, error) {
	o, err := o.complete()
	if err != nil {
		return nil, fmt.Errorf("capture: %w", err)
	}
	// Traces show the names of functions, tasks and messages: they are for the owner.
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("capture: making the folder: %w", err)
	}
	atomicfile.Sweep(o.Dir)
	r := &Recorder{o: o, slow: make(chan Cause, 1), signals: make(chan os.Signal, 1),
		ahead: make(chan struct{}, 1), quit: make(chan struct{}), now: now, read: read,
		limit: limiter{interval: o.MinInterval, suppressed: map[Reason]int64{}},
		fr:    trace.NewFlightRecorder(trace.FlightRecorderConfig{MinAge: o.MinAge, MaxBytes: uint64(o.MaxBytes)})}
	if err := r.fr.Start(); err != nil {
		return nil, fmt.Errorf("capture: starting the flight recorder, of which a process has one: %w", err)
	}
	logRecord(env.Begin, o.Name, o.Samples)
	if o.Signal {
		notifySignal(r.signals)
	}
	r.wg.Go(r.run)
	if o.Samples {
		r.wg.Go(r.sample)
	}
	return r, nil
}

// Close stops recording. It waits for files that are being written, and stops recordings of
// the Handler and the CPU profile of Options.Samples. It restores the handling of SIGUSR2.
// Further calls do nothing.
func (r *Recorder) Close() error {
	if r == nil {
		return nil
	}
	r.once.Do(func() {
		signal.Stop(r.signals)
		close(r.quit)
		r.wg.Wait()
		r.tracing.Lock()
		defer r.tracing.Unlock()
		r.taking.Lock()
		defer r.taking.Unlock()
		r.closed = true
		r.fr.Stop()
	})
	return nil
}

// Observe reports how long a request took, at its end. If that is longer than Options.Slow,
// a file is written soon; Observe does not wait for it. What names the request. A trace that is
// being recorded gets a log message in the task of ctx (category "schedscope.slow").
func (r *Recorder) Observe(ctx context.Context, what string, took time.Duration) {
	if r == nil || r.o.Slow <= 0 || took <= r.o.Slow {
		return
	}
	c := Cause{Reason: ReasonSlow, What: what, Measured: took, Limit: r.o.Slow}
	trace.Log(ctx, SlowCategory, cut(c.String(), env.MaxMessage))
	select {
	case r.slow <- c:
	default: // one is being looked at
		r.mu.Lock()
		r.limit.suppress(ReasonSlow)
		r.mu.Unlock()
	}
}

// Snapshot writes a file now and returns when it is complete, whatever MinInterval is. Why
// becomes part of its Note.
func (r *Recorder) Snapshot(why string) (Snapshot, error) {
	if r == nil {
		return Snapshot{}, ErrClosed
	}
	return r.write(Cause{Reason: ReasonCall, What: why})
}

// Stats returns the counts so far.
func (r *Recorder) Stats() Stats {
	if r == nil {
		return Stats{}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.stats
	s.Suppressed = maps.Clone(r.limit.suppressed)
	return s
}

// run waits for conditions until Close.
func (r *Recorder) run() {
	watch := latencyWatch{Latency: r.o.Latency}
	look := make(<-chan time.Time)
	if watch.Limit > 0 {
		watch.look(r.read(), r.now())
		t := time.NewTicker(watch.Window)
		defer t.Stop()
		look = t.C
	}
	t := time.NewTicker(max(r.o.MinAge/beginsPerAge, time.Second))
	defer t.Stop()
	for {
		select {
		case <-r.quit:
			return
		case <-t.C:
			r.logBegin()
		case <-look:
			if c, exceeded := watch.look(r.read(), r.now()); exceeded {
				r.consider(c)
			}
		case c := <-r.slow:
			r.consider(c)
		case <-r.signals:
			r.consider(Cause{Reason: ReasonSignal, What: "SIGUSR2"})
		}
	}
}

// sampleFor is how long one CPU profile runs. A profile keeps its stacks in memory, once for
// each set of labels (runtime/pprof.Do), of which a server may have one per request.
const sampleFor = time.Minute

// sample has CPU samples taken until Close, by one profile after another.
func (r *Recorder) sample() {
	for {
		stop := env.StartSamples()
		select {
		case <-r.quit:
			stop()
			return
		case <-time.After(sampleFor):
			stop()
		}
	}
}

// beginsPerAge is how many records of the environment MinAge has: where the kept past
// begins is not known before it is written, and the first one in it counts.
const beginsPerAge = 4

// logBegin writes one of them, which may also be in what the Handler records.
func (r *Recorder) logBegin() {
	r.begins.Lock()
	defer r.begins.Unlock()
	logRecord(env.Begin, r.o.Name, r.o.Samples || r.sampling)
}

// sets says whether the Handler has samples taken from now on.
func (r *Recorder) sets(sampling bool) {
	r.begins.Lock()
	r.sampling = sampling
	r.begins.Unlock()
}

func logRecord(point, name string, samples bool) {
	record := env.Take(point)
	record.Workload, record.Samples = name, &samples
	env.Log(context.Background(), &record)
}

// consider writes a file unless that would be too soon after another.
func (r *Recorder) consider(c Cause) {
	r.mu.Lock()
	ok := r.limit.admit(c.Reason, r.now())
	r.mu.Unlock()
	if ok {
		r.write(c) // its error is logged
	}
}

// write writes a file and reports it.
func (r *Recorder) write(c Cause) (Snapshot, error) {
	r.taking.Lock()
	defer r.taking.Unlock()
	if r.closed {
		return Snapshot{}, ErrClosed
	}
	s, err := r.take(c)
	r.mu.Lock()
	if r.stats.Err = err; err != nil {
		r.stats.Failed++
	} else {
		r.stats.Snapshots++
	}
	r.mu.Unlock()
	if err != nil {
		err = fmt.Errorf("capture: %w", err)
		r.o.Logger.Error("a trace could not be kept", "cause", c.String(), "error", err)
		return Snapshot{}, err
	}
	r.o.Logger.Info("a trace was kept", "file", s.File, "bytes", s.Bytes, "cause", c.String())
	if err := prune(r.o.Dir, r.o.Name, r.o.Keep, r.o.KeepBytes, atomicfile.Sweep(r.o.Dir)); err != nil {
		r.o.Logger.Error("old traces could not be removed", "error", err)
	}
	if r.o.OnSnapshot != nil {
		r.o.OnSnapshot(s)
	}
	return s, nil
}

// take writes the past into a file, which appears complete or not at all. The caller
// holds taking.
func (r *Recorder) take(c Cause) (Snapshot, error) {
	at := r.now()
	f, err := atomicfile.CreateNew(filepath.Join(r.o.Dir, fileName(r.o.Name, at, c.Reason)))
	if err != nil {
		return Snapshot{}, err
	}
	defer f.Abort()
	n, err := r.copyPast(f, c, at)
	if err != nil {
		return Snapshot{}, err
	}
	if err := f.Commit(); err != nil {
		return Snapshot{}, err
	}
	return Snapshot{File: f.Name(), Bytes: n, Time: at, Cause: c}, nil
}

// copyPast writes the past to w, with a note at its end. The caller holds taking.
func (r *Recorder) copyPast(w io.Writer, c Cause, at time.Time) (int64, error) {
	logRecord(env.End, r.o.Name, r.o.Samples)
	defer logTaken(r.logNote(c, at))
	limited := limitWriter(w, r.o.MaxFile)
	b := bufio.NewWriterSize(limited, 64<<10)
	n, err := r.fr.WriteTo(b)
	if err == nil {
		err = b.Flush()
	}
	return n, err
}

// logNote writes why a trace is taken into it, and returns the time in the note.
func (r *Recorder) logNote(c Cause, at time.Time) string {
	r.mu.Lock()
	suppressed := r.limit.taken()
	r.mu.Unlock()
	n := Note{Schema: NoteSchema, Name: r.o.Name, Time: at.UTC().Format(time.RFC3339Nano), Cause: c, Suppressed: suppressed}
	trace.Log(context.Background(), Category, n.encode())
	return n.Time
}

// logTaken logs in the traces that go on that the one with the note of a time is complete.
func logTaken(noted string) { trace.Log(context.Background(), TakenCategory, noted) }
