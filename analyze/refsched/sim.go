package refsched

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/schedscope/schedscope/analyze/workload"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// maxProcs bounds GOMAXPROCS: searching costs time in proportion to it. maxSpan bounds windows, a
// week: sysmon has its rounds even where nothing else happens.
const (
	maxProcs = 1 << 12
	maxSpan  = 7 * 24 * 3600 * 1_000_000_000 * model.Duration(1)
)

// Result is the result of a simulation.
type Result struct {
	// Span is when the last segment of the program's own goroutines ended, counted from
	// the start.
	Span model.Duration
	// Finished: every goroutine came to the end of its program. If not, Until was
	// reached, or Stuck goroutines wait for what never comes, as for each other where other ones are served than recorded.
	Finished bool
	Stuck    int

	Starts, Wakeups, Overflows int64
}

// Run runs the workload, which must be one that passes its Check, under the configuration. The error is the
// context's or says what is wrong with the configuration, or that the window is too long.
func Run(ctx context.Context, w *workload.Workload, cfg Config) (*Result, error) {
	cfg, err := cfg.withDefaults(w)
	if err != nil {
		return nil, err
	}
	s := newSim(w, cfg)
	s.begin()
	if err := s.loop(ctx); err != nil {
		return nil, err
	}
	s.res.Finished, s.res.Stuck = s.left == 0, s.left
	s.event(model.EventSync, nobody, 0, 0, 0, 0, 0)
	s.finishSpans()
	return &s.res, nil
}

func (c Config) withDefaults(w *workload.Workload) (Config, error) {
	c.Procs = cmp.Or(c.Procs, w.Procs)
	if c.Procs < 1 || c.Procs > maxProcs {
		return c, fmt.Errorf("%d procs: want 1 to %d", c.Procs, maxProcs)
	}
	span := w.End.Sub(w.Start)
	if span < 0 || span > maxSpan {
		return c, fmt.Errorf("a window of %d s: want at most a week", span/1_000_000_000)
	}
	c.Rules.Version = cmp.Or(c.Rules.Version, w.Version)
	if c.Until <= 0 {
		c.Until = max(1_000_000_000, 1000*span)
	}
	if c.Rules.Ideal {
		c.Costs = Costs{}
	}
	return c, nil
}

// kind says what an event of the simulation is. Of those at the same time the
// smaller kind comes first, after what procs have planned.
type kind uint8

const (
	evTimer   kind = iota // ideal only: a timer is due
	evReady               // data has arrived for a goroutine
	evSyscall             // a system call returns
	evArrival
	evThread  // a woken thread gets its proc
	evSysmon  // sysmon's next round
	evSeen    // sysmon has seen a system call for as long as in the recording
	evLate    // a time slice begins that sysmon ends late in the recording, or ends
	evPreempt // a preemption request lands
	evPoll    // the sleeping poller returns
	evAssist  // assist credit for a waiting goroutine
	evCycle   // a periodic GC cycle begins
	evMarked  // the mark work is done
	evHeld    // the world has stood still for long enough
	evQuota   // the quota is spent, or there again
	evHalt    // all threads stand still, or go on
)

// step says what a proc has planned.
type step uint8

const (
	stepNone   step = iota
	stepRun         // the goroutine comes to its next operation, or its segment's end
	stepStart       // what was picked starts
	stepLocked      // the same on the thread that it is locked to
	stepPass        // the next pass of a search
	stepPolled      // a poll of the network returns
	stepBack        // a thief's back-off is over
	stepGiveUp      // a search has been fruitless
	stepFind        // looks for work
	stepGo          // a goroutine goes on after a system call
)

// event is an entry of the agenda.
type event struct {
	at   int64
	seq  uint64
	id   int32
	arg  int32
	gen  uint32
	kind kind
}

// sim is the state of a simulation. Times are in ns since its start.
type sim struct {
	w     *workload.Workload
	cfg   Config
	costs *Costs
	rules *Rules
	n     int        // procs
	last  model.Time // of the latest event
	res   Result

	now     int64
	seq     uint64
	agenda  agenda
	taken   event // from the agenda, to be carried out
	plans   plans
	strides []int32 // see strides

	gs     []goroutine
	ms     []thread
	ps     []proc
	global ring
	idlePs []int32
	idleMs []int32

	nspin      int
	needspin   bool
	objects    []object
	joins      map[int32][]int32 // by goroutine: joins that it is a child of
	parts      map[int32][]int32 // by segment, counted as in woken: joins that wait for its end
	woken      []bool            // by segment, from goroutine.first on: the wake came before the wait
	left       int               // goroutines whose programs have not ended
	ready      []int32           // goroutines whose data has arrived, in order
	poller     int32             // thread that sleeps in epoll, -1 for none
	netWaiters int               // goroutines that wait for the network
	polls      poll
	sysmon     sysmon
	gc         gc
	stw        stw
	quota      quota
	draws      []uint64   // by proc, what the next number is made of
	requests   [][2]int64 // when they began and ended, from 1; 0: not yet
}

