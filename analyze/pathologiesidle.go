package analyze

import (
	"sort"

	"github.com/schedscope/schedscope/model"
)

// wakeAllowance is what waking an idle proc may cost, again and again during a
// wait: see usualWakeup.
const wakeAllowance = usualWakeup * model.Duration(1)

// Thresholds of idle procs beside runnable goroutines: a part of the time, and
// an amount of it, that waking up does not explain.
const (
	idleBesideShare = 0.02
	minIdleBeside   = timeSlice / 2
)

// idleBeside finds that a proc was idle while a goroutine was runnable, for
// longer than waking the proc takes. Each such time is a case, however many
// goroutines wait in it; those that did are the parties.
type idleBeside struct {
	symptom
	span model.Duration

	// Of the Machine's counts, which know of procs never seen at work.
	open        bool
	start, last model.Time

	// Of steps, for the parties.
	waits symptom
	since model.Time    // a proc has been idle since; 0: none is
	log   []idleStretch // long ones, in order
}

// counts takes an elementary interval.
func (x *idleBeside) counts(c *model.Counts, clock *traceClock) {
	x.span += c.End.Sub(c.Start)
	if x.open && (c.Idle == 0 || c.Runnable == 0 || c.Start != x.last) {
		x.close(clock)
	}
	if c.Idle > 0 && c.Runnable > 0 {
		if !x.open {
			x.open, x.start = true, c.Start
		}
		x.last = c.End
	}
}

func (x *idleBeside) close(clock *traceClock) {
	x.open = false
	if beyond := x.last.Sub(x.start) - wakeAllowance; beyond > 0 {
		x.cases.add(beyond, clock.at(x.last))
	}
}

// idleStretch is a time in which some proc was idle, and the sum of the lengths
// beyond the allowance of those before it.
type idleStretch struct {
	stint
	before model.Duration
}

// maxStretches bounds the log. A wait that lasts over more stretches is credited
// with the latest of them only.
const maxStretches = 1 << 12

// procs notes whether some proc is idle from now on.
func (x *idleBeside) procs(idle bool, now model.Time) {
	switch {
	case idle && x.since == 0:
		x.since = now
	case !idle && x.since != 0:
		if now.Sub(x.since) > wakeAllowance {
			x.push(stint{x.since, now})
		}
		x.since = 0
	}
}

func (x *idleBeside) push(s stint) {
	if len(x.log) >= 2*maxStretches {
		x.log = x.log[:copy(x.log, x.log[maxStretches:])]
	}
	e := idleStretch{stint: s}
	if n := len(x.log); n > 0 {
		last := &x.log[n-1]
		e.before = last.before + last.end.Sub(last.start) - wakeAllowance
	}
	x.log = append(x.log, e)
}

// wait counts the wait since a time of a goroutine of the program that starts now.
func (x *idleBeside) wait(t *model.Tables, s *model.Step, since, at model.Time) {
	if s.Time.Sub(since) <= wakeAllowance {
		return
	}
	if beside := x.overlap(since, s.Time); beside > 0 {
		x.waits.cases.add(beside, at)
		x.waits.party(t, "waited", s.Func, 0, s.P, beside)
	}
}

// overlap returns how long procs were idle between a time and now, less the
// allowance for each stretch.
func (x *idleBeside) overlap(from, now model.Time) model.Duration {
	var sum model.Duration
	if x.since != 0 {
		sum = max(now.Sub(max(from, x.since))-wakeAllowance, 0)
	}
	whole := sort.Search(len(x.log), func(i int) bool { return x.log[i].start >= from })
	if n := len(x.log); whole < n {
		last := &x.log[n-1]
		sum += last.before + last.end.Sub(last.start) - wakeAllowance - x.log[whole].before
	}
	if whole > 0 {
		sum += max(x.log[whole-1].end.Sub(from)-wakeAllowance, 0)
	}
	return sum
}

// Where procs wake up all the time some goroutine is always runnable, for a
// moment each: only if single ones waited too long is that a pattern.
func (x *idleBeside) finish(clock *traceClock) {
	if x.open {
		x.close(clock)
	}
	x.log = nil
	x.parties, x.waits.parties = x.waits.parties, nil
	x.found = min(x.cases.Total, x.waits.cases.Total) >= minIdleBeside && ratio(x.cases.Total, x.span) >= idleBesideShare
}

func (x *idleBeside) merge(o *idleBeside, shift int) {
	x.symptom.merge(&o.symptom, shift)
	x.waits.cases.merge(&o.waits.cases)
	x.span += o.span
}

func (x *idleBeside) tell() Pathology {
	p := x.pathology("idle-procs-beside-runnable")
	p.Grade = Inferred
	p.Evidence = []Evidence{
		{"times with an idle proc and a runnable goroutine of more than 100 us", float64(p.Count), "count"},
		{"beyond 100 us each, in all", float64(p.Total), "ns"},
		{"share of the time", ratio(p.Total, x.span), "share"},
		{"longest", float64(p.Worst), "ns"},
		{"waits of goroutines of the program in them", float64(x.waits.cases.Count), "count"},
		{"of all those together", float64(x.waits.cases.Total), "ns"},
	}
	p.Meaning = "Goroutines waited to run while a proc stood idle, for longer than waking it takes: its thread got no CPU, or the goroutine was tied to another thread or proc."
	p.Advice = "Compare GOMAXPROCS with the CPUs that the process really has (limits, neighbours): an idle proc beyond those is no capacity. Look for runtime.LockOSThread."
	return p
}
