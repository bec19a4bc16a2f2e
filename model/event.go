package model

// Time is a point on the trace's clock, in nanoseconds. Only differences have
// a meaning; the zero of the clock differs from trace to trace.
type Time int64

// Duration is a length of time on the trace's clock, in nanoseconds.
type Duration int64

// Sub returns the length of time from u to t.
func (t Time) Sub(u Time) Duration { return Duration(t - u) }

// Identifiers of the runtime's resources, as the runtime numbers them. The
// operating system reuses those of threads, and a thread of C code that calls
// Go gets a goroutine whose id others had before it (runtime/proc.go: needm,
// oneNewExtraM), never two at a time. All others stand for one thing.
type (
	// GoID identifies a goroutine (runtime.g.goid).
	GoID int64
	// ProcID identifies a proc (runtime.p.id).
	ProcID int32
	// ThreadID identifies a thread (runtime.m.procid, the operating system's id).
	ThreadID int64
	// TaskID identifies a user task (runtime/trace.NewTask); 0 is the background task.
	TaskID uint64
)

// Absence of a resource.
const (
	NoGoroutine GoID     = -1
	NoProc      ProcID   = -1
	NoThread    ThreadID = -1
)

// StringID names a string interned in [Tables]; 0 is the empty string.
type StringID uint32

// StackID names a stack interned in [Tables]; 0 is the absent stack.
type StackID uint32

// NameOf returns the name of a value of an enumeration, "?" if it has none.
func NameOf[E ~uint8](names []string, value E) string {
	if int(value) < len(names) {
		return names[value]
	}
	return "?"
}

// Names returns the names of the n values of an enumeration.
func Names[E interface {
	~uint8
	String() string
}](n E) []string {
	var list []string
	for i := range n {
		list = append(list, i.String())
	}
	return list
}

// GoState is the state of a goroutine.
type GoState uint8

// States of a goroutine. GoSyscallBlocked refines the trace's Syscall: the
// goroutine is still in its system call, but its proc has been taken away or
// handed off. It never occurs in an [Event], only in what the Machine reports.
const (
	GoUndetermined GoState = iota
	GoNotExist
	GoRunnable
	GoRunning
	GoWaiting
	GoSyscall
	GoSyscallBlocked
	NumGoStates
)

var goStateNames = []string{"Undetermined", "NotExist", "Runnable", "Running", "Waiting", "Syscall", "SyscallBlocked"}

// String returns the state's name as reports print it.
func (s GoState) String() string { return NameOf(goStateNames, s) }

// EventKind is the kind of an [Event]. It determines the meaning of the event's fields.
type EventKind uint8

// Event kinds. "Context" is the G, P and M that emitted the event, as they
// were just before it.
const (
	// EventBad is the zero kind; it never leaves the reader.
	EventBad EventKind = iota
	// EventSync begins a generation (and once more ends the trace). ID is its
	// ordinal number. Arg is the wall clock in Unix nanoseconds if known, else 0.
	EventSync
	// EventGoTransition moves goroutine ID from GoState From to GoState To.
	// Str is the reason. Stack is where the context's goroutine was (for a wake:
	// the waker); SubjectStack belongs to the goroutine that moves.
	EventGoTransition
	// EventProcTransition moves proc ID from ProcStatus From to ProcStatus To.
	EventProcTransition
	// EventMetric sets the metric named Str to the value ID.
	EventMetric
	// EventLabel gives goroutine ID the label Str.
	EventLabel
	// EventStackSample is a CPU profile sample with stack Stack.
	EventStackSample
	// EventRangeBegin, EventRangeActive and EventRangeEnd delimit the range
	// named Str of resource ID, whose Scope is From. Active: it began earlier, the
	// trace does not say when. On End, Arg is the value of the range's first
	// attribute (bytes swept), if it has any.
	EventRangeBegin
	EventRangeActive
	EventRangeEnd
	// EventTaskBegin and EventTaskEnd delimit task ID of type Str with parent Arg.
	EventTaskBegin
	EventTaskEnd
	// EventRegionBegin and EventRegionEnd delimit a region of type Str in task ID
	// on the context's goroutine.
	EventRegionBegin
	EventRegionEnd
	// EventLog is a user message: task ID, category Str, message Str2.
	EventLog
	// EventExperimental is an event of an experiment named Str, not decoded further.
	EventExperimental
	NumEventKinds
)

var eventKindNames = []string{"Bad", "Sync", "GoTransition", "ProcTransition", "Metric", "Label", "StackSample",
	"RangeBegin", "RangeActive", "RangeEnd", "TaskBegin", "TaskEnd", "RegionBegin", "RegionEnd", "Log", "Experimental"}

// String returns the kind's name, for tests and messages.
func (k EventKind) String() string { return NameOf(eventKindNames, k) }

// ProcStatus is the status of a proc in the trace. A proc whose goroutine is in a system call
// is Running here; the Machine distinguishes the two.
type ProcStatus uint8

// Statuses of a proc in the trace.
const (
	ProcStatusUndetermined ProcStatus = iota
	ProcStatusNotExist
	ProcStatusRunning
	ProcStatusIdle
)

var procStatusNames = []string{"Undetermined", "NotExist", "Running", "Idle"}

// String returns a proc's status as the trace's own reader prints it.
func (s ProcStatus) String() string { return NameOf(procStatusNames, s) }

// Scope is the kind of resource that a range belongs to.
type Scope uint8

// Scopes of ranges; ScopeGlobal is the whole program.
const (
	ScopeGlobal Scope = iota
	ScopeGoroutine
	ScopeProc
	ScopeThread
)

// EventFlags marks properties of an event in addition to its content.
type EventFlags uint8

const (
	// EventSyntheticTime marks a time that the decoder made up by adding 1 ns to
	// break a tie of the trace's clock (64 ns on most platforms): the order is
	// the decoder's, the distance to its neighbours is not a measurement.
	EventSyntheticTime EventFlags = 1 << iota
	// EventStatus marks a transition that repeats a state rather than changing
	// it: each generation lists every goroutine and proc once.
	EventStatus
	// EventClamped marks an event whose time was moved to the boundary of its
	// generation, because the runtime stamped it late (statuses of goroutines
	// that did nothing in the generation).
	EventClamped
)

// Event is one event of a trace: 64 bytes without pointers, so that millions cost the garbage
// collector nothing. Kind determines the meaning of the fields. IDs of strings and stacks
// refer to the [Tables] of the same reader.
type Event struct {
	Time Time
	// G, M and P are the context in which the event was emitted, before it took
	// effect; NoGoroutine, NoThread and NoProc where there was none.
	G GoID
	M ThreadID
	// ID is the subject; see the kinds.
	ID int64
	// Arg is a second number; see the kinds.
	Arg          int64
	P            ProcID
	Stack        StackID
	SubjectStack StackID
	Str          StringID
	Str2         StringID
	Kind         EventKind
	// From and To are GoState or ProcStatus values, or From a Scope, by Kind.
	From, To uint8
	Flags    EventFlags
}