type gstate uint8

const (
	gAbsent gstate = iota
	gRunnable
	gInHand // picked, or switched to, and about to run
	gRunning
	gWaiting
	gSyscall
	gDone
)

// goroutine is the state of one goroutine. Those beyond the workload's are mark
// workers.
type goroutine struct {
	prog   *workload.Goroutine
	span   model.GoSpan // that it is in, as far as events show
	off    int64        // CPU time since the segment began
	stop   int64        // up to which it runs, see aim
	seg    int32
	op     int32  // next operation
	first  int32  // its first segment in sim.woken
	p      int32  // on which it runs, or that it holds in a system call
	m      int32  // the same
	locked int32  // thread that it is locked to
	gen    uint32 // of its waits
	begun  int64  // when its segment came to be its next: the end of the wait before
	state  gstate
	from   runqueue.Source // where it was picked
	worker bool
	polled bool // waits for the network
	midway bool // waits within a segment, for a place of a semaphore
	fresh  bool // a coroutine that has not been switched to yet
	// Of a mark worker: its mode, whether it marks, since begun, and, of a dedicated one, that it has given its proc's queue away.
	mode           uint8
	marks, drained bool
}

type pstatus uint8

const (
	pIdle pstatus = iota
	pRunning
	pSyscall
	pStopped
)

// proc is the state of one proc.
type proc struct {
	q       ring
	timers  timers
	since   int64 // the goroutine runs since
	m       int32
	next    int32 // runnext
	g       int32 // that runs, is in a system call or in hand
	tick    uint32
	sysTick uint32
	held    int64 // until then sysmon does not see the system call: see workload.Segment.Held
	seen    seen
	began   int64    // its time slice, unless the window began with it
	spared  [2]int64 // sysmon lets time slices that begin from then on last until then: see workload.Late
	status  pstatus
	preempt bool // asked to
	// The pending step.
	step    step
	due     int64
	frozen  bool
	remains int64 // of a step while frozen
	search  search
}

// seen is what sysmon remembers of a proc.
type seen struct {
	tick, sysTick uint32
	at, sysAt     int64
}

type thread struct {
	p        int32
	g        int32 // that runs or is in a system call on it, or is locked and waits
	gets     int32 // proc that it gets when it has woken up
	spinning bool
}

func newSim(w *workload.Workload, cfg Config) *sim {
	s := &sim{w: w, cfg: cfg, n: cfg.Procs, last: math.MinInt64, poller: -1, joins: map[int32][]int32{}, parts: map[int32][]int32{}}
	s.costs, s.rules = &s.cfg.Costs, &s.cfg.Rules
	s.ps = make([]proc, s.n)
	s.draws = make([]uint64, s.n+1)
	for i := range s.draws {
		s.draws[i] = mix(cfg.Seed ^ uint64(i+1)*0x9e3779b97f4a7c15)
	}
	s.strides = strides(s.n)
	for i := range s.ps {
		s.ps[i] = proc{m: -1, next: -1, g: -1}
		s.ps[i].tick = uint32(s.draw(int32(i)) % FairTick) // a trace does not show it
	}
	s.gs = make([]goroutine, len(w.Goroutines))
	segs := int32(0)
	for i := range s.gs {
		g := &w.Goroutines[i]
		s.gs[i] = goroutine{prog: g, span: model.GoSpan{G: g.ID, Func: g.Func, System: g.System}, p: -1, m: -1, locked: -1, first: segs}
		s.gs[i].aim()
		segs += int32(len(g.Segments))
	}
	s.woken = make([]bool, segs)
	s.requests = make([][2]int64, len(w.Requests))
	s.newObjects()
	return s
}

