package timeline

import (
	"slices"

	"github.com/schedscope/schedscope/model"
)

// Recorder records one trace, or a window of one. Give it to a Machine with
// [Recorder.Observe], to [analyze.Options] as Explained and Least and, by [Recorder.Queues],
// among Queues, and encode it once both have finished. Explained and what Queues
// returns may be called on another goroutine than the observers.
type Recorder struct {
	o      Options
	tables *model.Tables
	origin model.Time // from which times count

	goroutines, procs, threads class
	omitted                    omitted
	depth                      depth
	stws, marks                bands
	tasks, regions             bands

	waits  waits
	steals steals

	start, end model.Time
}

// band is a stop-the-world, a mark phase of the garbage collector, a task or a region.
type band struct {
	start, end model.Time
	g          model.GoID
	name       model.StringID // of a stop its reason
	open       uint8
	// Of a stop the time until the world had stopped, and until it ran again; of a task
	// its id and that of its parent; of a region its depth.
	more [2]int64
}

// bands are the first ones, and how many more there were.
type bands struct {
	list []band
	lost int64
}

func (b *bands) add(x band) {
	if len(b.list) == mostBands {
		b.lost++
		return
	}
	b.list = append(b.list, x)
}

// room returns the list with room for one more. It doubles, up to one beyond limit: grown by a quarter each time, as append
// does, a long list would be copied five times.
func room[T any](list []T, limit int) []T {
	if n := len(list); n == cap(list) {
		return slices.Grow(list, max(1, min(n, limit+1-n)))
	}
	return list
}

// mostBands is the most kept of stops, mark phases, tasks and regions each: the first
// ones.
const mostBands = 20_000

// New returns a Recorder for a trace with these tables.
func New(t *model.Tables, o Options) *Recorder {
	o = o.withDefaults()
	return &Recorder{
		o: o, tables: t,
		goroutines: newClass(o.Spans * 11 / 20), procs: newClass(o.Spans * 5 / 20), threads: newClass(o.Spans * 4 / 20),
		depth: depth{limit: max(o.Spans/10, 16)}, waits: waits{limit: o.Spans * 3 / 10}, steals: steals{limit: max(o.Spans/10, 16)},
	}
}

// Begin sets the point from which times count: the beginning of the trace, also if
// only a window of it is recorded. It must be called before anything is observed.
func (r *Recorder) Begin(origin model.Time) { r.origin = origin }

// Observe registers r with m.
func (r *Recorder) Observe(m *model.Machine) { m.Observe(observer{r}) }

// Finish completes the recording, once the Machine and the analyses have finished.
// What was recorded reaches from start to end.
func (r *Recorder) Finish(start, end model.Time) {
	r.start, r.end = start, end
	r.goroutines.omit(r.o.Lanes, true, uint8(model.GoRunnable), &r.omitted)
}

// observer takes what a Machine reports.
type observer struct{ *Recorder }

// GoSpan implements [model.GoSpanObserver].
func (r observer) GoSpan(s *model.GoSpan) {
	l, x := r.goroutines.add(int64(s.G), s.Start, s.End, uint8(s.State), openBits(s.OpenStart, s.OpenEnd))
	if s.Func != 0 {
		l.name = s.Func
	}
	l.system = s.System
	r.goroutines.end(l, false)
	if x == nil {
		return
	}
	x.g, x.thread, x.proc, x.reason, x.stack, x.wakerStack, x.detail = model.NoGoroutine, s.M, s.P, s.Reason, s.Stack, 0, 0
	if s.State == model.GoRunnable {
		x.g, x.proc, x.thread, x.wakerStack = s.Waker, s.WakerProc, s.WakerThread, s.WakerStack
		x.detail = uint8(s.Origin) | uint8(s.Pseudo)<<4
	}
	r.goroutines.bound()
}

// GoEnd implements [model.GoEndObserver].
func (r observer) GoEnd(g *model.Goroutine) {
	c := &r.goroutines
	l := c.lanes[int64(g.ID)]
	if l == nil {
		return // it did nothing that took time
	}
	c.end(l, true)
	if g.Func != 0 {
		l.name = g.Func
	}
	// Only where a good part of all lanes can go: looking for them takes as long as there
	// are lanes.
	if n := len(c.lanes); n > 2*r.o.Lanes && 4*c.ended >= n {
		c.omit(r.o.Lanes, false, uint8(model.GoRunnable), &r.omitted)
	}
}

// ProcSpan implements [model.ProcSpanObserver].
func (r observer) ProcSpan(s *model.ProcSpan) {
	if _, x := r.procs.add(int64(s.P), s.Start, s.End, uint8(s.State), openBits(s.OpenStart, s.OpenEnd)); x != nil {
		x.g, x.thread, x.proc, x.reason, x.stack, x.wakerStack, x.detail = s.G, s.M, model.NoProc, s.Func, 0, 0, uint8(s.Work)
		r.procs.bound()
	}
}

// ThreadSpan implements [model.ThreadSpanObserver].
func (r observer) ThreadSpan(s *model.ThreadSpan) {
	if _, x := r.threads.add(int64(s.M), s.Start, s.End, uint8(s.State), openBits(s.OpenStart, s.OpenEnd)); x != nil {
		x.g, x.thread, x.proc, x.reason, x.stack, x.wakerStack, x.detail = s.G, model.NoThread, s.P, 0, 0, 0, 0
		r.threads.bound()
	}
}

// Counts implements [model.CountsObserver].
func (r observer) Counts(c *model.Counts) { r.depth.add(c) }

// STW implements [model.STWObserver].
func (r observer) STW(s *model.STW) {
	r.stws.add(band{s.Start, s.End, s.G, r.tables.AddString(s.Reason), openBits(s.OpenStart, s.OpenEnd),
		[2]int64{int64(s.Stopped.Sub(s.Start)), int64(s.Effective.Sub(s.Start))}})
}

// Range implements [model.RangeObserver].
func (r observer) Range(s *model.RangeSpan) {
	if s.Scope == model.ScopeGlobal && r.tables.String(s.Name) == "GC concurrent mark phase" {
		r.marks.add(band{start: s.Start, end: s.End})
	}
}

// Task implements [model.TaskObserver].
func (r observer) Task(t *model.Task) {
	r.tasks.add(band{t.Start, t.End, t.G, t.Name, openBits(t.OpenStart, t.OpenEnd), [2]int64{int64(t.ID), int64(t.Parent)}})
}

// Region implements [model.RegionObserver].
func (r observer) Region(x *model.Region) {
	r.regions.add(band{x.Start, x.End, x.G, x.Name, openBits(x.OpenStart, x.OpenEnd), [2]int64{int64(x.Depth)}})
}
