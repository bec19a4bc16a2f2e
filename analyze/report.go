package analyze

import "github.com/schedscope/schedscope/model"

// Report holds all analyses of a trace. Feed it with [Report.Observe] (and
// events, for the counts of [Totals], with [Report.Event]), call Finish once
// the Machine has finished, and read the fields.
type Report struct {
	Totals     *Totals
	Latency    *Latency
	Worst      *Worst
	Bursts     *Bursts
	Waits      *Waits
	Syscalls   *Syscalls
	STWs       *STWs
	Netpoll    *Netpoll
	Handoffs   *Handoffs
	Threads    *Threads
	GC         *GC
	Timeline   *Timeline
	Heat       *Heat
	Idle       *Idle
	Tasks      *Tasks
	Regions    *Regions
	Goroutines *Goroutines

	origin    model.Time
	hasOrigin bool
}

// New returns an empty Report for a trace with these tables.
func New(t *model.Tables, o Options) *Report {
	o = o.withDefaults()
	return &Report{
		Totals:     NewTotals(),
		Latency:    NewLatency(t, o.Goroutines),
		Worst:      NewWorst(t, o.Worst),
		Bursts:     NewBursts(t, o.Longest),
		Waits:      NewWaits(t),
		Syscalls:   NewSyscalls(t),
		STWs:       NewSTWs(t),
		Netpoll:    NewNetpoll(),
		Handoffs:   NewHandoffs(),
		Threads:    NewThreads(),
		GC:         NewGC(t),
		Timeline:   NewTimeline(),
		Heat:       NewHeat(),
		Idle:       NewIdle(),
		Tasks:      NewTasks(t, o.Longest),
		Regions:    NewRegions(t, o.Longest),
		Goroutines: NewGoroutines(t),
	}
}

// Begin sets the origin of points in time: that of the whole trace, when only a
// window of it is analysed. Without, the origin is where accounting starts.
// Call it before the Machine tells anything.
func (r *Report) Begin(origin model.Time) { r.origin, r.hasOrigin = origin, true }

// Event counts an event; see [Totals.Event].
func (r *Report) Event(ev *model.Event) { r.Totals.Event(ev) }

// Observe registers all analyses with m.
func (r *Report) Observe(m *model.Machine) { m.Observe(&feed{r: r, m: m}) }

// start hands the origin and the beginning of accounting to all analyses.
func (r *Report) start(begin model.Time) {
	if !r.hasOrigin {
		r.Begin(begin)
	}
	for _, c := range []interface{ Begin(model.Time) }{r.Totals, r.Latency, r.Worst, r.Bursts, r.Waits, r.Syscalls,
		r.STWs, r.Netpoll, r.Handoffs, r.GC, r.Timeline, r.Heat, r.Idle, r.Tasks, r.Regions, r.Goroutines} {
		c.Begin(r.origin)
	}
	r.Timeline.BeginAt(begin)
	r.Heat.BeginAt(begin)
}

// Finish completes the analyses. Call it once, after [model.Machine.Finish],
// with the accounted time's start and end.
func (r *Report) Finish(start, end model.Time) {
	r.Totals.Finish(start, end)
	r.Latency.Finish()
	r.Bursts.Finish()
	r.Waits.Finish()
	r.Idle.Finish()
	r.Worst.Finish()
}

// Merge adds the finished report of another trace. Options must be the same.
func (r *Report) Merge(o *Report) {
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
	r.Tasks.Merge(o.Tasks)
	r.Regions.Merge(o.Regions)
	r.Goroutines.Merge(o.Goroutines)
}

// feed hands what the Machine tells to those analyses that want it: one call
// through an interface for each record, whatever the number of analyses.
type feed struct {
	r     *Report
	m     *model.Machine
	begun bool
}

// begin runs before the first record: only then does the Machine know when
// accounting started.
func (f *feed) begin() {
	f.begun = true
	f.r.start(f.m.Start())
}

func (f *feed) GoSpan(s *model.GoSpan) {
	if !f.begun {
		f.begin()
	}
	switch s.State {
	case model.GoRunnable:
		f.r.Latency.GoSpan(s)
		f.r.Heat.GoSpan(s)
		f.r.Worst.GoSpan(s)
	case model.GoRunning:
		f.r.Bursts.GoSpan(s)
	case model.GoWaiting:
		f.r.Waits.GoSpan(s)
	}
}

func (f *feed) ProcSpan(s *model.ProcSpan) {
	if !f.begun {
		f.begin()
	}
	f.r.GC.ProcSpan(s)
	f.r.Timeline.ProcSpan(s)
	f.r.Worst.ProcSpan(s)
}

func (f *feed) Counts(c *model.Counts) {
	if !f.begun {
		f.begin()
	}
	f.r.Totals.Counts(c)
	f.r.GC.Counts(c)
	f.r.Timeline.Counts(c)
	f.r.Idle.Counts(c)
}

func (f *feed) Metric(s *model.MetricSample) {
	if !f.begun {
		f.begin()
	}
	f.r.Totals.Metric(s)
	f.r.Timeline.Metric(s)
}

func (f *feed) GoEnd(g *model.Goroutine) {
	if !f.begun {
		f.begin()
	}
	f.r.Totals.GoEnd(g)
	f.r.Latency.GoEnd(g)
	f.r.Goroutines.GoEnd(g)
}

func (f *feed) Thread(t *model.Thread) {
	f.r.Totals.Thread(t)
	f.r.Threads.Thread(t)
}

func (f *feed) ThreadStart(t *model.ThreadStart) { f.r.Threads.ThreadStart(t) }

func (f *feed) SyscallExit(s *model.SyscallExit) {
	if !f.begun {
		f.begin()
	}
	f.r.Syscalls.SyscallExit(s)
}

func (f *feed) Handoff(h *model.Handoff) {
	if !f.begun {
		f.begin()
	}
	f.r.Handoffs.Handoff(h)
}

func (f *feed) Netpoll(w *model.NetpollWake) {
	if !f.begun {
		f.begin()
	}
	f.r.Netpoll.Netpoll(w)
}

func (f *feed) STW(s *model.STW) {
	if !f.begun {
		f.begin()
	}
	f.r.STWs.STW(s)
	f.r.GC.STW(s)
}

func (f *feed) Range(s *model.RangeSpan) {
	if !f.begun {
		f.begin()
	}
	f.r.GC.Range(s)
}

func (f *feed) Task(t *model.Task) {
	if !f.begun {
		f.begin()
	}
	f.r.Tasks.Task(t)
}

func (f *feed) Region(x *model.Region) {
	if !f.begun {
		f.begin()
	}
	f.r.Regions.Region(x)
}
