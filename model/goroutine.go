package model

// Goroutine is the state of one goroutine. The Machine owns it, and uses it for another one once it has passed
// it to [GoEndObserver]. Observers must neither keep it beyond the call nor change it. There may be a million: the order of
// the fields leaves no gaps, so that it takes 256 bytes.
type Goroutine struct {
	ID GoID
	// Func is the name of the start function, or of what that was handed to call (names.go).
	// It is 0 until the trace shows it: only if no stack of the goroutine's first generation
	// does, or in traces before Go 1.22.
	Func StringID
	// LastStop is the stack where the goroutine last stopped running; 0 if unknown.
	LastStop StackID
	Label    StringID // the latest label (EventLabel), 0 if none

	SeenCreation bool // From is the goroutine's creation
	HasStarted   bool
	HasEnded     bool // it exited; false: still alive at the trace's end
	// System: a goroutine of the runtime, not of the program: the start
	// function is in package runtime and is not runtime.main nor a coroutine.
	System bool

	// From is the beginning of the accounted time: creation, or the trace's start.
	From Time
	// Started is the first time that it was seen Running, Ended the end of its
	// accounted time. They have a meaning only if HasStarted, HasEnded.
	Started, Ended Time

	work     WorkKind  // that it does when it runs
	worker   bool      // it is a background mark worker
	flags    StepFlags // StepSystem, StepWorker
	sysKnown bool      // the beginning of the current system call is in the trace
	strayed  bool      // it moved where it cannot: another thread or proc may still have it, as the trace contradicts itself
	wake     wake      // of the latest Runnable interval

	// span is the current interval, which has no end yet. It is what observers get, so
	// that it is not put together each time.
	span GoSpan

	// Times are the totals per state of the intervals before the current one. At the end
	// [Machine.Check] proves that they add up to Ended - From.
	Times [NumGoStates]Duration
	// Block are the totals of Waiting by reason, in order of first appearance.
	Block []ReasonTime
	// RunnableTruly is the part of Times[GoRunnable] that was a wait: without
	// the pseudo intervals of [Pseudo].
	RunnableTruly Duration

	*Marks
	sys sysCall // the current system call, or the latest
}

// Marks are the ranges and regions of a goroutine, of which most have none.
type Marks struct {
	// Ranges are the totals of ranges by name: those of the goroutine ("GC mark
	// assist", "stop-the-world (...)"), up to its end or the trace's if they did
	// not end before, and those of procs ("GC incremental sweep") that the
	// goroutine both began and ended. They overlap the states.
	Ranges  []ReasonTime
	ranges  []openRange
	regions []openRegion
}

// noMarks are those of all goroutines that have none.
var noMarks Marks

// mark returns the goroutine's Marks to be changed.
func (g *Goroutine) mark() *Marks {
	if g.Marks == &noMarks {
		g.Marks = new(Marks)
	}
	return g.Marks
}

// ReasonTime is a total under a name.
type ReasonTime struct {
	Reason StringID
	Count  int64
	Total  Duration
}

// Polled reports whether the network poller made g runnable, also where a goroutine called it.
func (g *Goroutine) Polled() bool { return g != nil && g.wake.net }

// Poller returns who polled, if g was [Goroutine.Polled].
func (g *Goroutine) Poller() Poller { return g.wake.poller }
