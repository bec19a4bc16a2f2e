package refsched

import "github.com/schedscope/schedscope/model"

// Sizes and times of the runtime (runtime/runtime2.go, runtime/proc.go; Go 1.22
// to 1.26).
const (
	RunqSize      = 256 // slots of a local run queue
	FairTick      = 61  // every so many picks the global queue comes first
	StealPasses   = 4
	ForcePreempt  = 10 * 1000 * 1000 * model.Duration(1) // forcePreemptNS
	SysmonMin     = 20 * 1000 * model.Duration(1)
	SysmonMax     = 10 * 1000 * 1000 * model.Duration(1)
	SysmonPoll    = 10 * 1000 * 1000 * model.Duration(1) // the network is polled at least so often
	SysmonRetake  = 10 * 1000 * 1000 * model.Duration(1) // a proc in a system call is taken by then in any case
	StealBackOff  = 3 * 1000 * model.Duration(1)
	NetpollEvents = 128 // of one poll (runtime/netpoll_epoll.go)
)

// GlobalBatch returns how many goroutines a proc with an empty local queue takes
// from a global queue of size, the one that it runs included (runtime/proc.go:
// globrunqgetbatch; until Go 1.24 globrunqget).
func GlobalBatch(size, procs int) int { return min(size, size/procs+1, RunqSize/2) }

// StealBatch returns how many goroutines a thief takes from a local queue of this
// length, the one that it runs included (runtime/proc.go: runqgrab).
func StealBatch(length int) int { return length - length/2 }

// FairPick reports whether the schedtick, before the pick is counted, makes
// the global queue come first (runtime/proc.go: findRunnable).
func FairPick(tick uint32) bool { return tick%FairTick == 0 }

// MaySpin reports whether a thread that is not searching may begin to (runtime/proc.go:
// findRunnable): at most half as many search as procs are busy.
func MaySpin(spinning, idle, procs int) bool { return 2*spinning < procs-idle }

// GCWorkers returns how many dedicated mark workers a cycle has, and the part of the
// time of all procs that fractional workers take in addition (runtime/mgcpacer.go:
// startCycle; 25 % of procs).
func GCWorkers(procs int) (dedicated int, fractional float64) {
	goal := float64(procs) * 0.25
	dedicated = int(goal + 0.5)
	if dev := float64(dedicated)/goal - 1; dev < -0.3 || dev > 0.3 {
		if float64(dedicated) > goal {
			dedicated--
		}
		return dedicated, (goal - float64(dedicated)) / float64(procs)
	}
	return dedicated, 0
}

// RetakeDue reports whether sysmon takes a proc from a system call that it has seen once
// before: not as long as nobody needs it, but after 10 ms in any case
// (runtime/proc.go: retake).
func RetakeDue(empty bool, spinning, idle int, seen model.Duration) bool {
	return !empty || spinning+idle == 0 || seen >= SysmonRetake
}

// PreemptedTo returns the proc in whose runnext a preempted goroutine goes, -1 for
// the global queue: since Go 1.26 it stays if the world is about to stop
// (runtime/proc.go: goschedImpl).
func PreemptedTo(p int32, stopping bool, version int) int32 {
	if stopping && version >= 26 {
		return p
	}
	return -1
}
