package result

// Cause says to what a part of a wait was lost: why the goroutine did not run
// there. At every moment exactly one holds, the first in this order whose
// condition is true.
type Cause uint8

// Causes.
const (
	CauseUnresolved   Cause = iota // would need to know what the trace leaves open
	CauseSTW                       // the world was stopped, or about to be
	CausePickup                    // the thread that ran it was about to
	CauseBackoff                   // the thread that took it from another runnext slept first, to leave it to its owner
	CauseOSScheduler               // the thread that ran it, or held its proc, looked for work for too long (suspected)
	CauseWaking                    // an idle proc was being woken
	CauseOSWake                    // that took too long (suspected)
	CauseSpinner                   // a proc was idle, nobody woke it because another was searching
	CauseRunnext                   // a proc was idle, the goroutine was in a runnext, which thieves leave alone
	CauseHandoff                   // a proc was idle, the goroutine was bound to a thread that had none
	CauseUnexplained               // a proc was idle, for no known reason
	CauseSearching                 // no proc was idle, one was searching
	CauseOSGap                     // no thread of the program did anything for long (suspected)
	CauseSyscall                   // its proc was held by a system call
	CauseGCDedicated               // its proc ran a dedicated mark worker
	CauseGCFractional              // its proc ran a fractional mark worker
	CauseGCIdle                    // its proc ran an idle-time mark worker
	CauseAssist                    // its proc ran a goroutine that had to help the garbage collector
	CauseRuntime                   // its proc ran another goroutine of the runtime
	CauseGoroutine                 // its proc ran another goroutine of the program
	CauseSwitching                 // its proc was between two goroutines
	NumCauses
)

// causes are the words for each cause: the group that it has its colour of in pictures, a
// name for tables and legends, and a sentence.
var causes = [NumCauses]struct{ group, name, meaning string }{
	CauseUnresolved:   {"unresolved", "unresolved", "What decides it is not known from the trace."},
	CauseSTW:          {"stopped", "stop-the-world", "The runtime stopped all goroutines, or was waiting for the last one to stop."},
	CausePickup:       {"scheduler", "pick-up", "The thread that ran the goroutine had begun to look for work: the scheduler's own time."},
	CauseBackoff:      {"scheduler", "runnext back-off", "The thread that stole the goroutine from a runnext slept first, so that the owner could run it."},
	CauseOSScheduler:  {"os", "OS in scheduler (suspected)", "The thread that ran the goroutine, or that held its proc without a goroutine, looked for work for longer than the scheduler needs; perhaps the operating system ran something else."},
	CauseWaking:       {"waking", "waking an idle proc", "A proc was idle and a thread for it was on its way."},
	CauseOSWake:       {"os", "OS in wake-up (suspected)", "A proc was idle and the thread woken for it took longer than usual; perhaps the operating system had no processor for it."},
	CauseSpinner:      {"idle", "idle proc, spinner", "A proc was idle, but no thread was woken for it because another was searching for work already."},
	CauseRunnext:      {"idle", "idle proc, runnext", "A proc was idle, but the goroutine was next on another proc, and thieves leave that one alone at first."},
	CauseHandoff:      {"idle", "idle proc, locked thread", "A proc was idle, but the goroutine was bound to a thread, which had to be given a proc first."},
	CauseUnexplained:  {"idle", "idle proc, unexplained", "A proc was idle although the goroutine could have run there; nothing in the trace says why."},
	CauseSearching:    {"scheduler", "searching", "No proc was idle, but one had nothing to run and was searching for work."},
	CauseOSGap:        {"os", "OS gap (suspected)", "Procs were taken, but for longer than any time slice no thread did anything: perhaps the operating system stopped the program."},
	CauseSyscall:      {"syscall", "proc held by syscall", "The goroutine's proc was held by a goroutine in a system call and not yet handed off."},
	CauseGCDedicated:  {"gc", "behind GC (dedicated)", "The goroutine's proc ran a dedicated mark worker of the garbage collector."},
	CauseGCFractional: {"gc", "behind GC (fractional)", "The goroutine's proc ran a fractional mark worker of the garbage collector."},
	CauseGCIdle:       {"gc", "behind GC (idle)", "The goroutine's proc ran a mark worker that uses idle procs."},
	CauseAssist:       {"gc", "behind GC assist", "The goroutine's proc ran a goroutine that had to help the garbage collector before it could allocate."},
	CauseRuntime:      {"runtime", "behind the runtime", "The goroutine's proc ran one of the runtime's own goroutines."},
	CauseGoroutine:    {"goroutine", "behind a goroutine", "The goroutine's proc ran other goroutines of the program."},
	CauseSwitching:    {"scheduler", "switching", "The goroutine's proc was between two goroutines."},
}

// String returns the cause's name as reports print it.
func (c Cause) String() string {
	if c < NumCauses {
		return causes[c].name
	}
	return "Cause(?)"
}

// Group returns the group of causes that it belongs to in pictures.
func (c Cause) Group() string {
	if c < NumCauses {
		return causes[c].group
	}
	return causes[CauseUnresolved].group
}

// Meaning explains the cause in a sentence.
func (c Cause) Meaning() string {
	if c < NumCauses {
		return causes[c].meaning
	}
	return ""
}

// Suspected reports whether the cause is only suspected: a trace does not show
// what the operating system does.
func (c Cause) Suspected() bool {
	return c == CauseOSScheduler || c == CauseOSWake || c == CauseOSGap
}

// IdleProc reports whether a proc stood idle although the goroutine waited and
// nobody was on the way to use it.
func (c Cause) IdleProc() bool { return c >= CauseSpinner && c <= CauseUnexplained }

// Behind reports whether the goroutine's proc did something else: then the
// antagonists tell what.
func (c Cause) Behind() bool {
	return c >= CauseSyscall && c <= CauseGoroutine
}
