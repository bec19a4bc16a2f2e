package runqueue

import (
	"slices"
	"strings"

	"github.com/schedscope/schedscope/model"
)

// stay is one Runnable interval of one goroutine, from where it became runnable
// to where it started.
type stay struct {
	g      model.GoID
	fn     model.StringID
	system bool
	open   bool // runnable since before the trace
	origin model.Origin
	pseudo model.Pseudo

	after                model.StringID // of a blind one: what it waited for next
	afterNet, afterSleep bool           // that is the network, or a sleep
	gap                  model.Duration // from its own stop on the same thread, if that was the step before
	blind                bool           // what it waited for is not known, so neither how it was woken
	ready                model.Time     // when it became runnable
	until                model.Time     // next event of the thread that made it so: it was in its queue by then
	entry                entry          // how it is queued
	proc                 model.ProcID   // on which proc, NoProc if the thread had none
	by                   model.ThreadID
	poller               model.Poller
	list                 *list // woken together with others

	// The start that ends it, as far as the look-ahead goes.
	started  bool
	start    model.Time
	search   model.Time // latest event of the thread before
	earliest model.Time // it was in the queue until then: search, or that of the thread that handed over its proc
	p        model.ProcID
	m        model.ThreadID
	how      Source // if the events around it tell
	howGrade Grade
	// handed: the thread got the proc just before, from another one that had not
	// run anything.
	handed bool

	slot    slot // in the replay
	slotted bool
	gen     uint32 // how often it was used before
	over    bool   // the replay has come past its start
	choices int    // how many likely worlds explain its start in different ways; 0: all alike
}

// ref is a reference to a stay that may be over by the time it is used.
type ref struct {
	stay *stay
	gen  uint32
}

func (r ref) get() *stay {
	if r.stay == nil || r.stay.gen != r.gen {
		return nil
	}
	return r.stay
}

// newStay returns an empty stay.
func (f *front) newStay() *stay {
	n := len(f.spare)
	if n == 0 {
		return &stay{proc: model.NoProc, p: model.NoProc}
	}
	x := f.spare[n-1]
	f.spare = f.spare[:n-1]
	return x
}

// recycle takes back a stay that nothing but a [ref] refers to any more.
func (f *front) recycle(x *stay) {
	*x = stay{gen: x.gen + 1, proc: model.NoProc, p: model.NoProc}
	f.spare = append(f.spare, x)
}

// list is goroutines that one thread made runnable in a row.
type list struct {
	stays []*stay
	done  bool
}

// listGap is more than passes between two of a list: some 100 ns. Only sysmon and
// pollers without a proc make two lists with nothing between.
const listGap model.Duration = 20_000

// maxList bounds a list; a poll returns at most 128 (runtime/netpoll_epoll.go).
const maxList = 1024

// left reports whether the list is complete, so that what its thread makes
// runnable at this time belongs to another one. A poll with a proc ends with
// the goroutine that runs at once, told after the others were queued, which
// takes a while where threads are to be woken.
func (l *list) left(at model.Time) bool {
	last := l.stays[len(l.stays)-1]
	if last.entry == entryPoll && last.proc != model.NoProc {
		return false
	}
	return at.Sub(last.ready) > listGap || slices.ContainsFunc(l.stays, func(s *stay) bool { return s.started })
}

// opKind is a kind of operation.
type opKind uint8

const (
	opReady opKind = iota
	opStart
	opGone    // the stay ended otherwise
	opIdle    // proc p becomes idle
	opBusy    // proc p is no longer idle
	opSearch  // the thread of proc p begins to look for work
	opDrain   // the occupant of proc p is a dedicated worker (n=1), or no longer (n=0)
	opMarkEnd // the world is about to stop for the end of a mark phase
	opProcs   // the program has n procs
)

// op is an operation of the replay.
type op struct {
	kind opKind
	at   model.Time
	p    model.ProcID
	n    int
	stay *stay
	got  *got // opBusy; opIdle: the one that will end it
}

// thread is what the front remembers of a thread.
type thread struct {
	last    model.Time // latest step
	woke    ref        // made runnable by the latest step
	stopped model.GoID // stopped by the latest step, or by the one before a wake of the same goroutine
	exit    ref        // left a system call without a proc, with nothing since but getting a proc
	list    *list
	ran     model.GoID // latest goroutine started
	again   int        // how many times in a row before
	got     model.Time // when it got its proc, if that was the latest step
	gotFrom model.ThreadID
	getting *got // told to the replay with that
	inCall  bool // its goroutine is in a system call
}

// lastStopped returns the goroutine that the thread's latest step stopped.
func (t *thread) lastStopped() model.GoID {
	if x := t.woke.get(); x != nil && x.g == t.ran {
		return t.ran // preempted, or yielded
	}
	return t.stopped
}

