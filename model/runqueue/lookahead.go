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
	brief    bool       // woke was stopped by the step before, less than failedPark ago
	inCall   bool       // its goroutine is in a system call
	rare     bool       // one of these may be set:
	injected *injected
	exit     handle     // left a system call without a proc, with nothing since but getting a proc
	got      model.Time // when it got its proc, if that was the latest step; else -1
	gave     model.Time // when it gave its proc up, if that was the latest step; else -1
	getting  *acquired  // passed to the replay with that
	gotFrom  model.ThreadID
}

// goroutine is what the look-ahead remembers of a goroutine that is alive.
type goroutine struct {
	runnable  *runnable     // that goes on
	home      *home         // where it is locked, as it seems
	watched   handle        // the runnable that a poll ended, as it seems, until what it does then is known
	waitsIn   model.StackID // where it waits for the network, or did last
	stoppedIn model.StackID // in a callback from C it is locked to its thread (runtime/cgocall.go: cgocallbackg)
}

// lastStopped returns the goroutine that the thread's latest step stopped.
func (t *thread) lastStopped() model.GoID {
	if x := t.woke.get(); x != nil && x.G == t.ran {
		return t.ran // preempted, or yielded
	}
	return t.stopped
}

// lookahead turns steps into operations.
type lookahead struct {
	tables     *model.Tables
	rules      rules
	words      words
	line       line
	pool       *pool
	gs         model.GoTable[goroutine]
	threads    map[model.ThreadID]*thread
	procs      []proc
	none       proc // an id out of reason
	callStacks callbackStacks
	waits      waitOps
	stopper    model.GoID // that has stopped the world, or is about to
	pending    *acquired  // of the proc that ceased to be idle in this event
	starts     int        // so far
}

func newLookahead(t *model.Tables, ru rules, p *pool) lookahead {
	return lookahead{tables: t, rules: ru, words: newWords(t), pool: p, threads: map[model.ThreadID]*thread{},
		callStacks: callbackStacks{tables: t}, waits: waitOps{tables: t, inside: map[[2]model.StackID]bool{}}, stopper: model.NoGoroutine}
}

// other takes a step that is not that of a goroutine.
func (f *lookahead) other(s *model.Step) {
	switch s.Kind {
	case model.StepProc:
		f.procStep(s, f.proc(s.P))
	case model.StepMove:
		f.move(s)
	case model.StepProcs:
		if s.N > 0 && s.N <= maxProcs {
			f.line.push(op{kind: opProcs, at: s.Time, p: model.ProcID(s.N)})
			f.assumeIdle(s)
		}
	case model.StepStopping:
		f.stopper = s.G
		f.line.push(op{kind: opWorld, at: s.Time, on: true})
		if strings.Contains(f.tables.String(s.Reason), "GC mark termination") {
			o := op{kind: opMarkEnd, at: s.Time, p: model.NoProc}
			for i := range f.procs {
				if p := &f.procs[i]; p.dedicated && p.worker == s.G {
					o.p = model.ProcID(i)
				}
			}
			f.line.push(o)
		}
	case model.StepRestarted:
		f.stopper = model.NoGoroutine
		f.line.push(op{kind: opWorld, at: s.Time})
	}
}

// Step implements [model.StepObserver]. It also takes the records of a [model.StepLog], which may be
// of two steps.
func (f *lookahead) Step(s *model.Step) {
	if s.Kind != model.StepGo {
		f.other(s)
		return
	}
	p := f.proc(s.P)
	switch from, to, both := s.ProcStates(); {
	case !both:
	case from == model.ProcIdle, to == model.ProcIdle, s.Work.IsGC(), p.dedicated, !p.seen:
		f.procStep(s, p)
	case to == model.ProcSearching:
		f.line.search(p, s.P, s.Time)
	}
	t, to := p.thread, model.GoState(s.To)
	if t == nil || t.id != s.M {
		t = f.threadOf(s.M, p)
	}
	if s.Flags&model.StepStatus != 0 {
		if to != model.GoRunnable {
			return // stated along with the event that needs it: nothing happened
		}
		t = nil
	}
	g := f.goroutineOf(s.G)
	if from := model.GoState(s.From); from == model.GoRunning || from == model.GoSyscall {
		if t != nil && t.ran == model.NoGoroutine {
			t.ran = s.G // started before the trace, or came from C
		}
		if from == model.GoRunning {
			g.stoppedIn = s.Stack
		}
	}
	switch {
	case to == model.GoRunnable:
		f.ready(s, t, g)
	case to == model.GoRunning && model.GoState(s.From) == model.GoRunnable:
		f.start(s, t, g, p)
	default:
		f.goesOn(s, t, g)
	}
}

