package runqueue

import "github.com/schedscope/schedscope/model"

// Source is the place from which a goroutine was taken to run.
type Source uint8

// Sources, after the branches of runtime/proc.go: schedule, findRunnable,
// exitsyscall, park_m and runtime/coro.go: coroswitch_m.
const (
	SourceUnknown      Source = iota
	SourceRunnext             // the proc's own runnext
	SourceLocal               // the proc's own local queue
	SourceGlobal              // the global queue, as the single or first one taken
	SourceSteal               // another proc's local queue, as the last one of a stolen batch
	SourceStealRunnext        // another proc's runnext
	SourceNetpoll             // handed over by a poll of the network
	SourceSyscall             // went on out of a system call without queueing
	SourceSystem              // a mark worker or the trace reader, which have no queue
	SourceLocked              // on the thread it is locked to, which got a proc from another thread
	SourceDirect              // a park that failed: it went on at once
	SourceCoroutine           // switched to by another coroutine
	NumSources
)

var sourceNames = []string{"unknown", "runnext", "local", "global", "steal", "steal-runnext", "netpoll", "syscall",
	"system", "locked", "direct", "coroutine"}

// String returns the source's name as tables print it.
func (s Source) String() string { return model.NameOf(sourceNames, s) }

// Via is the route by which a goroutine last entered its proc's own local queue.
type Via uint8

// Ways into an own local queue.
const (
	ViaNone    Via = iota // not taken from an own local queue
	ViaOwn                // became runnable there, in runnext or at the tail
	ViaGlobal             // moved there in a batch from the global queue
	ViaSteal              // moved there in a stolen batch
	ViaNetpoll            // put there from a list: of a poll of the network, or of the runtime's own (injectglist)
	NumVias
)

var viaNames = []string{"", "own", "global", "steal", "netpoll"}

// String returns the way's name as tables print it.
func (v Via) String() string { return model.NameOf(viaNames, v) }

// Grade is the quality of the evidence for a Source.
type Grade uint8

// Grades of evidence, best first.
const (
	GradeCertain      Grade = iota // follows from the trace and the runtime's rules alone
	GradeUnique                    // one explanation fits, given when operations of different threads usually take effect
	GradeChosen                    // the likeliest of several that fit
	GradeContradicted              // none fits; this one breaks the fewest rules
	NumGrades
)

var gradeNames = []string{"certain", "unique", "chosen", "contradicted"}

// String returns the grade's name as tables print it.
func (g Grade) String() string { return model.NameOf(gradeNames, g) }

// Place is a run queue.
type Place uint8

// Places where a Runnable goroutine can stand.
const (
	PlaceUnknown Place = iota // Runnable when the trace began
	PlaceNone                 // in no queue: somebody had it in hand
	PlaceRunnext
	PlaceLocal
	PlaceGlobal
	NumPlaces
)

var placeNames = []string{"unknown", "none", "runnext", "local", "global"}

// String returns the place's name as tables print it.
func (p Place) String() string { return model.NameOf(placeNames, p) }

// Start is the start of a goroutine and its way through the queues before.
type Start struct {
	Time model.Time // of the GoStart event
	G    model.GoID
	M    model.ThreadID
	P    model.ProcID
	Func model.StringID // start function of G

	// Since is when it became runnable, by Origin. OpenStart: it was so already
	// when the trace began, Since is only an upper bound.
	Since     model.Time
	OpenStart bool
	System    bool // G is one of the runtime's own goroutines
	Origin    model.Origin
	Pseudo    model.Pseudo

	Source Source
	Via    Via
	Grade  Grade
	// Where it first stood, and on which proc (NoProc of the global queue).
	Enqueued Place
	QueueP   model.ProcID
	// FromP is the victim of the last steal that moved it, NoProc if none did,
	// and Batch how many goroutines moved with it, itself included, from there or
	// from the global queue; 0 if it never moved.
	FromP model.ProcID
	Batch int
	// LastP is the proc in whose runnext or local queue it last stood before it
	// was taken to run; NoProc if it was taken from the global queue or no queue.
	LastP model.ProcID
	// Plain: the rules leave nothing else to take. It stood in the proc's own runnext, or first in its
	// local queue with nothing in runnext, and it was not the turn of the global queue; or first in the
	// global queue, and the proc had nothing. It is set if there are DecisionObservers, who are not called.
	Plain   bool
	Choices int // about how many explanations fit, this one included, where Grade is GradeChosen; else 0
	// Operation is the function in which a goroutine waited that a poll of the network
	// woke, as it seems, if Grade is GradeContradicted; else "".
	Operation string

	// Search is when the thread began to look for work, or got the proc: its
	// latest event before the start, at most Time.
	Search model.Time
	// Freed is when another thread gave the proc up, if the thread had just got it, else 0.
	Freed model.Time
	// Tick is the proc's schedtick after the start modulo 61, -1 while unknown.
	Tick int
	// Ordinal is its number among all starts, from 0.
	Ordinal int
}

// Steal is a successful runqsteal (runtime/proc.go). A thief that finds a
// goroutine locked to a thread hands it its proc; M is then that thread.
type Steal struct {
	Time    model.Time // of the start of the goroutine that the thief ran
	G       model.GoID
	Thief   model.ProcID
	M       model.ThreadID // of the thief
	Victim  model.ProcID
	Size    int // goroutines taken, the one that ran included
	Runnext bool
	Grade   Grade
}

// Overflow is a local queue that was full: half of it and the new goroutine
// went to the global queue (runtime/proc.go: runqputslow).
type Overflow struct {
	Time  model.Time
	P     model.ProcID
	Size  int
	Grade Grade
}

// Fairness is a pick from the global queue because the proc's schedtick was a
// multiple of 61 (runtime/proc.go: findRunnable).
type Fairness struct {
	Time  model.Time
	G     model.GoID
	P     model.ProcID
	Local int // length of the local queue that it was put before
	Grade Grade
}

// Injection is a list of goroutines that one thread made runnable at once
// (runtime/proc.go: injectglist).
type Injection struct {
	Time   model.Time
	M      model.ThreadID
	P      model.ProcID // NoProc: the thread had none, all went to the global queue
	Global int          // how many of the list went to the global queue
	Local  int          // and to the local queue of P
	Poller model.Poller // who polled, if Netpoll
	// Netpoll: the network poller found them; else the runtime woke them.
	Netpoll bool
	Grade   Grade
}

// Lengths is a change of the length of one queue.
type Lengths struct {
	Time model.Time
	P    model.ProcID // NoProc: the global queue
	Len  int          // goroutines in it, that in runnext not counted
	Next int          // 1 if there is one in runnext
}

// Wakeup is a thread that was woken, or created, to look for work with an idle
// proc, by another thread (runtime/proc.go: wakep, startm).
type Wakeup struct {
	P model.ProcID // the idle proc
	M model.ThreadID
	// Handoff: the proc was taken from a thread in a system call, at Trigger, and
	// given to this one at once; it was never idle (runtime/proc.go: handoffp). G,
	// ByP and Origin mean nothing then.
	Handoff bool
	// Trigger is when a goroutine became runnable that made the waker do so, and
	// Got when the thread had the proc. ByP is the waker's proc; Origin is how
	// that goroutine became runnable. Caused is false if no trigger is known.
	Caused  bool
	Trigger model.Time
	Got     model.Time
	G       model.GoID // the goroutine that became runnable
	ByP     model.ProcID
	Origin  model.Origin
	Found   bool // the thread started a goroutine before it gave the proc up
}
