package refsched

import "github.com/schedscope/schedscope/model"

// PickFrom is the place where findRunnable finds a goroutine.
type PickFrom uint8

// Places in the order in which runtime/proc.go: findRunnable looks, except for what is
// not queued: the trace reader, mark workers, and what the network poller has.
const (
	PickNothing   PickFrom = iota
	PickFair               // the head of the global queue, by the 61st tick
	PickNext               // the proc's own runnext
	PickOwn                // the head of its own queue
	PickGlobal             // the head of the global queue, and a batch behind it
	PickSteal              // another proc's queue, half of it
	PickStealNext          // another proc's runnext, on the last pass
)

// PickState is the input of findRunnable.
type PickState struct {
	Fair        bool // the schedtick is a multiple of 61
	Next        bool // something is in runnext
	Own, Global int  // lengths of the proc's own queue and of the global one
	Victims     int  // other procs with something in their queue
	VictimNexts int  // other procs with something in runnext alone
}

// Pick returns where a thread with a proc takes its next goroutine from
// (runtime/proc.go: findRunnable, runqget, stealWork). Which victim a thief
// takes from is random.
func Pick(s PickState) PickFrom {
	switch {
	case s.Fair && s.Global > 0:
		return PickFair
	case s.Next:
		return PickNext
	case s.Own > 0:
		return PickOwn
	case s.Global > 0:
		return PickGlobal
	case s.Victims > 0:
		return PickSteal
	case s.VictimNexts > 0:
		return PickStealNext
	}
	return PickNothing
}

// RetakeState is the input of sysmon's decision on a proc in a system call.
type RetakeState struct {
	// InCall is how long the call has lasted, and Slice for how long the proc has had
	// the same schedtick. sysmon measures both from when it saw them first.
	InCall, Slice model.Duration
	Queued        bool // something is in the proc's queues
	Others        bool // some proc is idle, or some thread searches
}

// MayRetake reports whether sysmon may take the proc away (runtime/proc.go:
// retake): it must have seen the call before, at least SysmonMin ago, and there is
// work for another thread, or the call has lasted for long.
func MayRetake(s RetakeState) bool {
	if s.Slice >= ForcePreempt {
		return true // it does not look whether the call is new, and compares with the time of an old one
	}
	return s.InCall >= SysmonMin && (s.Queued || !s.Others || s.InCall >= SysmonRetake)
}

// RetakeLatest is when a proc in a system call is taken away at the latest, also if nobody
// needs it, counted from the beginning of the call, by a sysmon that sleeps its most: it
// must see the call, and see it again when it may be retaken.
const RetakeLatest = SysmonRetake + 2*SysmonMax

// PreemptLatest is the longest time that a proc keeps the same schedtick before sysmon asks
// its goroutine to stop: it must see the tick, and see it again when it is ForcePreempt old,
// with a sleep of up to SysmonMax before either.
const PreemptLatest = ForcePreempt + 2*SysmonMax

// MustWake reports whether a thread that makes a goroutine runnable wakes another
// one (runtime/proc.go: wakep).
func MustWake(idle, spinning int) bool { return idle > 0 && spinning == 0 }

// MayQueueAtExit reports whether a goroutine that comes out of a system call
// without its proc may go to the global queue (runtime/proc.go: exitsyscall,
// exitsyscallTryGetP, exitsyscallNoP): only if its old proc is not in another
// system call and no proc is idle.
func MayQueueAtExit(idle int, oldInSyscall bool) bool { return idle == 0 && !oldInSyscall }
