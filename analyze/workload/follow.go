package workload

import (
	"cmp"
	"strings"

	"github.com/schedscope/schedscope/model"
)

// follower is the state of a goroutine that is alive.
type follower struct {
	id     model.GoID
	fn     model.StringID
	state  model.GoState // Syscall whether or not it has a proc
	reason model.StringID
	stack  model.StackID // where it last stopped
	since  model.Time    // when state began
	proc   model.ProcID
	left   model.ProcID // on which it last stopped

	system, worker bool
	suspended      bool // waits for a stack scan to end, in the middle of a segment
	blocking       bool // gave up its proc for the system call it is in
	frozen         bool // stops the world
	foreign        bool // of a C thread, and has not run yet

	// While it runs: when the interval began, on the three clocks.
	from         model.Time
	fromV, fromS model.Duration
	free         model.Duration // clock.free when its system call began
	// Since when it runs, and what the segment had of CPU time then.
	ranFrom model.Time
	ranCPU  model.Duration

	index int32          // in the window, -1: not in one
	cpu   model.Duration // of the segment so far
	// Of that, the time in mark assists that are over, and when the present one began; assists: there is one.
	assist, assistAt model.Duration
	assists          bool

	// Of the latest wake, until it starts: who did it, and what the wait was before.
	waker        *follower
	before       EndKind
	beforeTarget int32

	segments, ops  int   // of the window before
	starts, handed int32 // handed: starts after a hand-off by another thread
}

// get returns the follower of a goroutine in the window.
func (e *Extractor) get(id model.GoID) *follower {
	if id == model.NoGoroutine {
		return nil
	}
	return e.gs.Get(id)
}

// running reports whether f computes, so that an operation can be put into its
// program.
func (e *Extractor) running(f *follower) bool {
	return f != nil && f.state == model.GoRunning && f.index >= 0 && !f.worker
}

// op appends an operation at the point where f is now.
func (e *Extractor) op(f *follower, o Op) {
	e.settle(f)
	o.At = f.cpu
	g := &e.w.Goroutines[f.index]
	if o.Kind == OpWake || o.Kind == OpCreate {
		e.w.madeRunnable(opAt{e.clock.now, f.index, int32(len(g.Ops))})
	}
	g.Ops = append(g.Ops, o)
}

// settle accounts for what f has run since it was last settled.
func (e *Extractor) settle(f *follower) {
	if f.state != model.GoRunning {
		return
	}
	c := &e.clock
	if c.now == f.from && c.v == f.fromV && c.s == f.fromS {
		return
	}
	real, cpu, stopped := c.now.Sub(f.from), c.v-f.fromV, c.s-f.fromS
	f.from, f.fromV, f.fromS = c.now, c.v, c.s
	if f.frozen {
		cpu, stopped = 0, real
	}
	w := e.w
	if w == nil {
		return
	}
	w.running += real
	w.stopped += stopped
	if f.worker {
		w.mark(cpu)
		return
	}
	f.cpu += cpu
}

// goStep follows a goroutine.
func (e *Extractor) goStep(s *model.Step) {
	if by := e.get(s.By); by != nil && s.Flags&model.StepByWorker != 0 {
		e.isWorker(by)
	}
	to := followed(s.To)
	if to == model.GoUndetermined || to >= model.NumGoStates {
		return
	}
	if p := e.proc(s.P); p != nil && to == model.GoRunnable && s.Origin >= model.OriginCreated && s.Origin <= model.OriginTimer {
		p.next = s.G
	}
	f := e.gs.Get(s.G)
	if f == nil {
		if f = e.meet(s); s.From == uint8(model.GoUndetermined) || s.From == uint8(model.GoNotExist) {
			return
		}
	}
	f.fn = cmp.Or(f.fn, s.Func)
	f.system = f.system || s.Flags&model.StepSystem != 0
	if s.Flags&model.StepWorker != 0 {
		e.isWorker(f)
	}
	e.leave(f, s, to)
	e.enter(f, s, to)
}

