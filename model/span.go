package model

// GoSpan is an interval in which a goroutine was in one state.
type GoSpan struct {
	G          GoID
	Func       StringID // its start function, as far as known by then
	Reason     StringID // why it waits, or why it stopped running (Runnable)
	Start, End Time
	System     bool // see [Goroutine]
	State      GoState
	// OpenStart: the interval began before the trace (or window) did.
	// OpenEnd: it went on after the end. Such an interval's length is only a
	// lower bound of the true one.
	OpenStart, OpenEnd bool
	// Synthetic: an end of the interval has a time made up to break a tie.
	Synthetic bool
	// Clamped: an end of the interval was moved to a generation's boundary.
	Clamped bool
	Origin  Origin // this and Pseudo: of Runnable intervals only
	Pseudo  Pseudo
	// P and M: Running and Syscall: where. Runnable: the proc and thread that
	// then ran it. NoProc and NoThread if none or unknown.
	P ProcID
	// Stack is the goroutine's own stack where it stopped: before this interval
	// (Runnable, Waiting, Syscall) or, of Running, at its end. 0 if unknown.
	Stack StackID
	M     ThreadID

	// For Runnable intervals only:
	Waker       GoID    // NoGoroutine if not woken, created or preempted by one
	WakerStack  StackID // where the waker was
	WakerProc   ProcID  // the proc on which it became runnable, or NoProc
	WakerThread ThreadID

	// Next is the state that follows, GoNotExist at exit; meaningless if OpenEnd.
	Next GoState
}

// Duration returns the interval's length.
func (s *GoSpan) Duration() Duration { return s.End.Sub(s.Start) }

// Waits reports whether the interval is a wait of a goroutine of the program to run, from
// beginning to end.
func (s *GoSpan) Waits() bool {
	return s.State == GoRunnable && s.Pseudo == NotPseudo && !s.System && !s.OpenStart && !s.OpenEnd
}

// Origin is the way a goroutine became Runnable. The rules that recognise origins are at
// [Machine] in origin.go.
type Origin uint8

// Origins of Runnable intervals.
const (
	OriginUnknown   Origin = iota // was Runnable already when the trace began
	OriginCreated                 // a go statement, or a timer's AfterFunc
	OriginGoroutine               // another goroutine: channel, mutex, select, condition...
	OriginTimer                   // a timer that fired
	OriginNetpoll                 // the network poller
	OriginSyscall                 // back from a system call without a proc
	OriginPreempted               // preempted
	OriginGosched                 // runtime.Gosched
	OriginGoyield                 // yielded to the goroutine it handed a lock to
	OriginSTW                     // preempted so that the world could stop
	OriginGC                      // the garbage collector: stack scan done, assist credit
	OriginInjected                // the runtime itself, from a list (sweep, scavenger, GC start)
	OriginCoroutine               // iter.Pull switch
	OriginExternal                // a timer or the network poller: which, the trace does not show
	NumOrigins
)

var originNames = []string{"unknown", "created", "goroutine", "timer", "netpoll", "syscall", "preempted",
	"gosched", "goyield", "stw", "gc", "injected", "coroutine", "external"}

// String returns the origin's name as reports print it.
func (o Origin) String() string { return NameOf(originNames, o) }

// Pseudo marks Runnable intervals that the trace format shows but that are not
// waits: nothing but the decoder's clock passed.
type Pseudo uint8

// Kinds of pseudo-Runnable intervals.
const (
	NotPseudo       Pseudo = iota
	PseudoSyscall          // left a system call with a proc in hand and went on
	PseudoCoroutine        // switched to directly by another coroutine
)

// ProcState is the state of a proc as the Machine refines it.
type ProcState uint8

// States of a proc.
const (
	ProcUndetermined ProcState = iota
	ProcIdle                   // no thread has it
	ProcRunning                // runs a goroutine
	ProcSearching              // held by a thread without a goroutine: in the scheduler
	ProcSyscall                // held for a goroutine in a system call
	ProcStopped                // stopped by a stop-the-world
	NumProcStates
)

var procStateNames = []string{"undetermined", "idle", "running", "searching", "syscall", "stopped"}

// String returns the state's name as reports print it.
func (s ProcState) String() string { return NameOf(procStateNames, s) }

// WorkKind is the kind of goroutine that occupies a running proc.
type WorkKind uint8

// Kinds of work. The modes of mark workers come from their labels.
const (
	WorkUser WorkKind = iota
	WorkGCDedicated
	WorkGCFractional
	WorkGCIdle
	WorkGCAssist // a user goroutine inside a mark assist range at the end of the interval
	WorkSystem   // any other goroutine of the runtime
	NumWorkKinds
)

