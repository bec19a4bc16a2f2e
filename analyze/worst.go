package analyze

import "github.com/schedscope/schedscope/model"

// Wait is one of the worst waits with what happened during it.
type Wait struct {
	Trace      int
	G          model.GoID
	Func       string // start function
	Origin     model.Origin
	Start, End model.Time    // became Runnable, began to run
	Stack      []model.Frame // where the goroutine last stopped
	// Waker is who made it runnable: NoGoroutine if the runtime did by itself.
	Waker      model.GoID
	WakerFunc  string // start function; "" if not known
	WakerStack []model.Frame
	// ReadiedOn is the proc on which it became runnable, RanOn and RanBy the
	// proc and thread that then ran it: the two ends of the wake-up arrow. NoProc
	// and NoThread if unknown.
	ReadiedOn, RanOn model.ProcID
	ReadiedBy, RanBy model.ThreadID

	// From and To bound the time that Procs shows: the wait and a margin of an
	// eighth of it, at least 20 us, on both sides.
	From, To model.Time
	// Procs are what the procs did, sorted by proc.
	Procs []ProcDuring
	// Uses is the sum of Procs' uses during the wait. Approximate if one of
	// theirs is.
	Uses        Uses
	Approximate bool
	// Antagonists are the goroutines that ran during the wait, longest first, at
	// most 10; AntagonistFuncs the same by start function. Unattributed is time
	// in which goroutines ran within joined slices, where only the one that ran
	// longest is known.
	Antagonists     []Antagonist
	AntagonistFuncs []AntagonistFunc
	Unattributed    model.Duration
}

// Duration returns the wait's length.
func (w *Wait) Duration() model.Duration { return w.End.Sub(w.Start) }

// ProcDuring is what one proc did around a wait.
type ProcDuring struct {
	P      model.ProcID
	Slices []ProcSlice // contiguous and in order, cut to the time shown
	Uses   Uses        // during the wait
	// Approximate: a joined slice reaches over an end of the wait and was divided
	// in proportion.
	Approximate bool
}

// ProcSlice is an interval of a proc's timeline, in one state; or several that
// are too short to be drawn, joined.
type ProcSlice struct {
	Start, End model.Time
	// Use is what it was put to, of a joined slice what took the longest.
	Use Use
	// G ran or was in a system call (of a joined slice: the longest of them), for
	// GTime. NoGoroutine if none.
	G     model.GoID
	Func  string // start function of G
	GTime model.Duration
	// Joined: the slice stands for several. Uses are their exact times, but for
	// slices that were cut.
	Joined bool
	Uses   Uses
	// LongBurst marks an interval of a goroutine of the program that ran longer
	// than [LongBurst] in one go, seen whole, not just the part shown.
	LongBurst bool
}

// Antagonist is a goroutine that ran during a wait.
type Antagonist struct {
	G     model.GoID
	Func  string
	Use   Use // UseUser, UseGC, UseAssist or UseRuntime: most of it
	Total model.Duration
}

// AntagonistFunc are the goroutines of one start function that ran during a wait.
type AntagonistFunc struct {
	Func  string
	Use   Use
	Total model.Duration
}

// Worst finds the longest waits of the program's goroutines: the same that
// [Latency] measures, ties by start and goroutine. It keeps a history of what
// the procs did, fine for the recent past and coarser the older it is, to show
// what happened during each.
type Worst struct {
	traceClock
	tables *model.Tables
	limit  int
	waits  []*Wait
}

// NewWorst returns a Worst that tells the limit longest waits.
func NewWorst(t *model.Tables, limit int) *Worst {
	return &Worst{tables: t, limit: limit}
}

// Waits returns the longest waits, longest first. They are complete once Finish
// was called.
func (w *Worst) Waits() []*Wait { return w.waits }

// GoSpan implements [model.GoSpanObserver].
func (w *Worst) GoSpan(s *model.GoSpan) {}

// ProcSpan implements [model.ProcSpanObserver].
func (w *Worst) ProcSpan(s *model.ProcSpan) {}

// Finish completes the waits. Call it after the last interval.
func (w *Worst) Finish() {}

// Merge adds the finished waits of another trace.
func (w *Worst) Merge(o *Worst) {}
