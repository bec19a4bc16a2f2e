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
	taken bool       // from a system call: by sysmon, or given up by a call known to block
	bare  bool       // by the thread that had it, which had started nothing on it since its latest stop
}

// front turns steps into operations.
type front struct {
	tables     *model.Tables
	rules      rules
	words      words
	push       func(op)
	stays      stayTable
	spare      []*stay
	threads    map[model.ThreadID]*thread
	lost       []lost                        // by proc
	locked     map[model.GoID]model.ThreadID // goroutines seen to be locked to a thread
	dedicated  map[model.ProcID]bool         // procs that run a dedicated mark worker
	polled     map[model.GoID]ref            // woken by a poll as it seems, that run now
	callbacks  map[model.GoID]bool           // goroutines that stopped inside a callback from C
	callStacks stackSet                      // throughCallback
	ops        pollOps
	waitsFor   map[model.GoID]pollOp // goroutines that wait for the network, or did last: to do what
	thread     *thread
	id         model.ThreadID
	seen       []bool     // procs, by id
	stopper    model.GoID // that has stopped the world, or is about to
	pending    *got       // of the proc that ceased to be idle in this event
	ends       []*got     // by proc that is idle
	mask       func(ordinal int) bool
	starts     int // so far
}

func newFront(t *model.Tables, ru rules, push func(op)) front {
	return front{tables: t, rules: ru, words: newWords(t), push: push, threads: map[model.ThreadID]*thread{}, locked: map[model.GoID]model.ThreadID{}, callbacks: map[model.GoID]bool{}, polled: map[model.GoID]ref{}, dedicated: map[model.ProcID]bool{},
		callStacks: stackSet{tables: t, is: throughCallback}, ops: pollOps{tables: t, names: map[string]pollOp{}}, waitsFor: map[model.GoID]pollOp{}, stopper: model.NoGoroutine}
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
			f.push(op{kind: opMarkEnd, at: s.Time})
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
		if from == model.GoRunning {
			f.tellNext(s)
		}
		if from == model.GoSyscall && t != nil {
			t.inCall = false
		}
	}
	if to == model.GoNotExist {
		delete(f.locked, s.G)
		delete(f.callbacks, s.G)
		delete(f.polled, s.G)
	}
	if from == model.GoRunnable && to != model.GoRunning && to != model.GoRunnable {
		f.gone(s.G, s.Time)
	}
}

// tellNext notes what a goroutine that a poll seems to have woken does next.
func (f *front) tellNext(s *model.Step) {
	to := model.GoState(s.To)
	network := to == model.GoWaiting && s.Reason == f.words.network
	defer func() {
		if network {
			f.waitsFor[s.G] = f.ops.of(s.Stack)
		} else if to == model.GoNotExist {
			delete(f.waitsFor, s.G)
		}
	}()
	r, ok := f.polled[s.G]
	if !ok {
		return
	}
	x := r.get()
	if x != nil && x.next == nextUnknown && to == model.GoSyscall && f.goesOn(s) {
		x.next = nextCall
		return // but see whether the call was of use
	}
	delete(f.polled, s.G)
	switch {
	case x == nil:
	case x.next == nextCall:
		if network {
			x.next = nextElse // it waits again at once: it had nothing to read
		}
	case to == model.GoWaiting:
		x.next = nextWaits
		if network {
			x.after = nextNetwork
		} else if s.Reason == f.words.sleep {
			x.after = nextSleep
		}
	default:
		x.next = nextElse
	}
}

// goesOn reports whether the system call is one that the goroutine waited for the
// network poller to make.
func (f *front) goesOn(s *model.Step) bool {
	call, waited := f.ops.of(s.Stack), f.waitsFor[s.G]
	return s.Stack == 0 || call > opOther && (waited <= opOther || call == waited)
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
	f.stays.put(s.G, x)
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
	if x := f.stays.get(g); x != nil {
		f.stays.remove(g)
		f.push(op{kind: opGone, at: at, stay: x})
	}
}

