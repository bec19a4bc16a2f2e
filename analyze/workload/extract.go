package workload

import (
	"errors"

	"github.com/schedscope/schedscope/model"
)

// ErrOldFormat is returned for a trace of a Go version that records too little.
var ErrOldFormat = errors.New("the work cannot be separated from its schedule: want a trace of Go 1.22 or newer")

// Warmup is the part of a window that comparisons leave out: what the run queues held when the window began is not known
// in full.
const Warmup = 10 * 1000 * 1000 * model.Duration(1)

// Extractor extracts the work of one window after another from the steps of a
// [model.Machine], to which it is given as an observer. Between windows it only
// follows states. Memory grows with what the window holds.
//
// A step of a goroutine that contradicts those before is taken at its word, as the
// Machine does; what woke the goroutine then counts as unknown.
type Extractor struct {
	tables  *model.Tables
	version int
	words   words
	places  places
	spare   window // the lists of the window before, for the next

	clock   clock
	gs      model.GoTable[follower]
	procs   []procState
	nprocs  int // GOMAXPROCS, 0: not known yet
	seen    int // procs seen
	stop    stop
	marking bool // between sweep termination and mark termination
	termBy  model.GoID

	w *window // nil between windows
}

// words are the strings that the rules compare with.
type words struct {
	preempted, network, assist, assistWait             model.StringID
	gcSemaphore, runtimeSemaphore, sweepStop, markStop model.StringID
}

// NewExtractor returns an Extractor for a trace of Go 1.version whose strings and
// stacks are in t.
func NewExtractor(t *model.Tables, version int) *Extractor {
	e := &Extractor{tables: t, version: version, termBy: model.NoGoroutine}
	e.stop.g = model.NoGoroutine
	e.words = words{
		preempted:        t.AddString("preempted"),
		network:          t.AddString("network"),
		gcSemaphore:      t.AddString(model.ReasonGCSemaphore),
		runtimeSemaphore: t.AddString(model.ReasonRuntimeSemaphore),
		assist:           t.AddString("GC mark assist"),
		assistWait:       t.AddString("GC mark assist wait for work"),
		sweepStop:        t.AddString("stop-the-world (GC sweep termination)"),
		markStop:         t.AddString("stop-the-world (GC mark termination)"),
	}
	e.places = places{tables: t, users: numbers[userKey]{}}
	return e
}

// window is what is collected of a window.
type window struct {
	Workload
	starts int
	order  int32 // of the next first start among those that were Runnable at the beginning
	// v and s are the clock's when the window began.
	v, s    model.Duration
	cycle   int            // of the garbage collector, -1 before the first
	running model.Duration // as Recorded.Running
	stopped model.Duration
	marking model.Duration
	waking  model.Duration // as Recorded.Waking
	wakers  []model.Duration
	// samples are the CPU samples of goroutines that ran, from sampled to lastSample.
	samples             int
	sampled, lastSample model.Time
	// What is known in addition to the work.
	side   []side // parallel to Goroutines
	sleeps []waiting
	nets   []waiting
	calls  []waiting // of the system, in the order of their ends
	waits  []waiting // on recorded wakes, in the order of their ends
	recent []opAt    // the latest ops that made a goroutine runnable
	woke   []opAt    // those that woke a thread
	// See Extractor.Request.
	stretches []stretch
	found     []found
	points    []point
}

// side is what is known of a goroutine in addition to its program.
type side struct {
	last    model.Time // end of its latest segment
	exited  bool
	exit    model.Time
	born    model.Time // when it was created, in the window
	creator int32
	drop    bool // it turned out to be a mark worker
	blocked bool // created as a coroutine that waits
}

// waiting is a wait or system call: what ends segment seg of goroutine g, from..to.
type waiting struct {
	g, seg   int32
	from, to model.Time
	late     model.Duration // of a timer: how late it was at most, 0 if that is not known
	idle     model.Duration // of a system call or a wait for the network: see clock.idle, at its end
}

// Begin begins a window at time at, or at the latest step if that is later. What
// was collected of a window that was not finished is dropped.
func (e *Extractor) Begin(at model.Time) {
	e.clock.advance(at)
	at = e.clock.now
	w := &window{cycle: -1, v: e.clock.v, s: e.clock.s, waits: e.spare.waits[:0], stretches: e.spare.stretches[:0]}
	w.Tables, w.Version, w.Procs = e.tables, e.version, e.nprocs
	w.Start, w.End = at, at
	e.w = w
	e.gs.All(e.enroll)
	if e.marking {
		e.cycle()
	}
	if e.stop.active {
		e.stop.cycle, e.stop.index = -1, -1
	}
}

// Starts returns how many starts of goroutines the window holds so far.
func (e *Extractor) Starts() int {
	if e.w == nil {
		return 0
	}
	return e.w.starts
}

// Finish ends the window at time at, or at the latest step if that is later, and returns it. It returns
// [ErrOldFormat] for a trace of an old version, and another error if no window was begun.
func (e *Extractor) Finish(at model.Time) (*Workload, error) {
	switch {
	case e.version < 22:
		return nil, ErrOldFormat
	case e.w == nil:
		return nil, errors.New("no window was begun")
	}
	return e.close(at), nil
}

// Step implements [model.StepObserver].
func (e *Extractor) Step(s *model.Step) {
	e.standstill(s.Time)
	e.clock.advance(s.Time)
	switch s.Kind {
	case model.StepGo:
		e.goStep(s)
	case model.StepMove:
		e.moveStep(s)
	case model.StepProc:
		e.procStep(s)
	case model.StepStopping:
		e.stopping(s)
	case model.StepStopped:
		e.stopped()
	case model.StepRestarted:
		e.restarted()
	case model.StepProcs:
		e.nprocs = max(int(s.N), 0)
		e.clock.procs = int64(e.nprocs)
		if e.w != nil && e.w.Procs == 0 {
			e.w.Procs = e.nprocs
		}
	}
}

// add makes f a goroutine of the window.
func (e *Extractor) add(f *follower, s side, g Goroutine) *Goroutine {
	w := e.w
	f.index = int32(len(w.Goroutines))
	g.ID, g.Proc, s.creator = f.id, model.NoProc, -1
	w.Goroutines, w.side = append(w.Goroutines, g), append(w.side, s)
	return &w.Goroutines[f.index]
}

// since returns how long after the window's start time at is, not less than 0.
func (w *window) since(at model.Time) model.Duration { return max(at.Sub(w.Start), 0) }
