package causes

import (
	"math/bits"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// The limits of what is usual are estimated from the trace itself,
// from what was seen so far, because it depends on the machine: a limit is the
// 99.9th percentile of its kind, but at most limitMedians medians. On a busy
// machine more than one in a thousand is disturbed, and the medians stay.
const (
	limitMedians = 20
	limitSamples = 100 // fewer leave the default
)

// usualPickup are the medians from which defaults come, in nanoseconds, by
// source: from the last event of a thread until the start of a goroutine.
// Measured with Go 1.26 on Linux and amd64.
var usualPickup = [runqueue.NumSources]model.Duration{
	runqueue.SourceUnknown:      1000,
	runqueue.SourceRunnext:      320,
	runqueue.SourceLocal:        380,
	runqueue.SourceGlobal:       510,
	runqueue.SourceSteal:        960,
	runqueue.SourceStealRunnext: 960,
	runqueue.SourceNetpoll:      3100,
	runqueue.SourceSyscall:      1000,
	runqueue.SourceSystem:       1000,
	runqueue.SourceLocked:       1800,
	runqueue.SourceDirect:       320,
	runqueue.SourceCoroutine:    320,
}

const (
	// usualWake is from the wakeup of an idle thread until it has a proc.
	usualWake = 5000
	// usualBackoff is the usleep(3) of a thief that finds a runnext of a running
	// proc (runtime/proc.go: runqgrab), which takes as long because of the timer
	// slack of Linux, 50 us.
	usualBackoff   = 57_000
	backoffSamples = 20
	// osGapMin is longer than a goroutine runs before it is preempted: sysmon wants
	// to see it run for 10 ms, looks every 10 ms at the least often
	// (runtime/proc.go: sysmon, forcePreemptNS), and both are late by a little.
	// Until then silence has a simpler reason. That is a rule of the runtime and
	// not of the machine, and an estimate would take the gaps themselves for usual.
	osGapMin = 30_000_000
	// maxLimit bounds estimates, which nonsense could make huge.
	maxLimit = 1_000_000_000
)

// limits are the estimates of one trace.
type limits struct {
	pickup  [runqueue.NumSources]quantiles
	wake    quantiles
	backoff quantiles
}

// pickupOf returns the longest usual pick-up. A stolen runnext is like any
// stolen goroutine, once the thief has slept.
func (l *limits) pickupOf(s runqueue.Source) model.Duration {
	if s == runqueue.SourceStealRunnext {
		s = runqueue.SourceSteal
	}
	return l.pickup[s].limit(usualPickup[s])
}

// maxDenseProcs is more than the runtime allows (runtime/runtime2.go: _MaxGomaxprocs
// was 1024 and is now bounded by memory).
const maxDenseProcs = 4096

// backoffOf returns the longest usual time for which a thief slept: once for
// each other proc (runtime/proc.go: stealWork).
func (l *limits) backoffOf(procs int) model.Duration {
	d := model.Duration(usualBackoff)
	if l.backoff.n >= backoffSamples {
		d = l.backoff.low()
	}
	return min(d, maxLimit) * model.Duration(min(max(procs-1, 1), maxDenseProcs))
}

// searchOf returns how long a thread searches at most: until it steals one, or
// has slept for each proc without success.
func (l *limits) searchOf(procs int) model.Duration {
	return l.backoffOf(procs) + l.pickupOf(runqueue.SourceSteal)
}

func (l *limits) wakeLimit() model.Duration { return l.wake.limit(usualWake) }

// thresholds returns the estimates as they are in the end.
func (l *limits) thresholds(procs int) []result.Threshold {
	var out []result.Threshold
	for s := range l.pickup {
		if q := &l.pickup[s]; q.n > 0 {
			out = append(out, result.Threshold{Name: "pick-up, " + runqueue.Source(s).String(), Value: l.pickupOf(runqueue.Source(s)),
				Samples: q.n, Default: q.n < limitSamples})
		}
	}
	if q := &l.backoff; q.n > 0 {
		out = append(out, result.Threshold{Name: result.CauseBackoff.String(), Value: l.backoffOf(procs), Samples: q.n, Default: q.n < backoffSamples})
	}
	if q := &l.wake; q.n > 0 {
		out = append(out, result.Threshold{Name: "wake-up", Value: l.wakeLimit(), Samples: q.n, Default: q.n < limitSamples})
	}
	return append(out, result.Threshold{Name: "silence", Value: osGapMin, Default: true})
}

// quantiles estimates quantiles of a stream of durations, to an eighth.
type quantiles struct {
	n      int64
	counts [64 << quantileBits]uint32
	stale  int64 // the number of samples at which known must be computed again
	known  model.Duration
}

const quantileBits = 3

func (q *quantiles) add(d model.Duration) {
	x := uint64(max(d, 1))
	e := max(bits.Len64(x)-1-quantileBits, 0)
	q.counts[e<<quantileBits+int(x>>e)]++
	q.n++
}

// at returns an upper bound of the quantile part/whole, 0 without samples.
func (q *quantiles) at(part, whole int64) model.Duration {
	if q.n == 0 {
		return 0
	}
	left := (q.n*part + whole - 1) / whole
	for b, n := range q.counts {
		if left -= int64(n); left <= 0 && n > 0 {
			e := max(b>>quantileBits-1, 0)
			return model.Duration(uint64(b-e<<quantileBits+1)<<e - 1)
		}
	}
	return 0
}

// limit returns the limit of what is usual, computed again whenever there are a
// quarter more samples. Only one of limit and low may be asked for.
func (q *quantiles) limit(median model.Duration) model.Duration {
	if q.n < limitSamples {
		return limitMedians * median
	}
	if q.outdated() {
		q.known = min(q.at(999, 1000), limitMedians*min(q.at(50, 100), maxLimit), maxLimit)
	}
	return q.known
}

// low returns the 10th percentile, computed as often.
func (q *quantiles) low() model.Duration {
	if q.outdated() {
		q.known = q.at(10, 100)
	}
	return q.known
}

func (q *quantiles) outdated() bool {
	if q.n < q.stale {
		return false
	}
	q.stale = q.n + q.n/4 + 1
	return true
}