// goesOn takes what neither begins nor starts a runnable: a stop, or a system call.
func (f *lookahead) goesOn(s *model.Step, t *thread, g *goroutine) {
	from, to := model.GoState(s.From), model.GoState(s.To)
	if t != nil {
		t.touch(s.Time)
		if from == model.GoRunning {
			t.stopped, t.inCall = s.G, to == model.GoSyscall
		} else if from == model.GoSyscall {
			t.inCall = false
		}
	}
	if from == model.GoRunning {
		if g.watched.runnable != nil {
			f.watch(s, g)
		}
		if to == model.GoWaiting && s.Reason == f.words.network {
			g.waitsIn = s.Stack
		}
	}
	if g.runnable != nil {
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

// threadOf returns the thread, nil for none, and notes it as the latest that was asked for with this proc.
func (f *lookahead) threadOf(id model.ThreadID, p *proc) *thread {
	if id == model.NoThread {
		return nil
	}
	t := f.threads[id]
	if t == nil {
		t = &thread{id: id, stopped: model.NoGoroutine, ran: model.NoGoroutine, gotFrom: model.NoThread, got: -1, gave: -1}
		f.threads[id] = t
	}
	p.thread = t
	return t
}

// touch notes that a thread did something at this time: what it made runnable
// before is in its queue.
func (t *thread) touch(at model.Time) {
	if x := t.woke.runnable; x != nil {
		if x.gen == t.woke.gen {
			x.until = at
		}
		t.woke.runnable = nil
	}
	t.last, t.stopped = at, model.NoGoroutine
	if !t.rare {
		return
	}
	if t.injected != nil {
		t.injected.closed = true
	}
	t.exit, t.injected, t.got, t.gave, t.getting, t.rare = handle{}, nil, -1, -1, nil, false
}

// notYet is when a thread goes on that has not yet.
const notYet model.Time = 1 << 62

// ready begins a runnable.
func (f *lookahead) ready(s *model.Step, t *thread, g *goroutine) {
	x := f.pool.get()
	x.G, x.OpenStart = s.G, s.Flags&model.StepStatus != 0
	x.Origin, x.poller, x.Since, x.until, x.entry, x.proc, x.by = s.Origin, s.Poller, s.Time, s.Time, f.entryOf(s), s.P, s.M
	if x.entry == entryPoll {
		x.wait = g.waitsIn
	}
	if f.blind(s) {
		x.blind = true
		if s.P != model.NoProc {
			x.entry = entryPoll // until it is known what it waits for next
		}
	}
	if g.runnable != nil {
		f.gone(g, s.Time)
	}
	g.runnable = x
	if t != nil {
		x.until = notYet
		before, stopped, last := t.injected, t.stopped, t.last
		if t.getting != nil && (t.getting.kind == acquiredWoken || t.getting.kind == acquiredAgain) && x.entry == entryPoll && s.P != model.NoProc {
			t.getting.kind = acquiredPoller
		}
		t.touch(s.Time)
		if x.entry == entryInject || x.entry == entryPoll {
			t.inject(x, before)
		}
		t.woke, t.brief = handle{x, x.gen}, false
		if stopped == s.G && s.By == model.NoGoroutine {
			t.stopped, t.brief = s.G, s.Time.Sub(last) < failedPark
		}
		if s.Origin == model.OriginSyscall {
			t.exit, t.inCall, t.rare = t.woke, false, true
		}
	}
	f.line.next(opReady, s.Time).runnable = x
	f.line.pushed()
}

// inject makes x part of the list that the thread made runnable just before, or of a new one.
func (t *thread) inject(x *runnable, l *injected) {
	if l == nil || l.done || l.runnables[0].entry != x.entry || l.left(x.Since) || len(l.runnables) >= maxInjected {
		l = &injected{}
		l.runnables = l.first[:0]
	}
	l.runnables, l.closed = append(l.runnables, x), false
	x.injected, t.injected, t.rare = l, l, true
}

// gone ends a runnable of which the trace never showed the start, as only damaged
// traces do.
func (f *lookahead) gone(g *goroutine, at model.Time) {
	f.line.push(op{kind: opGone, at: at, runnable: g.runnable})
	g.runnable = nil
}

// start ties a start to its runnable.
func (f *lookahead) start(s *model.Step, t *thread, g *goroutine, p *proc) {
	x := g.runnable
	g.runnable = nil
	if x == nil {
		x = f.pool.get()
		x.G, x.OpenStart, x.Since = s.G, true, s.Since
	}
	if x.entry == entryPoll {
		g.watched = handle{x, x.gen}
	}
	x.Func, x.System, x.Pseudo, x.Origin = s.Func, s.Flags&model.StepSystem != 0, s.Pseudo, s.Origin
	x.started, x.Time, x.Search, x.P, x.M = true, s.Time, s.Time, s.P, s.M
	x.earliest = s.Time
	if t != nil {
		if t.last > 0 {
			x.Search, x.earliest = t.last, t.last
		}
		if t.rare && t.got >= 0 {
			x.Freed = p.lost.at
		}
		if t.rare || g.home != nil {
			if x.handed = f.handed(x, s, t, g, p); x.handed && p.lost.at < x.Search {
				x.earliest = p.lost.began
			}
		}
		if s.Pseudo != model.NotPseudo || x.entry == entryNone || t.rare || t.woke.get() == x {
			x.how, x.howGrade = f.direct(x, s, t)
		}
		if t.getting != nil && x.how == SourceSyscall {
			t.getting.kind = acquiredExit
		}
		t.touch(s.Time)
		t.ran = s.G
	}
	x.Ordinal = f.starts
	f.starts++
	if p.starts++; p.starts == fairnessOf {
		p.starts = 0
	}
	x.onProc = p.starts
	o := f.line.next(opStart, s.Time)
	o.p, o.runnable = s.P, x
	p.began = f.line.gone + f.line.end
	f.line.pushed()
}