// followed returns a state of a step: in a system call it does not matter whether with a proc.
func followed(state uint8) model.GoState {
	if s := model.GoState(state); s != model.GoSyscallBlocked {
		return s
	}
	return model.GoSyscall
}

// meet begins to follow a goroutine that was not known: it is created, or the trace
// shows what it has been doing.
func (e *Extractor) meet(s *model.Step) *follower {
	f := &follower{id: s.G, fn: s.Func, proc: model.NoProc, left: model.NoProc, index: -1, beforeTarget: -1, since: e.clock.now,
		system: s.Flags&model.StepSystem != 0, worker: s.Flags&model.StepWorker != 0}
	from, to := followed(s.From), followed(s.To)
	if from == model.GoNotExist {
		if to == model.GoNotExist {
			return f
		}
		e.gs.Put(s.G, f)
		e.created(f, s, to)
		return f
	}
	state := from
	if from == model.GoUndetermined || from >= model.NumGoStates {
		state, f.reason, f.stack = to, s.Reason, s.Stack
	}
	if state == model.GoNotExist {
		return f // it is gone
	}
	e.gs.Put(s.G, f)
	// It has been in this state since before, maybe since before the window.
	f.since = min(s.Since, e.clock.now)
	f.state = state
	f.from, f.fromV, f.fromS = e.clock.now, e.clock.v, e.clock.s
	if state == model.GoRunning || state == model.GoSyscall {
		e.hold(f, s.P)
	}
	if e.w == nil {
		return f
	}
	if state == model.GoRunning {
		e.backdate(f)
	}
	e.enroll(f)
	return f
}

// backdate begins the running interval of f, which the trace shows only now, when it began.
func (e *Extractor) backdate(f *follower) {
	w := e.w
	if f.since <= w.Start {
		f.from, f.fromV, f.fromS = w.Start, w.v, w.s
		return
	}
	d := e.clock.now.Sub(f.since)
	cpu := min(d, f.fromV-w.v) // the rest of it the world stood still
	f.from, f.fromV, f.fromS = f.since, f.fromV-cpu, f.fromS-(d-cpu)
}

// hold notes on which proc f is.
func (e *Extractor) hold(f *follower, id model.ProcID) {
	f.proc = model.NoProc
	if p := e.proc(id); p != nil {
		p.g, f.proc = f, id
	}
}

// release notes that f is on no proc.
func (e *Extractor) release(f *follower) {
	if p := e.proc(f.proc); p != nil && p.g == f {
		p.g = nil
	}
	f.proc = model.NoProc
}

// isWorker notes that f is a mark worker. Its time belongs to GC cycles, and
// if it was not known before, so does what was taken for its program.
func (e *Extractor) isWorker(f *follower) {
	if f.worker {
		return
	}
	e.settle(f)
	f.worker = true
	if e.w == nil || f.index < 0 {
		return
	}
	w, g := e.w, &e.w.Goroutines[f.index]
	cpu := f.cpu
	for i := range g.Segments {
		cpu += g.Segments[i].CPU
	}
	w.mark(cpu)
	at := w.since(e.clock.now)
	for _, o := range g.Ops {
		switch o.Kind {
		case OpWake:
			w.Arrivals = append(w.Arrivals, Arrival{At: at, G: o.G, Seg: o.Seg, Proc: model.NoProc, Kind: ArriveWake})
		case OpCreate, OpBlocked:
			w.Arrivals = append(w.Arrivals, Arrival{At: at, G: o.G, Proc: model.NoProc, Kind: ArriveCreate})
		case OpCycle:
			w.Cycles[o.G].Periodic = true
		}
	}
	g.Segments, g.Ops = nil, nil
	w.side[f.index].drop = true
	f.index, f.cpu = -1, 0
}

