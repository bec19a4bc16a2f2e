package refsched

import (
	"cmp"
	"slices"

	"github.com/schedscope/schedscope/analyze/workload"
	"github.com/schedscope/schedscope/model"
)

// begin sets up the state at the window's start and tells it.
func (s *sim) begin() {
	s.out.sync(0)
	e := s.event(model.EventMetric, nobody)
	e.Str, e.ID = s.out.words.procs, int64(s.n)
	s.out.send(0)
	s.initCores()
	order := s.beginGoroutines()
	s.beginProcs()
	for _, i := range order {
		s.putGlobal(i)
	}
	for i := range s.w.Arrivals {
		s.planArrival(i)
	}
	for i := range s.w.Cycles {
		if c := &s.w.Cycles[i]; c.Periodic {
			s.at(int64(c.At), evCycle, int32(i), 0, 0)
		}
	}
	if !s.rules.Ideal {
		s.sysmonSleep()
	}
	s.startIdle(s.global.len())
}

// beginGoroutines tells the states of those that exist, and returns those that stand in
// queues, in order.
func (s *sim) beginGoroutines() []int32 {
	var order []int32
	taken := make([]bool, s.n)
	for i := range s.gs {
		g := &s.gs[i]
		g.at = freshStart
		if s.cfg.NoTracer && g.prog.Tracer {
			g.state = gDone
			continue
		}
		if len(g.prog.Segments) > 0 && !s.foreverFromStart(g) {
			s.left++
		}
		switch g.prog.Begin {
		case workload.BeginAbsent:
		case workload.BeginWaiting:
			g.state = gWaiting
		case workload.BeginRunnable:
			g.state = gRunnable
			order = append(order, int32(i))
		case workload.BeginRunning, workload.BeginSyscall:
			order = s.beginOn(int32(i), taken, order)
		}
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(s.gs[a].prog.Order, s.gs[b].prog.Order) })
	return order
}

// foreverFromStart reports whether the goroutine does nothing at all in the window.
func (s *sim) foreverFromStart(g *goroutine) bool {
	return g.prog.Begin == workload.BeginWaiting && len(g.prog.Segments) == 1 &&
		(g.prog.Segments[0].End == workload.EndForever || g.prog.Segments[0].End == workload.EndCut)
}

// beginOn puts a goroutine on its proc, if that exists and is free; if not it is runnable, or in
// a system call without a proc.
func (s *sim) beginOn(i int32, taken []bool, order []int32) []int32 {
	g := &s.gs[i]
	p := int32(g.prog.Proc)
	free := p >= 0 && int(p) < s.n && !taken[p]
	if g.prog.Begin == workload.BeginRunning && !free {
		g.state = gRunnable
		return append(order, i)
	}
	m := s.newThread()
	g.m = m
	s.ms[m].g = i
	g.state = gRunning
	if g.prog.Begin == workload.BeginSyscall {
		g.state = gSyscall
	}
	if free && !(s.rules.Ideal && g.state == gSyscall) {
		taken[p] = true
		g.p = p
		x := &s.ps[p]
		x.m, x.g, s.ms[m].p = m, i, p
		x.status = pRunning
		if g.state == gSyscall {
			x.status = pSyscall
		}
	}
	return order
}

// beginProcs tells the states of procs and goroutines, and sets things going.
func (s *sim) beginProcs() {
	for p := int32(s.n) - 1; p >= 0; p-- {
		x := &s.ps[p]
		if x.m < 0 {
			s.procEvent(nobody, p, model.ProcStatusUndetermined, model.ProcStatusIdle)
			s.idlePs = append(s.idlePs, p)
			continue
		}
		s.procEvent(where{-1, x.m, -1}, p, model.ProcStatusUndetermined, model.ProcStatusRunning)
	}
	for i := range s.gs {
		s.tellBegin(int32(i))
	}
	for p := range int32(s.n) {
		if x := &s.ps[p]; x.g >= 0 && x.status == pRunning {
			s.onCore(p)
			s.runOn(p)
		}
	}
}

// tellBegin tells the state in which a goroutine begins, and arranges for what ends it.
func (s *sim) tellBegin(i int32) {
	g := &s.gs[i]
	root := s.out.root(g.prog.Func)
	switch g.state {
	case gRunnable:
		s.goEvent(nobody, i, model.GoUndetermined, model.GoRunnable, 0, root, root)
	case gWaiting:
		s.beginWait(i, root)
	case gRunning, gSyscall:
		p := int32(-1)
		if s.ms[g.m].p >= 0 {
			p = g.p
		}
		state := model.GoRunning
		if g.state == gSyscall {
			state = model.GoSyscall
		}
		s.goEvent(where{-1, g.m, p}, i, model.GoUndetermined, state, 0, root, root)
		if g.state == gSyscall {
			d := int64(0)
			if len(g.prog.Segments) > 0 {
				d = int64(g.segment().Delay)
			}
			s.at(d, evSyscall, i, 0, 0)
		}
		if g.prog.Locked {
			g.locked = g.m
		}
	}
}

func (s *sim) beginWait(i int32, root model.StackID) {
	g := &s.gs[i]
	reason, stack := model.StringID(0), root
	if len(g.prog.Segments) > 0 {
		seg := g.segment()
		reason = seg.Reason
		s.goEvent(nobody, i, model.GoUndetermined, model.GoWaiting, reason, stack, stack)
		if seg.End == workload.EndWait && s.byClass(seg.Object) {
			s.objects[seg.Object].side(seg.Meet && seg.Sends && !s.cfg.NoMeet).push(i)
		} else {
			s.await(i%int32(s.n), i, seg, int64(seg.Delay))
		}
		return
	}
	s.goEvent(nobody, i, model.GoUndetermined, model.GoWaiting, reason, stack, stack)
}

// planArrival arranges for what comes from outside: by a timer of the proc it came to, or
// by nobody known.
func (s *sim) planArrival(i int) {
	a := &s.w.Arrivals[i]
	if a.Proc >= 0 && !s.rules.Ideal {
		s.ps[int(a.Proc)%s.n].timers.push(event{at: int64(a.At), seq: uint64(i), kind: evArrival, id: int32(i)})
		return
	}
	s.at(int64(a.At), evArrival, int32(i), 0, 0)
}

// arrive lets an arrival happen in a context.
func (s *sim) arrive(i int, c where) {
	a := &s.w.Arrivals[i]
	if a.Kind == workload.ArriveCreate {
		s.create(c, a.G, s.gs[a.G].prog.CreateStack)
		return
	}
	s.wakeOp(c, &workload.Op{Kind: workload.OpWake, G: a.G, Seg: a.Seg})
}
