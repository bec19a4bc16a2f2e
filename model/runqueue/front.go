package runqueue

import (
	"strings"

	"github.com/schedscope/schedscope/model"
)

// thread is what the front remembers of a thread.
type thread struct {
	last    model.Time // latest step
	woke    ref        // made runnable by the latest step
	stopped model.GoID // stopped by the latest step, or by the one before a wake of the same goroutine
	exit    ref        // left a system call without a proc, with nothing since but getting a proc
	list    *list
	ran     model.GoID // latest goroutine started
	got     model.Time // when it got its proc, if that was the latest step
	gave    model.Time // when it gave its proc up, if that was the latest step
	gotFrom model.ThreadID
	getting *got // passed to the replay with that
	inCall  bool // its goroutine is in a system call
}

// lastStopped returns the goroutine that the thread's latest step stopped.
func (t *thread) lastStopped() model.GoID {
	if x := t.woke.get(); x != nil && x.g == t.ran {
		return t.ran // preempted, or yielded
	}
	return t.stopped
}

// front turns steps into operations.
type front struct {
	tables     *model.Tables
	rules      rules
	words      words
	push       func(op)
	stays      model.GoTable[stay] // that go on
	spare      []*stay
	threads    map[model.ThreadID]*thread
	lost       []lost                      // by proc
	locked     map[model.GoID]*home        // goroutines that are locked to a thread, as it seems
	dedicated  map[model.ProcID]model.GoID // procs that run a dedicated mark worker, and which
	watched    map[model.GoID]ref          // woken by a poll as it seems, that run now
	callbacks  map[model.GoID]bool         // goroutines that stopped inside a callback from C
	callStacks stackSet                    // throughCallback
	waits      waitOps
	waitsIn    map[model.GoID]model.StackID // goroutines that wait for the network, or did last: where
	thread     *thread
	id         model.ThreadID
	seen       []bool     // procs, by id
	stopper    model.GoID // that has stopped the world, or is about to
	pending    *got       // of the proc that ceased to be idle in this event
	ends       []*got     // by proc that is idle
	mask       func(ordinal int) bool
	starts     int   // so far
	onProc     []int // the same, by proc
}

func newFront(t *model.Tables, ru rules, push func(op)) front {
	return front{tables: t, rules: ru, words: newWords(t), push: push, threads: map[model.ThreadID]*thread{}, locked: map[model.GoID]*home{}, callbacks: map[model.GoID]bool{}, watched: map[model.GoID]ref{}, dedicated: map[model.ProcID]model.GoID{},
		callStacks: stackSet{tables: t, is: throughCallback}, waits: waitOps{tables: t, inside: map[[2]model.StackID]bool{}}, waitsIn: map[model.GoID]model.StackID{}, stopper: model.NoGoroutine}
}

func (f *front) step(s *model.Step) {
	switch s.Kind {
	case model.StepGo:
		f.goStep(s)
	case model.StepMove:
		f.move(s)
	case model.StepProc:
		f.procStep(s)
	case model.StepProcs:
		if s.N > 0 && s.N <= maxProcs {
			f.push(op{kind: opProcs, at: s.Time, n: int(s.N)})
			f.assumeIdle(s)
		}
	case model.StepStopping:
		f.stopper = s.G
		f.push(op{kind: opWorld, at: s.Time, n: 1})
		if strings.Contains(f.tables.String(s.Reason), "GC mark termination") {
			end := op{kind: opMarkEnd, at: s.Time, p: model.NoProc}
			for p, g := range f.dedicated {
				if g == s.G {
					end.p = p
				}
			}
			f.push(end)
		}
	case model.StepRestarted:
		f.stopper = model.NoGoroutine
		f.push(op{kind: opWorld, at: s.Time})
	}
}

func (f *front) goStep(s *model.Step) {
	from, to := model.GoState(s.From), model.GoState(s.To)
	t := f.threadOf(s.M)
	if t != nil && t.ran == model.NoGoroutine && (from == model.GoRunning || from == model.GoSyscall) {
		t.ran = s.G // started before the trace, or came from C
	}
	if s.Flags&model.StepStatus != 0 {
		if to != model.GoRunnable {
			return // stated along with the event that needs it: nothing happened
		}
		t = nil
	}
	switch {
	case to == model.GoRunnable:
		f.ready(s, t)
	case from == model.GoRunnable && to == model.GoRunning:
		f.start(s, t)
	default:
		f.touch(t, s.Time)
		if from == model.GoRunning && t != nil {
			t.stopped = s.G
			t.inCall = to == model.GoSyscall
		}
		f.noteCallback(s)
		if from == model.GoRunning {
			f.watch(s)
		}
		if from == model.GoSyscall && t != nil {
			t.inCall = false
		}
	}
	if to == model.GoNotExist {
		delete(f.locked, s.G)
		delete(f.callbacks, s.G)
		delete(f.watched, s.G)
	}
	if from == model.GoRunnable && to != model.GoRunning && to != model.GoRunnable {
		f.gone(s.G, s.Time)
	}
}

