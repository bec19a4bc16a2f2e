package runqueue

import (
	"slices"

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

	next    next  // what it did after it had started, if that tells what woke it
	after   after // if it waited: for what
	decided bool
	timed   bool           // decided: woken by a timer
	gap     model.Duration // from its own stop on the same thread, if that was the step before
	blind   bool           // what it waited for is not known, so neither how it was woken
	ready   model.Time     // when it became runnable
	until   model.Time     // next event of the thread that made it so: it was in its queue by then
	entry   entry          // how it is queued
	proc    model.ProcID   // on which proc, NoProc if the thread had none
	by      model.ThreadID
	poller  model.Poller
	list    *list // woken together with others

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

	ordinal int  // of the start, among all
	masked  bool // the replay is not to know of the start yet
	slot    slot // in the replay
	slotted bool
	gen     uint32 // how often it was used before
	over    bool   // the replay has come past its start
	choices int    // how many likely worlds explain its start in different ways; 0: all alike
}

// next is what a goroutine does next.
type next uint8

const (
	nextUnknown next = iota
	nextCall         // a system call
	nextWaits
	nextElse
)

// after is what a goroutine waits for next.
type after uint8

const (
	nextOther after = iota
	nextNetwork
	nextSleep
)

// byTimer reports whether most likely a timer has woken the goroutine, not the
// poll of the network that it looks like. A deadline wakes a waiter on the network
// too, but who is woken by a poll goes on with the system call that it waited to
// make, and who is woken by a deadline does not. Of one that was woken blindly:
// next it sleeps, or it was woken alone and next waits for something else than
// the network.
func (s *stay) byTimer() bool {
	if s.entry != entryPoll || s.proc == model.NoProc || s.masked {
		return false
	}
	if s.blind && s.next == nextWaits {
		return s.after != nextNetwork && (s.after == nextSleep || s.list == nil || len(s.list.stays) == 1)
	}
	return s.next != nextUnknown && s.next != nextCall
}

// decide settles whether a timer has woken the stay and those woken with it, for
// good: the trace goes on to tell more, but all of a list must be judged alike.
func (s *stay) decide() {
	if s.decided {
		return
	}
	all := []*stay{s}
	if s.list != nil {
		all = s.list.stays
	}
	for _, x := range all {
		if x.decided {
			continue
		}
		x.decided, x.timed = true, x.byTimer()
		if x.timed && x.how == SourceNetpoll {
			x.how = SourceUnknown // it went through runnext
		}
	}
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
	return at.Sub(last.ready) > listGap || slices.ContainsFunc(l.stays, func(s *stay) bool { return s.started || s.masked })
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
	opWorld   // the world is being stopped (n=1), or goes on (n=0)
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

// neverQueued reports whether the trace shows that the goroutine did not pass
// through a queue.
func (s *stay) neverQueued() bool {
	switch s.how {
	case SourceNetpoll, SourceSyscall, SourceSystem, SourceDirect, SourceCoroutine:
		return true
	}
	return false
}

// last returns the last of the list that no timer has woken.
func (l *list) last() *stay {
	for _, s := range slices.Backward(l.stays) {
		if !s.timed {
			return s
		}
	}
	return l.stays[0]
}

// lastQueued returns the last of the list that passes through a queue, nil if
// none does.
func (l *list) lastQueued() *stay {
	for _, s := range slices.Backward(l.stays) {
		if !s.neverQueued() && !s.timed {
			return s
		}
	}
	return nil
}

// queued returns those of the list that pass through a queue and stand in it.
func (l *list) queued() []*stay {
	var out []*stay
	for _, s := range l.stays {
		if !s.neverQueued() && !s.timed && !s.over {
			out = append(out, s)
		}
	}
	return out
}
