package runqueue

import "github.com/schedscope/schedscope/model"

// stay is one Runnable interval of one goroutine, from where it became runnable
// to where it started.
type stay struct {
	g      model.GoID
	fn     model.StringID
	system bool
	open   bool // runnable since before the trace
	origin model.Origin
	pseudo model.Pseudo

	then        then           // what the goroutine did after it had started, if a poll seems to have woken it
	calls       uint8          // that it has made inside the operation since
	calledAfter model.Duration // from its start to the first of them
	wait        model.StackID  // where it had stopped, if it waited for the network
	timed       bool           // in the likeliest world a timer has woken it
	gap         model.Duration // from its own stop on the same thread, if that was the step before
	blind       bool           // what it waited for is not known, so neither how it was woken
	ready       model.Time     // when it became runnable
	until       model.Time     // next event of the thread that made it so: it was in its queue by then
	entry       entry          // how it is queued
	proc        model.ProcID   // on which proc, NoProc if the thread had none
	by          model.ThreadID
	poller      model.Poller
	list        *list // woken together with others

	// The start that ends it, as far as the look-ahead goes.
	started  bool
	start    model.Time
	search   model.Time // latest event of the thread before
	earliest model.Time // it was in the queue until then: search, or that of the thread that handed over its proc
	p        model.ProcID
	m        model.ThreadID
	how      Source // if the events around it show that
	howGrade Grade
	// handed: the thread got the proc just before, from another one that had not
	// run anything.
	handed bool
	home   *home // if that is what locks it

	ordinal int  // of the start, among all
	onProc  int  // among those on its proc
	masked  bool // the replay is not to know of the start yet
	slot    slot // in the replay
	slotted bool
	gen     uint32 // how often it was used before
	over    bool   // the replay has come past its start
	choices int    // how many ways its start may have come about, whatever stands in the queues; 0: one
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
	opMarkEnd // a goroutine on proc p is about to stop the world for the end of a mark phase
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
