package analyze

import (
	"fmt"
	"strconv"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// Report holds all analyses of a trace. Feed it with [Report.Observe] (and
// events, for the counts of [Totals], with [Report.Event]), call Finish once
// the Machine has finished, and read the fields.
type Report struct {
	Totals      *Totals
	Latency     *Latency
	Worst       *Worst
	Bursts      *Bursts
	Waits       *Waits
	Syscalls    *Syscalls
	STWs        *STWs
	Netpoll     *Netpoll
	Handoffs    *Handoffs
	Threads     *Threads
	GC          *GC
	Timeline    *Timeline
	Heat        *Heat
	Idle        *Idle
	Peak        *Peak
	Tasks       *Tasks
	Regions     *Regions
	Goroutines  *Goroutines
	Causes      *Causes
	Queues      *Queues
	Pathologies *Pathologies

	// Names are the traces', short, by their number: of several, a verdict says in which a
	// point in time lies. Without, it does not.
	Names []string

	stepping  bool // steps are observed
	window    bool // some of it is a part of a trace
	origin    model.Time
	hasOrigin bool
	feed      *feed     // of the Machine being observed
	steps     *stepFeed // the same; nil without causes
}

// New returns an empty Report for a trace with these tables.
func New(t *model.Tables, o Options) *Report {
	o = o.withDefaults()
	r := &Report{
		Totals:      NewTotals(),
		Latency:     NewLatency(t, o.Goroutines),
		Worst:       NewWorst(t, o.Worst),
		Bursts:      NewBursts(t, o.Longest),
		Waits:       NewWaits(t),
		Syscalls:    NewSyscalls(t),
		STWs:        NewSTWs(t),
		Netpoll:     NewNetpoll(),
		Handoffs:    NewHandoffs(),
		Threads:     NewThreads(),
		GC:          NewGC(t),
		Timeline:    NewTimeline(),
		Heat:        NewHeat(),
		Idle:        NewIdle(),
		Peak:        NewPeak(t),
		Tasks:       NewTasks(t, o.Longest),
		Regions:     NewRegions(t, o.Longest),
		Goroutines:  NewGoroutines(t),
		Causes:      newCauses(t),
		Queues:      &Queues{},
		Pathologies: NewPathologies(t),
		window:      o.Window,
	}
	r.newSteps(t, o)
	return r
}

// newSteps prepares for queues and causes, or says why there will be none.
func (r *Report) newSteps(t *model.Tables, o Options) {
	refused := "not asked for"
	if !o.NoCauses {
		f, err := newStepFeed(t, o.Version, r.Causes, r.Queues, r.Pathologies, o.Worst)
		if err == nil {
			f.causes.tell = o.Explained
			for _, q := range o.Queues {
				f.resolver.Observe(q)
			}
			r.steps = f
			return
		}
		refused = err.Error()
	}
	r.Causes.Refused, r.Queues.Refused = refused, refused
}

// Begin sets the origin of points in time: that of the whole trace, when only a
// window of it is analysed. Without, the origin is where accounting starts.
// Call it before the Machine tells anything.
func (r *Report) Begin(origin model.Time) { r.origin, r.hasOrigin = origin, true }

// subject says in a sentence what was analysed.
func (r *Report) subject() string {
	if r.window {
		return "window"
	}
	return "trace"
}

// in says in which trace something was, if there are several.
func (r *Report) in(trace int) string {
	if len(r.Names) < 2 || trace >= len(r.Names) {
		return ""
	}
	return " of " + plain(r.Names[trace])
}

// maxProcs returns GOMAXPROCS: the mean of one trace, where several begin and end.
func (r *Report) maxProcs() string {
	steps := r.Totals.MaxProcs
	if r.Totals.Traces < 2 || len(steps) == 0 {
		return number(r.Idle.MeanProcs())
	}
	lo, hi := steps[0].Procs, steps[0].Procs
	for _, s := range steps {
		lo, hi = min(lo, s.Procs), max(hi, s.Procs)
	}
	if lo == hi {
		return strconv.FormatUint(lo, 10)
	}
	return fmt.Sprintf("%d..%d", lo, hi)
}

// Event counts an event; see [Totals.Event].
func (r *Report) Event(ev *model.Event) {
	r.Totals.Event(ev)
	r.Pathologies.Event(ev)
	if r.steps != nil {
		r.steps.event(ev.Time)
	}
}

// ObserveSteps lets the analyses of run queues and causes follow m already
// before [Report.Observe]: in a window, what stands in the queues when it begins
// is known only from what was before. Waits that end before do not count.
func (r *Report) ObserveSteps(m *model.Machine) {
	if r.steps != nil && !r.stepping {
		r.stepping = true
		m.Observe(r.steps)
	}
}

// Observe registers all analyses with m. They run on a goroutine of their own,
// so nothing but Event may be called until Finish.
func (r *Report) Observe(m *model.Machine) {
	r.ObserveSteps(m)
	if r.steps != nil {
		r.steps.pause()
		r.Queues.Begin(r.origin)
		r.Queues.beginAt(m.Start())
	}
	r.feed = newFeed(r, m)
	m.Observe(r.feed)
}

// start hands the origin and the beginning of accounting to all analyses.
func (r *Report) start(begin model.Time) {
	if !r.hasOrigin {
		r.Begin(begin)
	}
	for _, c := range []interface{ Begin(model.Time) }{r.Totals, r.Latency, r.Worst, r.Bursts, r.Waits, r.Syscalls,
		r.STWs, r.Netpoll, r.Handoffs, r.GC, r.Timeline, r.Heat, r.Idle, r.Peak, r.Tasks, r.Regions} {
		c.Begin(r.origin)
	}
	r.Timeline.BeginAt(begin)
	r.Heat.BeginAt(begin)
	if r.steps != nil {
		r.steps.pause() // what it fills now changes
	}
	r.Causes.Begin(r.origin)
	r.Causes.bins.b.begin(begin)
	r.Pathologies.Begin(r.origin)
	r.Pathologies.BeginAt(begin)
	r.Queues.Begin(r.origin)
}

// Finish completes the analyses. Call it once, after [model.Machine.Finish],
// with the accounted time's start and end.
func (r *Report) Finish(start, end model.Time) {
	if r.feed != nil {
		r.feed.finish()
	}
	if r.steps != nil {
		r.steps.finish()
		r.Queues.Finish(start, end)
	}
	r.Totals.Finish(start, end)
	r.Latency.Finish()
	r.Bursts.Finish()
	r.Waits.Finish()
	r.Idle.Finish()
	r.Peak.Finish()
	r.Worst.Finish()
	r.Pathologies.Finish(start, end)
	if waitSeverity(r) == result.Info {
		r.Pathologies.quiet()
	}
	if r.steps != nil {
		r.steps.causes.explain(r.Worst.Waits())
		r.steps.causes.recycle()
	}
}

// Merge adds the finished report of another trace. Options must be the same.
func (r *Report) Merge(o *Report) {
	r.window = r.window || o.window
	r.Totals.Merge(o.Totals)
	r.Latency.Merge(o.Latency)
	r.Worst.Merge(o.Worst)
	r.Bursts.Merge(o.Bursts)
	r.Waits.Merge(o.Waits)
	r.Syscalls.Merge(o.Syscalls)
	r.STWs.Merge(o.STWs)
	r.Netpoll.Merge(o.Netpoll)
	r.Handoffs.Merge(o.Handoffs)
	r.Threads.Merge(o.Threads)
	r.GC.Merge(o.GC)
	r.Timeline.Merge(o.Timeline)
	r.Heat.Merge(o.Heat)
	r.Idle.Merge(o.Idle)
	r.Peak.Merge(o.Peak)
	r.Tasks.Merge(o.Tasks)
	r.Regions.Merge(o.Regions)
	r.Goroutines.Merge(o.Goroutines)
	r.Causes.Merge(o.Causes)
	r.Queues.Merge(o.Queues)
	r.Pathologies.Merge(o.Pathologies)
}
