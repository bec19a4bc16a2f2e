package runqueue

import "github.com/schedscope/schedscope/model"

// runnable is one Runnable interval of one goroutine, from where it became runnable to where it started.
// Hundreds are under way at any time.
type runnable struct {
	// Start is what will be reported. The look-ahead fills in what comes of the events alone.
	Start
	started bool // the look-ahead has come to its start
	over    bool // the replay has come past its start

	// Where and how it began.
	entry  entry // how it is queued
	poller model.Poller
	blind  bool           // what it waited for is not known, so neither how it was woken
	timed  bool           // in the likeliest hypothesis a timer has woken it
	onProc uint8          // of the start, among those on its proc, modulo 61
	proc   model.ProcID   // on which proc, NoProc if the thread had none
	gen    uint32         // how often the runnable was used before
	until  model.Time     // next event of the thread that made it so: it was in its queue by then
	by     model.ThreadID // which thread that was

	// The start that ends it, as far as the look-ahead goes.
	earliest model.Time // it was in the queue until then: Search, or that of the thread that handed over its proc
	home     *home      // if that is what locks it
	how      Source     // if the events around it show that it did not pass through a queue
	howGrade Grade
	// handed: the thread got the proc just before, from another one that had not
	// run anything.
	handed  bool
	choices uint8 // how many ways its start may have come about, whatever stands in the queues; 0: one

	// If a poll seems to have woken it.
	then        then          // what the goroutine did after it had started
	calls       uint8         // that it has made inside the operation since
	calledAfter uint16        // nanoseconds from its start to the first of them, or more if the most
	injected    *injected     // woken together with others
	wait        model.StackID // where it had stopped, if it waited for the network

	slot slot      // in the replay; noSlot: none yet
	next *runnable // in the pool
}

// handle is a reference to a runnable that may be over by the time it is used.
type handle struct {
	runnable *runnable
	gen      uint32
}

func (r handle) get() *runnable {
	if r.runnable == nil || r.runnable.gen != r.gen {
		return nil
	}
	return r.runnable
}

// pool is a list of runnables that can be used again.
type pool struct{ first *runnable }

// get returns an empty runnable.
func (l *pool) get() *runnable {
	x := l.first
	if x == nil {
		return &runnable{proc: model.NoProc, Start: Start{P: model.NoProc}, slot: noSlot}
	}
	l.first, x.next = x.next, nil
	return x
}

// put takes back a runnable that nothing but a [handle] refers to any more.
func (l *pool) put(x *runnable) {
	gen := x.gen + 1
	*x = runnable{}
	x.gen, x.proc, x.P, x.slot = gen, model.NoProc, model.NoProc, noSlot
	l.first, x.next = x, l.first
}

// opKind is a kind of operation.
type opKind uint8

const (
	opReady opKind = iota
	opStart
	opGone    // the runnable ended otherwise
	opIdle    // proc p becomes idle
	opBusy    // proc p is not idle any more
	opSearch  // the thread of proc p begins to look for work
	opDrain   // the occupant of proc p is a dedicated worker (on), or not any more
	opMarkEnd // a goroutine on proc p is about to stop the world for the end of a mark phase
	opWorld   // the world is being stopped (on), or goes on
	opProcs   // the program has p procs
)

// op is an operation of the replay.
type op struct {
	kind     opKind
	on       bool // opStart: at says when the thread looks for work again
	p        model.ProcID
	count    int // see line
	at       model.Time
	runnable *runnable
	acquired *acquired // opBusy; opIdle: the one that will end it
}
