package refsched

import (
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// find looks for work for a proc whose thread has none (runtime/proc.go:
// findRunnable, Go 1.26).
func (s *sim) find(p int32) {
	x := &s.ps[p]
	if s.stw.on {
		s.stopProc(p)
		return
	}
	if x.timers.first() <= s.now { // none of an ideal scheduler
		s.runTimers(p, p)
	}
	if w := s.gcWorkerFor(p); w >= 0 {
		s.pickWorker(p, w)
		return
	}
	if s.rules.Ideal { // one queue and no delays
		if s.global.len() > 0 {
			s.pick(p, s.global.pop(), runqueue.SourceGlobal)
			return
		}
		m := x.m
		s.dropProc(p)
		s.park(m)
		return
	}
	if FairPick(x.tick) && s.global.len() > 0 {
		g := s.global.pop()
		s.moved(g, -1, 1)
		s.pick(p, g, runqueue.SourceGlobal)
		return
	}
	if s.pickLocal(p) || s.pickGlobal(p) || s.pickNetwork(p) {
		return
	}
	s.seek(p)
}

// pickLocal takes from p's own runnext or local queue (runtime/proc.go: runqget).
func (s *sim) pickLocal(p int32) bool {
	x := &s.ps[p]
	switch {
	case x.next >= 0:
		g := x.next
		x.next = -1
		x.tick-- // inherits the time slice: pick counts it
		s.pick(p, g, runqueue.SourceRunnext)
	case x.q.len() > 0:
		s.pick(p, x.q.pop(), runqueue.SourceLocal)
	default:
		return false
	}
	return true
}

// pickGlobal takes a batch from the global queue.
func (s *sim) pickGlobal(p int32) bool {
	if s.global.len() == 0 {
		return false
	}
	s.pick(p, s.takeGlobal(p), runqueue.SourceGlobal)
	return true
}

// pick has the proc's thread start g after what that costs, in a time slice of its own
// (runtime/proc.go: execute counts the schedtick). Whoever was searching wakes another thread
// to go on with it (schedule, resetspinning).
func (s *sim) pick(p, g int32, from runqueue.Source) {
	x := &s.ps[p]
	x.tick++
	if from != runqueue.SourceRunnext {
		x.began = s.now
	}
	x.g, x.status = g, pRunning
	s.gs[g].state = gInHand
	s.gs[g].from = from
	if m := &s.ms[x.m]; m.spinning {
		m.spinning = false
		s.nspin--
		s.wakep()
	}
	s.plan(p, stepStart, s.drawn(pickCosts[from], p))
}

// pickCosts are what a start costs by where it comes from.
var pickCosts = [...]Cost{
	runqueue.SourceRunnext: CostRunnext, runqueue.SourceLocal: CostLocal, runqueue.SourceGlobal: CostGlobal, runqueue.SourceSteal: CostSteal,
	runqueue.SourceStealRunnext: CostSteal, runqueue.SourceNetpoll: CostDirect, runqueue.SourceSystem: CostDirect,
}

// start runs what was picked, if it is not locked to another thread (runtime/proc.go:
// startlockedm).
func (s *sim) start(p int32) {
	x := &s.ps[p]
	g := &s.gs[x.g]
	if g.locked >= 0 && g.locked != x.m {
		m := x.m
		s.procStop(s.onProc(p))
		s.ms[m].p = -1
		x.m = g.locked
		s.park(m)
		s.plan(p, stepLocked, s.drawn(CostLocked, p))
		return
	}
	s.execute(p)
}

// startLocked goes on with start on the goroutine's own thread (runtime/proc.go: stoplockedm
// returns to schedule).
func (s *sim) startLocked(p int32) {
	x := &s.ps[p]
	s.ms[x.m].p = p
	s.procStart(x.m, p)
	if s.gs[x.g].from == runqueue.SourceRunnext {
		x.tick++ // execute(lockedg, false): the time slice is never inherited
	}
	s.gs[x.g].from = runqueue.SourceLocked
	s.execute(p)
}

// execute runs the goroutine in the proc's hand (runtime/proc.go: execute).
func (s *sim) execute(p int32) {
	x := &s.ps[p]
	i := x.g
	g := &s.gs[i]
	s.goEvent(s.onProc(p), i, model.GoRunnable, model.GoRunning, 0, 0)
	s.res.Starts++
	s.started(p, i, g.from)
	g.state, g.p, g.m = gRunning, p, x.m
	s.ms[x.m].g = i
	if g.worker {
		s.workerStarts(p, i)
		return
	}
	if g.prog.Locked && g.locked < 0 {
		g.locked = x.m
	}
	x.preempt = false
	if s.stw.on {
		s.requestPreempt(p, s.costs.Single[CostPreempt])
	}
	s.runOn(p)
}

// dropProc takes an idle proc from its thread (runtime/proc.go: releasep, pidleput).
func (s *sim) dropProc(p int32) {
	x := &s.ps[p]
	s.procStop(s.onProc(p))
	s.ms[x.m].p = -1
	s.idle(p)
}

// idle puts a proc without a thread on the stack of idle ones.
func (s *sim) idle(p int32) {
	x := &s.ps[p]
	x.m, x.g, x.status, x.preempt = -1, -1, pIdle, false
	s.cancel(p)
	s.offCore(p)
	s.idlePs = append(s.idlePs, p)
}

// popIdle takes the idle proc that was put there last, -1 for none (runtime/proc.go:
// pidleget).
func (s *sim) popIdle() int32 {
	n := len(s.idlePs)
	if n == 0 {
		return -1
	}
	p := s.idlePs[n-1]
	s.idlePs = s.idlePs[:n-1]
	return p
}

// acquire gives proc p, which is on no list, to thread m (runtime/proc.go: acquirep).
func (s *sim) acquire(m, p int32) {
	x := &s.ps[p]
	x.m, x.status, x.g = m, pRunning, -1
	s.ms[m].p = p
	s.procStart(m, p)
	s.onCore(p)
}

// park puts a thread without a proc to sleep (runtime/proc.go: stopm). One that
// a goroutine is locked to sleeps apart.
func (s *sim) park(m int32) { s.idleMs = append(s.idleMs, m) }