var workKindNames = []string{"user", "GC dedicated", "GC fractional", "GC idle", "GC assist", "runtime"}

// String returns the kind's name as reports print it.
func (w WorkKind) String() string { return NameOf(workKindNames, w) }

// IsGC reports whether the work is garbage collection.
func (w WorkKind) IsGC() bool { return w >= WorkGCDedicated && w <= WorkGCAssist }

// ProcSpan is an interval in which a proc was in one state with one goroutine
// and one thread. Running intervals are also cut where the kind of work changes.
type ProcSpan struct {
	P                  ProcID
	State              ProcState
	Work               WorkKind // of Running
	G                  GoID     // Running, Syscall; else NoGoroutine
	Func               StringID // start function of G
	M                  ThreadID // NoThread if idle or stopped
	Start, End         Time
	OpenStart, OpenEnd bool
}

// Duration returns the interval's length.
func (s *ProcSpan) Duration() Duration { return s.End.Sub(s.Start) }

// ThreadState is the state of a thread.
type ThreadState uint8

// States of a thread.
const (
	ThreadUnknown        ThreadState = iota
	ThreadRunning                    // runs a goroutine on a proc
	ThreadSearching                  // has a proc and no goroutine
	ThreadSyscall                    // in a system call, keeps its proc
	ThreadSyscallBlocked             // in a system call, without a proc
	ThreadNoProc                     // no proc and no goroutine: parked, polling or spinning out; the trace does not show which
	NumThreadStates
)

var threadStateNames = []string{"unknown", "running", "searching", "syscall", "syscall-blocked", "no-proc"}

// String returns the state's name as reports print it.
func (s ThreadState) String() string { return NameOf(threadStateNames, s) }

// ThreadSpan is an interval in which a thread was in one state.
type ThreadSpan struct {
	M                  ThreadID
	State              ThreadState
	P                  ProcID
	G                  GoID
	Start, End         Time
	OpenStart, OpenEnd bool
}

// Duration returns the interval's length.
func (s *ThreadSpan) Duration() Duration { return s.End.Sub(s.Start) }

// Counts is an elementary interval: a longest one in which none of the numbers
// changes. System goroutines count as well. Those of a trace's beginning are reported
// when the states of all procs are known, later than other intervals.
type Counts struct {
	Start, End Time
	Procs      int // procs that exist (GOMAXPROCS)
	Idle       int // procs idle; procs stopped by an STW are not
	Searching  int
	Syscall    int
	Stopped    int
	Running    int // procs running a goroutine, GC included
	GC         int // of those, procs doing GC work (workers; not assists)
	Runnable   int // goroutines Runnable, pseudo intervals included (64 ns each)
	// Overloaded is the number of procs that are not idle and on which at least
	// one goroutine became runnable that still waits. It stands in for "procs
	// with a non-empty run queue", which a trace does not show.
	Overloaded int
}

// HandoffCause is the reason why a proc left a thread in a system call.
type HandoffCause uint8

// Causes of handoffs.
const (
	HandoffUnknown         HandoffCause = iota
	HandoffSysmon                       // sysmon retook it (runtime/proc.go: retake)
	HandoffSyscallBlock                 // the thread gave it up itself (entersyscallblock)
	HandoffSTW                          // taken, or given up, because the world stops
	HandoffForEachP                     // taken for a forEachP: mark termination, the tracer's own generation switch
	HandoffExit                         // a goroutine that left a system call took its old proc back from another thread
	HandoffThreadDestroyed              // the goroutine of a C thread ended while its proc was still attached
	NumHandoffCauses
)

var handoffCauseNames = []string{"unknown", "sysmon retake", "entersyscallblock", "stop-the-world", "forEachP", "syscall exit", "thread destroyed"}

// String returns the cause's name as reports print it.
func (c HandoffCause) String() string { return NameOf(handoffCauseNames, c) }

// Handoff is a proc's way from a thread in a system call to its next thread.
type Handoff struct {
	P     ProcID
	Cause HandoffCause
	// FromM and FromG lost the proc at Lost, InSyscall after the system call began.
	FromM     ThreadID
	FromG     GoID
	FromStack StackID // of the system call
	Lost      Time
	InSyscall Duration
	TakerM    ThreadID // who took it away (FromM if it gave it up)
	TakerG    GoID
	// ToM had it from Got on. If Open, nobody had taken it by the trace's end.
	ToM  ThreadID
	Got  Time
	Open bool
}

// SyscallExitPath is the path by which a goroutine leaves a system call.
type SyscallExitPath uint8