// loop carries out one event after the other until nothing is left to do.
func (s *sim) loop(ctx context.Context) error {
	for n := 0; s.left > 0; n++ {
		if n&0xfff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if k := len(s.plans) - 1; k >= 0 && s.plans[k].at <= s.agenda.first() {
			x := s.plans[k]
			if x.at > int64(s.cfg.Until) {
				return nil
			}
			s.now, s.plans = x.at, s.plans[:k]
			p := &s.ps[x.p]
			what := p.step
			p.step = stepNone
			takeStep[what](s, x.p)
			continue
		}
		if len(s.agenda.a) == 0 {
			return nil
		}
		e := &s.taken
		*e = s.agenda.pop()
		if e.at > int64(s.cfg.Until) {
			return nil
		}
		if e.kind == evSysmon && len(s.agenda.a) == 0 && len(s.plans) == 0 && len(s.idlePs) == s.n && s.nextTimer() == never && len(s.ready) == 0 {
			return nil // nothing but sysmon is left to do although goroutines wait
		}
		s.now = e.at
		carryOut[e.kind](s, e)
	}
	return nil
}

// at puts an event on the agenda.
func (s *sim) at(t int64, k kind, id, arg int32, gen uint32) {
	s.seq++
	s.agenda.push(event{at: s.future(t), seq: uint64(k)<<56 | s.seq, id: id, arg: arg, gen: gen, kind: k})
}

// future returns t if it is not in the past, and the end of time if the sum that made it overflowed.
func (s *sim) future(t int64) int64 {
	if t < 0 {
		return never
	}
	return max(t, s.now)
}

// carryOut has what each kind of event does.
var carryOut = [...]func(*sim, *event){
	evTimer:   func(s *sim, e *event) { s.timerDue(nobody, e.id, e.gen) },
	evReady:   func(s *sim, e *event) { s.dataReady(e.id, e.gen) },
	evSyscall: func(s *sim, e *event) { s.syscallReturns(e.id) },
	evArrival: func(s *sim, e *event) { s.arrive(int(e.id), nobody) },
	evThread:  func(s *sim, e *event) { s.threadUp(e.id) },
	evSysmon:  func(s *sim, e *event) { s.sysmonRound(e.gen) },
	evSeen:    func(s *sim, e *event) { s.see(e.id, e.gen) },
	evLate:    func(s *sim, e *event) { s.late(e.id, e.arg) },
	evPreempt: func(s *sim, e *event) { s.preemptLands(e.id) },
	evPoll:    func(s *sim, e *event) { s.pollReturns(e.gen) },
	evAssist:  func(s *sim, e *event) { s.timerDue(nobody, e.id, e.gen) }, // runtime/mgcmark.go: gcFlushBgCredit
	evCycle:   func(s *sim, e *event) { s.periodicCycle(e.id, e.arg) },
	evMarked:  func(s *sim, e *event) { s.marked(e.gen) },
	evHeld:    func(s *sim, _ *event) { s.restart() },
	evQuota:   func(s *sim, _ *event) { s.useQuota() },
	evHalt:    func(s *sim, e *event) { s.halt(e.id > 0) },
}

// plan sets the proc's pending step.
func (s *sim) plan(p int32, what step, after model.Duration) {
	x := &s.ps[p]
	if x.step != stepNone {
		s.plans.drop(p)
	}
	x.step, x.due = what, s.now+int64(after)
	if x.frozen {
		x.remains = int64(after)
		return
	}
	s.plans.push(planned{s.future(x.due), p})
}

// cancel drops the proc's pending step.
func (s *sim) cancel(p int32) {
	s.ps[p].step = stepNone
	s.plans.drop(p)
}

// takeStep has what each step of a proc does.
var takeStep = [...]func(s *sim, p int32){
	stepNone:   func(*sim, int32) {},
	stepRun:    (*sim).run,
	stepStart:  (*sim).start,
	stepLocked: (*sim).startLocked,
	stepPass:   (*sim).pass,
	stepPolled: (*sim).polled,
	stepBack:   (*sim).backedOff,
	stepGiveUp: (*sim).giveUp,
	stepFind:   (*sim).find,
	stepGo:     (*sim).runOn,
}

// draw returns a number that depends on the seed, the proc and how many it has drawn, so
// that one decision more or less does not change those of other procs.
func (s *sim) draw(p int32) uint64 {
	i := int(p)
	if i < 0 {
		i = s.n
	}
	s.draws[i]++
	return mix(s.draws[i])
}

// mix is the finaliser of splitmix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

const never = math.MaxInt64
