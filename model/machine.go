package model

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"
)

// Config is the configuration of a Machine.
type Config struct {
	// Version is the minor Go version of the trace's format: 26 for Go 1.26.
	Version int
}

// oldFormat reports whether the trace is of Go 1.21 or older, which the decoder
// converts as well as that format allows.
func (c Config) oldFormat() bool { return c.Version < 22 }

// Machine folds events into the states of goroutines, threads and procs.
//
// Feed it every event in order with [Machine.Apply], then call
// [Machine.Finish]. To account for a part of a trace only, apply the events
// before it first, then call [Machine.Begin] and after it [Machine.Observe].
type Machine struct {
	tables *Tables
	cfg    Config
	words  words
	stacks stackClasses
	// divided is an event whose reason was divided, for the calls that handle it.
	divided Event
	obs     observers
	stopped atomic.Bool
	waits   []func()

	logs     []*StepLog
	log      *StepLog // the first one, own if only observers take steps, nil if nobody does
	own      StepLog
	apart    [2]Step   // scratch of share: observers get the two steps of a record one by one
	shared   bool      // what log gets is also for other logs, or for observers
	procFrom ProcState // of the proc that changed with the goroutine

	left       Time // since when and for what a goroutine was in the state that it left last
	leftReason StringID
	leftFlags  StepFlags
	waited     Origin

	began      bool
	start, now Time // start of accounting; time of the latest event
	moments    int64

	gs         GoTable[Goroutine]
	ended      []*Goroutine // to be used again
	endedTasks []*Task      // to be used again
	procs      []*proc      // by id; nil: not seen
	threads    map[ThreadID]*thread
	recent     [64]*thread // those of the latest events, by id
	tasks      map[TaskID]*Task
	phases     []openRange // open ranges of the whole program
	stw        *stwState
	borrow     borrow

	uses          UseObserver // if no other observer takes procs' intervals
	part, partEnd Time        // its present part of time: intervals in it are summed

	live      Counts   // numbers as of now
	counted   bool     // they did not change since they were compared with pend
	coarse    bool     // only what LoadObservers read is to be compared
	pend      Counts   // the elementary interval not yet reported
	held      []Counts // those before it, while not settled
	settled   bool     // nothing that is still to come changes the numbers of before
	peak      int      // most Runnable goroutines since accounting began
	maxProcs  int      // GOMAXPROCS as the trace says; 0: not yet
	seenProcs int
	vague     int // of those, the vague ones

	broken error // the first violation of conservation

	// Scratch for observers, so that calling them does not allocate.
	syscallExit  SyscallExit
	metricSample MetricSample
	region       Region
	netpollWake  NetpollWake
}

// NewMachine returns a Machine for events whose strings and stacks are in t.
func NewMachine(t *Tables, cfg Config) *Machine {
	m := &Machine{tables: t, cfg: cfg, threads: map[ThreadID]*thread{}, tasks: map[TaskID]*Task{}}
	m.words = newWords(t)
	m.stacks.tables, m.stacks.yield = t, yieldFrame(cfg.Version)
	return m
}

// Start returns when accounting began: the first event, or [Machine.Begin].
func (m *Machine) Start() Time { return m.start }

// Now returns the time of the latest event.
func (m *Machine) Now() Time { return m.now }

// Moments returns how many events were later than the one before, since accounting began.
func (m *Machine) Moments() int64 { return m.moments }

// Goroutine returns a live goroutine, nil if there is none of that ID. The Machine continues
// to change it.
func (m *Machine) Goroutine(id GoID) *Goroutine { return m.gs.Get(id) }

// Waiting calls f for each goroutine that waits, sorted by ID, with what it waits for.
func (m *Machine) Waiting(f func(g *Goroutine, reason StringID)) {
	m.gs.All(func(g *Goroutine) {
		if g.span.State == GoWaiting {
			f(g, g.span.Reason)
		}
	})
}

// Restarted returns the time at which the world was seen running again during a stop that has
// not ended yet, and whether it was.
func (m *Machine) Restarted() (Time, bool) {
	if m.stw == nil || !m.stw.restarted {
		return 0, false
	}
	return m.stw.Effective, true
}

// Tables returns the tables that IDs of strings and stacks refer to.
func (m *Machine) Tables() *Tables { return m.tables }

