package refsched

import (
	"slices"

	"github.com/schedscope/schedscope/model"
)

// stwKind says what goes on when the world does.
type stwKind uint8

const (
	stwProgram stwKind = iota
	stwSweep           // a GC cycle begins to mark
	stwMark            // it ends
)

// stw is a stop-the-world in progress.
type stw struct {
	on       bool
	stopping bool // not all procs have stopped
	p        int32
	g        int32
	hold     model.Duration
	reason   model.StringID
	kind     stwKind
}

// stopWorld begins to stop the world on behalf of a running goroutine
// (runtime/proc.go: stopTheWorldWithSema).
func (s *sim) stopWorld(c where, reason model.StringID, hold model.Duration, k stwKind) {
	s.event(model.EventRangeBegin, c, c.g, uint8(model.ScopeGoroutine), 0, reason, 0)
	s.stw = stw{on: true, stopping: true, p: c.p, g: c.g, hold: hold, reason: reason, kind: k}
	s.cancel(c.p)
	for _, p := range s.idlePs {
		s.ps[p].status = pStopped
	}
	s.idlePs = s.idlePs[:0]
	for p := range int32(s.n) {
		switch x := &s.ps[p]; {
		case p == c.p:
		case x.status == pSyscall:
			s.takeSyscalling(p, c.m)
		case x.status == pRunning && x.g >= 0 && s.gs[x.g].state == gRunning:
			s.requestPreempt(p, s.costs.Single[CostPreempt])
		}
	}
	s.stopped()
}

// stopProc stops a proc whose thread finds that the world is to stop
// (runtime/proc.go: gcstopm).
func (s *sim) stopProc(p int32) {
	x := &s.ps[p]
	m := x.m
	if s.ms[m].spinning {
		s.ms[m].spinning = false
		s.nspin--
	}
	s.procStop(s.onProc(p))
	s.ms[m].p = -1
	x.m, x.g, x.status = -1, -1, pStopped
	s.cancel(p)
	s.offCore(p)
	s.park(m)
	s.stopped()
}

// stopped begins the time in which the world stands still, once all procs but the
// stopper's have stopped.
func (s *sim) stopped() {
	if !s.stw.stopping {
		return
	}
	for p := range int32(s.n) {
		if p != s.stw.p && s.ps[p].status != pStopped {
			return
		}
	}
	s.stw.stopping = false
	s.at(s.now+int64(s.stw.hold), evHeld, 0, 0, 0)
}

// restart lets the world go on: procs with something in their queues get threads, the others
// become idle (runtime/proc.go: startTheWorldWithSema, procresize).
func (s *sim) restart() {
	w := s.stw
	c := s.of(w.g)
	if list := s.pollNow(); len(list) > 0 {
		s.inject(list, c, 0)
	}
	s.stw.on = false
	if w.kind == stwSweep {
		s.beginMark(c)
	}
	var runnable []int32
	for p := int32(s.n) - 1; p >= 0; p-- {
		if p == w.p {
			continue
		}
		s.ps[p].status = pIdle
		if s.ps[p].busy() {
			runnable = append(runnable, p)
		} else {
			s.idlePs = append(s.idlePs, p)
		}
	}
	for _, p := range slices.Backward(runnable) {
		s.wake(p, false)
	}
	s.wakeSysmon()
	s.event(model.EventRangeEnd, c, c.g, uint8(model.ScopeGoroutine), 0, w.reason, 0)
	s.wakep()
	if s.rules.Ideal {
		s.startIdle(s.global.len() + s.gc.dedicated)
	}
	if w.kind == stwMark {
		s.endCycle(w.p, c)
		return
	}
	s.runOn(w.p)
}
