package analyze

import "slices"

// Thresholds of findings. They say from where on something is worth a sentence,
// not that it is wrong.
const (
	// A proc that must first get a thread takes up to some tens of microseconds
	// to run a goroutine; ten times that is not explained by waking up.
	notableWait = 1_000_000
	// A goroutine that waited longer than a time slice (runtime/proc.go:
	// forcePreemptNS) was passed over, or had more than one before it.
	seriousWait = 10_000_000

	// saturatedShare of the time without an idle proc while goroutines wait.
	saturatedShare = 0.5
	// idleShare: ordinary programs have idle procs beside runnable goroutines for
	// some percent of the time, because waking up is not instant.
	idleShare = 0.05
	// longEpisodeShare: a few long episodes matter from a smaller share on.
	longEpisodeShare = 0.01
	// usualWakeup: an idle proc's thread sleeps in a futex or in the network
	// poller; waking it takes some tens of microseconds.
	usualWakeup = 100_000
	// gcShare: while it marks, the collector takes a quarter of the procs by
	// design (runtime/mgcpacer.go: gcBackgroundUtilization); more is notable.
	gcShare = 0.30
	// stoppedShare of the procs' time during the worst waits.
	stoppedShare = 0.25
	// stwShare of the whole time with the world stopped.
	stwShare = 0.01
	// queuedShare of system calls that found no proc when they came back.
	queuedShare = 0.10
	// lateShare of network wakeups by sysmon, which polls only when nobody has
	// for 10 ms (runtime/proc.go: sysmon).
	lateShare = 0.10
	// retakeRate of sysmon, per second.
	retakeRate = 1000
	// victimFactor is how much longer than it runs a goroutine waits.
	victimFactor = 10
	// herdFactor: more runnable goroutines for each proc are a crowd.
	herdFactor = 50
	// fewWaits are too few for a p99.
	fewWaits = 100
	// fewValues are too few for any percentile.
	fewValues = 20
	// blockedShare of the lives of the program's goroutines, in which they waited
	// for one another blockedFactor times longer than they waited to run.
	blockedShare  = 0.25
	blockedFactor = 5
)

// rule looks for one kind of finding.
type rule func(*Report) (Finding, bool)

// Verdict says in words what waits, how long, and the most likely reason, most
// important first. There is always at least one finding; the first is about
// scheduling latency as a whole. Waits and their surroundings are compared in
// time only: words like "coincides" mean just that.
func Verdict(r *Report) []Finding {
	out := []Finding{headline(r)}
	for _, find := range []rule{starving, herd, blocked, saturated, longBursts, stopped, gcCoincides, idleProcs, queuedSyscalls, lateNetpoll, retakes, victim, mostWaiting} {
		if f, ok := find(r); ok {
			out = append(out, f)
		}
	}
	slices.SortStableFunc(out[1:], func(a, b Finding) int { return int(b.Severity) - int(a.Severity) })
	return out
}