// Apply applies the next event. It returns an error if the event contradicts earlier ones. The
// Machine then continues from the state that the event claims, so the caller may count such
// errors and go on.
func (m *Machine) Apply(ev *Event) error {
	if !m.began {
		m.began = true
		m.start, m.now, m.pend.Start = ev.Time, ev.Time, ev.Time
		Report(m.obs.start, StartObserver.Started, ev.Time)
	}
	d := ev.Time.Sub(m.now)
	if d > 0 {
		if !m.counted {
			m.takeCounts()
		}
		if d >= MinSilence {
			m.silence(ev.Time)
		}
		if ev.Time >= m.partEnd && m.uses != nil {
			m.reportUses(ev.Time)
		}
		m.now = ev.Time
		m.moments++
	}
	var t *thread
	if ev.M != NoThread {
		if t = m.recent[uint64(ev.M)%uint64(len(m.recent))]; t == nil || t.span.M != ev.M {
			t = m.findThread(ev)
		}
	}
	var err error
	if ev.Kind != EventGoTransition {
		err = m.other(ev, t, m.now)
	} else if g, from, to := m.gs.Get(GoID(ev.ID)), GoState(ev.From), GoState(ev.To); g == nil || g.span.State != from || from == to || from-1 >= GoSyscall || to-1 >= GoSyscall {
		err = m.unusual(g, ev, t)
	} else {
		m.change(g, ev, t)
	}
	if t != nil {
		t.remember(ev, m.now)
	}
	if d < 0 {
		err = errors.Join(fmt.Errorf("%v event at %d: time goes back from %d", ev.Kind, ev.Time, m.now), err)
	}
	return err
}

// other applies an event other than the transition of a goroutine.
func (m *Machine) other(ev *Event, t *thread, at Time) error {
	switch ev.Kind {
	case EventProcTransition:
		return m.procTransition(ev, t, at)
	case EventRangeBegin, EventRangeActive:
		m.rangeBegin(ev, t, at)
	case EventRangeEnd:
		m.rangeEnd(ev, at)
	case EventStackSample:
		if g := m.gs.Get(ev.G); g != nil {
			m.learnFunc(g, ev.Stack)
		}
	case EventLabel:
		m.label(ev)
	case EventMetric:
		m.metric(ev, at)
	case EventTaskBegin:
		m.taskBegin(ev, at)
	case EventTaskEnd:
		m.taskEnd(ev, at)
	case EventRegionBegin:
		m.regionBegin(ev, at)
	case EventRegionEnd:
		m.regionEnd(ev, at)
	}
	return nil
}

// Begin restarts accounting at time t, which must not be before the latest event: open
// intervals continue as open since before t, and every total starts from zero. Observers
// registered afterwards receive nothing before t, but are called with GOMAXPROCS as of t.
func (m *Machine) Begin(t Time) {
	m.reportUses(m.now)
	m.began = true
	m.start, m.now, m.moments = t, t, -1
	m.held = nil
	m.gs.All(func(g *Goroutine) {
		s := &g.span
		g.From, s.Start, g.SeenCreation = t, t, false
		g.HasStarted, g.Started = s.State == GoRunning, t
		s.OpenStart, s.Synthetic, s.Clamped = true, false, false
		g.Times = [NumGoStates]Duration{}
		g.Block, g.RunnableTruly = nil, 0
		if g.Ranges != nil {
			g.Ranges = nil
		}
		g.sysKnown, g.wake.net, g.wake.poller = false, false, 0
		for i := range g.regions {
			g.regions[i] = openRegion{task: g.regions[i].task, name: g.regions[i].name, start: t, openStart: true}
		}
		reopen(g.ranges, t)
	})
	reopen(m.phases, t)
	for _, p := range m.procs {
		if p != nil {
			p.from, p.span.Start, p.gone, p.span.OpenStart, p.handoff = t, t, t, true, nil
			p.times, p.absent = [NumProcStates]Duration{}, 0
			reopen(p.ranges, t)
		}
	}
	for _, th := range m.threads {
		th.from, th.span.Start, th.span.OpenStart = t, t, true
		th.starts, th.acquired, th.times = 0, 0, [NumThreadStates]Duration{}
	}
	for _, task := range m.tasks {
		task.Start, task.OpenStart = t, true
		task.Regions, task.Times = 0, [NumGoStates]Duration{}
	}
	if m.stw != nil {
		m.stw.Start, m.stw.OpenStart = t, true
		m.stw.Stopped, m.stw.Effective = t, max(t, m.stw.Effective)
	}
	m.pend = m.live
	m.pend.Start, m.peak, m.counted = t, 0, false
}

// Finish ends accounting at time t, or at the latest event if that is later:
// it closes everything that is open and reports it to observers. The Machine
// takes no events afterwards.
func (m *Machine) Finish(t Time) error {
	if !m.began {
		return nil
	}
	t = max(t, m.now)
	m.reportUses(t)
	if t > m.now {
		m.takeCounts()
		m.now = t
	}
	m.flushCounts(t)
	m.settle()
	m.finishGoroutines(t)
	m.finishProcs(t)
	m.finishThreads(t)
	m.finishRanges(t)
	m.finishTasks(t)
	return m.Check()
}

// observers are the registered observers by interface. Of those that are called most there
// is one, nil if there is none, which calls all.
type observers struct {
	start       []StartObserver
	goSpan      GoSpanObserver
	goEnd       []GoEndObserver
	procSpan    []ProcSpanObserver
	threadSpan  []ThreadSpanObserver
	thread      []ThreadObserver
	threadStart []ThreadStartObserver
	counts      CountsObserver
	peak        []PeakObserver
	silence     []silenceObserver
	handoff     []HandoffObserver
	syscallExit SyscallExitObserver
	netpoll     []NetpollObserver
	stw         []STWObserver
	ranges      []RangeObserver
	task        []TaskObserver
	region      []RegionObserver
	metric      []MetricObserver
	step        []StepObserver
}