// Ways out of a system call (runtime/proc.go: exitsyscall, Go 1.22 to 1.26).
const (
	ExitKeptProc  SyscallExitPath = iota // still had its proc
	ExitOldProc                          // took its old proc back
	ExitOtherProc                        // took another idle proc
	ExitQueued                           // none was free: global run queue
	ExitDestroyed                        // the goroutine of a C thread ended there
	ExitUnknown                          // Go 1.21 and older: not recorded, other than kept
	NumSyscallExitPaths
)

var syscallExitPathNames = []string{"kept its proc", "old proc", "other idle proc", "global run queue", "goroutine ended", "unknown"}

// String returns the path's name as reports print it.
func (p SyscallExitPath) String() string { return NameOf(syscallExitPathNames, p) }

// SyscallExit is the end of a system call whose beginning the trace shows.
type SyscallExit struct {
	G          GoID
	Func       StringID // start function of G
	M          ThreadID
	Stack      StackID // of the system call
	Start, End Time
	Blocked    Duration // the part without a proc
	Path       SyscallExitPath
	OldProc    ProcID // held when the call began
	NewProc    ProcID // held at the end; NoProc if queued
}

// Poller is the part of the runtime that found a network event (runtime/proc.go: findRunnable,
// sysmon, pollWork, startTheWorldWithSema).
type Poller uint8

// Kinds of pollers.
const (
	PollerAmbiguous      Poller = iota // a thread that had just got a proc: either of the next two
	PollerNonBlocking                  // netpoll(0) in findRunnable
	PollerBlocking                     // the thread that slept in epoll and then got an idle proc
	PollerBlockingNoProc               // a blocking poller that found no idle proc
	PollerSysmon                       // sysmon, because nobody had polled for 10 ms
	PollerGCWorker                     // an idle mark worker looking for other work
	PollerSTW                          // the end of a stop-the-world
	NumPollers
)

var pollerNames = []string{"ambiguous", "findRunnable", "blocking", "blocking, no idle proc", "sysmon", "GC worker", "stop-the-world"}

// String returns the poller's name as reports print it.
func (p Poller) String() string { return NameOf(pollerNames, p) }

// NetpollWake is a goroutine made runnable by the network poller.
type NetpollWake struct {
	G       GoID
	Func    StringID
	Time    Time // of the wake
	Poller  Poller
	Direct  bool     // the poller went on to run it itself, without a queue
	Waited  Duration // for the network, before the wake
	M       ThreadID // the polling thread
	P       ProcID   // its proc, or NoProc
	Started Time     // when it ran
	Open    bool     // it had not run by the trace's end
}

// STW is one stop-the-world.
type STW struct {
	Reason  string // without the words stop-the-world
	G       GoID   // the goroutine that stopped the world
	Start   Time
	Stopped Time // when no other proc was active any more; Start if never seen
	// Effective is when the world was seen running again, at most End: the trace
	// stamps End only after the restart, up to milliseconds late under load.
	Effective          Time
	End                Time
	OpenStart, OpenEnd bool
}

// RangeSpan is one finished (or open) range.
type RangeSpan struct {
	Name               StringID
	Scope              Scope
	G                  GoID // of goroutine scope
	P                  ProcID
	Start, End         Time
	OpenStart, OpenEnd bool
}

// Task is a user task.
type Task struct {
	ID, Parent         TaskID
	Name               StringID
	G                  GoID // that began it
	Start, End         Time
	OpenStart, OpenEnd bool
	// Regions is how many regions of the task ended before it did, regions inside
	// another one of the same task and goroutine aside, and Times is what their
	// goroutines did inside. Goroutines run side by side, so Times may add up to
	// more than End - Start; what a task does outside of regions no trace records.
	Regions int64
	Times   [NumGoStates]Duration
}

// Region is a user region with the states of its goroutine inside.
type Region struct {
	Task               TaskID
	Name               StringID
	G                  GoID
	Func               StringID
	Start, End         Time
	OpenStart, OpenEnd bool
	Depth              int // 0: outermost region of its goroutine
	// Times add up to End - Start.
	Times [NumGoStates]Duration
}

// Thread is a summary of one thread, reported at the end of the trace.
type Thread struct {
	M           ThreadID
	First, Last Time  // first and last event
	Created     bool  // its first event came after the trace's start: created, or slept until then
	Starts      int64 // goroutines started
	Acquired    int64 // procs acquired
	Times       [NumThreadStates]Duration
}

// ThreadStart is a thread that was seen to be created: the creator borrowed a
// proc for it (runtime/proc.go: allocm) just before the new thread's first event.
type ThreadStart struct {
	M       ThreadID
	Creator ThreadID
	Time    Time
}

// MetricSample is a new value of a runtime metric.
type MetricSample struct {
	Time  Time
	Name  string
	Value uint64
}
