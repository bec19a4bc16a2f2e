package analyze

import (
	"cmp"
	"maps"
	"slices"

	"github.com/schedscope/schedscope/analyze/findings"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// Pathologies looks for known ways of scheduling going wrong.
//
// It observes a [model.Machine] and a resolver of package runqueue. What is told
// of one kind must come from one goroutine, but there may be one for each of
// these, which share nothing before Finish: Step, Start and Wakeup (the steps of a
// time before its starts); Handoff, SyscallExit and ThreadStart; Event.
//
// A pathology is looked for in each trace by itself; the thresholds stand with
// their reasons in the files pathologies*.go.
type Pathologies struct {
	traceClock
	// Late are the bounds of what lies before waits.
	Late *Lateness
	// Span is the time analysed. Steps, Queues and Events say what was heard.
	// Without the resolver, which the traces of old Go versions do not have,
	// nothing is known of chains through runnext, of locked threads and of waits
	// behind mark workers; without events, a process that stands still is not
	// noticed; without steps, hardly anything is.
	Span                  model.Duration
	Steps, Queues, Events bool

	tables *model.Tables
	words  struct{ preempted, assistWait model.StringID }
	from   model.Time // nothing before counts
	last   model.Time // step
	procs  procsNow

	net      netStarvation
	chains   runnextChain
	aging    globalAging
	timers   lateTimersBehind
	assists  gcAssists
	worker   behindWorker
	scans    scanned
	bursts   overrun
	idle     idleBeside
	locked   lockedPingPong
	affinity lostAffinity
	handoffs handoffStorm // of the second goroutine
	frozen   frozen       // its silences are of the third one
}

// NewPathologies returns a Pathologies for a trace with these tables.
func NewPathologies(t *model.Tables) *Pathologies {
	p := &Pathologies{Late: NewLateness(), tables: t}
	p.handoffs.tables = t
	p.words.preempted, p.words.assistWait = t.AddString("preempted"), t.AddString("GC mark assist wait for work")
	return p
}

// Begin sets the origin of points in time.
func (p *Pathologies) Begin(origin model.Time) {
	p.traceClock.Begin(origin)
	p.handoffs.Begin(origin)
	p.Late.Begin(origin)
}

// BeginAt sets when accounting begins: what ended before is not counted, also
// if it was told already, and neither is a wait that began before, as it is no wait of
// [Latency]. It serves to know the state that was left behind. Call it while nobody
// tells anything.
func (p *Pathologies) BeginAt(t model.Time) {
	p.from = t
	p.Late.BeginAt(t)
	p.net = netStarvation{}
	p.chains = runnextChain{procs: p.chains.procs}
	p.aging.begin(t)
	p.timers = lateTimersBehind{}
	p.assists = gcAssists{}
	p.worker = behindWorker{procs: p.worker.procs}
	maps.DeleteFunc(p.scans.woken, func(_ model.GoID, w scanWake) bool { return w.at < t })
	p.scans = scanned{woken: p.scans.woken}
	p.bursts = overrun{}
	p.idle.begin(t)
	p.locked = lockedPingPong{}
	maps.DeleteFunc(p.affinity.stopped, func(_ model.GoID, s stopOn) bool { return s.at < t })
	p.affinity = lostAffinity{stopped: p.affinity.stopped}
	p.frozen = frozen{silences: p.frozen.silences}
}

// Event takes the time of an event.
func (p *Pathologies) Event(ev *model.Event) { p.frozen.event(ev.Time) }

// Step implements [model.StepObserver]. Nearly all of the millions of steps are plain
// wakeups, starts and stops, which must cost next to nothing:
//
//  1. The kind and the states of a step say who needs it. What a detector asks of each
//     it asks here, in a comparison or two; only what passes is a call.
//  2. What is remembered of a goroutine while it is runnable is noted in its entry in
//     the table of those (idleBeside.waiting), so that other tables are asked only
//     about the few that are in them.
func (p *Pathologies) Step(s *model.Step) {
	if last := max(p.last, p.from); s.Time.Sub(last) >= minStill {
		p.frozen.step(last, s.Time, p.at(s.Time), &p.procs)
	}
	p.last = s.Time
	switch s.Kind {
	case model.StepGo:
		switch model.GoState(s.From) {
		case model.GoRunnable:
			p.left(s)
		case model.GoRunning:
			p.ran(s)
		}
		if model.GoState(s.To) == model.GoRunnable {
			p.runnable(s)
		}
	case model.StepProc:
		if x := p.procs.proc(s.P); x != nil {
			if x.state == model.ProcRunning && x.since > 0 {
				p.worked(s.P, x, s.Time)
			}
			p.procs.change(x, s)
		}
	case model.StepMove:
		p.Late.move(s)
		return
	default:
		p.procs.phase(s)
		p.Late.phase(s)
	}
	if open := p.idle.n > 0 && p.procs.anyIdle(); open != p.idle.open {
		p.idle.turn(p.tables, s.Time, p.origin)
	}
}

// worked takes what a proc ran until now.
func (p *Pathologies) worked(id model.ProcID, x *procNow, now model.Time) {
	d := now.Sub(max(x.since, p.from))
	switch {
	case x.work == model.WorkGCDedicated:
		p.worker.ran(id, x.since, now)
	case d <= 0:
	case x.work == model.WorkUser:
		p.assists.user += d
	case x.work == model.WorkGCAssist:
		p.assists.ran(p.tables, id, x, d, p.at(now))
	}
}

// left takes that a goroutine ceased to be runnable.
func (p *Pathologies) left(s *model.Step) {
	noted := p.idle.remove(p.tables, s, p.origin)
	p.aging.runnable--
	if model.GoState(s.To) == model.GoRunning {
		if s.Pseudo == model.NotPseudo {
			p.aging.starts++
		}
		p.Late.start(s)
	}
	if noted {
		counts, at := s.Time >= p.from, p.at(s.Time)
		p.aging.left(p.tables, s, p.procs.max, counts, at)
		p.scans.left(p.tables, s, counts, at)
		p.affinity.left(p.tables, s, counts, at)
	}
}

// ran takes that a goroutine ceased to run.
func (p *Pathologies) ran(s *model.Step) {
	if model.GoState(s.To) != model.GoSyscall {
		p.Late.stop(s)
	}
	if start := max(s.Since, p.from); s.Time.Sub(start) >= overrunBurst && s.Flags&model.StepSystem == 0 {
		p.bursts.burst(overrunBurstAt{start, s.Time, p.at(s.Time), s.Func, s.Stack, s.P, s.G})
	}
}

// runnable takes that a goroutine became runnable.
func (p *Pathologies) runnable(s *model.Step) {
	noted := s.Flags&model.StepStatus == 0 && p.woken(s)
	p.aging.runnable++
	if s.Flags&model.StepSystem == 0 {
		p.idle.add(s, noted)
	}
}

// woken takes what made a goroutine runnable. It reports whether what becomes of the
// goroutine, which is the program's then, matters.
func (p *Pathologies) woken(s *model.Step) (noted bool) {
	from := model.GoState(s.From)
	switch {
	case s.Origin == model.OriginNetpoll:
		if s.Time >= p.from {
			p.net.wake(p.tables, s, s.Time.Sub(max(s.Since, p.Late.polled, p.from)), p.procs.idle, p.at(s.Time))
		}
		p.Late.network(s)
	case timerWake(s):
		if s.Time >= p.from {
			bound, looks := p.Late.timer(s)
			p.timers.wake(p.tables, s, min(bound, s.Time.Sub(p.from)), looks, p.at(s.Time))
		}
	case from == model.GoWaiting:
		if s.Reason == p.words.assistWait && s.Since > p.from { // seen whole
			p.assists.waited(p.tables, s, s.Time.Sub(s.Since), p.at(s.Time))
		}
		noted = s.Flags&(model.StepByWorker|model.StepSystem) == model.StepByWorker && s.Reason == p.words.preempted
		if noted {
			p.scans.wake(s)
		}
	case from == model.GoRunning && s.Origin == model.OriginPreempted:
		p.frozen.preempted(s.Since, s.Time)
	case from == model.GoRunning && s.Origin == model.OriginSTW && s.P != model.NoProc && s.Flags&model.StepSystem == 0:
		p.affinity.stop(s)
		noted = true
	}
	if s.Flags&model.StepSystem == 0 && toGlobal(s) {
		p.aging.add(s)
		noted = true
	}
	return noted
}

// Wakeup implements [runqueue.WakeupObserver].
func (p *Pathologies) Wakeup(w *runqueue.Wakeup) {
	if w.Caused {
		p.idle.wakeup(w.Got.Sub(w.Trigger))
	}
}

// Start implements [runqueue.StartObserver].
func (p *Pathologies) Start(s *runqueue.Start) {
	p.Queues = true
	counts, at := s.Time >= p.from && s.Since >= p.from && !s.OpenStart, p.at(s.Time)
	p.chains.start(p.tables, s, counts, at)
	if counts {
		p.worker.start(p.tables, s, at)
		p.locked.start(p.tables, s, at)
	}
}

// Finish looks at what was collected of a trace that was accounted from start to
// end. Call it once, after the last record.
func (p *Pathologies) Finish(start, end model.Time) {
	p.Span = end.Sub(start)
	p.Steps, p.Events = p.last > 0, p.frozen.last > 0
	p.openBursts(end)
	p.net.finish(p.tables, p.Late.threads)
	p.chains.finish(p.Span)
	p.aging.finish(p.tables, end, p.procs.max, p.at(end))
	p.timers.finish()
	p.assists.finish()
	p.worker.finish(p.Span)
	p.scans.finish(p.Span)
	p.frozen.finish(p.Span, end)
	p.bursts.finish(p.tables, p.frozen.still, p.Span)
	p.idle.finish(p.tables, p.Span, end, p.origin)
	p.locked.finish()
	p.affinity.finish(p.Span)
	p.handoffs.finish(p.Span)
}

// openBursts takes what still runs at the end.
func (p *Pathologies) openBursts(end model.Time) {
	for i := range p.procs.list {
		x := &p.procs.list[i]
		if x.state == model.ProcRunning && (x.work == model.WorkUser || x.work == model.WorkGCAssist) && x.burst > 0 {
			p.bursts.burst(overrunBurstAt{max(x.burst, p.from), end, p.at(end), x.fn, 0, model.ProcID(i), x.g})
		}
	}
}

// quiet drops what matters only if somebody waits, where nobody did notably.
func (p *Pathologies) quiet() {
	p.idle.found = false
	p.frozen.found = p.frozen.found && (p.frozen.periodic || ratio(p.frozen.Total, p.Span) >= frozenShare)
}

// Found returns the pathologies, worst first.
func (p *Pathologies) Found() []result.Pathology {
	out := []result.Pathology{}
	for _, s := range []*symptom{&p.net.symptom, &p.chains.symptom, &p.aging.symptom, &p.timers.symptom, &p.assists.symptom,
		&p.worker.symptom, &p.scans.symptom, &p.bursts.symptom, &p.idle.symptom, &p.locked.symptom, &p.affinity.symptom,
		&p.frozen.symptom, &p.handoffs.symptom} {
		if s.found {
			x, who := s.Pathology, s.who()
			x.Who = who[:min(len(who), maxParties)]
			out = append(out, x)
		}
	}
	slices.SortFunc(out, func(a, b result.Pathology) int {
		return cmp.Or(cmp.Compare(b.Severity, a.Severity), cmp.Compare(b.Total, a.Total), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// Result adds what was found to v.
func (p *Pathologies) Result(v *result.Report) {
	if findings.WaitSeverity(&v.Latency) == result.Info {
		p.quiet()
	}
	v.Pathologies = p.Found()
	p.Late.Result(v)
}