// enroll makes f a goroutine of the window, which began in f's present state.
func (e *Extractor) enroll(f *follower) {
	f.index, f.cpu, f.waker = -1, 0, nil
	w := e.w
	if f.state == model.GoRunning && f.from < w.Start {
		f.from, f.fromV, f.fromS = w.Start, w.v, w.s
	}
	if f.worker {
		return
	}
	f.ranFrom, f.ranCPU = f.from, 0
	g := e.add(f, side{}, Goroutine{Segments: make([]Segment, 0, f.segments), Ops: make([]Op, 0, f.ops)})
	switch f.state {
	case model.GoRunnable:
		g.Begin, g.Order = BeginRunnable, -1
	case model.GoRunning:
		g.Begin, g.Proc = BeginRunning, f.proc
	case model.GoSyscall:
		g.Begin, g.Proc = BeginSyscall, f.proc
		e.endSegment(f, EndSyscall)
	case model.GoWaiting:
		if f.suspended {
			g.Begin, g.Order = BeginRunnable, -1
			break
		}
		g.Begin = BeginWaiting
		e.endSegment(f, EndForever)
	}
}

// last returns the latest segment of f, nil if there is none.
func (e *Extractor) last(f *follower) *Segment {
	if e.w == nil || f.index < 0 {
		return nil
	}
	list := e.w.Goroutines[f.index].Segments
	if len(list) == 0 {
		return nil
	}
	return &list[len(list)-1]
}

// Event takes an event, after the Machine has, of which only those of mark assists and CPU samples matter.
func (e *Extractor) Event(ev *model.Event) {
	if ev.Kind == model.EventStackSample && e.running(e.get(ev.G)) {
		e.standstill(ev.Time)
		e.clock.advance(ev.Time)
		if e.w.samples++; e.w.samples == 1 {
			e.w.sampled = ev.Time
		}
		e.w.lastSample = ev.Time
		f := e.get(ev.G)
		e.settle(f)
		e.w.points = append(e.w.points, point{g: f.index, seg: int32(len(e.w.Goroutines[f.index].Segments)), at: f.cpu, op: Op{Kind: opSample}})
	}
	begins := ev.Kind == model.EventRangeBegin || ev.Kind == model.EventRangeActive
	if !begins && ev.Kind != model.EventRangeEnd || ev.Str != e.words.assist {
		return
	}
	f := e.get(model.GoID(ev.ID))
	if f == nil || f.assists == begins {
		return
	}
	e.clock.advance(ev.Time)
	e.settle(f)
	if f.assists = begins; begins {
		f.assistAt = f.cpu
	} else {
		f.assist += f.cpu - f.assistAt
	}
}

// assisted returns for how long f was in mark assists in the segment that ends.
func (f *follower) assisted() model.Duration {
	d := f.assist
	if f.assists {
		d += f.cpu - f.assistAt
	}
	f.assist, f.assistAt = 0, 0
	return d
}

// endSegment ends the segment of f, where f.stack and f.reason say.
func (e *Extractor) endSegment(f *follower, end EndKind) {
	if e.w == nil || f.index < 0 {
		f.cpu = 0
		f.assisted()
		return
	}
	g := &e.w.Goroutines[f.index]
	g.Segments = append(g.Segments, Segment{CPU: f.cpu, Assist: f.assisted(), Reason: f.reason, Stack: f.stack, Ops: int32(len(g.Ops)),
		Object: -1, Target: -1, End: end, Blocking: f.blocking && end == EndSyscall})
	f.cpu = 0
	e.w.side[f.index].last = e.clock.now
}

