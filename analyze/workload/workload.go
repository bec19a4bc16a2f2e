// Package workload takes the work that a trace shows out of the schedule under
// which it was recorded: for each goroutine how much it computes, what it does at
// which point of its computing (create and wake others, start the garbage
// collector), and what it waits for. Package refsched runs a [Workload] under
// another schedule. This package promises nothing to other modules.
//
// What is fixed and what is left to the simulation: computing time, what is done at
// which point of it, delays that come from outside the program, durations of
// system calls and the amount of GC work are taken from the trace. Queueing,
// placement, preemption, movements of procs and the latencies of waking, polling
// and timers are not: they are what a schedule decides.
//
// Which goroutine a wake is meant for depends in part on the recorded schedule.
// Hence each wait has a [Class], which says how far it may be carried over to
// another one.
package workload

import (
	"cmp"

	"github.com/schedscope/schedscope/model"
)

// Workload is the work of a window of a trace.
type Workload struct {
	Tables  *model.Tables
	Version int // minor Go version of the trace
	Procs   int // GOMAXPROCS when the window begins
	// Start and End delimit the window, on the trace's clock.
	Start, End model.Time

	Goroutines []Goroutine // by index, which ops refer to
	Objects    []Object    // semaphores and joins
	Arrivals   []Arrival   // in order of At
	Cycles     []Cycle     // of the garbage collector, in order of beginning
	Stops      []Stop      // of the world, GC's own not included
	Requests   []Request   // in the order in which they were found
	// Standstills are times in which all threads stood still, by no doing of the program: nobody computed.
	Standstills []Standstill
	// Late are time slices that sysmon ended late, in order of their ends.
	Late []Late

	// Outages are in the work: goroutines seem to compute, or to be in system calls, during them. FindOutages finds them.
	Outages Outages

	// Recorded is what the trace's own schedule made of the work.
	Recorded Recorded
}

// Recorded are figures of the recorded schedule, to compare with.
type Recorded struct {
	Starts int64 // of goroutines, pseudo-Runnable intervals not counted
	// Work is the CPU time of all segments.
	Work model.Duration
	// LastEnd is when the last segment of the program's own goroutines ended, counted
	// from Start: the window's length if it cut one.
	LastEnd model.Duration
	// Wakes counts the ends of waits by class.
	Wakes [NumClasses]int64
	// Running is the time that goroutines were Running in the window, as the
	// Machine counts it. It is, to the nanosecond, Work + Marking + Stopped + Waking:
	// Marking is the CPU time of mark workers. Stopped was taken by standstills and stop-the-worlds: from
	// goroutines that count as Running while the world stood still, and from those that
	// stopped it, from their request to the restart.
	Running, Marking, Stopped model.Duration
	// Waking is what waking threads took of the computing of the goroutines that did it:
	// it is in no segment. Wakers are values at evenly spaced quantiles of it, per wake, none
	// if there were few.
	Waking model.Duration
	Wakers []model.Duration
	// Sampled is how much of Running goroutines of the program had a CPU, by CPU samples; 0 if they are too few.
	Sampled model.Duration
	// Samples are the CPU samples of goroutines that ran, in order.
	Samples []Sample
	// Lost is how long system calls took that lost their procs, without those that gave them up at once.
	Lost model.Duration
}

// Sample is a CPU sample of goroutine G, when At of the computing of its segment Seg was done.
type Sample struct {
	G, Seg int32
	At     model.Duration
}

func (a Sample) compare(b Sample) int {
	return cmp.Or(cmp.Compare(a.G, b.G), cmp.Compare(a.Seg, b.Seg), cmp.Compare(a.At, b.At))
}

// Begin is the state in which a goroutine is when the window begins.
type Begin uint8

// States at the beginning.
const (
	BeginAbsent   Begin = iota // not created yet
	BeginRunnable              // in some queue; see Goroutine.Order
	BeginRunning               // on Goroutine.Proc
	BeginWaiting               // in the wait that ends its first segment, which has no CPU time
	BeginSyscall               // in the system call that ends its first segment; see Proc
)

