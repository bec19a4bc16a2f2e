package model

// The Machine reports to its observers what it establishes, as soon as it is
// certain: intervals when they end. Give an observer to [Machine.Observe], which
// registers it for every interface below that it implements. Arguments are valid
// during the call only; copy what is to be kept.
type (
	// StartObserver is called once, before all others, with the time at which accounting
	// starts.
	StartObserver interface{ Started(Time) }
	// GoSpanObserver is called for each interval of each goroutine. Intervals of
	// zero length are left out.
	GoSpanObserver interface{ GoSpan(*GoSpan) }
	// GoEndObserver is called for each goroutine once: when it exits, or at the end.
	GoEndObserver interface{ GoEnd(*Goroutine) }
	// ProcSpanObserver is called for each interval of each proc.
	ProcSpanObserver interface{ ProcSpan(*ProcSpan) }
	// UseObserver is a ProcSpanObserver that only adds up durations by state and work. What a proc does for
	// goroutines of the program it may get as one interval for each state, in place of very many, all in one part of time.
	UseObserver interface {
		ProcSpanObserver
		// PartEnd returns when the part of time ends, later than t, in which t is.
		PartEnd(t Time) Time
	}
	// ThreadSpanObserver is called for each interval of each thread.
	ThreadSpanObserver interface{ ThreadSpan(*ThreadSpan) }
	// ThreadObserver is called for each thread once, at the end, sorted by id.
	ThreadObserver interface{ Thread(*Thread) }
	// ThreadStartObserver is called for threads seen to be created.
	ThreadStartObserver interface{ ThreadStart(*ThreadStart) }
	// CountsObserver is called for each elementary interval.
	CountsObserver interface{ Counts(*Counts) }
	// LoadObserver is a CountsObserver that reads only Procs, Idle, Runnable and Overloaded, and
	// need not be called where none of them changes, as in one of three intervals.
	LoadObserver interface {
		CountsObserver
		OnlyLoad()
	}
	// PeakObserver is called when an elementary interval begins in which more goroutines
	// are Runnable than in all before.
	PeakObserver interface{ PeakAt(from Time, runnable int) }
	// SilenceObserver is called for each time of at least [MinSilence] without events since it was
	// registered, before what ended it is applied.
	SilenceObserver interface{ Silence(from, to Time) }
	// HandoffObserver is called for each handoff when the proc found a new thread.
	HandoffObserver interface{ Handoff(*Handoff) }
	// SyscallExitObserver is called for each end of a system call.
	SyscallExitObserver interface{ SyscallExit(*SyscallExit) }
	// NetpollObserver is called for each network wakeup when the goroutine ran.
	NetpollObserver interface{ Netpoll(*NetpollWake) }
	// STWObserver is called for each stop-the-world when its range ends.
	STWObserver interface{ STW(*STW) }
	// RangeObserver is called for each range when it ends.
	RangeObserver interface{ Range(*RangeSpan) }
	// TaskObserver is called for each task when it ends.
	TaskObserver interface{ Task(*Task) }
	// RegionObserver is called for each region when it ends.
	RegionObserver interface{ Region(*Region) }
	// MetricObserver is called for each metric sample.
	MetricObserver interface{ Metric(*MetricSample) }
)

// MinSilence is, in nanoseconds, a hundred times what usually passes between two events, or more.
const MinSilence = 1 << 18