// created makes a new goroutine known.
func (e *Extractor) created(f *follower, s *model.Step, to model.GoState) {
	f.state = to
	f.stack = 0
	w := e.w
	if to == model.GoSyscall || to == model.GoRunning {
		e.hold(f, s.P)
		f.foreign = to == model.GoSyscall
		f.from, f.fromV, f.fromS = e.clock.now, e.clock.v, e.clock.s
		f.ranFrom, f.ranCPU = f.from, f.cpu
	}
	if w == nil || f.worker {
		return
	}
	e.add(f, side{born: e.clock.now}, Goroutine{CreateStack: s.Stack})
	if f.foreign {
		return // see firstRun
	}
	if by := e.get(s.By); by != f && e.running(by) {
		kind := OpCreate
		if to == model.GoWaiting {
			kind = OpBlocked
		}
		e.op(by, Op{Kind: kind, G: f.index, Stack: s.Stack})
		w.side[f.index].creator = by.index
	} else {
		w.Arrivals = append(w.Arrivals, Arrival{At: w.since(e.clock.now), G: f.index, Proc: s.P, Kind: ArriveCreate})
	}
	if to == model.GoWaiting {
		w.side[f.index].blocked = true
		e.endSegment(f, EndForever)
	}
}

// leave ends the state that f is in.
func (e *Extractor) leave(f *follower, s *model.Step, to model.GoState) {
	switch f.state {
	case model.GoRunning:
		e.settle(f)
		e.ran(f)
		if f.id == e.termBy && to != model.GoRunnable && to != model.GoRunning {
			e.termBy = model.NoGoroutine
		}
		f.left = f.proc
		if to != model.GoSyscall && to != model.GoRunning {
			e.release(f)
		}
	case model.GoSyscall:
		if x := e.last(f); x != nil && x.End == EndSyscall {
			x.Delay = e.clock.now.Sub(max(f.since, e.w.Start))
			g := &e.w.Goroutines[f.index]
			first := g.Begin == BeginSyscall && len(g.Segments) == 1
			switch {
			case x.Blocking:
			case f.proc != model.NoProc:
				x.Held = e.held(f)
			case !first: // else it may be such a one, too
				e.w.Recorded.Lost += x.Delay
			}
			e.w.calls = append(e.w.calls, waiting{g: f.index, seg: int32(len(g.Segments) - 1), from: f.since, to: e.clock.now, idle: e.clock.idle})
			if to == model.GoNotExist && !first {
				x.End, x.Delay, x.Held, x.Blocking = EndExit, 0, 0, false
			}
		}
		f.blocking = false
		e.release(f)
		if f.foreign && to != model.GoNotExist {
			e.firstRun(f, s)
		}
	case model.GoWaiting:
		if !f.suspended {
			e.wake(f, s)
		}
		f.suspended = false
	}
}

// firstRun has a goroutine of a C thread arrive when it first gets out of the
// system call in which it was born (runtime/proc.go: needm).
func (e *Extractor) firstRun(f *follower, s *model.Step) {
	f.foreign = false
	if e.w != nil && f.index >= 0 && e.w.Goroutines[f.index].Begin == BeginAbsent {
		e.w.Arrivals = append(e.w.Arrivals, Arrival{At: e.w.since(e.clock.now), G: f.index, Proc: s.P, Kind: ArriveCreate})
	}
}

// enter begins state to.
func (e *Extractor) enter(f *follower, s *model.Step, to model.GoState) {
	was := f.state
	f.state, f.since = to, e.clock.now
	if was == model.GoRunning {
		f.stack, f.reason = s.Stack, s.Reason
	}
	switch to {
	case model.GoRunning:
		f.from, f.fromV, f.fromS = e.clock.now, e.clock.v, e.clock.s
		f.ranFrom, f.ranCPU = f.from, f.cpu
		if was == model.GoRunnable {
			e.start(f, s)
		}
		e.hold(f, s.P)
	case model.GoRunnable:
		if was == model.GoRunning {
			switch s.Origin {
			case model.OriginPreempted:
				e.preempted(f.left)
			case model.OriginGosched:
				e.endSegment(f, EndYield)
			case model.OriginGoyield:
				e.endSegment(f, EndGoyield)
			}
		}
	case model.GoWaiting:
		if f.suspended = s.Reason == e.words.preempted; !f.suspended {
			e.endSegment(f, EndForever)
		}
	case model.GoSyscall:
		e.hold(f, s.P)
		f.free = e.clock.free
		e.endSegment(f, EndSyscall)
	case model.GoNotExist:
		e.exit(f, was)
	}
}

