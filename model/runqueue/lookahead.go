package runqueue

import (
	"strings"

	"github.com/schedscope/schedscope/model"
)

// thread is what the look-ahead remembers of a thread.
type thread struct {
	id       model.ThreadID
	ran      model.GoID // latest goroutine started
	last     model.Time // latest step
	woke     handle     // made runnable by the latest step
	stopped  model.GoID // stopped by the latest step, or by the one before a wake of the same goroutine
	exit     handle     // left a system call without a proc, with nothing since but getting a proc
	injected *injected
	got      model.Time // when it got its proc, if that was the latest step
	gave     model.Time // when it gave its proc up, if that was the latest step
	gotFrom  model.ThreadID
	getting  *acquired // passed to the replay with that
	brief    bool      // woke was stopped by the step before, less than failedPark ago
	inCall   bool      // its goroutine is in a system call
}

// goroutine is what the look-ahead remembers of a goroutine that is alive.
type goroutine struct {
	runnable *runnable     // that goes on
	home     *home         // where it is locked, as it seems
	watched  handle        // the runnable that a poll ended, as it seems, until what it does then is known
	waitsIn  model.StackID // where it waits for the network, or did last
	callback bool          // it stopped inside a callback from C
}

// lastStopped returns the goroutine that the thread's latest step stopped.
func (t *thread) lastStopped() model.GoID {
	if x := t.woke.get(); x != nil && x.g == t.ran {
		return t.ran // preempted, or yielded
	}
	return t.stopped
}

// lookahead turns steps into operations.
type lookahead struct {
	tables     *model.Tables
	rules      rules
	words      words
	ring       *ring
	pool       *pool
	gs         model.GoTable[goroutine]
	threads    map[model.ThreadID]*thread
	procs      []proc
	callStacks stackSet // throughCallback
	waits      waitOps
	stopper    model.GoID // that has stopped the world, or is about to
	pending    *acquired  // of the proc that ceased to be idle in this event
	mask       func(ordinal int) bool
	starts     uint32 // so far
}

func newLookahead(t *model.Tables, ru rules, to *ring, p *pool) lookahead {
	return lookahead{tables: t, rules: ru, words: newWords(t), ring: to, pool: p, threads: map[model.ThreadID]*thread{},
		callStacks: stackSet{tables: t, is: throughCallback}, waits: waitOps{tables: t, inside: map[[2]model.StackID]bool{}}, stopper: model.NoGoroutine}
}

func (f *lookahead) step(s *model.Step) {
	switch s.Kind {
	case model.StepGo:
		f.goStep(s)
	case model.StepMove:
		f.move(s)
	case model.StepProc:
		f.procStep(s)
	case model.StepProcs:
		if s.N > 0 && s.N <= maxProcs {
			f.ring.push(op{kind: opProcs, at: s.Time, n: int16(s.N)})
			f.assumeIdle(s)
		}
	case model.StepStopping:
		f.stopper = s.G
		f.ring.push(op{kind: opWorld, at: s.Time, n: 1})
		if strings.Contains(f.tables.String(s.Reason), "GC mark termination") {
			end := op{kind: opMarkEnd, at: s.Time, p: model.NoProc}
			for i := range f.procs {
				if p := &f.procs[i]; p.dedicated && p.worker == s.G {
					end.p = model.ProcID(i)
				}
			}
			f.ring.push(end)
		}
	case model.StepRestarted:
		f.stopper = model.NoGoroutine
		f.ring.push(op{kind: opWorld, at: s.Time})
	}
}

func (f *lookahead) goStep(s *model.Step) {
	from, to := model.GoState(s.From), model.GoState(s.To)
	t := f.threadOf(s.M, s.P)
	if t != nil && t.ran == model.NoGoroutine && (from == model.GoRunning || from == model.GoSyscall) {
		t.ran = s.G // started before the trace, or came from C
	}
	if s.Flags&model.StepStatus != 0 {
		if to != model.GoRunnable {
			return // stated along with the event that needs it: nothing happened
		}
		t = nil
	}
	g := f.goroutineOf(s.G)
	if from == model.GoRunning { // in a callback from C it is locked to its thread (runtime/cgocall.go: cgocallbackg)
		g.callback = f.callStacks.has(s.Stack)
	}
	switch {
	case to == model.GoRunnable:
		f.ready(s, t, g)
	case from == model.GoRunnable && to == model.GoRunning:
		f.start(s, t, g)
	default:
		f.touch(t, s.Time)
		if from == model.GoRunning && t != nil {
			t.stopped = s.G
			t.inCall = to == model.GoSyscall
		}
		if from == model.GoRunning {
			f.watch(s, g)
		}
		if from == model.GoSyscall && t != nil {
			t.inCall = false
		}
		f.gone(g, s.Time)
	}
	if to == model.GoNotExist {
		f.gs.Remove(s.G)
	}
}

// goroutineOf returns what is remembered of a goroutine.
func (f *lookahead) goroutineOf(id model.GoID) *goroutine {
	g := f.gs.Get(id)
	if g == nil {
		g = new(goroutine)
		f.gs.Put(id, g)
	}
	return g
}

