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
	CostDirect // mark workers, coroutines
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
	NumCosts
)

// typical are the costs where a trace does not show them: the medians of what this project's fixtures
// show, which were recorded on a virtual machine with 2 CPUs and Linux 6.18; where they show too little, what the sources
// of the runtime and single experiments suggest.
var typical = [NumCosts]model.Duration{
	CostRunnext: 270, CostLocal: 300, CostGlobal: 230, CostSteal: 700, CostPoll: 1000, CostDirect: 80,
	CostSpin: 700, CostBackOff: 87_000, CostWake: 16_000, CostWaker: 11_000, CostClone: 60_000, CostLocked: 6000,
	CostSlack: 64_000, CostPreempt: 11_000, CostNotice: 1000, CostExit: 130, CostEpoll: 2000,
}

// Costs are the times that scheduling itself takes. The zero Costs are those of a scheduler that costs nothing.
type Costs struct {
	Single [NumCosts]model.Duration
	// Drawn are distributions from which is drawn instead: values at evenly spaced quantiles, all equally likely. The
	// single value does for one that has no influence, or is not known.
	Drawn [NumCosts][]model.Duration
	// Tail are distributions of what the last of Drawn stands for, none: of that alone. What is drawn seldom may take as long
	// as all the rest.
	Tail [NumCosts][]model.Duration
}

// DefaultCosts returns the costs where a trace does not show them.
func DefaultCosts() Costs { return Costs{Single: typical} }

// Quiet returns the costs without what the operating system seems to have added where it ran something else first:
// what is drawn is at most quietFactor times the lower quartile.
func (c Costs) Quiet() Costs {
	const quietFactor = 20
	for i, list := range c.Drawn {
		n := len(list)
		for n > 0 && list[n-1] > quietFactor*list[len(list)/4] {
			n--
		}
		c.Drawn[i], c.Tail[i] = list[:n], nil
	}
	return c
}
