package result

import "slices"

// Cause is the reason why a goroutine did not run during a part of a wait. At every moment
// exactly one holds, the first in this order with a true condition.
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

// CauseGroup is a group of causes with one colour in pictures and one remedy.
type CauseGroup struct{ ID, Label, advice string }

// CauseGroups are all groups, in the order in which they are stacked.
var CauseGroups = []CauseGroup{
	{"goroutine", "behind goroutines", "Look at who ran instead, and where. Bound how many of those run at once (semaphore below GOMAXPROCS), make their work shorter, cache or precompute it, or give the program more procs and CPUs."},
	{"syscall", "proc held by syscall", "Look at whom it was behind, and at the stack. Make fewer and larger calls (buffer, batch), or limit how many goroutines call at once. A call of some microseconds is work in the kernel: its proc is not lost."},
	{"gc", "behind GC and assists", "Make collections rarer or shorter: allocate less, hold fewer pointers, raise GOGC or set GOMEMLIMIT. See gc-assists if goroutines have to help."},
	{"runtime", "behind the runtime", "Such turns are short as a rule. If they are not, look at whom the waits were behind; what follows collections becomes rarer with them (allocate less, raise GOGC)."},
	{"stopped", "stop-the-world", "Find the reason in the table of stop-the-world phases. If it took long until all procs had stopped, look for the goroutine that did not stop: assembly, a huge copy. Else stop less often: fewer collections, no runtime.ReadMemStats in a loop, no changes of GOMAXPROCS."},
	{"waking", "waking an idle proc", "Some tens of microseconds are the price of a proc that slept. If they are much of the waiting, hand work over less often and in larger pieces, such that fewer procs must be woken."},
	{"idle", "idle proc not used", "Some microseconds each time are normal. Longer ones: look for runtime.LockOSThread, for one goroutine that wakes many at once, and compare GOMAXPROCS with the CPUs that the process really has."},
	{"scheduler", "the scheduler itself", "Less than a microsecond for each start is normal. If it is much of the waiting, turns are many and short: let goroutines do more at a time (batches, buffered channels), or use fewer of them."},
	{"os", "OS (suspected)", "Compare GOMAXPROCS with the CPUs that the process really has: limits, throttling, steal time, neighbours. If the trace was recorded on a busy machine, record it on a quiet one before you change the program."},
	{"unresolved", "unresolved", "A part of a percent is normal. If it is more, analyse a longer trace, or leave out its beginning with --from."},
}