// lost is how a proc was last given up.
type lost struct {
	by    model.ThreadID
	at    model.Time
	began model.Time // latest step of the thread before
	bare  bool       // by the thread that had it, which had started nothing on it since its latest stop
}

// front turns steps into operations.
type front struct {
	tables  *model.Tables
	rules   rules
	words   words
	push    func(op)
	stays   map[model.GoID]*stay
	spare   []*stay
	threads map[model.ThreadID]*thread
	lost    []lost                        // by proc
	locked  map[model.GoID]model.ThreadID // goroutines seen to be locked to a thread
	blinds  map[model.GoID]*stay          // woken blindly, that run now
	// callbacks are the goroutines that stopped inside a callback from C; the other
	// caches which stacks say so (0: not seen yet, 1: no, 2: yes).
	callbacks  map[model.GoID]bool
	callbackBy []uint8
	thread     *thread
	id         model.ThreadID
	stopper    model.GoID // that has stopped the world, or is about to
	pending    *got       // of the proc that ceased to be idle in this event
	ends       []*got     // by proc that is idle
}

func newFront(t *model.Tables, ru rules, push func(op)) front {
	return front{tables: t, rules: ru, words: newWords(t), push: push, stays: map[model.GoID]*stay{},
		threads: map[model.ThreadID]*thread{}, locked: map[model.GoID]model.ThreadID{}, callbacks: map[model.GoID]bool{}, blinds: map[model.GoID]*stay{}, stopper: model.NoGoroutine}
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
		f.push(op{kind: opProcs, at: s.Time, n: int(s.N)})
	case model.StepStopping:
		f.stopper = s.G
		if strings.Contains(f.tables.String(s.Reason), "GC mark termination") {
			f.push(op{kind: opMarkEnd, at: s.Time})
		}
	case model.StepRestarted:
		f.stopper = model.NoGoroutine
	}
}