// threadOf returns the thread, nil for none, which is likely the latest one that was asked
// for with this proc.
func (f *lookahead) threadOf(id model.ThreadID, of model.ProcID) *thread {
	if id == model.NoThread {
		return nil
	}
	p := f.proc(of)
	if p.thread == nil || p.thread.id != id {
		t := f.threads[id]
		if t == nil {
			t = &thread{id: id, stopped: model.NoGoroutine, ran: model.NoGoroutine, gotFrom: model.NoThread, got: -1, gave: -1}
			f.threads[id] = t
		}
		p.thread = t
	}
	return p.thread
}

// touch notes that a thread did something at this time: what it made runnable
// before is in its queue.
func (f *lookahead) touch(t *thread, at model.Time) {
	if t == nil {
		return
	}
	if x := t.woke.get(); x != nil {
		x.until = at
	}
	if t.injected != nil {
		t.injected.closed = true
	}
	t.last = at
	t.woke, t.exit, t.injected, t.stopped = handle{}, handle{}, nil, model.NoGoroutine
	t.got, t.gave, t.getting = -1, -1, nil
}

// notYet is when a thread goes on that has not yet.
const notYet model.Time = 1 << 62

// ready begins a runnable.
func (f *lookahead) ready(s *model.Step, t *thread, g *goroutine) {
	x := f.pool.get()
	x.g, x.fn, x.system, x.open = s.G, s.Func, s.Flags&model.StepSystem != 0, s.Flags&model.StepStatus != 0
	x.origin, x.poller, x.ready, x.until, x.entry, x.proc, x.by = s.Origin, s.Poller, s.Time, s.Time, f.entryOf(s), s.P, s.M
	if x.entry == entryPoll {
		x.wait = g.waitsIn
	}
	if f.blind(s) {
		x.blind = true
		if s.P != model.NoProc {
			x.entry = entryPoll // until it is known what it waits for next
		}
	}
	f.gone(g, s.Time)
	g.runnable = x
	if t == nil {
		f.ring.push(op{kind: opReady, at: s.Time, runnable: x})
		return
	}
	x.until = notYet
	before, stopped, last := t.injected, t.stopped, t.last
	if t.getting != nil && (t.getting.kind == acquiredWoken || t.getting.kind == acquiredAgain) && x.entry == entryPoll && s.P != model.NoProc {
		t.getting.kind = acquiredPoller
	}
	f.touch(t, s.Time)
	switch x.entry {
	case entryInject, entryPoll:
		if before == nil || before.done || before.runnables[0].entry != x.entry || before.left(s.Time) || len(before.runnables) >= maxInjected {
			before = &injected{}
		}
		before.runnables, before.closed = append(before.runnables, x), false
		x.injected, t.injected = before, before
	}
	t.woke = handle{x, x.gen}
	t.brief = false
	if stopped == s.G && s.By == model.NoGoroutine {
		t.stopped, t.brief = s.G, s.Time.Sub(last) < failedPark
	}
	if s.Origin == model.OriginSyscall {
		t.exit, t.inCall = t.woke, false
	}
	f.ring.push(op{kind: opReady, at: s.Time, runnable: x})
}

// gone ends a runnable of which the trace never showed the start, as only damaged
// traces do.
func (f *lookahead) gone(g *goroutine, at model.Time) {
	if g.runnable != nil {
		f.ring.push(op{kind: opGone, at: at, runnable: g.runnable})
		g.runnable = nil
	}
}

// start ties a start to its runnable.
func (f *lookahead) start(s *model.Step, t *thread, g *goroutine) {
	x := g.runnable
	g.runnable = nil
	if x == nil {
		x = f.pool.get()
		x.g, x.open, x.ready = s.G, true, s.Since
	}
	if x.entry == entryPoll {
		g.watched = handle{x, x.gen}
	}
	p := f.proc(s.P)
	x.fn, x.system, x.pseudo, x.origin = s.Func, s.Flags&model.StepSystem != 0, s.Pseudo, s.Origin
	x.started, x.start, x.search, x.earliest, x.p, x.m = true, s.Time, s.Time, s.Time, s.P, s.M
	if t != nil {
		if t.last > 0 {
			x.search = t.last
		}
		x.handed = f.handed(x, s, t, g)
		x.how, x.howGrade = f.direct(x, s, t)
		if t.getting != nil && x.how == SourceSyscall {
			t.getting.kind = acquiredExit
		}
		x.earliest = x.search
		if x.handed && p.lost.at < x.search {
			x.earliest = p.lost.began
		}
		f.touch(t, s.Time)
		t.ran = s.G
	}
	x.ordinal = f.starts
	f.starts++
	p.starts = (p.starts + 1) % fairnessOf
	x.onProc = p.starts
	if f.mask != nil && x.how == SourceUnknown && f.mask(int(x.ordinal)) {
		x.started, x.masked = false, true
	}
	f.ring.push(op{kind: opStart, at: s.Time, p: s.P, runnable: x})
	p.began = f.ring.end
}