// start ties a start to its stay.
func (f *front) start(s *model.Step, t *thread) {
	x := f.stays.get(s.G)
	if x == nil {
		x = f.newStay()
		x.g, x.open, x.ready = s.G, true, s.Since
	} else {
		f.stays.remove(s.G)
	}
	if x.entry == entryPoll {
		f.polled[s.G] = ref{x, x.gen}
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
		t.ran = s.G
	}
	x.ordinal = f.starts
	f.starts++
	if f.mask != nil && x.how == SourceUnknown && f.mask(x.ordinal) {
		x.started, x.masked = false, true
	}
	f.push(op{kind: opStart, at: s.Time, p: s.P, stay: x})
}

// handOff bounds the time in which a proc that was taken from a system call finds
// a new thread (runtime/proc.go: handoffp): longer, and it was idle meanwhile.
const handOff model.Duration = 100_000

// lostOf and endOf return the entries of a proc; of ids out of reason, one that
// means nothing.
func (f *front) lostOf(p model.ProcID) *lost {
	if !isProc(p) {
		return &lost{by: model.NoThread}
	}
	if int(p) >= len(f.lost) {
		f.lost = append(f.lost, make([]lost, int(p)+1-len(f.lost))...)
	}
	return &f.lost[p]
}

func (f *front) endOf(p model.ProcID) **got {
	if !isProc(p) {
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
		if f.pending != nil {
			f.pending.kind = gotWorld // it was not idle: the trace tells only now
			f.pending = nil
		}
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
			switch l := f.lostOf(s.P); {
			case t.inCall:
				t.getting.kind = gotExit
			case f.stopper != model.NoGoroutine:
				t.getting.kind = gotWorld
			case l.taken && s.Time.Sub(l.at) < handOff:
				t.getting.kind = gotHandoff
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
		if bare {
			last := t.lastStopped()
			_, own := f.locked[last]
			bare = !own && !f.callbacks[last] // a locked thread gives up its proc too (stoplockedm)
		}
		*f.lostOf(s.P) = lost{by: s.M, at: s.Time, bare: bare, began: began, taken: s.M != s.FromM || t != nil && t.inCall}
		f.touch(t, s.Time)
	default:
		f.touch(t, s.Time)
	}
}

// assumeIdle takes procs that have not been seen so far to be idle, as the Machine
// does. What runs since before the trace is told with its first event. Procs that
// a smaller GOMAXPROCS removed are new again when it grows.
func (f *front) assumeIdle(s *model.Step) {
	f.seen = f.seen[:min(len(f.seen), int(s.N))]
	for len(f.seen) < int(s.N) {
		f.seen = append(f.seen, false)
	}
	for i := range int(s.N) {
		if !f.seen[i] {
			f.seen[i] = true
			f.goesIdle(&model.Step{Time: s.Time, P: model.ProcID(i)}, false)
		}
	}
}

// goesIdle begins the idleness of a proc, taken from a thread in a system call or not.
func (f *front) goesIdle(s *model.Step, taken bool) {
	end := &got{m: model.NoThread, lost: s.Time, taken: taken}
	*f.endOf(s.P) = end
	f.push(op{kind: opIdle, at: s.Time, p: s.P, got: end})
}

func (f *front) procStep(s *model.Step) {
	if isProc(s.P) {
		for int(s.P) >= len(f.seen) {
			f.seen = append(f.seen, false)
		}
		f.seen[s.P] = true
	}
	from, to := model.ProcState(s.From), model.ProcState(s.To)
	if from != to && to == model.ProcIdle {
		f.goesIdle(s, from == model.ProcSyscall)
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
	if x := f.polled[s.G].get(); x != nil && x.blind && to == model.ProcRunning && s.Work.IsGC() && s.Work != model.WorkGCAssist {
		x.how, x.howGrade, x.entry = SourceSystem, GradeCertain, entryNone // its label tells
		delete(f.polled, s.G)
	}
	if is := to == model.ProcRunning && s.Work == model.WorkGCDedicated; is != f.dedicated[s.P] {
		op := op{kind: opDrain, at: s.Time, p: s.P}
		if is {
			f.dedicated[s.P], op.n = true, 1
		} else {
			delete(f.dedicated, s.P)
		}
		f.push(op)
	}
}
