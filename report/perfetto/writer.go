package perfetto

import (
	"io"
	"math"
	"strconv"

	"github.com/schedscope/schedscope/model"
)

// Writer observes a Machine and writes a Perfetto trace. Call
// [Writer.ObserveSteps] before the first event, [Writer.Observe] where the window
// begins (without one: there, too), [Writer.Event] with every event from then on, and
// [Writer.Finish] after [model.Machine.Finish].
type Writer struct {
	out    io.Writer
	enc    *encoder
	names  names
	gs     model.GoTable[goroutine]
	queues feed     // nil if the run queues cannot be replayed
	counts [2]gauge // of runnable goroutines, of idle procs
	strays strays
	opens  int64 // tracks of kind trackOpen
	tasks  int64 // the same of trackTask
	assist model.StringID
	err    error

	noLabels bool
}

// Options configure a [Writer].
type Options struct {
	// Version is the minor Go version of the trace; run queues are replayed by its rules.
	Version int
	// Causes adds a slice for each wait to run, with what it was lost to. It takes twice
	// as long.
	Causes bool
	// NoLabels leaves out the messages of trace.Log.
	NoLabels bool
}

// NewWriter returns a Writer for a trace whose strings are in t. It works without run
// queues, too: it is returned with the error, a [*runqueue.OldFormatError].
func NewWriter(out io.Writer, t *model.Tables, o Options) (*Writer, error) {
	w := &Writer{out: out, noLabels: o.NoLabels, names: names{tables: t}, counts: [2]gauge{newGauge(track{kind: trackRunnable}), newGauge(track{kind: trackIdle})}}
	w.assist = t.AddString("GC mark assist")
	f, err := newFeed(t, o, w.write)
	if err == nil {
		w.queues = f
	}
	return w, err
}

func newFeed(t *model.Tables, o Options, write func(*[]byte)) (feed, error) {
	if o.Causes {
		return newCauseFeed(t, o.Version, write)
	}
	return newQueueFeed(t, o.Version, write)
}

// goroutine is what is remembered of one that is alive.
type goroutine struct {
	id      model.GoID
	fn      model.StringID
	name    string
	state   model.GoState  // of the last interval
	cpu     int64          // on which it ran in the last interval, or noCPU
	reason  model.StringID // why it waited in the last interval; 0: it did not, or it is not known
	written bool
}

// tid returns the thread id of the goroutine.
func (g *goroutine) tid() int64 { return tidOf(g.id) }

// tidOf returns the goroutine's own id, if a thread can have it: ThreadDescriptor has 32
// bits for it, and readers differ about negative ones. Those of programs that have
// started more goroutines than that get another one.
func tidOf(g model.GoID) int64 {
	if ownTid(g) {
		return int64(g)
	}
	return 1<<30 | int64(g)&(1<<30-1)
}

// ownTid reports whether the goroutine's id is that of its thread.
func ownTid(g model.GoID) bool { return g > 0 && g <= math.MaxInt32 }

// ObserveSteps begins to follow the run queues of m.
func (w *Writer) ObserveSteps(m *model.Machine) {
	if w.queues != nil {
		w.queues.steps(m)
	}
}

// Observe starts writing. Times count from origin. Earlier events are not written.
func (w *Writer) Observe(m *model.Machine, origin model.Time) {
	w.enc = newEncoder(origin, 1)
	w.enc.begin()
	w.write(&w.enc.buf) // before the queues write
	if w.queues != nil {
		w.queues.start(m, newEncoder(origin, 2), m.Now())
	}
	m.Observe(w)
}

// GoSpan implements [model.GoSpanObserver].
func (w *Writer) GoSpan(s *model.GoSpan) {
	g := w.gs.Get(s.G)
	if g == nil {
		g = &goroutine{id: s.G, cpu: noCPU}
		w.gs.Put(s.G, g)
	}
	if !g.written || g.fn != s.Func {
		g.written, g.fn, g.name = true, s.Func, w.nameOf(s.G, s.Func)
		w.enc.goroutine(g, s.Start)
	}
	cpu := w.cpuOf(s)
	w.enc.span(g, s, cpu)
	if s.State == model.GoRunnable {
		w.woken(g, s)
	}
	g.state, g.cpu, g.reason = s.State, cpu, 0
	if s.State == model.GoWaiting {
		g.reason = s.Reason
	}
	w.flush()
}

// nameOf returns the name of a goroutine's thread, with the id that the thread does not
// have.
func (w *Writer) nameOf(g model.GoID, fn model.StringID) string {
	id := "goroutine " + strconv.FormatInt(int64(g), 10)
	switch {
	case fn == 0:
		return id
	case !ownTid(g):
		return w.names.of(fn).text + ", " + id
	}
	return w.names.of(fn).text
}

// woken draws the arrow from who made a goroutine runnable to its start, which says what
// it had waited for.
func (w *Writer) woken(g *goroutine, s *model.GoSpan) {
	from := moment{track: track{trackGoroutine, int64(s.Waker)}, at: s.Start, name: labelReady}
	to := moment{track: track{trackGoroutine, int64(s.G)}, at: s.End, name: labelRun}
	if g.reason != 0 {
		to.name = w.names.of(g.reason)
	}
	switch {
	case s.OpenEnd && s.Waker != model.NoGoroutine:
		w.enc.moment(&from, noField)
	case s.OpenEnd:
	case s.Waker != model.NoGoroutine:
		w.enc.arrow(&from, &to)
	case g.reason != 0:
		w.enc.moment(&to, noField)
	}
}

// GoEnd implements [model.GoEndObserver].
func (w *Writer) GoEnd(x *model.Goroutine) {
	g := w.gs.Get(x.ID)
	if g == nil {
		return // it was there for no time at all
	}
	if x.HasEnded {
		w.enc.state(g, x.Ended, taskDestroyed, g.cpu)
	}
	w.gs.Remove(x.ID)
}

// Counts implements [model.CountsObserver].
func (w *Writer) Counts(c *model.Counts) {
	w.counts[0].set(w.enc, c.Start, int64(c.Runnable))
	w.counts[1].set(w.enc, c.Start, int64(c.Idle))
}

// Names of the metrics in traces (internal/trace/base.go, Go 1.26).
var metricTracks = map[string]trackKind{
	"/memory/classes/heap/objects:bytes": trackHeap,
	"/gc/heap/goal:bytes":                trackGoal,
	"/sched/gomaxprocs:threads":          trackProcs,
}

// Metric implements [model.MetricObserver].
func (w *Writer) Metric(s *model.MetricSample) {
	if kind, ok := metricTracks[s.Name]; ok {
		w.enc.counter(track{kind: kind}, s.Time, int64(min(s.Value, 1<<63-1)))
	}
}

// flushSize is how many bytes are written at a time.
const flushSize = 1 << 18

// flush writes what is encoded, if it is much.
func (w *Writer) flush() {
	if len(w.enc.buf) >= flushSize {
		w.write(&w.enc.buf)
	}
}

func (w *Writer) write(buf *[]byte) {
	if w.err == nil && len(*buf) > 0 {
		_, w.err = w.out.Write(*buf)
	}
	*buf = (*buf)[:0]
}

// Finish writes what is left and returns the first error of writing. End is that of
// the time that was written.
func (w *Writer) Finish(end model.Time) error {
	for i := range w.counts {
		w.counts[i].finish(w.enc, end)
	}
	if w.queues != nil {
		w.queues.finish(end)
	}
	w.write(&w.enc.buf)
	return w.err
}