// threadOf returns the thread, nil for none.
func (f *front) threadOf(id model.ThreadID) *thread {
	if id == model.NoThread {
		return nil
	}
	if f.thread == nil || f.id != id {
		t := f.threads[id]
		if t == nil {
			t = &thread{stopped: model.NoGoroutine, ran: model.NoGoroutine, gotFrom: model.NoThread, got: -1, gave: -1}
			f.threads[id] = t
		}
		f.thread, f.id = t, id
	}
	return f.thread
}

// touch notes that a thread did something at this time: what it made runnable
// before is in its queue.
func (f *front) touch(t *thread, at model.Time) {
	if t == nil {
		return
	}
	if x := t.woke.get(); x != nil {
		x.until = at
	}
	if t.list != nil {
		t.list.closed = true
	}
	t.last = at
	t.woke, t.exit, t.list, t.stopped = ref{}, ref{}, nil, model.NoGoroutine
	t.got, t.gave, t.getting = -1, -1, nil
}

// notYet is when a thread goes on that has not yet.
const notYet model.Time = 1 << 62

// ready begins a stay.
func (f *front) ready(s *model.Step, t *thread) {
	x := f.newStay()
	x.g, x.fn, x.system, x.open = s.G, s.Func, s.Flags&model.StepSystem != 0, s.Flags&model.StepStatus != 0
	x.origin, x.poller, x.ready, x.until, x.entry, x.proc, x.by = s.Origin, s.Poller, s.Time, s.Time, f.entryOf(s), s.P, s.M
	if x.entry == entryPoll {
		x.wait = f.waitsIn[s.G]
	}
	if f.blind(s) {
		x.blind = true
		if s.P != model.NoProc {
			x.entry = entryPoll // until it is known what it waits for next
		}
	}
	f.gone(s.G, s.Time)
	f.stays.Put(s.G, x)
	f.noteCallback(s)
	if t == nil {
		f.push(op{kind: opReady, at: s.Time, stay: x})
		return
	}
	x.until = notYet
	before, stopped, last := t.list, t.stopped, t.last
	if t.getting != nil && (t.getting.kind == gotWoken || t.getting.kind == gotAgain) && x.entry == entryPoll && s.P != model.NoProc {
		t.getting.kind = gotPoller
	}
	f.touch(t, s.Time)
	switch x.entry {
	case entryInject, entryPoll:
		if before == nil || before.done || before.stays[0].entry != x.entry || before.left(s.Time) || len(before.stays) >= maxList {
			before = &list{}
		}
		before.stays, before.closed = append(before.stays, x), false
		x.list, t.list = before, before
	}
	t.woke = ref{x, x.gen}
	if stopped == s.G && s.By == model.NoGoroutine {
		t.stopped, x.gap = s.G, s.Time.Sub(last)
	}
	if s.Origin == model.OriginSyscall {
		t.exit, t.inCall = t.woke, false
	}
	f.push(op{kind: opReady, at: s.Time, stay: x})
}

// gone ends a stay of which the trace never showed the start, as only damaged
// traces do.
func (f *front) gone(g model.GoID, at model.Time) {
	if x := f.stays.Get(g); x != nil {
		f.stays.Remove(g)
		f.push(op{kind: opGone, at: at, stay: x})
	}
}

// start ties a start to its stay.
func (f *front) start(s *model.Step, t *thread) {
	x := f.stays.Get(s.G)
	if x == nil {
		x = f.newStay()
		x.g, x.open, x.ready = s.G, true, s.Since
	} else {
		f.stays.Remove(s.G)
	}
	if x.entry == entryPoll {
		f.watched[s.G] = ref{x, x.gen}
	}
	x.fn, x.system, x.pseudo, x.origin = s.Func, s.Flags&model.StepSystem != 0, s.Pseudo, s.Origin
	x.started, x.start, x.search, x.earliest, x.p, x.m = true, s.Time, s.Time, s.Time, s.P, s.M
	if t != nil {
		if t.last > 0 {
			x.search = t.last
		}
		x.handed = f.handed(x, s, t)
		x.how, x.howGrade = f.direct(x, s, t)
		if t.getting != nil && x.how == SourceSyscall {
			t.getting.kind = gotExit
		}
		x.earliest = x.search
		if x.handed && f.lostOf(s.P).at < x.search {
			x.earliest = f.lostOf(s.P).began
		}
		f.touch(t, s.Time)
		t.ran = s.G
	}
	x.ordinal = f.starts
	f.starts++
	if isProc(s.P) {
		n := at(&f.onProc, int(s.P))
		*n++
		x.onProc = *n
	}
	if f.mask != nil && x.how == SourceUnknown && f.mask(x.ordinal) {
		x.started, x.masked = false, true
	}
	f.push(op{kind: opStart, at: s.Time, p: s.P, stay: x})
}