// Goroutine is the program of one goroutine.
type Goroutine struct {
	ID     model.GoID     // as recorded, or one of its own if an earlier goroutine has that
	Func   model.StringID // start function
	System bool           // one of the runtime's own
	// Tracer goroutines write the trace: what they do is not the program's.
	Tracer bool
	// Locked to its thread (runtime.LockOSThread), as far as its starts show.
	Locked bool
	Begin  Begin
	// Order ranks those that are BeginRunnable by their first start.
	Order int32
	// Proc on which it runs (BeginRunning), or that it holds in a system call
	// (BeginSyscall; NoProc: none).
	Proc model.ProcID
	// CreateStack is the stack of the go statement, for those created in the window.
	CreateStack model.StackID
	Work        model.Duration // CPU time of all segments
	Segments    []Segment
	Ops         []Op
}

// EndKind is the way in which a segment ends.
type EndKind uint8

// Ends of segments.
const (
	// EndCut: the window's end; what comes after is not known.
	EndCut EndKind = iota
	EndExit
	// EndWait: it waits until it is woken: by an [OpWake] that names it or, if Object is not
	// -1 and the simulation asks for classes instead of recorded edges, as the
	// object says.
	EndWait
	// EndSleep: a timer wakes it, Delay after it stopped.
	EndSleep
	// EndExternal: something outside of the program makes it ready, Delay after
	// it stopped or, with Absolute, after the beginning of the window, and the network poller finds it.
	EndExternal
	// EndNetwork: like EndExternal, but what makes it ready is an [OpSend] of the
	// program itself.
	EndNetwork
	// EndSyscall: a system call that takes Delay. Blocking: it gives up its proc
	// at once (runtime/proc.go: entersyscallblock).
	EndSyscall
	EndYield   // runtime.Gosched
	EndGoyield // to a goroutine it handed a semaphore to: tail of the local queue
	// EndSwitch: switches to coroutine Target and waits to be switched to. Target -1: it only
	// waits to be switched to, as it did when the window began.
	EndSwitch
	// EndAssist: waits for the garbage collector, such as for assist credit, for Delay or until the
	// end of the cycle if one marks and ends sooner.
	EndAssist
	// EndForever: waits, and nothing in the window wakes it.
	EndForever
	NumEnds
)

// Class classifies how far a wait carries over to another schedule.
type Class uint8

// Classes of waits.
const (
	ClassNone      Class = iota
	ClassHandoff         // one goroutine wakes another, as over a channel
	ClassJoin            // sync.WaitGroup and its like
	ClassLock            // a mutex: only contended operations are seen
	ClassCond            // conditions and semaphores: who is served depends on time
	ClassSelect          // one of several channels: depends on time
	ClassBuffered        // a channel of which some operations neither wait nor wake, and so do not show
	ClassSemaphore       // one of a number of places, which can be counted
	ClassTimer           // the requested time is not in the trace
	ClassExternal        // data or connections from outside
	ClassLoopback        // data from the program itself, inferred
	ClassSyscall
	ClassRuntime // the runtime's own: GC, scavenger, finalizers
	NumClasses
)

var classNames = []string{"none", "hand-off", "join", "lock", "cond", "select", "buffered", "semaphore", "timer", "external", "loopback", "syscall", "runtime"}

// String returns the class's name as tables print it.
func (c Class) String() string { return model.NameOf(classNames, c) }

// TimeDependent reports whether the times of the schedule decide who is woken, and by whom.
// Another schedule may then have other edges.
func (c Class) TimeDependent() bool {
	return c == ClassLock || c == ClassCond || c == ClassSelect || c == ClassBuffered
}

