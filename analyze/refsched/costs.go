package refsched

import "github.com/schedscope/schedscope/model"

// Cost is something that scheduling takes time for.
type Cost uint8

// Costs, from one event of the trace to another.
const (
	// From a goroutine's stop to the next start on the same thread, by where that came from.
	CostRunnext Cost = iota
	CostLocal
	CostGlobal
	CostSteal  // a successful steal, from the search's pass
	CostPoll   // a poll of the network that finds something
	CostDirect // mark workers, the trace reader, coroutines
	// CostSpin is how long a fruitless search takes, from its beginning to giving up the proc, without CostBackOff.
	CostSpin
	// CostBackOff is how long a thief sleeps before it takes from the runnext of a running proc: 3 us and the timer slack
	// (runtime/proc.go: runqgrab).
	CostBackOff
	CostWake // from waking a thread to its having the proc
	// CostWaker is what waking a thread costs the goroutine that does it: the system call, and the signal to a
	// processor that sleeps.
	CostWaker
	CostClone   // as CostWake, if the thread must be created first
	CostLocked  // hand-off of a proc to a locked goroutine's thread
	CostSlack   // by which a sleeping thread is late (timer slack)
	CostPreempt // from a request to stop for a stop-the-world to its landing
	// CostNotice is from sysmon's request to give way to its landing: the next function that the goroutine calls
	// (runtime/proc.go: preemptone poisons its stack guard).
	CostNotice
	CostExit  // from a system call's return to running on, with a proc to be had
	CostEpoll // from data's arrival to the return of a thread that sleeps in epoll
	CostSend  // from a send to the arrival of data within the program
	NumCosts
)

// costs are the names of costs, their defaults and what they are. Defaults are the medians of what this project's fixtures
// show, which were recorded on a virtual machine with 2 CPUs and Linux 6.18; where they show too little, what the sources
// of the runtime and single experiments suggest.
var costs = [NumCosts]struct {
	name    string
	typical model.Duration
	help    string
}{
	{"runnext", 270, "stop of a goroutine to the start of that in runnext"},
	{"local", 300, "stop to the start of the local queue's head"},
	{"global", 230, "stop to the start of the global queue's head"},
	{"steal", 700, "search to the start of a stolen goroutine"},
	{"poll", 1000, "stop to what a poll of the network found becoming runnable"},
	{"direct", 80, "start of what is in hand: from a poll, a mark worker, the trace reader"},
	{"spin", 700, "fruitless search to giving up the proc"},
	{"backoff", 87_000, "sleep of a thief before it takes from another's runnext"},
	{"wake", 16_000, "waking a thread to its having the proc"},
	{"waker", 11_000, "waking a thread, for the goroutine that does it"},
	{"clone", 60_000, "the same with a thread that must be created"},
	{"locked", 6000, "giving a proc to a locked goroutine's thread, to its start"},
	{"slack", 64_000, "by which a sleeping thread is late"},
	{"preempt", 11_000, "request of a preemption to its landing"},
	{"notice", 1000, "sysmon's request to give way to its landing"},
	{"exit", 130, "return from a system call, with a proc to be had, to running on"},
	{"epoll", 2000, "arrival of data to a thread that sleeps in epoll getting a proc"},
	{"send", 0, "end of a send to the arrival of data within the program"},
}

// String returns the cost's name as tables print it.
func (c Cost) String() string { return costs[c].name }

// Help returns what the cost is, in a line.
func (c Cost) Help() string { return costs[c].help }

// Costs are the times that scheduling itself takes. The zero Costs are those of a scheduler that costs nothing.
type Costs struct {
	Single [NumCosts]model.Duration
	// Drawn are distributions from which is drawn instead: values at evenly spaced quantiles, all equally likely. The
	// single value does for one that has no influence, or is not known.
	Drawn [NumCosts][]model.Duration
}

// DefaultCosts returns the costs where a trace does not show them.
func DefaultCosts() (c Costs) {
	for i := range costs {
		c.Single[i] = costs[i].typical
	}
	return c
}
