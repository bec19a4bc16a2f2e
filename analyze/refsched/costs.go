package refsched

import "github.com/schedscope/schedscope/model"

// Costs are the times that scheduling itself takes. Package calibrate estimates
// them from a trace; [DefaultCosts] are those of a virtual machine with 2 CPUs, Linux 6.18.
// The zero Costs are those of a scheduler that costs nothing.
type Costs struct {
	// From a goroutine's stop to the next start on the same thread, by where that
	// came from.
	Runnext, Local, Global model.Duration
	Steal                  model.Duration // a successful steal, from the search's pass
	Poll                   model.Duration // a poll of the network that finds something
	Direct                 model.Duration // mark workers, the trace reader, coroutines
	// Spin is how long a fruitless search takes, from beginning to giving up the
	// proc, without BackOff.
	Spin model.Duration
	// BackOff is how long a thief sleeps before it takes from the runnext of a
	// running proc: 3 us and the timer slack (runtime/proc.go: runqgrab).
	BackOff model.Duration
	// Wake is from waking a thread to its having the proc, Clone the same if the
	// thread must be created first.
	Wake  model.Duration
	Clone model.Duration
	// Waker is what waking a thread costs the goroutine that does it: the system call, and the
	// signal to a processor that sleeps.
	Waker   model.Duration
	Locked  model.Duration // hand-off of a proc to a locked goroutine's thread
	Slack   model.Duration // by which a sleeping thread is late (timer slack)
	Preempt model.Duration // from a request to stop for a stop-the-world to its landing
	// Notice is from sysmon's request to give way to its landing: the next function that
	// the goroutine calls (runtime/proc.go: preemptone poisons its stack guard).
	Notice model.Duration
	Exit   model.Duration // from a system call's return to running on, with a proc to be had
	Epoll  model.Duration // from data's arrival to the return of a thread that sleeps in epoll
	Send   model.Duration // from a send to the arrival of data within the program
	// Quantiles are drawn from instead of the costs of the same name, where there are any.
	Quantiles Quantiles
}

// Quantiles are the distributions of costs: values at evenly spaced quantiles, all equally
// likely. The single value does for a distribution that has no influence, or is not known.
type Quantiles struct {
	Runnext, Local, Global, Steal, Poll, Direct, BackOff, Wake, Waker, Locked []model.Duration
}

// DefaultCosts returns the medians of what package calibrate finds in this project's fixtures,
// which were recorded on a virtual machine with 2 CPUs and Linux 6.18; where they show too
// little, what the sources of the runtime and single experiments suggest.
func DefaultCosts() Costs {
	const us = 1000
	return Costs{Runnext: 270, Local: 300, Global: 230, Steal: 700, Poll: 1 * us, Direct: 80, Spin: 700,
		BackOff: 87 * us, Wake: 16 * us, Waker: 11 * us, Clone: 60 * us, Locked: 6 * us, Slack: 64 * us, Preempt: 11 * us, Notice: 1 * us,
		Exit: 130, Epoll: 2 * us}
}
