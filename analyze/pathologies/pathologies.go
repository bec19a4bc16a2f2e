// Package pathologies looks for the known ways of scheduling going wrong that need a state of
// their own. What follows from other results is a finding; see package findings. This package
// promises nothing to other modules.
//
// A pathology is looked for in each trace by itself. The thresholds stand with their reasons
// in the files of the kinds.
package pathologies

import (
	"cmp"
	"maps"
	"slices"

	"github.com/schedscope/schedscope/analyze/findings"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// Analysis detects pathologies in one trace. It observes a [model.Machine] and a resolver of
// package runqueue. Step and Start must come from one goroutine, but the silences and samples that
// Follow is about may come from another one: they share nothing before Finish.
type Analysis struct {
	// Late are the bounds of what lies before waits.
	Late *Lateness

	tables *model.Tables
	from   model.Time // nothing before counts
	last   model.Time // step, or from
	procs  procsNow

	chains runnextChain
	aging  globalAging
	frozen frozen // its silences are of the Machine's goroutine
}

// New returns an Analysis for a trace with these tables.
func New(t *model.Tables) *Analysis {
	return &Analysis{Late: &Lateness{threads: map[model.ThreadID]threadRuns{}}, tables: t}
}

// Begin sets the origin of points in time.
func (p *Analysis) Begin(origin model.Time) {
	p.Late.origin = origin
}

// BeginAt sets when accounting begins. What ended before does not count, even if it was
// observed, nor does a wait that began before: scheduling latency does not have it either.
// What was observed still gives the state at t. Do not call BeginAt at the same time as Step or Start.
func (p *Analysis) BeginAt(t model.Time) {
	p.from, p.last = t, max(p.last, t)
	p.Late.beginAt(t)
	p.chains = runnextChain{procs: p.chains.procs}
	p.aging.begin(t)
	p.frozen = frozen{silences: p.frozen.silences}
}

// Follow makes p take the silences of m from now on. Accounting begins now.
func (p *Analysis) Follow(m *model.Machine) {
	p.frozen.all = m.Moments
	m.Observe(&p.frozen.silences)
}

// Sample records the time of a CPU sample.
func (p *Analysis) Sample(at model.Time) {
	p.frozen.sampled = stint{cmp.Or(p.frozen.sampled.start, at), at}
}

// Step implements [model.StepObserver]. Nearly all of the millions of steps are plain
// wakeups, starts and stops, which must cost next to nothing: the kind and the states of a step
// say who needs it. A step with that of its proc may come alone, or after it.
func (p *Analysis) Step(s *model.Step) {
	if s.Time.Sub(p.last) >= minStill {
		p.frozen.step(p.last, s.Time, p.Late.at(s.Time), &p.procs)
		p.Late.silence(p.last, s.Time, &p.procs)
	}
	p.last = max(s.Time, p.from)
	q := procOf(&p.procs.list, s.P)
	if q != nil && (s.Flags&model.StepWithProc != 0 || s.Kind == model.StepProc) {
		_, to, _ := s.ProcStates()
		q.change(s, to)
		if int(s.P) >= p.procs.max {
			p.procs.max = int(s.P) + 1 // GOMAXPROCS may have fallen below it
		}
	}
	switch s.Kind {
	case model.StepGo:
		from, to := model.GoState(s.From), model.GoState(s.To)
		switch {
		case from == model.GoRunnable:
			p.aging.runnable--
			if to == model.GoRunning && s.Pseudo == model.NotPseudo {
				p.aging.starts++
			}
			if len(p.aging.waiting) > 0 {
				p.aging.left(p.tables, s, p.procs.max, s.Time >= p.from, p.Late.at(s.Time))
			}
			if to == model.GoRunning && q != nil {
				p.Late.start(s, q)
			}
		case from == model.GoRunning && to != model.GoSyscall && q != nil:
			q.stopped = s.Time
		}
		if to == model.GoRunnable {
			p.runnable(s, q)
		}
	case model.StepProc:
	case model.StepMove:
		if q != nil {
			p.Late.move(s, q)
		}
	default:
		p.procs.phase(s)
		p.Late.phase(s)
	}
}

// runnable takes that a goroutine became runnable, on proc q if that is not nil.
func (p *Analysis) runnable(s *model.Step, q *procNow) {
	switch {
	case s.Flags&model.StepStatus != 0:
	case s.Origin == model.OriginNetpoll:
		p.Late.woken(s)
		p.Late.network(s)
	case timerWake(s):
		p.Late.woken(s)
		if s.Time >= p.from {
			p.Late.timer(s, q)
		}
	case s.Origin == model.OriginPreempted && model.GoState(s.From) == model.GoRunning:
		p.frozen.preempted(s.Since, s.Time)
	}
	if s.Flags&(model.StepStatus|model.StepSystem) == 0 && toGlobal(s) {
		p.aging.add(s)
	}
	p.aging.runnable++ // those before it may rightly go first
}

// Start implements [runqueue.StartObserver].
func (p *Analysis) Start(s *runqueue.Start) {
	if s.Time.Sub(s.Since) >= timeSlice && s.Since >= p.from {
		p.chains.victim(p.tables, s, p.Late.at(s.Time))
	}
	p.chains.start(s)
}

// Finish completes the analysis of a trace that was accounted from start to end. Call it once,
// after the last record.
func (p *Analysis) Finish(start, end model.Time) {
	span := end.Sub(start)
	p.chains.finish(span)
	p.aging.finish(p.tables, end, p.procs.max, p.Late.at(end))
	p.frozen.finish(span, end)
}

// Found returns the pathologies, worst first.
func (p *Analysis) Found() []result.Pathology {
	out := []result.Pathology{}
	for _, s := range []*symptom{&p.chains.symptom, &p.aging.symptom, &p.frozen.symptom} {
		if s.found {
			x := s.Pathology
			x.Who = result.Each(slices.Collect(maps.Values(s.parties)), func(p **result.Party) result.Party { return **p })
			result.TrimParties(&x)
			out = append(out, x)
		}
	}
	slices.SortFunc(out, result.ComparePathologies)
	return out
}

// Result adds the results to v.
func (p *Analysis) Result(v *result.Report) {
	// What ran stood still, whether or not somebody waited.
	if x := &p.frozen; findings.WaitSeverity(&v.Latency) == result.Info && !x.periodic && result.Ratio(x.Total, v.Totals.Span) < frozenShare {
		x.found = false
	}
	v.Pathologies = p.Found()
	p.Late.result(v)
}