// exit forgets a goroutine that ended.
func (e *Extractor) exit(f *follower, was model.GoState) {
	if e.gs.Get(f.id) == f {
		e.gs.Remove(f.id)
	}
	e.release(f)
	if e.w == nil || f.index < 0 {
		return
	}
	sd := &e.w.side[f.index]
	if f.foreign && e.w.Goroutines[f.index].Begin == BeginAbsent {
		sd.drop = true // it never ran
	}
	if x := e.last(f); was != model.GoSyscall || x == nil || x.End != EndExit {
		e.endSegment(f, EndExit)
	}
	sd.exited, sd.exit = true, e.clock.now
	e.describe(f)
}

// describe puts what is known of f into the window.
func (e *Extractor) describe(f *follower) {
	g := &e.w.Goroutines[f.index]
	g.Func, g.System = f.fn, f.system
	g.Locked = f.handed >= 2 && f.handed*4 >= f.starts
	g.Tracer = isTracer(e.tables.String(f.fn))
}

// isTracer recognizes the goroutines that write the trace, or the profile whose samples enter it, by their start functions
// (runtime/trace/trace.go: Start; runtime/trace.go: traceAdvancer, runtime/tracecpu.go; runtime/pprof/pprof.go: StartCPUProfile;
// Go 1.22 to 1.26).
func isTracer(fn string) bool {
	return strings.HasPrefix(fn, "runtime/trace.") || strings.HasPrefix(fn, "golang.org/x/exp/trace.") ||
		strings.HasPrefix(fn, "runtime.(*traceAdvancerState)") || strings.HasPrefix(fn, "runtime.traceStartReadCPU") || fn == "runtime/pprof.profileWriter"
}

// start takes the start of a Runnable goroutine.
func (e *Extractor) start(f *follower, s *model.Step) {
	if s.Pseudo == model.PseudoCoroutine {
		e.switched(f)
	}
	f.waker = nil
	if s.Pseudo != model.NotPseudo {
		return
	}
	f.starts++
	if p := e.proc(s.P); p != nil {
		// A thread that picks a locked goroutine gives its proc to the thread of that
		// (runtime/proc.go: startlockedm): the proc comes straight from another
		// thread, while the goroutine was waiting in a queue.
		if p.fresh && p.by != model.NoThread && p.by != s.M && p.released > s.Since && p.acquired >= p.released {
			f.handed++
		}
		if p.fresh, p.started = false, e.clock.now; p.next != f.id {
			p.slice = e.clock.now
		}
		p.next = model.NoGoroutine
	}
	w := e.w
	if w == nil || f.worker {
		return
	}
	if f.index >= 0 {
		if g := &w.Goroutines[f.index]; g.Begin == BeginRunnable && g.Order < 0 {
			g.Order = w.order
			w.order++
		}
	}
	w.starts++
}

// switched makes the wake that precedes a coroutine switch the switch that it
// is: the waker stops in favour of f.
func (e *Extractor) switched(f *follower) {
	by := f.waker
	if by == nil || e.w == nil || f.index < 0 || by.index < 0 || by == f {
		return
	}
	g := &e.w.Goroutines[by.index]
	n, k := len(g.Ops), len(g.Segments)
	if n == 0 || k == 0 || g.Ops[n-1].Kind != OpWake || g.Ops[n-1].G != f.index || int(g.Segments[k-1].Ops) != n ||
		k > 1 && int(g.Segments[k-2].Ops) == n {
		return
	}
	x := &g.Segments[k-1]
	mine := &e.w.Goroutines[f.index].Segments[g.Ops[n-1].Seg]
	if x.End != EndForever && x.End != EndExit || mine.End != EndWait {
		return
	}
	if k := len(e.w.waits) - 1; k >= 0 && e.w.waits[k].g == f.index && e.w.waits[k].seg == g.Ops[n-1].Seg {
		e.w.waits = e.w.waits[:k]
	}
	g.Ops = g.Ops[:n-1]
	x.Ops--
	x.Target = f.index
	if x.End == EndForever {
		x.End = EndSwitch
	}
	mine.End, mine.Target = EndSwitch, -1
	if f.before == EndSwitch {
		mine.Target = f.beforeTarget
	}
}

