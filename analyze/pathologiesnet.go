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
	wakes   int64 // all network wakeups
	pollers map[model.ThreadID]*pollerWakes
}

// pollerWakes are the wakeups by one thread without a proc.
type pollerWakes struct {
	symptom
	sysmon bool       // by its retakes
	polls  int64      // that found something
	spaced int64      // of those, about 10 ms after the one before
	busy   int64      // of those, while no proc was idle
	last   model.Time // poll
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
func (x *netStarvation) finish(t *model.Tables, ran map[model.ThreadID]threadRuns) {
	var late, polls, spaced, busy int64
	undetermined := false // known by what its thread never did
	for _, m := range slices.Sorted(maps.Keys(x.pollers)) {
		p := x.pollers[m]
		if _, ran := ran[m]; !p.sysmon && (ran || p.spaced < sysmonPolls-1) {
			continue
		}
		undetermined = undetermined || !p.sysmon
		late += p.Count
		polls += p.polls
		spaced += p.spaced
		busy += p.busy
		if p.Worst > x.Worst || x.Count == 0 {
			x.Worst, x.At, x.G = p.Worst, p.At, p.G
		}
		x.Count += p.Count
		for _, w := range p.who() {
			x.join(t, w, 0)
		}
	}
	x.pollers = nil
	share := shareOf(late, x.wakes)
	x.judge("netpoll-starvation", polls >= sysmonPolls && share >= sysmonShare,
		counted("network wakeups by sysmon", late),
		sharing("share of all network wakeups", share),
		counted("polls by sysmon that found something", polls),
		counted("of those about 10 ms after the one before", spaced),
		counted("of those while no proc was idle", busy),
		lasting("greatest lateness, at most", x.Worst)) // a bound: bounds are never added up
	if undetermined {
		x.Grade = result.Inferred
	}
	if x.Worst >= result.SeriousWait && share >= 0.5 {
		x.Severity = result.Serious
	}
}
