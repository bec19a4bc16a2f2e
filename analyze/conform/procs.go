package conform

import (
	"fmt"
	"math"
	"strings"

	"github.com/schedscope/schedscope/analyze/refsched"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// procs follows what the trace shows of procs, threads and phases, and judges the
// decisions that need no queues, or no more than whether one is empty.
type procs struct {
	c             *Checker
	list          []proc
	threads       map[model.ThreadID]lastTwo
	count         int // GOMAXPROCS
	idle          int
	stopping      bool
	stop          stopping
	marking       bool // a mark phase goes on
	markEnd       model.Time
	restart       model.Time // when the world went on last
	lastIdle      model.Time // when a proc became idle last
	wake          waking
	works         map[startKey]bool         // starts of idle mark workers
	runs          map[model.GoID]model.Time // since when what has a proc, or is in a system call, was started
	run           longRun
	extra         []extra
	deaf          int        // procs that have not heard yet
	advancer      model.GoID // the goroutine that begins a new generation, while it runs
	now           model.Time
	asked         model.Time // when all procs were asked to stop for some other reason than a slice last
	came, latency delays     // of wakes: decisions for which somebody came, and all by the resolver
	passed        []lateCall // to which the resolver has come
	late          []lateCall // decisions that wait for the resolver
	exits         []exit
	threshold     model.Duration
}

type proc struct {
	deaf     bool // asked to stop for an instant, and has not heard
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
	ran     model.Time
	slice   model.Duration
	queued  int
	idle    []model.ProcID // that seemed idle, and were not got by a thread that was woken
	missed  bool
	taken   bool // of a missed one: it was taken away in the end
	sysmon  bool // of a Retake: it was sysmon indeed, and in is known
}

func (p *procs) init(c *Checker) {
	p.advancer = model.NoGoroutine
	p.c, p.threads, p.works, p.runs = c, map[model.ThreadID]lastTwo{}, map[startKey]bool{}, map[model.GoID]model.Time{}
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

// lastTwo is when a thread did something last, and before that.
type lastTwo struct {
	last, before model.Time
	inCall       bool // its goroutine is in a system call
}

// step follows one step.
func (p *procs) step(s *model.Step) {
	p.checkWake(s.Time)
	p.checkExits(s.Time)
	p.now = s.Time
	p.noteAsked(s)
	if len(p.extra) > 0 {
		p.endsMarking(s)
	}
	switch s.Kind {
	case model.StepProc:
		p.procStep(s)
	case model.StepGo:
		p.goStep(s)
	case model.StepMove:
		if s.ToM == model.NoThread && s.M != s.FromM {
			p.late = append(p.late, lateCall{at: s.Time, kind: Retake, idle: p.idleOnes(s.Time), d: Divergence{Time: s.Time, P: s.P, M: s.M}})
		}
	case model.StepProcs:
		p.count = int(s.N)
		p.assumeIdle(s.Time)
	case model.StepStopping:
		p.stopping = true
		p.stop = stopping{at: s.Time, m: s.M, g: s.G}
		if strings.Contains(p.c.tables.String(s.Reason), "GC mark termination") {
			p.marking, p.markEnd, p.stop.marked = false, s.Time, true
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
		if p.stop.marked {
			p.ask() // to flush caches (runtime/mgc.go: gcMarkTermination)
		}
		p.wake = waking{}
	}
	if s.M != model.NoThread {
		t := p.threads[s.M]
		if t.last != s.Time {
			t.last, t.before = s.Time, t.last
		}
		if s.Kind == model.StepGo && s.Flags&model.StepStatus == 0 {
			switch {
			case model.GoState(s.To) == model.GoSyscall:
				t.inCall = true
			case model.GoState(s.From) == model.GoSyscall || model.GoState(s.From) == model.GoSyscallBlocked, model.GoState(s.To) == model.GoRunning:
				t.inCall = false
			}
		}
		p.threads[s.M] = t
	}
}

// assumeIdle takes procs that have not been seen so far to be idle: what runs since
// before the trace is told with its first event.
func (p *procs) assumeIdle(at model.Time) {
	for i := range min(p.count, maxProcs) {
		if q := p.proc(model.ProcID(i)); !q.seen {
			*q = proc{seen: true, state: model.ProcIdle, since: at, g: model.NoGoroutine}
			p.idle++
		}
	}
}

// noteAsked follows until when all procs are asked to stop for an instant, and again
// every 100 us until all have heard (runtime/proc.go: forEachPInternal): at a
// new generation of the trace, during a mark phase and after its end, and when a
// goroutine takes procs from system calls without stopping the world. A proc has
// heard when its goroutine stopped.
func (p *procs) noteAsked(s *model.Step) {
	if s.Kind == model.StepMove && s.ToM == model.NoThread && s.M != s.FromM && s.By != model.NoGoroutine && !p.stopping {
		p.ask()
	}
	if s.Kind == model.StepProc && p.deaf > 0 {
		if q := p.proc(s.P); q.deaf && (model.ProcState(s.To) != model.ProcRunning || s.G != q.g) {
			q.deaf = false
			p.deaf--
		}
	}
	if s.Kind == model.StepGo && (s.G == p.advancer || s.Flags&model.StepSystem != 0 && model.GoState(s.To) == model.GoRunning && p.advances(s.Func)) {
		if p.advancer = model.NoGoroutine; model.GoState(s.To) == model.GoRunning {
			p.advancer = s.G
		}
		p.ask()
	}
	if p.marking || p.stopping || p.deaf > 0 || p.advancer != model.NoGoroutine {
		p.asked = s.Time
	}
}

// advances reports whether a goroutine is the one that begins new generations, for
// which it asks all procs more than once (runtime/trace.go: traceAdvance).
func (p *procs) advances(fn model.StringID) bool {
	return strings.Contains(p.c.tables.String(fn), "traceAdvancer")
}

// ask begins to ask all procs.
func (p *procs) ask() {
	p.deaf = 0
	for i := range p.list {
		q := &p.list[i]
		if q.deaf = q.seen && (q.state == model.ProcRunning || q.state == model.ProcSyscall); q.deaf {
			p.deaf++
		}
	}
	p.asked = p.now
}

// idleOnes returns the procs that have been idle long enough that everybody knows.
func (p *procs) idleOnes(at model.Time) (idle []model.ProcID) {
	for i := range p.list {
		if o := &p.list[i]; o.seen && o.state == model.ProcIdle && at.Sub(o.since) > idleFor {
			idle = append(idle, model.ProcID(i))
		}
	}
	return idle
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
	if to == model.ProcIdle && from != model.ProcIdle {
		p.idle++
		p.lastIdle = s.Time
	}
	if to == model.ProcRunning && s.Work.IsGC() && s.Work != model.WorkGCAssist {
		if !p.marking && s.Time.Sub(p.markEnd) > GenerationGap {
			p.marking = true // since before the trace
		}
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
	if p.run.on && from == model.GoRunning {
		p.judgeRun(s)
	}
	switch {
	case s.Flags&model.StepStatus != 0:
	case from == model.GoRunnable && to == model.GoRunning:
		p.proc(s.P).ran = s.Time
		if s.Pseudo == model.NotPseudo && s.Origin != model.OriginSyscall {
			p.runs[s.G] = s.Time
		}
		if p.stopping && s.Pseudo == model.NotPseudo && s.G != p.stop.g && p.stop.stopped == 0 {
			t := p.threads[s.M]
			began := t.last
			if began == s.Time {
				began = t.before
			}
			if began != 0 && began.Sub(p.stop.at) > Epsilon && s.Origin != model.OriginSyscall {
				p.stop.started++
				p.stop.d = Divergence{Time: s.Time, P: s.P, M: s.M, G: s.G}
				p.stop.search = s.Time.Sub(began)
			}
		}
	case to == model.GoWaiting || to == model.GoNotExist:
		delete(p.runs, s.G)
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
	// signalled is how long a thread that was woken for a proc may stand still before it has
	// it. The proc seems idle meanwhile.
	signalled model.Duration = 100_000_000
	idleFor   model.Duration = 50_000 // a proc that was idle for so long is on the list of idle ones
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
	if !refsched.MustWake(len(idle), 0) || s.Time.Sub(p.lastIdle) < Epsilon || s.Time.Sub(p.restart) < idleFor {
		return
	}
	p.wake = waking{on: true, at: s.Time, idle: idle, d: Divergence{Time: s.Time, P: s.P, M: s.M, G: s.G, Idle: idle[:min(len(idle), 8)]}}
}

// gotProc ends the decision with the thread that came, unless that came out of
// a system call.
func (p *procs) gotProc(s *model.Step, q *proc) {
	if p.wake.on && !p.threads[s.M].inCall {
		p.endWake(s.Time, true)
	}
	if p.threads[s.M].inCall {
		return // what a thread takes that comes out of a system call was idle indeed
	}
	for i := range p.exits {
		got(&p.exits[i].idle, s.P)
	}
	for i := range p.late {
		got(&p.late[i].idle, s.P)
	}
	for i := range p.passed {
		got(&p.passed[i].idle, s.P)
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
	if came {
		p.came.add(at.Sub(w.at))
		return
	}
	v := verdict{did: fmt.Sprintf("woke nobody for %d us", at.Sub(w.at)/1000), want: "wake a thread for an idle proc", class: Genuine}
	if p.c.boundary(w.at) {
		v.class = Boundary
	}
	p.c.judge(Wake, v, w.d)
}

// Wakeup implements [runqueue.WakeupObserver]: how long wakes take.
func (p *plain) Wakeup(w *runqueue.Wakeup) {
	if w.Caused && !w.Handoff {
		p.procs.latency.add(w.Got.Sub(w.Trigger))
	}
}

// judgeWakes judges the wakes that came: in time, if no later than all but a
// thousandth of the wakes of this trace are.
func (p *procs) judgeWakes() {
	limit := min(max(p.latency.quantile(0.999), wakeWithin), wakeLost)
	for i, n := range p.came {
		v := verdict{agreed: edge(i) <= limit, late: edge(i) > wakeWithin, class: OS}
		for range n {
			p.c.result.Kinds[Wake].add(v)
		}
	}
}

// --- retake

// endCall notes a system call that the proc was in.
func (p *procs) endCall(s *model.Step, q *proc) {
	in := s.Time.Sub(q.since)
	if p.stopping || q.since == 0 {
		return
	}
	// Held for longer than sysmon lets it.
	if latest := refsched.RetakeLatest(q.callIdle == 0, q.callIdle != 0); in > latest+sysmonLate {
		p.late = append(p.late, lateCall{at: q.since, kind: Retake, in: in, others: q.callIdle != 0, missed: true, taken: s.To != uint8(model.ProcRunning),
			d: Divergence{Time: s.Time, P: s.P, M: s.M, G: q.g}})
	}
}

// sysmonLate is by how much sysmon may be late, or its sleeps longer than it asks
// for, before it is thought not to have done its duty.
const sysmonLate model.Duration = 10_000_000

// sysmonFrozen is how long the operating system may keep sysmon, or a thread that was asked to
// stop, from running, if what they had to do was done in the end.
const sysmonFrozen model.Duration = 500_000_000

// Handoff implements [model.HandoffObserver]. What sysmon took is judged by the
// time at which it took it.
func (c *Checker) Handoff(h *model.Handoff) {
	if h.Cause != model.HandoffSysmon {
		return
	}
	p := &c.procs
	for _, list := range [...][]lateCall{p.late, p.passed} {
		for i := range list {
			if l := &list[i]; l.kind == Retake && !l.missed && l.at == h.Lost && l.d.P == h.P {
				l.sysmon, l.in, l.d.G = true, h.InSyscall, h.FromG
				l.excused = h.InSyscall == 0 // it began before the trace
			}
		}
	}
}

// --- preempt

// longRun is a goroutine that ran for longer than sysmon lets it.
type longRun struct {
	on bool
	d  Divergence
	in model.Duration
}

// endRun notes a goroutine that ran for long. What ends it is told next.
func (p *procs) endRun(s *model.Step, q *proc) {
	p.run.on = false
	if q.work != model.WorkUser && q.work != model.WorkGCAssist || q.ran == 0 || q.ran < q.since {
		return
	}
	if d := s.Time.Sub(q.ran); d > refsched.PreemptLatest+sysmonLate {
		p.run = longRun{on: true, in: d, d: Divergence{Time: s.Time, P: s.P, M: s.M, G: q.g}}
	}
}

// judgeRun judges it.
func (p *procs) judgeRun(s *model.Step) {
	r := &p.run
	r.on = false
	if r.d.Time != s.Time || r.d.G != s.G || r.d.G == p.stop.g && p.stop.at > r.d.Time-model.Time(r.in) {
		return // who stops the world is not asked to stop meanwhile
	}
	v := verdict{did: fmt.Sprintf("let it run for %d ms", r.in/1_000_000), want: "preempt it after 10 to 30 ms", class: Genuine}
	switch asked := model.GoState(s.To) == model.GoRunnable && (s.Origin == model.OriginPreempted || s.Origin == model.OriginSTW); {
	case p.c.boundary(r.d.Time - model.Time(r.in)):
		v.class = Boundary
	case r.in < signalled, asked && r.in < sysmonFrozen:
		v.class = OS // if it was in the end, it was asked to; if not, it may have been about to stop itself
	}
	p.c.judge(Preempt, v, r.d)
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
	// A request stays until the goroutine stops, through system calls, too.
	ran, ok := p.runs[s.G]
	l.excused = !ok || p.asked >= ran-model.Time(idleFor)
	l.ran = ran
	delete(p.runs, s.G)
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
		l := p.late[n]
		q := p.proc(l.d.P)
		l.queued = q.queued
		if l.slice = l.at.Sub(q.slice); q.slice == 0 {
			l.slice = l.at.Sub(p.c.first) + refsched.ForcePreempt // since before the trace
		}
		p.passed = append(p.passed, l)
		n++
	}
	if n > 0 {
		p.late = append(p.late[:0], p.late[n:]...)
	}
}

func (p *procs) judgeLate(l *lateCall) {
	slice, queued := l.slice, l.queued > 0
	v := verdict{class: Genuine}
	switch {
	case l.kind == Retake && !l.missed && !l.sysmon:
		return
	case l.missed:
		if latest := refsched.RetakeLatest(queued, l.others); l.in <= latest+sysmonLate {
			return // no decision
		}
		v.did, v.want = fmt.Sprintf("left it for %d ms in a system call", l.in/1_000_000), "take it away"
		if l.taken && l.in < sysmonFrozen {
			v.class = OS // it was in the end
		}
	case l.kind == Retake:
		v.agreed = l.excused || refsched.MayRetake(refsched.RetakeState{InCall: l.in + Epsilon, Slice: slice + Epsilon, Queued: queued, Others: len(l.idle) > 0})
		l.d.Idle = l.idle[:min(len(l.idle), 8)]
		v.did, v.want = fmt.Sprintf("took it %d us after the call began, %d queued", l.in/1000, l.queued), "leave it"
	case l.kind == Preempt:
		v.agreed = l.excused || refsched.MayPreempt(slice+Epsilon)
		v.did, v.want = fmt.Sprintf("preempted it after %d us", slice/1000), "let it run"
		if l.in <= Epsilon {
			v.class = StaleRead // sysmon meant the one before
		}
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
func got(idle *[]model.ProcID, p model.ProcID) {
	for i, x := range *idle {
		if x == p {
			*idle = append((*idle)[:i], (*idle)[i+1:]...)
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
	for n < len(p.passed) && at.Sub(p.passed[n].at) > signalled {
		p.judgeLate(&p.passed[n])
		n++
	}
	if n > 0 {
		p.passed = append(p.passed[:0], p.passed[n:]...)
	}
	n = 0
	for n < len(p.exits) && at.Sub(p.exits[n].at) > signalled {
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
		if n == most+1 {
			p.extra = append(p.extra, extra{d: Divergence{Time: s.Time, P: s.P, M: s.M, G: s.G}, n: n})
			return
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

// extra is a dedicated worker that began while one too many seemed to run. A worker
// that is about to end does not count any more, but may try to end the mark phase
// before it shows, and only one can at a time (runtime/mgc.go: gcBgMarkWorker,
// gcMarkDone).
type extra struct {
	d Divergence
	n int
}

// judgeExtra judges those that wait to be explained by another worker that was
// not counted, as which one that stops on proc by or a reason why one of them stops shows;
// all that have waited for too long were not.
func (p *procs) judgeExtra(at model.Time, explains func(*extra) bool) {
	n := 0
	for _, x := range p.extra {
		v := verdict{agreed: explains(&x), late: true, class: Genuine}
		if !v.agreed && at.Sub(x.d.Time) <= wakeLost {
			p.extra[n] = x
			n++
			continue
		}
		v.did, v.want = fmt.Sprintf("ran %d dedicated workers", x.n), fmt.Sprintf("at most %d", x.n-1)
		if p.c.boundary(x.d.Time) {
			v.class = Boundary
		}
		p.c.judge(GC, v, x.d)
	}
	p.extra = p.extra[:n]
}

// endsMarking looks whether a step shows that a worker was about to end the mark
// phase: it stopped within 1 ms, or it goes on to mark termination, or the new one has to
// wait for it.
func (p *procs) endsMarking(s *model.Step) {
	switch {
	case s.Kind == model.StepProc && p.proc(s.P).work == model.WorkGCDedicated && p.proc(s.P).g != s.G:
		p.judgeExtra(s.Time, func(x *extra) bool { return x.d.P != s.P && s.Time.Sub(x.d.Time) <= wakeWithin })
	case s.Kind == model.StepStopping:
		p.judgeExtra(s.Time, func(x *extra) bool { return x.d.G != s.G })
	case s.Kind == model.StepGo && model.GoState(s.To) == model.GoWaiting && p.c.tables.String(s.Reason) == "sync":
		p.judgeExtra(s.Time, func(x *extra) bool { return x.d.G == s.G })
	default:
		p.judgeExtra(s.Time, func(*extra) bool { return false })
	}
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
	marked  bool // for mark termination
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
	p.until(math.MaxInt64)
	p.judgeExtra(math.MaxInt64, func(*extra) bool { return false })
	p.judgeWakes()
	for i := range p.passed {
		p.judgeLate(&p.passed[i])
	}
	for i := range p.exits {
		p.judgeExit(&p.exits[i])
	}
	p.late, p.exits = nil, nil
}
