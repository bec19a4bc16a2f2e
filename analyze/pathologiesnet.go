package analyze

import (
	"maps"
	"slices"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// Thresholds of netpoll starvation. Sysmon polls only if nobody has for 10 ms
// (runtime/proc.go: sysmon), so each of its finds is one case. Three of them,
// and one wakeup in twenty, are more than a moment of overload.
const (
	sysmonPolls     = 3
	sysmonShare     = 0.05
	sysmonPollAfter = 9_000_000  // sysmon's period of polls, less its rounding
	sysmonPollSoon  = 25_000_000 // twice the period and its timer's slack
)

// netStarvation finds network events that nobody but sysmon looked for.
type netStarvation struct {
	symptom
	wakes, late  int64 // all network wakeups; those by sysmon
	polls        int64 // by sysmon that found something
	spaced       int64 // of those, about 10 ms after the one before
	busy         int64 // of those, while no proc was idle
	pollers      map[model.ThreadID]*pollerWakes
	undetermined bool // sysmon was told by what its thread never did
}

// pollerWakes are the wakeups by one thread without a proc.
type pollerWakes struct {
	symptom
	sysmon              bool // told by its retakes
	wakes               int64
	polls, spaced, busy int64
	last                model.Time // poll
}

// wake takes a network wakeup with the bound of its lateness. idle are the procs
// that were.
func (x *netStarvation) wake(t *model.Tables, s *model.Step, bound model.Duration, idle int, at model.Time) {
	x.wakes++
	if s.P != model.NoProc || s.Poller != model.PollerSysmon && s.Poller != model.PollerAmbiguous {
		return
	}
	if x.pollers == nil {
		x.pollers = map[model.ThreadID]*pollerWakes{}
	}
	p := x.pollers[s.M]
	if p == nil {
		p = &pollerWakes{}
		x.pollers[s.M] = p
	}
	p.sysmon = p.sysmon || s.Poller == model.PollerSysmon
	p.wakes++
	p.single(bound, at, s.G)
	p.party(t, "waited for the network", s.Func, 0, model.NoProc, 0)
	// The wakeups of one poll are less than a millisecond apart.
	since := at.Sub(p.last)
	if p.polls == 0 || since > 1_000_000 {
		if p.polls > 0 && since >= sysmonPollAfter && since <= sysmonPollSoon {
			p.spaced++
		}
		p.polls++
		if idle == 0 {
			p.busy++
		}
	}
	p.last = at
}

// finish decides which of the threads is sysmon: it took procs from system
// calls, or it polled at sysmon's pace and never ran a goroutine.
func (x *netStarvation) finish(ran map[model.ThreadID]threadRuns) {
	for _, m := range slices.Sorted(maps.Keys(x.pollers)) {
		p := x.pollers[m]
		if _, ran := ran[m]; !p.sysmon && (ran || p.spaced < sysmonPolls-1) {
			continue
		}
		x.undetermined = x.undetermined || !p.sysmon
		x.late += p.wakes
		x.polls += p.polls
		x.spaced += p.spaced
		x.busy += p.busy
		x.symptom.merge(&p.symptom, 0)
	}
	x.pollers = nil
	x.found = x.polls >= sysmonPolls && x.share() >= sysmonShare
}

func (x *netStarvation) share() float64 { return float64(x.late) / float64(max(x.wakes, 1)) }

func (x *netStarvation) tell() Pathology {
	p := x.pathology("netpoll-starvation")
	p.Total = 0 // bounds are never added up
	if x.undetermined {
		p.Grade = result.Inferred
	}
	if p.Worst >= result.SeriousWait && x.share() >= 0.5 {
		p.Severity = result.Serious
	}
	p.Evidence = []Evidence{
		{Name: "network wakeups by sysmon", Value: float64(x.late), Unit: "count"},
		{Name: "share of all network wakeups", Value: x.share(), Unit: "share"},
		{Name: "polls by sysmon that found something", Value: float64(x.polls), Unit: "count"},
		{Name: "of those about 10 ms after the one before", Value: float64(x.spaced), Unit: "count"},
		{Name: "of those while no proc was idle", Value: float64(x.busy), Unit: "count"},
		{Name: "greatest lateness, at most", Value: float64(p.Worst), Unit: "ns"},
	}
	p.Meaning = "No proc looked at the network for 10 ms at a time, because each had goroutines to run; only sysmon's emergency poll found what had arrived."
	p.Advice = "Shorten the stretches of computing between two waits, move them behind a limit below GOMAXPROCS, or give the program more procs and CPUs. Requests see the lateness before any scheduling latency begins."
	return p
}
