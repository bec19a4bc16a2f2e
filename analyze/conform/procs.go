package conform

import (
	"fmt"
	"strings"

	"github.com/schedscope/schedscope/analyze/refsched"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// procs follows what the trace shows of procs, threads and phases, and judges the
// decisions that need no queues, or no more than whether one is empty.
type procs struct {
	c         *Checker
	list      []proc
	threads   map[model.ThreadID]model.Time // latest step
	count     int                           // GOMAXPROCS
	idle      int
	stopping  bool
	stop      stopping
	marking   bool // a mark phase goes on
	markEnd   model.Time
	restart   model.Time // when the world went on last
	lastIdle  model.Time // when a proc became idle last
	lastFind  model.Time // when a thread that searched found something, or gave up
	wake      waking
	works     map[startKey]bool // starts of idle mark workers
	late      []lateCall        // decisions that wait for the resolver
	exits     []exit
	threshold model.Duration
}

type proc struct {
	seen     bool
	state    model.ProcState
	since    model.Time // in that state
	work     model.WorkKind
	g        model.GoID
	ran      model.Time // start of g
	callIdle model.Time // since when others were idle or searching all the time of the call; 0: not now
	slice    model.Time // by the resolver: since when it has the same schedtick
	queued   int        // by the resolver
}

type startKey struct {
	g model.GoID
	t model.Time
}

// lateCall is a decision of sysmon that is judged when the resolver has come to it.
type lateCall struct {
	at      model.Time
	kind    Kind
	d       Divergence
	in      model.Duration // in the system call
	others  bool
	excused bool
	missed  bool
}

func (p *procs) init(c *Checker) {
	p.c, p.threads, p.works = c, map[model.ThreadID]model.Time{}, map[startKey]bool{}
}

// maxProcs bounds the procs that are followed.
const maxProcs = 1 << 12

func (p *procs) proc(id model.ProcID) *proc {
	if id < 0 || id >= maxProcs {
		return new(proc)
	}
	for int(id) >= len(p.list) {
		p.list = append(p.list, proc{g: model.NoGoroutine})
	}
	return &p.list[id]
}

// step follows one step.
func (p *procs) step(s *model.Step) {
	p.checkWake(s.Time)
	p.checkExits(s.Time)
	switch s.Kind {
	case model.StepProc:
		p.procStep(s)
	case model.StepGo:
		p.goStep(s)
	case model.StepProcs:
		p.count = int(s.N)
	case model.StepStopping:
		p.stopping = true
		p.stop = stopping{at: s.Time, m: s.M, g: s.G}
		if strings.Contains(p.c.tables.String(s.Reason), "GC mark termination") {
			p.marking, p.markEnd = false, s.Time
		}
		if strings.Contains(p.c.tables.String(s.Reason), "GC sweep termination") {
			p.marking = true
		}
		p.wake = waking{}
	case model.StepStopped:
		p.stop.stopped = s.Time
	case model.StepRestarted:
		if p.stopping {
			p.judgeStop(s.Time)
		}
		p.stopping, p.restart = false, s.Time
		p.wake = waking{}
	}
	if s.M != model.NoThread {
		p.threads[s.M] = s.Time
	}
}

// others reports whether a proc beside this one is idle or searches.
func (p *procs) others(id model.ProcID) bool {
	for i := range p.list {
		if o := &p.list[i]; model.ProcID(i) != id && o.seen && (o.state == model.ProcIdle || o.state == model.ProcSearching) {
			return true
		}
	}
	return false
}

func (p *procs) procStep(s *model.Step) {
	q := p.proc(s.P)
	from, to := model.ProcState(s.From), model.ProcState(s.To)
	if !q.seen {
		q.seen, from = true, model.ProcUndetermined
	}
	if from == model.ProcIdle && to != model.ProcIdle {
		p.idle--
		p.gotProc(s, q)
	}
	if from == model.ProcSyscall && to != model.ProcSyscall {
		p.endCall(s, q)
	}
	if from == model.ProcRunning && (to != model.ProcRunning || s.G != q.g) {
		p.endRun(s, q)
	}
	if from == model.ProcSearching && to != model.ProcSearching {
		p.lastFind = s.Time
	}
	if to == model.ProcIdle && from != model.ProcIdle {
		p.idle++
		p.lastIdle = s.Time
	}
	if to == model.ProcRunning && s.Work.IsGC() && s.Work != model.WorkGCAssist {
		p.worker(s, q)
	}
	if from != to {
		q.since = s.Time
		if to == model.ProcSyscall {
			q.callIdle = 0
			if p.others(s.P) {
				q.callIdle = s.Time
			}
		}
	}
	q.state, q.work, q.g = to, s.Work, s.G
	p.noteOthers(s.Time)
}

// noteOthers follows for each proc in a system call since when another one has
// been idle or searching without a break.
func (p *procs) noteOthers(at model.Time) {
	for i := range p.list {
		q := &p.list[i]
		if !q.seen || q.state != model.ProcSyscall {
			continue
		}
		switch is := p.others(model.ProcID(i)); {
		case !is:
			q.callIdle = 0
		case q.callIdle == 0:
			q.callIdle = at
		}
	}
}

func (p *procs) goStep(s *model.Step) {
	from, to := model.GoState(s.From), model.GoState(s.To)
	switch {
	case s.Flags&model.StepStatus != 0:
	case from == model.GoRunnable && to == model.GoRunning:
		p.proc(s.P).ran = s.Time
		if p.stopping && s.Pseudo == model.NotPseudo && s.G != p.stop.g && p.stop.stopped == 0 {
			if began, ok := p.threads[s.M]; ok && began.Sub(p.stop.at) > Epsilon && s.Origin != model.OriginSyscall {
				p.stop.started++
				p.stop.d = Divergence{Time: s.Time, P: s.P, M: s.M, G: s.G}
				p.stop.search = s.Time.Sub(began)
			}
		}
	case to == model.GoRunnable:
		switch s.Origin {
		case model.OriginPreempted:
			p.preempted(s)
		case model.OriginCreated, model.OriginGoroutine:
			p.mustWake(s)
		}
	}
}

// --- wake

// waking is a wake that must be under way.
type waking struct {
	on   bool
	at   model.Time
	d    Divergence
	idle []model.ProcID
}

// Bounds of wakes. A thread that is woken takes some microseconds, and longer if the
// operating system runs something else; no time is the scheduler's own.
const (
	wakeWithin model.Duration = 1_000_000  // 99.9 % of wakes are faster where there are cores enough
	wakeLost   model.Duration = 20_000_000 // more than a turn of the operating system
	idleFor    model.Duration = 50_000     // a proc that was idle for so long is on the list of idle ones
)

// mustWake begins a decision if the rules say that somebody is woken by what makes
// a goroutine runnable.
func (p *procs) mustWake(s *model.Step) {
	if p.wake.on || p.stopping || s.P == model.NoProc || s.By == model.NoGoroutine {
		return
	}
	var idle []model.ProcID
	for i := range p.list {
		switch q := &p.list[i]; {
		case !q.seen:
		case q.state == model.ProcSearching:
			return // it may be a spinning one
		case q.state == model.ProcIdle && s.Time.Sub(q.since) > idleFor:
			idle = append(idle, model.ProcID(i))
		}
	}
	if !refsched.MustWake(len(idle), 0) || s.Time.Sub(p.lastFind) < idleFor || s.Time.Sub(p.lastIdle) < idleFor || s.Time.Sub(p.restart) < idleFor {
		return
	}
	p.wake = waking{on: true, at: s.Time, idle: idle, d: Divergence{Time: s.Time, P: s.P, M: s.M, G: s.G, Idle: idle[:min(len(idle), 8)]}}
}

// gotProc ends the decision with the thread that came, unless that came out of
// a system call.
func (p *procs) gotProc(s *model.Step, q *proc) {
	if p.wake.on {
		p.endWake(s.Time, true)
	}
	for i := range p.exits {
		p.exits[i].got(s.P)
	}
}

// checkWake ends a decision for which nobody came.
func (p *procs) checkWake(at model.Time) {
	if p.wake.on && at.Sub(p.wake.at) > wakeLost {
		p.endWake(at, false)
	}
}

func (p *procs) endWake(at model.Time, came bool) {
	w := &p.wake
	w.on = false
	if wakeDelays != nil {
		wakeDelays(at.Sub(w.at), came)
	}
	v := verdict{agreed: true}
	if d := at.Sub(w.at); !came || d > wakeWithin {
		v = verdict{did: fmt.Sprintf("woke nobody for %d us", d/1000), want: "wake a thread for an idle proc", class: Genuine}
		switch {
		case p.c.boundary(w.at):
			v.class = Boundary
		case came:
			v.class = OS
		}
	}
	p.c.judge(Wake, v, w.d)
}

var wakeDelays func(model.Duration, bool) // for measurements

// --- retake

// endCall notes a system call that the proc was in.
func (p *procs) endCall(s *model.Step, q *proc) {
	in := s.Time.Sub(q.since)
	if p.stopping || q.since == 0 {
		return
	}
	// Held for longer than sysmon lets it.
	if latest := refsched.RetakeLatest(q.callIdle == 0, q.callIdle != 0); in > latest+sysmonLate {
		p.late = append(p.late, lateCall{at: q.since, kind: Retake, in: in, others: q.callIdle != 0, missed: true,
			d: Divergence{Time: s.Time, P: s.P, M: s.M, G: q.g}})
	}
}

// sysmonLate is by how much sysmon may be late, or its sleeps longer than it asks
// for, before it is thought not to have done its duty.
const sysmonLate model.Duration = 10_000_000

// Handoff implements [model.HandoffObserver]. What sysmon took is judged by the
// time at which it took it.
func (c *Checker) Handoff(h *model.Handoff) {
	if h.Cause != model.HandoffSysmon {
		return
	}
	p := &c.procs
	l := lateCall{at: h.Lost, kind: Retake, in: h.InSyscall, others: true,
		d: Divergence{Time: h.Lost, P: h.P, M: h.TakerM, G: h.FromG}}
	l.excused = h.InSyscall == 0 // it began before the trace
	p.late = append(p.late, l)
}

// --- preempt

// endRun notes a goroutine that ran for long without being stopped.
func (p *procs) endRun(s *model.Step, q *proc) {
	if q.work != model.WorkUser && q.work != model.WorkGCAssist || q.ran == 0 || q.ran < q.since {
		return
	}
	if d := s.Time.Sub(q.ran); d > refsched.PreemptLatest+sysmonLate {
		v := verdict{did: fmt.Sprintf("let it run for %d ms", d/1_000_000), want: "preempt it after 10 to 30 ms", class: Genuine}
		if p.c.boundary(q.ran) {
			v.class = Boundary
		}
		p.c.judge(Preempt, v, Divergence{Time: s.Time, P: s.P, M: s.M, G: q.g})
	}
}

// preempted notes a preemption, which is judged when the resolver tells since when
// the proc has had its schedtick.
func (p *procs) preempted(s *model.Step) {
	if s.P == model.NoProc {
		return
	}
	q := p.proc(s.P)
	l := lateCall{at: s.Time, kind: Preempt, in: s.Time.Sub(q.ran), d: Divergence{Time: s.Time, P: s.P, M: s.M, G: s.G}}
	// Mark workers and the two ends of a mark phase preempt too (runtime/mgcpacer.go:
	// enlistWorker; runtime/proc.go: forEachP), and so does a new generation.
	l.excused = p.marking || p.stopping || s.Time.Sub(p.markEnd) < idleFor || s.Time.Sub(p.restart) < idleFor
	p.late = append(p.late, l)
}

// started takes a start that the resolver tells.
func (p *procs) started(s *runqueue.Start) {
	p.until(s.Time)
	if s.Source != runqueue.SourceRunnext && s.Pseudo == model.NotPseudo && s.Source != runqueue.SourceCoroutine && s.Source != runqueue.SourceDirect {
		p.proc(s.P).slice = s.Time
	}
}

// length takes a length that the resolver tells.
func (p *procs) length(l *runqueue.Lengths) {
	p.until(l.Time)
	if l.P != model.NoProc {
		p.proc(l.P).queued = l.Len + l.Next
	}
}

// until judges what happened before a time to which the resolver has come.
func (p *procs) until(t model.Time) {
	n := 0
	for n < len(p.late) && p.late[n].at < t {
		p.judgeLate(&p.late[n])
		n++
	}
	if n > 0 {
		p.late = append(p.late[:0], p.late[n:]...)
	}
}

func (p *procs) judgeLate(l *lateCall) {
	q := p.proc(l.d.P)
	slice := l.at.Sub(q.slice)
	if q.slice == 0 {
		slice = l.at.Sub(p.c.first) + refsched.ForcePreempt // since before the trace
	}
	queued := q.queued > 0
	v := verdict{class: Genuine}
	switch {
	case l.missed:
		if latest := refsched.RetakeLatest(queued, l.others); l.in <= latest+sysmonLate {
			return // no decision
		}
		v.did, v.want = fmt.Sprintf("left it for %d ms in a system call", l.in/1_000_000), "take it away"
	case l.kind == Retake:
		v.agreed = l.excused || refsched.MayRetake(refsched.RetakeState{InCall: l.in + Epsilon, Slice: slice + Epsilon, Queued: queued, Others: l.others})
		v.did, v.want = fmt.Sprintf("took it %d us after the call began, %d queued", l.in/1000, q.queued), "leave it"
	case l.kind == Preempt:
		v.agreed = l.excused || refsched.MayPreempt(slice+Epsilon)
		v.did, v.want = fmt.Sprintf("preempted it after %d us", slice/1000), "let it run"
	}
	if p.c.boundary(l.at) {
		v.class = Boundary
	}
	p.c.judge(l.kind, v, l.d)
}

// --- exit

// exit is a way out of a system call that was right only if no proc was idle.
type exit struct {
	at   model.Time
	d    Divergence
	idle []model.ProcID
}

// got notes that a proc that seemed idle was not: a thread was on its way to it.
func (e *exit) got(p model.ProcID) {
	for i, x := range e.idle {
		if x == p {
			e.idle = append(e.idle[:i], e.idle[i+1:]...)
			return
		}
	}
}

// SyscallExit implements [model.SyscallExitObserver].
func (c *Checker) SyscallExit(e *model.SyscallExit) {
	p := &c.procs
	switch e.Path {
	case model.ExitOldProc, model.ExitOtherProc:
		c.judge(Exit, verdict{agreed: true}, Divergence{})
	case model.ExitQueued:
		x := exit{at: e.End, d: Divergence{Time: e.End, P: e.OldProc, M: e.M, G: e.G}}
		for i := range p.list {
			if q := &p.list[i]; q.seen && q.state == model.ProcIdle && e.End.Sub(q.since) > idleFor && !p.stopping {
				x.idle = append(x.idle, model.ProcID(i))
			}
		}
		p.exits = append(p.exits, x)
	}
}

func (p *procs) checkExits(at model.Time) {
	n := 0
	for n < len(p.exits) && at.Sub(p.exits[n].at) > wakeWithin {
		p.judgeExit(&p.exits[n])
		n++
	}
	if n > 0 {
		p.exits = append(p.exits[:0], p.exits[n:]...)
	}
}

func (p *procs) judgeExit(e *exit) {
	v := verdict{agreed: refsched.MayQueueAtExit(len(e.idle), false), class: Genuine}
	if p.c.boundary(e.at) {
		v.class = Boundary
	}
	v.did, v.want = "queued it", fmt.Sprintf("go on with an idle proc, of %d", len(e.idle))
	e.d.Idle = e.idle[:min(len(e.idle), 8)]
	p.c.judge(Exit, v, e.d)
}

// --- gc

// worker judges a mark worker that begins, once its label tells the mode.
func (p *procs) worker(s *model.Step, q *proc) {
	if q.work == s.Work && q.g == s.G {
		return
	}
	procs := max(p.count, 1)
	most, fraction := refsched.GCWorkers(procs)
	v := verdict{agreed: true, class: Genuine}
	switch s.Work {
	case model.WorkGCDedicated:
		n := 1
		for i := range p.list {
			if o := &p.list[i]; model.ProcID(i) != s.P && o.seen && o.state == model.ProcRunning && o.work == model.WorkGCDedicated {
				n++
			}
		}
		v.agreed = n <= most
		v.did, v.want = fmt.Sprintf("ran %d dedicated workers", n), fmt.Sprintf("at most %d", most)
	case model.WorkGCFractional:
		v.agreed = fraction > 0
		v.did, v.want = "ran a fractional worker", "none"
	case model.WorkGCIdle:
		if len(p.works) < 1<<16 {
			p.works[startKey{s.G, q.ran}] = true
		}
		return // judged with the queues
	}
	if p.c.boundary(s.Time) {
		v.class = Boundary
	}
	p.c.judge(GC, v, Divergence{Time: s.Time, P: s.P, M: s.M, G: s.G})
}

// wasIdleWorker reports whether a start was of an idle mark worker.
func (p *procs) wasIdleWorker(g model.GoID, at model.Time) bool {
	k := startKey{g, at}
	is := p.works[k]
	delete(p.works, k)
	return is
}

// --- stw

// stopping is a stop of the world.
type stopping struct {
	at      model.Time
	m       model.ThreadID
	g       model.GoID
	stopped model.Time
	started int
	search  model.Duration
	d       Divergence
}

func (p *procs) judgeStop(at model.Time) {
	v := verdict{agreed: p.stop.started == 0, class: Genuine}
	v.did, v.want = fmt.Sprintf("started %d goroutines while the world was being stopped", p.stop.started), "none"
	switch {
	case p.c.boundary(p.stop.at):
		v.class = Boundary
	case p.stop.search >= Frozen:
		v.class = OS
	}
	p.c.judge(STW, v, p.stop.d)
}

// finish judges what is left.
func (p *procs) finish() {
	for i := range p.late {
		p.judgeLate(&p.late[i])
	}
	for i := range p.exits {
		p.judgeExit(&p.exits[i])
	}
	p.late, p.exits = nil, nil
}