// Observe registers o for every observer interface of this package that it
// implements. Observers are called in the order of registration. One that comes
// late is called with GOMAXPROCS as of now.
func (m *Machine) Observe(o any) {
	if x, ok := o.(StartObserver); ok && m.began {
		x.Started(m.start)
	} else if ok {
		m.obs.start = append(m.obs.start, x)
	}
	join(&m.obs.goSpan, o, func(a, b GoSpanObserver) GoSpanObserver { return &goSpanObservers{a, b} })
	add(&m.obs.goEnd, o)
	if x, ok := o.(ProcSpanObserver); ok {
		m.reportUses(m.now)
		m.uses, _ = x.(UseObserver)
		if m.part, m.partEnd = math.MaxInt64, 0; m.obs.procSpan != nil {
			m.uses = nil
		}
	}
	add(&m.obs.procSpan, o)
	add(&m.obs.threadSpan, o)
	add(&m.obs.thread, o)
	add(&m.obs.threadStart, o)
	if _, ok := o.(CountsObserver); ok {
		_, load := o.(LoadObserver)
		m.coarse, m.counted = load && (m.coarse || m.obs.counts == nil), false
	}
	join(&m.obs.counts, o, func(a, b CountsObserver) CountsObserver { return &countsObservers{a, b} })
	add(&m.obs.peak, o)
	if x, ok := o.(SilenceObserver); ok {
		m.obs.silence = append(m.obs.silence, silenceObserver{x, m.now + 1})
	}
	add(&m.obs.handoff, o)
	join(&m.obs.syscallExit, o, func(a, b SyscallExitObserver) SyscallExitObserver { return &syscallExitObservers{a, b} })
	add(&m.obs.netpoll, o)
	add(&m.obs.stw, o)
	add(&m.obs.ranges, o)
	add(&m.obs.task, o)
	add(&m.obs.region, o)
	add(&m.obs.metric, o)
	add(&m.obs.step, o)
	if m.shared = m.shared || len(m.obs.step) > 0; m.shared && m.log == nil {
		m.own.Steps, m.own.Full = make([]Step, 0, 1), func() { m.own.Steps = m.own.Steps[:0] }
		m.log = &m.own
	}
	if x, ok := o.(MetricObserver); ok && m.maxProcs > 0 {
		x.Metric(&MetricSample{Time: m.now, Name: m.tables.String(m.words.gomaxprocs), Value: uint64(m.maxProcs)})
	}
}

type silenceObserver struct {
	SilenceObserver
	from Time // of silences, at the earliest
}

func add[T any](list *[]T, o any) {
	if x, ok := o.(T); ok {
		*list = append(*list, x)
	}
}

// join makes o the observer, or part of it if there is one.
func join[T comparable](all *T, o any, both func(a, b T) T) {
	x, ok := o.(T)
	var none T
	switch {
	case ok && *all == none:
		*all = x
	case ok:
		*all = both(*all, x)
	}
}

type (
	goSpanObservers      [2]GoSpanObserver
	countsObservers      [2]CountsObserver
	syscallExitObservers [2]SyscallExitObserver
)

func (l *goSpanObservers) GoSpan(s *GoSpan)                { l[0].GoSpan(s); l[1].GoSpan(s) }
func (l *syscallExitObservers) SyscallExit(s *SyscallExit) { l[0].SyscallExit(s); l[1].SyscallExit(s) }
func (l *countsObservers) Counts(c *Counts)                { l[0].Counts(c); l[1].Counts(c) }

// words are the strings that the rules compare with, interned.
type words struct {
	gcWorker, network, preempted, gosched         StringID
	assistWait, systemWait, markAssist, sync      StringID
	gcDedicated, gcFractional, gcIdle, gomaxprocs StringID
}

func newWords(t *Tables) words {
	return words{
		gcWorker:     t.AddString("runtime.gcBgMarkWorker"),
		network:      t.AddString("network"),
		preempted:    t.AddString("preempted"),
		gosched:      t.AddString("runtime.Gosched"),
		assistWait:   t.AddString("GC mark assist wait for work"),
		systemWait:   t.AddString("system goroutine wait"),
		markAssist:   t.AddString("GC mark assist"),
		sync:         t.AddString("sync"),
		gcDedicated:  t.AddString("GC (dedicated)"),
		gcFractional: t.AddString("GC (fractional)"),
		gcIdle:       t.AddString("GC (idle)"),
		gomaxprocs:   t.AddString("/sched/gomaxprocs:threads"),
	}
}

// Report calls a method of all observers, such as STWObserver.STW.
func Report[O, T any](observers []O, method func(O, T), x T) {
	for _, o := range observers {
		method(o, x)
	}
}
