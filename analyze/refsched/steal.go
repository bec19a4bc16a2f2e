package refsched

import "github.com/schedscope/schedscope/model/runqueue"

// search is how far a searching proc has come: which pass, and whom it asks next.
type search struct {
	pass  int
	asked int // of the present pass
	// next is whom it asks next, and stride how far from there whom it asks then.
	next, stride int32
	victim       int32 // whose runnext it waits for
	want         int32 // the goroutine there
}

// seek begins a search for work on other procs, if not too many search already
// (runtime/proc.go: findRunnable).
func (s *sim) seek(p int32) {
	x := &s.ps[p]
	m := &s.ms[x.m]
	if !m.spinning && !MaySpin(s.nspin, len(s.idlePs), s.n) {
		s.plan(p, stepGiveUp, s.costs.Single[CostSpin]/StealPasses)
		return
	}
	if !m.spinning {
		s.spin(x.m)
	}
	x.search = search{victim: -1}
	s.walk(p)
	s.pass(p)
}

// spin makes a thread one that searches (runtime/proc.go: becomeSpinning).
func (s *sim) spin(m int32) {
	s.ms[m].spinning = true
	s.nspin++
	s.needspin = false
}

// pass asks every other proc once, in random order (runtime/proc.go: stealWork).
func (s *sim) pass(p int32) {
	x := &s.ps[p]
	if s.stw.on {
		s.find(p)
		return
	}
	for ; x.search.asked < s.n; s.goOn(&x.search) {
		v := x.search.next
		if v == p {
			continue
		}
		// In the last pass it runs the timers of v first, and then takes from its runnext.
		last := x.search.pass == StealPasses-1
		if last && s.runTimers(v, p) && s.pickLocal(p) || s.grab(p, v, last) {
			return
		}
	}
	x.search.pass++
	if x.search.pass == StealPasses {
		s.plan(p, stepGiveUp, s.costs.Single[CostSpin]/StealPasses)
		return
	}
	s.walk(p)
	s.plan(p, stepPass, s.costs.Single[CostSpin]/StealPasses)
}

// walk begins a walk of p through all procs: it begins anywhere and goes on in steps that have no factor in
// common with their number (runtime/proc.go: randomOrder). All such steps are possible, but not as in the runtime equally
// likely.
func (s *sim) walk(p int32) {
	x, order, n := &s.ps[p].search, s.draw(p), uint64(s.n)
	x.asked, x.next, x.stride = 0, int32(order%n), s.strides[order/n%n]
}

// goOn goes on to the next proc of a walk.
func (s *sim) goOn(x *search) {
	x.asked++
	if x.next += x.stride; x.next >= int32(s.n) {
		x.next -= int32(s.n)
	}
}

// strides returns the steps of walks through n procs, n of them: for each number the next greater one without a factor in
// common with n, or 1.
func strides(n int) []int32 {
	list, stride := make([]int32, n), 1
	for i := n - 1; i >= 0; i-- {
		if gcd(i+1, n) == 1 {
			stride = i + 1
		}
		list[i] = int32(stride)
	}
	return list
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// grab takes half of v's local queue, or in the last pass what is in its runnext, before which the thief may
// sleep. It reports whether the pass is over (runtime/proc.go: runqgrab).
func (s *sim) grab(p, v int32, last bool) bool {
	x, y := &s.ps[p], &s.ps[v]
	if n := StealBatch(y.q.len()); n > 0 {
		for i := range n { // the last of them runs, the others become p's queue (runtime/proc.go: runqsteal)
			g := y.q.pop()
			s.moved(g, v, n)
			if i < n-1 {
				s.putBatch(p, g, runqueue.ViaSteal)
			} else {
				s.pick(p, g, runqueue.SourceSteal)
			}
		}
		return true
	}
	if !last || y.next < 0 {
		return false
	}
	if y.status == pRunning {
		x.search.victim, x.search.want = v, y.next
		s.plan(p, stepBack, s.drawn(CostBackOff, p))
		return true
	}
	s.stealNext(p, v)
	return true
}

// backedOff takes what is in the victim's runnext if it is what was there before
// the thief slept; otherwise it looks again (runtime/proc.go: runqgrab).
func (s *sim) backedOff(p int32) {
	x := &s.ps[p]
	v := x.search.victim
	y := &s.ps[v]
	switch {
	case s.stw.on:
		s.find(p)
	case y.next >= 0 && y.next == x.search.want:
		s.stealNext(p, v)
	case s.grab(p, v, true):
	default:
		s.goOn(&x.search)
		s.pass(p)
	}
}

func (s *sim) stealNext(p, v int32) {
	g := s.ps[v].next
	s.ps[v].next = -1
	s.moved(g, v, 1)
	s.pick(p, g, runqueue.SourceStealRunnext)
}

// giveUp ends a fruitless search: the proc becomes idle, and its thread looks once more
// whether something came up before it sleeps (runtime/proc.go: findRunnable).
func (s *sim) giveUp(p int32) {
	x := &s.ps[p]
	if s.stw.on {
		s.find(p)
		return
	}
	if w := s.idleWorker(); w >= 0 {
		s.pickWorker(p, w)
		return
	}
	if s.pickGlobal(p) {
		return
	}
	m := x.m
	if !s.ms[m].spinning && s.needspin {
		s.spin(m)
		s.find(p)
		return
	}
	s.dropProc(p)
	spun := s.ms[m].spinning
	if spun {
		s.ms[m].spinning = false
		s.nspin--
		if s.recheck(m) {
			return
		}
	}
	if !s.sleepInPoll(m, spun) {
		s.park(m)
	}
}

// recheck looks at all queues after the thread has ceased to be searching, as others
// relied on it until then (runtime/proc.go: findRunnable, checkRunqsNoP, checkIdleGCNoP).
func (s *sim) recheck(m int32) bool {
	if s.global.len() > 0 {
		if p := s.popIdle(); p >= 0 {
			s.acquire(m, p)
			s.spin(m)
			s.pick(p, s.takeGlobal(p), runqueue.SourceGlobal)
			return true
		}
	}
	busy := false
	for i := range s.ps {
		busy = busy || s.ps[i].busy()
	}
	if !busy && !s.gcNeedsIdle() {
		return false
	}
	p := s.popIdle()
	if p < 0 {
		s.needspin = true
		return false
	}
	s.acquire(m, p)
	s.spin(m)
	if busy {
		s.find(p)
	} else {
		s.pickWorker(p, s.idleWorker())
	}
	return true
}