// causes are the words for each cause: its group, a name for tables and legends, what it
// means, how it is recognised, and a trace that shows it.
var causes = [NumCauses]struct{ group, name, meaning, sign, example string }{
	CauseUnresolved: {"unresolved", "unresolved", "What decides it is not known from the trace.",
		"The run queues of that moment cannot be reconstructed, as at the beginning of a trace, or the trace lacks what the proc did. It is left open rather than guessed.", "fixtures/rpc.go1.26.p4.trace"},
	CauseSTW: {"stopped", "stop-the-world", "The world was stopped, or waited for the last goroutine to stop.",
		"The phase is in the trace. The time until all procs have stopped belongs to it; that is the doing of whoever did not stop, not of what stopped the world.", "fixtures/relay.go1.26.p4.trace"},
	CausePickup: {"scheduler", "pick-up", "The scheduler's own time before it ran the goroutine.",
		"From the last event of the thread that ran the goroutine until the start, up to what is usual for the queue that it came from. That limit is estimated from the trace and printed with it.", "fixtures/tasks.go1.26.p4.trace"},
	CauseBackoff: {"scheduler", "runnext back-off", "A thief slept before it took the goroutine from a runnext.",
		"The goroutine was stolen from the runnext of a proc. The runtime has thieves sleep first, for 3us that take some 50us on Linux, so that the owner can run it.", "fixtures/mutex.go1.26.p4.trace"},
	CauseOSScheduler: {"os", "OS in scheduler (suspected)", "A thread looked for work for longer than the scheduler needs.",
		"The thread that ran the goroutine, or that held its proc without a goroutine, went beyond the limit for a pick-up or a search, which is estimated from the trace. Suspected: a trace does not show what the operating system ran meanwhile.", "fixtures/files.go1.26.p4.trace"},
	CauseWaking: {"waking", "waking an idle proc", "A proc was idle and a thread for it was on its way.",
		"From the wake-up of the proc until its thread had it, up to the limit for waking a thread, which is estimated from the trace.", "fixtures/lockthread.go1.26.p4.trace"},
	CauseOSWake: {"os", "OS in wake-up (suspected)", "A proc was idle and its thread took longer than usual to wake up.",
		"Waking the thread went beyond the limit, which is estimated from the trace. Suspected: perhaps the operating system had no CPU for it, which a trace does not show.", "fixtures/pipeline.go1.26.p4.trace"},
	CauseSpinner: {"idle", "idle proc, spinner", "A proc was idle; none was woken, as a thread searched already.",
		"The idle proc is in the trace. The runtime wakes no second thread while one searches for work; that the one did not find the goroutine soon follows from the replayed run queues.", "fixtures/timers.go1.26.p4.trace"},
	CauseRunnext: {"idle", "idle proc, runnext", "A proc was idle, but the goroutine was next on a busy one.",
		"The idle proc is in the trace. A goroutine that another one readied stands in the runnext of that one's proc, which thieves leave alone at first; this follows from the replayed run queues.", "fixtures/pipeline.go1.26.p4.trace"},
	CauseHandoff: {"idle", "idle proc, locked thread", "A proc was idle, but the goroutine was bound to a thread.",
		"The idle proc is in the trace. The goroutine had called runtime.LockOSThread: another thread had to take it from the queue and hand its proc to that thread.", "fixtures/lockthread.go1.26.p4.trace"},
	CauseUnexplained: {"idle", "idle proc, unexplained", "A proc was idle, and nothing in the trace says why.",
		"The idle proc is in the trace. No thread was on its way or searching, and the goroutine was neither in a runnext nor bound to a thread.", "fixtures/trees.go1.26.p4.trace"},
	CauseSearching: {"scheduler", "searching", "No proc was idle, and one was searching for work.",
		"A proc had a thread and no goroutine, up to the limit for a search, which is estimated from the trace.", "fixtures/trees.go1.26.p4.trace"},
	CauseOSGap: {"os", "OS gap (suspected)", "Procs were taken, and no thread did anything for long.",
		"No thread has an event for more than 30ms, longer than any goroutine runs before the runtime asks it to give way. Suspected: perhaps the operating system stopped the program; a trace does not show that.", "fixtures/checks/recordings/injected-stop.trace.zst"},
	CauseSyscall: {"syscall", "proc held by syscall", "The goroutine's proc was held by one in a system call.",
		"The proc in whose queue the goroutine last stood was in a system call. It is handed off when sysmon looks, after 20us to 10ms, or before a call that is known to block; shorter calls keep it.", "fixtures/proxy.go1.26.p4.trace"},
	CauseGCDedicated: {"gc", "behind GC (dedicated)", "The goroutine's proc ran a dedicated mark worker.",
		"The worker is in the trace. It keeps its proc until marking ends. That the goroutine stood in that proc's queue follows from the replayed run queues.", "fixtures/rpc.go1.26.p4.trace"},
	CauseGCFractional: {"gc", "behind GC (fractional)", "The goroutine's proc ran a fractional mark worker.",
		"The worker is in the trace. Where a quarter of GOMAXPROCS is not a whole number, one works for a part of the time. That the goroutine stood in that proc's queue follows from the replayed run queues.", "fixtures/mixed.go1.26.p2.trace"},
	CauseGCIdle: {"gc", "behind GC (idle)", "The goroutine's proc ran a mark worker that uses idle procs.",
		"The worker is in the trace: the proc had nothing else to run when it began. That the goroutine stood in that proc's queue follows from the replayed run queues.", "fixtures/truth/traces/goroutines.p2.trace.zst"},
	CauseAssist: {"gc", "behind GC assist", "The goroutine's proc ran one that had to help the collector.",
		"The mark assist is in the trace: who allocates faster than the collector marks must mark, too. That the goroutine stood in that proc's queue follows from the replayed run queues.", "fixtures/mixed.go1.26.p2.trace"},
	CauseRuntime: {"runtime", "behind the runtime", "The goroutine's proc ran one of the runtime's goroutines.",
		"What ran is in the trace. That the goroutine stood in that proc's queue follows from the replayed run queues.", "fixtures/mixed.go1.26.p2.trace"},
	CauseGoroutine: {"goroutine", "behind a goroutine", "The goroutine's proc ran other goroutines of the program.",
		"What ran is in the trace, and no proc was idle. That the goroutine stood in that proc's queue, or in the global one from which that proc took it, follows from the replayed run queues.", "fixtures/hogs.go1.26.p2.trace"},
	CauseSwitching: {"scheduler", "switching", "The goroutine's proc was between two goroutines.",
		"The goroutine stood in the proc's queue, as the replayed run queues have it, while one turn had ended and the next had not begun.", "fixtures/yield.go1.26.p4.trace"},
}

// CauseSymptoms returns an entry for each cause, in the order of causes.
func CauseSymptoms() []Symptom {
	var list []Symptom
	for c, x := range causes {
		g := slices.IndexFunc(CauseGroups, func(g CauseGroup) bool { return g.ID == x.group })
		list = append(list, Symptom{SymptomName(Cause(c).String()), x.meaning, x.sign, CauseGroups[g].advice, x.example})
	}
	return list
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
func (c Cause) Suspected() bool { return c == CauseOSScheduler || c == CauseOSWake || c == CauseOSGap }

// IdleProc reports whether a proc stood idle although the goroutine waited and
// nobody was on the way to use it.
func (c Cause) IdleProc() bool { return c >= CauseSpinner && c <= CauseUnexplained }

// Behind reports whether the goroutine's proc did something else, which rows of blame then
// name.
func (c Cause) Behind() bool { return c >= CauseSyscall && c <= CauseGoroutine }