// wake ends the wait that the last segment of f ended in.
func (e *Extractor) wake(f *follower, s *model.Step) {
	x := e.last(f)
	if x == nil {
		return
	}
	w, now := e.w, e.clock.now
	from := max(f.since, w.Start)
	k := int32(len(w.Goroutines[f.index].Segments) - 1)
	f.before, f.beforeTarget = x.End, x.Target
	x.Delay, x.Target = 0, -1
	span := waiting{g: f.index, seg: k, from: from, to: now, idle: e.clock.idle}
	if f.state != model.GoWaiting || s.From != uint8(model.GoWaiting) {
		e.arrive(f, x, k, s.P)
		return
	}
	by := e.get(s.By)
	switch {
	case s.Origin == model.OriginNetpoll:
		x.End, x.Class, x.Delay = EndExternal, ClassExternal, now.Sub(from)
		w.nets = append(w.nets, span)
	case s.Origin == model.OriginTimer, s.Origin == model.OriginExternal: // see inferReasons
		x.End, x.Class, x.Delay = EndSleep, ClassTimer, now.Sub(from)
		span.late = e.lateness(f, s.P)
		w.sleeps = append(w.sleeps, span)
	case f.reason == e.words.assistWait, f.reason == e.words.gcSemaphore, f.reason == e.words.runtimeSemaphore:
		// For credit, or one of the runtime's semaphores (runtime/mgc.go: gcStart, gcMarkDone), whose
		// waker is whoever had it before: what is waited for is that the cycle gets on.
		x.End, x.Class, x.Delay = EndAssist, ClassRuntime, now.Sub(from)
	case by != nil && e.termBy == by.id && w.cycle >= 0 && (by.worker || s.Origin == model.OriginInjected):
		// The end of a cycle (runtime/mgc.go: gcMarkTermination).
		x.End, x.Class = EndWait, ClassRuntime
		c := &w.Cycles[w.cycle]
		c.Ends = append(c.Ends, Op{Kind: OpWake, G: f.index, Seg: k, Stack: s.Stack, Inject: s.Origin == model.OriginInjected})
	case by != nil && by.worker:
		// It has just been created (runtime/mgc.go: gcBgMarkStartWorkers).
		x.End, x.Class, x.Delay = EndExternal, ClassRuntime, now.Sub(from)
	case by != nil && by != f && e.running(by):
		x.End = EndWait
		e.op(by, Op{Kind: OpWake, G: f.index, Seg: k, Stack: s.Stack, Inject: s.Origin == model.OriginInjected})
		f.waker = by
		w.waits = append(w.waits, span)
	default:
		e.arrive(f, x, k, s.P)
	}
}

// lateness returns how late the timer that wakes f on proc id is at most, 0 if that is not
// known: the proc has looked for timers that are due before it last started a goroutine
// (runtime/proc.go: findRunnable), if it is the one that f's timer was set on.
func (e *Extractor) lateness(f *follower, id model.ProcID) model.Duration {
	p := e.proc(id)
	if p == nil || id != f.left || p.started <= f.since || p.released > p.started {
		return 0
	}
	return e.clock.now.Sub(p.started)
}

// arrive has nobody known wake f from the wait that ends x, its segment k.
func (e *Extractor) arrive(f *follower, x *Segment, k int32, p model.ProcID) {
	x.End, x.Class = EndWait, ClassRuntime
	e.w.Arrivals = append(e.w.Arrivals, Arrival{At: e.w.since(e.clock.now), G: f.index, Seg: k, Proc: p, Kind: ArriveWake})
}
