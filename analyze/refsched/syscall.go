package refsched

import (
	"github.com/schedscope/schedscope/analyze/workload"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// enterSyscall begins a system call. The goroutine keeps its proc until somebody takes it,
// or gives it up at once if the call is known to block (runtime/proc.go: entersyscall,
// entersyscallblock), or if the world stops (entersyscallHandleGCWait; until Go 1.25
// entersyscall_gcwait).
func (s *sim) enterSyscall(p, i int32, seg *workload.Segment) {
	g := &s.gs[i]
	s.goEvent(s.of(i), i, model.GoRunning, model.GoSyscall, 0, seg.Stack)
	g.state = gSyscall
	s.at(s.now+int64(seg.Delay), evSyscall, i, 0, 0)
	s.wakeSysmon()
	x := &s.ps[p]
	x.status, x.preempt, x.held = pSyscall, false, s.now+int64(seg.Held)
	if seg.Blocking || s.rules.Ideal {
		s.procStop(s.of(i))
		s.ms[x.m].p = -1
		g.p = -1 // it does not ask for this one again
		x.sysTick++
		s.handoff(p)
		return
	}
	s.offCore(p)
	if s.stw.on {
		s.takeSyscalling(p, x.m)
	} else if seg.Held > 0 {
		s.at(s.now+int64(seg.Held), evSeen, p, 0, x.sysTick)
	}
}

// takeSyscalling takes a proc away from the goroutine in a system call, for thread m: one that
// stops the world or comes out of a call that began with this proc (runtime/proc.go: gcstopP,
// takeP; until Go 1.25 by the proc's status, _Psyscall).
func (s *sim) takeSyscalling(p, m int32) {
	s.procEvent(where{-1, m, -1}, p, model.ProcStatusRunning, model.ProcStatusIdle)
	x := &s.ps[p]
	s.ms[x.m].p = -1
	x.m, x.g = -1, -1
	x.sysTick++
	s.offCore(p)
	if s.stw.on {
		x.status = pStopped
		s.stopped()
	}
}

// syscallReturns ends a system call: with the proc that it began with, if nobody took
// it; or that proc taken back from another system call; or an idle one; or else the
// goroutine joins the global queue (runtime/proc.go: exitsyscall, exitsyscallTryGetP,
// exitsyscallNoP; until Go 1.25 exitsyscallfast, exitsyscallfast_pidle, exitsyscall0).
func (s *sim) syscallReturns(i int32) {
	g := &s.gs[i]
	m := g.m
	old := g.p
	if old >= 0 && s.ps[old].status == pSyscall && s.ps[old].g == i {
		x := &s.ps[old]
		s.goEvent(s.of(i), i, model.GoSyscall, model.GoRunning, 0, 0)
		x.sysTick++
		x.status, g.state = pRunning, gRunning
		s.nextSegment(g)
		s.onCore(old)
		s.goesOn(old, 0) // what leaving the call takes is part of what was recorded
		return
	}
	p := int32(-1)
	switch {
	case s.stw.on || s.rules.Ideal && s.global.len() > 0:
	case old >= 0 && s.ps[old].status == pSyscall:
		s.takeSyscalling(old, m)
		p = old
	default:
		if p = s.popIdle(); p >= 0 {
			s.wakeSysmon()
		}
	}
	c := where{i, m, p}
	if p < 0 {
		s.goEvent(c, i, model.GoSyscall, model.GoRunnable, 0, 0)
		s.leave(g, gRunnable)
		s.nextSegment(g)
		s.putGlobal(i)
		if g.locked != m {
			s.ms[m].g = -1
			s.park(m)
		}
		if s.rules.Ideal {
			s.wakep()
		}
		return
	}
	// With a proc nothing is scheduled: the proc's time slice goes on.
	x := &s.ps[p]
	x.m, x.status, g.p = m, pRunning, p
	s.ms[m].p, s.ms[m].g = p, i
	s.procEvent(where{i, m, -1}, p, model.ProcStatusIdle, model.ProcStatusRunning)
	s.onCore(p)
	s.goEvent(c, i, model.GoSyscall, model.GoRunnable, 0, 0)
	g.span.Pseudo = model.PseudoSyscall
	s.goEvent(where{-1, m, p}, i, model.GoRunnable, model.GoRunning, 0, 0)
	x.sysTick++
	g.state, x.g, g.m = gRunning, i, m
	s.started(p, i, runqueue.SourceSyscall)
	s.nextSegment(g)
	s.goesOn(p, s.costs.Single[CostExit])
}

// goesOn runs a goroutine on after a system call.
func (s *sim) goesOn(p int32, after model.Duration) {
	if s.stw.on {
		s.requestPreempt(p, s.costs.Single[CostPreempt])
	}
	s.plan(p, stepGo, after)
}