// Segment is the computation of a goroutine between two voluntary stops. Preemptions do not
// end it.
type Segment struct {
	// CPU is how long it runs, without what stop-the-worlds took of it.
	CPU    model.Duration
	Assist model.Duration // of it, in mark assists
	Delay  model.Duration // see EndKind
	// Held, of an EndSyscall, is for how long nobody took the proc although none was idle and sysmon, had the operating
	// system let it run, had seen the call twice: at least heldLeast, else 0.
	Held   model.Duration
	Reason model.StringID // of the stop, as the trace has it
	Stack  model.StackID  // where it stopped
	// Ops is the end of its part of the goroutine's Ops, which begins where that of the
	// segment before ends.
	Ops      int32
	Object   int32 // index into Workload.Objects, -1 for none
	Target   int32 // of EndSwitch, and of EndExit if it ends so: index of the goroutine; else -1
	End      EndKind
	Class    Class
	Blocking bool
	Absolute bool
}

// OpKind is the kind of an Op.
type OpKind uint8

// Kinds of operations.
const (
	OpCreate OpKind = iota // goroutine G comes into being
	OpWake                 // goroutine G is woken from the wait that ends its segment Seg
	OpSend                 // what G waits for in segment Seg (EndNetwork) is on its way
	OpCycle                // the GC cycle with index G begins, by this goroutine
	OpStop                 // the world is stopped: Workload.Stops[G]
	// OpBlocked: G is created, but waits (runtime/coro.go: newcoro) until it is switched
	// to: then its first segment begins. If that has no CPU time and ends in EndWait or EndForever
	// it is in this wait from the beginning, as with BeginWaiting.
	OpBlocked
	OpAcquire // a place of Workload.Objects[G] is taken, which may have to be waited for
	OpRelease // one is given back
	// OpBegin: Workload.Requests[G] begins, OpEnd: it ends. With At 0 that is when what the goroutine waited for
	// before came, or when it was created: the time in the run queue counts.
	OpBegin
	OpEnd
)

// Op is something that a goroutine does while it computes.
type Op struct {
	At    model.Duration // CPU time since the segment began, at most its CPU
	Stack model.StackID  // where
	G     int32          // index of the goroutine, cycle, stop, object or request
	Seg   int32          // of G
	Kind  OpKind
	// Tail: the goroutine goes to the tail of the local queue, not to runnext; Inject: it is
	// put as injectglist does.
	Tail, Inject bool
}

// Object is something that several goroutines wait for.
type Object struct {
	Class Class
	// Of a ClassJoin. The wait is over when each of Children has ended, each of Parts has come to the end of
	// its segment, and the recorded OpWake has been done, which counts as the end of its goroutine.
	Children []int32
	Parts    []Part
	// Room of a ClassSemaphore is how many places are free when the window begins; Reason is that
	// of waits for one.
	Room   int32
	Reason model.StringID
}

// Part is segment Seg of goroutine G.
type Part struct{ G, Seg int32 }

// ArrivalKind is the kind of an Arrival.
type ArrivalKind uint8

// Kinds of arrivals.
const (
	ArriveCreate ArrivalKind = iota // a timer's AfterFunc creates goroutine G
	ArriveWake                      // somebody unknown wakes G from the wait that ends its segment Seg
)

// Arrival is the creation or wake-up of a goroutine at a fixed time, by nothing that the
// workload contains.
type Arrival struct {
	At   model.Duration // since the window's start
	G    int32
	Seg  int32
	Proc model.ProcID // on which the timer fires, or NoProc
	Kind ArrivalKind
}

// Cycle is the work of a cycle of the garbage collector.
type Cycle struct {
	// Work is the running time of mark workers, of all kinds.
	Work     model.Duration
	Periodic bool // nobody in the window began it: it begins At
	At       model.Duration
	// Sweep and Mark are how long the world stood still once it was stopped: for
	// sweep termination and for mark termination.
	Sweep, Mark model.Duration
	// Ends are the operations of the runtime when the cycle ends: waking the
	// sweeper, finalizers, waiters. At is meaningless.
	Ends []Op
}

// Stop is a stop-the-world.
type Stop struct {
	Hold   model.Duration // how long the world stood still once it was stopped
	Reason model.StringID // name of the range
}
