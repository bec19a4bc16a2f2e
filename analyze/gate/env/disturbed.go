package env

import (
	"fmt"
	"strings"
)

// Limits are the limits of a quiet machine.
type Limits struct {
	Nivcsw  float64 // involuntary context switches per second and proc
	Foreign float64 // part of the machine used by other processes
	Steal   float64 // part of the machine taken by the hypervisor
	// Delay is how long threads may wait for a CPU, in seconds per second and proc, where
	// others use more than Foreign; 0: nothing is known of it, see [Limits.WithLeastDelay].
	Delay float64
}

// DefaultLimits are the limits of a budget that sets none. Undisturbed programs were seen with
// up to 2 switches per second and proc at real-time priority, but with 150 at the normal one,
// from their own threads; next to as many others as there are CPUs with 50 to 600 and a
// foreign part of 0.4 to 0.8.
var DefaultLimits = Limits{Nivcsw: 20, Foreign: 0.1, Steal: 0.05}

const (
	// moreDelay is how many times the least delay of its side's recordings one may have: a
	// program has one of its own, and it is the same in all.
	moreDelay = 3
	// leastDelay is a delay that disturbs nothing, whatever others have.
	leastDelay = 0.1
)

// WithLeastDelay returns the limits of a recording, where least is the least delay among the
// recordings of its side.
func (l Limits) WithLeastDelay(least float64) Limits {
	l.Delay = max(moreDelay*least, leastDelay)
	return l
}

// Disturbed returns what disturbed a recording, "" if nothing is known to have. Recorders and
// the gate share this rule.
//
// Involuntary context switches and the load of others count together: the threads of a
// program displace each other, too (130 times per second and proc on a quiet machine),
// and others may use CPUs that the program leaves free, or that its priority takes from
// them. One of them counts alone where the other is not known. Others that do not
// displace threads may still make them wait for a CPU.
func (l Limits) Disturbed(n *Noise) string {
	if n == nil {
		return ""
	}
	var why []string
	say := func(format string, args ...any) { why = append(why, fmt.Sprintf(format, args...)) }
	switched, crowded := over(n.Nivcsw, l.Nivcsw), over(n.Foreign, l.Foreign)
	delayed := crowded && l.Delay > 0 && over(n.RunDelay, l.Delay)
	if switched && (crowded || n.Foreign == nil) {
		say("%.0f involuntary context switches/s/P (limit %.4g)", *n.Nivcsw, l.Nivcsw)
	}
	if delayed {
		say("threads waited for a CPU %.2gs/s/P (limit %.2g, by the best trace of its side)", *n.RunDelay, l.Delay)
	}
	if crowded && (switched || delayed || n.Nivcsw == nil) {
		say("other processes used %.3g%% of the machine (limit %.3g%%)", 100**n.Foreign, 100*l.Foreign)
	}
	if over(n.Throttled, 0) {
		say("throttled %.0f times by the CPU quota", *n.Throttled)
	}
	if over(n.Steal, l.Steal) {
		say("the hypervisor took %.3g%% of the machine (limit %.3g%%)", 100**n.Steal, 100*l.Steal)
	}
	return strings.Join(why, ", ")
}

func over(x *float64, limit float64) bool { return x != nil && *x > limit }
