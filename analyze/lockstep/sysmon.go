package lockstep

import (
	"fmt"

	"github.com/schedscope/schedscope/analyze/refsched"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// Bounds of what sysmon does late.
const (
	// sysmonLate is by how much its sleeps may be longer than it asks for.
	sysmonLate model.Duration = 10_000_000
	// sysmonFrozen is how long the operating system may keep sysmon, or a thread that
	// was asked to stop, from running, if what they had to do was done in the end.
	sysmonFrozen model.Duration = 500_000_000
)

// stoppedMost is for how long sysmon's thread is stopped between looking and asking, at most: twice the time for which Linux
// lets another thread run.
const stoppedMost = 2 * turn

// request is something that sysmon did, judged when the resolver has come to it.
type request struct {
	kind    Kind // Retake or Preempt
	at      model.Time
	d       Divergence
	in      model.Duration // since the beginning of the system call, or of the goroutine's run
	excused bool           // somebody else may have done it
	// By the resolver: for how long the proc had the same schedtick, and how many
	// were queued there.
	slice  model.Duration
	after  bool // the one before was as long as sysmon lets goroutines run
	queued int
	idle   []model.ProcID // procs that seemed idle, without those that a woken thread got since
}

// maxPassed bounds the requests that wait for what becomes of idle procs.
const maxPassed = 1 << 12

// retaken notes that a thread without goroutine and proc, which only sysmon is, took a
// proc from a system call.
func (p *procs) retaken(s *model.Step) {
	q := p.proc(s.P)
	r := request{kind: Retake, at: s.Time, in: s.Time.Sub(q.call), idle: p.idleOnes(s.Time),
		d: Divergence{Time: s.Time, P: s.P, M: s.M, G: q.callG}}
	r.excused = q.callOver != s.Time || q.call == 0 // the call began before the trace
	p.requests = append(p.requests, r)
}

// endCall judges a system call for whose whole length the proc was held, if that is
// longer than sysmon lets it in any case. (With work queued there it must come
// sooner, which is not asked.)
func (p *procs) endCall(s *model.Step, q *proc) {
	in := s.Time.Sub(q.since)
	if p.stopping || in <= refsched.RetakeLatest+sysmonLate {
		return
	}
	v := verdict{class: Unexplained, did: fmt.Sprintf("left it for %d ms in a system call", in/1_000_000), want: "take it away after 30 ms at the latest"}
	if taken := model.ProcState(s.To) == model.ProcIdle; in < signalled || taken && in < sysmonFrozen {
		v.class = OS
	}
	p.c.queues.judge(Retake, v, Divergence{Time: s.Time, P: s.P, M: s.M, G: q.g}, q.since)
}

// preempted notes a preemption.
func (p *procs) preempted(s *model.Step) {
	if s.P == model.NoProc {
		return
	}
	r := request{kind: Preempt, at: s.Time, in: s.Time.Sub(p.proc(s.P).ran), d: Divergence{Time: s.Time, P: s.P, M: s.M, G: s.G}}
	// A request of somebody else stays until the goroutine stops, through system calls, too.
	ran, ok := p.runs[s.G]
	r.excused = !ok || p.asked >= ran-model.Time(idleFor)
	delete(p.runs, s.G)
	p.requests = append(p.requests, r)
}

// longRun is a goroutine that ran for longer than sysmon lets it.
type longRun struct {
	on bool
	d  Divergence
	in model.Duration
}

// endRun notes a goroutine that ran for long. What ended it follows.
func (p *procs) endRun(s *model.Step, q *proc) {
	p.run.on = false
	if q.work != model.WorkUser && q.work != model.WorkGCAssist || q.ran == 0 || q.ran < q.since {
		return
	}
	most := refsched.PreemptLatest + sysmonLate
	if cores := p.c.queues.opt.Cores; cores > 0 && p.count > cores {
		// Threads take turns on fewer cores: sysmon waits for its own, and then the one that is asked to stop.
		most += 2 * turn * model.Duration((p.count-1)/cores)
	}
	if d := s.Time.Sub(q.ran); d > most {
		p.run = longRun{on: true, in: d, d: Divergence{Time: s.Time, P: s.P, M: s.M, G: q.g}}
	}
}

// turn is how long the operating system lets a thread run while others wait, by default
// (package refsched, coreTurn).
const turn model.Duration = 3_000_000

// judgeRun judges it. If it was preempted in the end, it was asked to stop, and who knows
// when; if not, the request may have come when it was about to stop by itself.
func (p *procs) judgeRun(s *model.Step) {
	r := &p.run
	r.on = false
	began := r.d.Time - model.Time(r.in)
	if r.d.Time != s.Time || r.d.G != s.G || r.d.G == p.stop.g && p.stop.at > began {
		return // who stops the world is not asked to stop meanwhile
	}
	v := verdict{class: Unexplained, did: fmt.Sprintf("let it run for %d ms", r.in/1_000_000), want: "preempt it after 10 to 30 ms"}
	asked := model.GoState(s.To) == model.GoRunnable && (s.Origin == model.OriginPreempted || s.Origin == model.OriginSTW)
	if r.in < signalled || asked && r.in < sysmonFrozen {
		v.class = OS
	}
	p.c.queues.judge(Preempt, v, r.d, began)
}

// started takes a start that the resolver reports: another schedtick, but of what came
// from runnext or did not go through the scheduler.
func (p *procs) started(s *runqueue.Start) {
	p.until(s.Time)
	switch {
	case s.Source == runqueue.SourceRunnext, s.Source == runqueue.SourceCoroutine, s.Source == runqueue.SourceDirect, s.Pseudo != model.NotPseudo:
	default:
		q := p.proc(s.P)
		q.before, q.slice = q.slice, s.Time
	}
}

// length takes a length that the resolver reports.
func (p *procs) length(l *runqueue.Lengths) {
	p.until(l.Time)
	if l.P != model.NoProc {
		p.proc(l.P).queued = l.Len + l.Next
	}
}

// until takes what the resolver knows at the time of requests to which it has come.
func (p *procs) until(t model.Time) {
	n := 0
	for n < len(p.requests) && p.requests[n].at < t {
		r := &p.requests[n]
		n++
		q := p.proc(r.d.P)
		r.queued = q.queued
		if r.slice = r.at.Sub(q.slice); q.slice == 0 {
			r.slice = r.at.Sub(p.c.queues.first) + refsched.ForcePreempt // since before the trace
		}
		r.after = q.slice.Sub(q.before) >= refsched.ForcePreempt
		if len(r.idle) == 0 {
			p.judgeRequest(r)
			continue
		}
		if len(p.passed) >= maxPassed {
			p.judgeRequest(&p.passed[0])
			p.passed = p.passed[1:]
		}
		p.passed = append(p.passed, *r)
	}
	if n > 0 {
		p.requests = append(p.requests[:0], p.requests[n:]...)
	}
}

// judgeRequest judges whether sysmon might do what it did.
func (p *procs) judgeRequest(r *request) {
	v := verdict{class: Unexplained}
	stale := r.after && r.slice < refsched.SysmonMin
	switch r.kind {
	case Retake:
		state := refsched.RetakeState{InCall: r.in + Epsilon, Slice: r.slice + Epsilon, Queued: r.queued > 0, Others: len(r.idle) > 0}
		v.agreed = r.excused || refsched.MayRetake(state)
		v.did, v.want = fmt.Sprintf("took it %d µs after the call began, %d queued", r.in/1000, r.queued), "leave it"
		if stale {
			v.class = StaleRead // of the schedtick
		}
	case Preempt:
		v.agreed = r.excused || r.slice+Epsilon >= refsched.ForcePreempt
		v.did, v.want = fmt.Sprintf("preempted it after %d µs", r.slice/1000), "let it run"
		switch { // sysmon meant the one before
		case r.in <= Epsilon, stale:
			v.class = StaleRead
		case r.after && r.slice < stoppedMost: // its own thread was stopped before it asked
			v.class = OS
		}
	}
	p.c.queues.judge(r.kind, v, r.d, r.at)
}