func (f *front) goStep(s *model.Step) {
	from, to := model.GoState(s.From), model.GoState(s.To)
	t := f.threadOf(s.M)
	if s.Flags&model.StepStatus != 0 {
		if to != model.GoRunnable {
			return // told along with the event that needs it: nothing happened
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
		if x := f.blinds[s.G]; x != nil && from == model.GoRunning {
			x.after, x.afterNet, x.afterSleep = s.Reason, s.Reason == f.words.network, s.Reason == f.words.sleep
			delete(f.blinds, s.G)
		}
		if from == model.GoSyscall && t != nil {
			t.inCall = false
		}
	}
	if to == model.GoNotExist {
		delete(f.locked, s.G)
		delete(f.callbacks, s.G)
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
			t = &thread{stopped: model.NoGoroutine, ran: model.NoGoroutine, gotFrom: model.NoThread, got: -1}
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
	t.last = at
	t.woke, t.exit, t.list, t.stopped = ref{}, ref{}, nil, model.NoGoroutine
	t.got, t.getting = -1, nil
}

// ready begins a stay.
func (f *front) ready(s *model.Step, t *thread) {
	x := f.newStay()
	x.g, x.fn, x.system, x.open = s.G, s.Func, s.Flags&model.StepSystem != 0, s.Flags&model.StepStatus != 0
	x.origin, x.poller, x.ready, x.until, x.entry, x.proc, x.by = s.Origin, s.Poller, s.Time, s.Time, f.entryOf(s), s.P, s.M
	if f.blind(s) {
		x.blind = true
		if s.P != model.NoProc {
			x.entry = entryPoll // until it is known what it waits for next
		}
	}
	f.gone(s.G, s.Time)
	f.stays[s.G] = x
	f.noteCallback(s)
	if t == nil {
		f.push(op{kind: opReady, at: s.Time, stay: x})
		return
	}
	before, stopped, last := t.list, t.stopped, t.last
	if t.getting != nil && t.getting.kind == gotWoken && x.entry == entryPoll && s.P != model.NoProc {
		t.getting.kind = gotPoller
	}
	f.touch(t, s.Time)
	switch x.entry {
	case entryInject, entryPoll:
		if before == nil || before.done || before.stays[0].entry != x.entry || before.left(s.Time) || len(before.stays) >= maxList {
			before = &list{}
		}
		before.stays = append(before.stays, x)
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
	if x := f.stays[g]; x != nil {
		delete(f.stays, g)
		f.push(op{kind: opGone, at: at, stay: x})
	}
}

// blind reports whether a goroutine is woken on a scheduler stack and the trace
// does not tell what it had waited for, because it has since before the trace.
func (f *front) blind(s *model.Step) bool {
	return model.GoState(s.From) == model.GoWaiting && s.Reason == 0 && s.By == model.NoGoroutine && s.Flags&model.StepWorker == 0
}

// timed reports whether a timer has most likely woken a goroutine that was woken
// blindly: next it sleeps, or it was woken alone and next waits for something
// other than the network.
func (s *stay) timed() bool {
	return s.blind && s.proc != model.NoProc && s.after != 0 && !s.afterNet && (s.afterSleep || s.list == nil || len(s.list.stays) == 1)
}

// start ties a start to its stay.
func (f *front) start(s *model.Step, t *thread) {
	x := f.stays[s.G]
	if x == nil {
		x = f.newStay()
		x.g, x.open, x.ready = s.G, true, s.Since
	}
	delete(f.stays, s.G)
	if x.blind {
		f.blinds[s.G] = x
	}
	x.fn, x.system, x.pseudo, x.origin = s.Func, s.Flags&model.StepSystem != 0, s.Pseudo, s.Origin
	x.started, x.start, x.search, x.earliest, x.p, x.m = true, s.Time, s.Time, s.Time, s.P, s.M
	if t != nil {
		if t.last > 0 {
			x.search = t.last
		}
		x.how, x.howGrade = f.direct(x, s, t)
		if t.getting != nil && x.how == SourceSyscall {
			t.getting.kind = gotExit
		}
		x.earliest = x.search
		if x.handed = f.handed(x, s, t); x.handed && f.lostOf(s.P).at < x.search {
			x.earliest = f.lostOf(s.P).began
		}
		f.touch(t, s.Time)
		if t.ran == s.G {
			t.again++
		} else {
			t.ran, t.again = s.G, 0
		}
	}
	f.push(op{kind: opStart, at: s.Time, p: s.P, stay: x})
}

// direct finds the source if the events around the start tell it.
func (f *front) direct(x *stay, s *model.Step, t *thread) (Source, Grade) {
	switch {
	case s.Pseudo == model.PseudoCoroutine:
		return SourceCoroutine, GradeCertain
	case s.Pseudo == model.PseudoSyscall:
		return SourceSyscall, GradeCertain
	case s.Flags&model.StepWorker != 0 && x.entry == entryNone:
		return SourceSystem, GradeCertain
	case x.entry == entryNone && t.got >= 0:
		return SourceDirect, GradeCertain // moved to another proc by procresize
	case t.exit.get() == x && t.got >= 0:
		return f.afterExit(x, s.P)
	case t.woke.get() != x:
		return SourceUnknown, GradeCertain
	case x.entry == entryPoll && t.stopped == x.g && x.gap < failedPark:
		return SourceDirect, GradeUnique
	case x.entry == entryPoll:
		return SourceNetpoll, GradeCertain
	case f.isReader(s):
		return SourceSystem, GradeCertain
	}
	return SourceUnknown, GradeCertain
}

// failedPark is more than passes between a park that fails because the network
// was ready already (runtime/netpoll.go: netpollblockcommit) and the wake that
// takes it back, and less than a poll takes.
const failedPark model.Duration = 700

// isReader reports whether G reads the trace that is being recorded; the
// runtime hands it to a thread that looks for work (traceReader).
func (f *front) isReader(s *model.Step) bool {
	return s.Flags&model.StepSystem != 0 && s.Origin == model.OriginInjected && strings.HasPrefix(f.tables.String(s.Func), "runtime/trace.")
}

// afterExit: a goroutine came out of a system call without a proc, and its
// thread then got one and ran it. The runtime looks twice for an idle proc
// (runtime/proc.go: exitsyscallNoP); only if there is none it puts the goroutine
// into the global queue, and its thread has to be woken to find it there. So what
// counts is whether the proc was idle already when the system call ended.
func (f *front) afterExit(x *stay, p model.ProcID) (Source, Grade) {
	if f.lostOf(p).at <= x.ready {
		return SourceSyscall, GradeUnique
	}
	return SourceUnknown, GradeCertain
}

// lostOf and endOf return the entries of a proc; of ids out of reason, one that
// means nothing.
func (f *front) lostOf(p model.ProcID) *lost {
	if p < 0 || p >= maxProcs {
		return &lost{by: model.NoThread}
	}
	if int(p) >= len(f.lost) {
		f.lost = append(f.lost, make([]lost, int(p)+1-len(f.lost))...)
	}
	return &f.lost[p]
}

func (f *front) endOf(p model.ProcID) **got {
	if p < 0 || p >= maxProcs {
		return new(*got)
	}
	if int(p) >= len(f.ends) {
		f.ends = append(f.ends, make([]*got, int(p)+1-len(f.ends))...)
	}
	return &f.ends[p]
}

// move follows a proc from thread to thread.
func (f *front) move(s *model.Step) {
	if s.Flags&model.StepStatus != 0 {
		return
	}
	t := f.threadOf(s.M)
	switch {
	case s.ToM != model.NoThread && s.ToM == s.M && t != nil:
		exit := t.exit
		f.touch(t, s.Time)
		t.exit, t.got, t.gotFrom = exit, s.Time, model.NoThread
		if f.pending != nil {
			t.getting = f.pending
			t.getting.m = s.M
			if t.inCall {
				t.getting.kind = gotExit
			}
		}
		if l := f.lostOf(s.P); l.bare {
			t.gotFrom = l.by
		}
		f.pending = nil
	case s.ToM == model.NoThread:
		began := s.Time
		if t != nil {
			began = t.last
		}
		bare := s.M == s.FromM && t != nil && !t.inCall && f.stopper == model.NoGoroutine && t.exit.get() == nil
		if last := t.lastStopped(); bare && last != model.NoGoroutine {
			_, own := f.locked[last]
			bare = !own && !f.callbacks[last] // a locked thread gives up its proc too (stoplockedm)
		}
		*f.lostOf(s.P) = lost{by: s.M, at: s.Time, bare: bare, began: began}
		f.touch(t, s.Time)
	default:
		f.touch(t, s.Time)
	}
}

// handed reports whether the thread was given its proc to run x, which is locked
// to it (runtime/proc.go: startlockedm): another thread gave up the proc although
// x was runnable already, which it does for no other reason. It may take the
// locked thread long to wake up.
func (f *front) handed(x *stay, s *model.Step, t *thread) bool {
	if t.got >= 0 && f.inCallback(s.G, s.Func) {
		return true
	}
	is := t.got >= 0 && t.gotFrom != model.NoThread && t.gotFrom != s.M && (t.ran == s.G || t.ran == model.NoGoroutine) &&
		x.ready <= f.lostOf(s.P).at
	switch {
	case is && t.ran == s.G:
		f.locked[s.G] = s.M
	case f.locked[s.G] != s.M:
		delete(f.locked, s.G)
	}
	return is
}

// noteCallback notes whether a goroutine that stops is inside a callback from C,
// in which it is locked to its thread (runtime/cgocall.go: cgocallbackg).
func (f *front) noteCallback(s *model.Step) {
	if model.GoState(s.From) != model.GoRunning || len(f.callbacks) == 0 && !f.callbackStack(s.Stack) {
		return
	}
	if f.callbackStack(s.Stack) {
		f.callbacks[s.G] = true
	} else {
		delete(f.callbacks, s.G)
	}
}

func (f *front) inCallback(g model.GoID, fn model.StringID) bool {
	return f.callbacks[g] || fn == f.words.callback
}

// callbackStack reports whether a stack goes through a callback from C.
func (f *front) callbackStack(id model.StackID) bool {
	if int(id) >= len(f.callbackBy) {
		f.callbackBy = append(f.callbackBy, make([]uint8, max(int(id)+1, f.tables.NumStacks())-len(f.callbackBy))...)
	}
	if f.callbackBy[id] == 0 {
		f.callbackBy[id] = 1
		for _, fr := range f.tables.Stack(id) {
			if strings.HasPrefix(fr.Func, "runtime.cgocallback") {
				f.callbackBy[id] = 2
			}
		}
	}
	return f.callbackBy[id] == 2
}

func (f *front) procStep(s *model.Step) {
	from, to := model.ProcState(s.From), model.ProcState(s.To)
	if from != to && to == model.ProcIdle {
		end := &got{m: model.NoThread}
		*f.endOf(s.P) = end
		f.push(op{kind: opIdle, at: s.Time, p: s.P, got: end})
	}
	if from != to && from == model.ProcIdle {
		end := f.endOf(s.P)
		if f.pending = *end; f.pending == nil {
			f.pending = &got{m: model.NoThread}
		}
		*end = nil
		f.pending.at, f.pending.known = s.Time, true
		f.push(op{kind: opBusy, at: s.Time, p: s.P, got: f.pending})
	}
	if to == model.ProcSearching && from != model.ProcIdle {
		f.push(op{kind: opSearch, at: s.Time, p: s.P})
	}
	if x := f.blinds[s.G]; x != nil && to == model.ProcRunning && s.Work.IsGC() && s.Work != model.WorkGCAssist {
		x.how, x.howGrade, x.blind = SourceSystem, GradeCertain, false // its label tells
		delete(f.blinds, s.G)
	}
	if to == model.ProcRunning && s.Work == model.WorkGCDedicated {
		f.push(op{kind: opDrain, at: s.Time, p: s.P, n: 1})
	} else if from == model.ProcRunning && to != model.ProcRunning {
		f.push(op{kind: opDrain, at: s.Time, p: s.P, n: 0})
	}
}
