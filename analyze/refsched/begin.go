package refsched

import (
	"cmp"
	"slices"

	"github.com/schedscope/schedscope/analyze/workload"
	"github.com/schedscope/schedscope/model"
)

// begin sets up the state at the window's start and emits it:
//
//  1. Goroutines that exist get their places. One that runs is on its proc, if that exists and is free; if not it is
//     runnable, or in a system call without a proc.
//  2. Procs and goroutines emit their states, and what ends those is arranged for.
//  3. What runs goes on, what is runnable stands in the global queue, and the rest is planned.
func (s *sim) begin() {
	s.event(model.EventSync, nobody, 0, 0, 0, 0, 0)
	s.event(model.EventMetric, nobody, int32(s.n), 0, 0, 0, 0)
	ran := 1 - float64(s.w.Outages.Total)/float64(max(s.w.Recorded.Work, s.w.Outages.Total, 1)) // what others took uses nothing
	s.quota = quota{on: make([]bool, s.n), waits: make([]bool, s.n), left: s.cfg.Quota, rate: model.Duration(float64(quotaStep*quotaUse/100) * ran)}
	if s.cfg.Quota > 0 {
		s.at(int64(quotaStep), evQuota, 0, 0, 0)
	}
	for _, x := range s.w.Standstills {
		if !s.rules.Ideal {
			s.at(int64(x.At), evHalt, 1, 0, 0)
			s.at(int64(x.At+x.Length), evHalt, 0, 0, 0)
		}
	}
	for i, x := range s.w.Late {
		if p := int32(x.Proc); int(p) < s.n && !s.rules.Ideal {
			s.at(int64(x.At), evLate, p, int32(i), 0)
		}
	}
	var order []int32
	for i := range s.gs {
		g := &s.gs[i]
		begin, segs := g.prog.Begin, g.prog.Segments
		nothing := begin == workload.BeginWaiting && len(segs) == 1 && (segs[0].End == workload.EndForever || segs[0].End == workload.EndCut)
		if len(segs) > 0 && !nothing {
			s.left++
		}
		p := int32(g.prog.Proc)
		free := p >= 0 && int(p) < s.n && s.ps[p].m < 0
		switch {
		case begin == workload.BeginWaiting:
			g.state = gWaiting
		case begin == workload.BeginRunnable, begin == workload.BeginRunning && !free:
			g.state = gRunnable
			order = append(order, int32(i))
		case begin == workload.BeginRunning, begin == workload.BeginSyscall:
			g.m = s.newThread()
			s.ms[g.m].g = int32(i)
			status := pRunning
			if g.state = gRunning; begin == workload.BeginSyscall {
				g.state, status = gSyscall, pSyscall
			}
			if free && !(s.rules.Ideal && g.state == gSyscall) {
				g.p, s.ms[g.m].p = p, p
				s.ps[p].m, s.ps[p].g, s.ps[p].status = g.m, int32(i), status
			}
		}
	}
	for p := int32(s.n) - 1; p >= 0; p-- {
		if m := s.ps[p].m; m >= 0 {
			s.procEvent(where{-1, m, -1}, p, model.ProcStatusUndetermined, model.ProcStatusRunning)
			continue
		}
		s.procEvent(nobody, p, model.ProcStatusUndetermined, model.ProcStatusIdle)
		s.idlePs = append(s.idlePs, p)
	}
	for i := range int32(len(s.gs)) {
		g := &s.gs[i]
		seg := &workload.Segment{Object: -1, End: workload.EndForever}
		if len(g.prog.Segments) > 0 {
			seg = g.segment()
		}
		switch g.state {
		case gRunnable:
			s.goEvent(nobody, i, model.GoUndetermined, model.GoRunnable, 0, 0)
		case gWaiting:
			s.goEvent(nobody, i, model.GoUndetermined, model.GoWaiting, seg.Reason, 0)
			if seg.End == workload.EndWait && s.byClass(seg.Object) {
				s.objects[seg.Object].queue.push(i)
			} else {
				s.await(i%int32(s.n), i, seg, int64(seg.Delay))
			}
		case gRunning, gSyscall:
			c := where{-1, g.m, s.ms[g.m].p}
			if g.prog.Locked {
				g.locked = g.m
			}
			if g.state == gRunning {
				s.goEvent(c, i, model.GoUndetermined, model.GoRunning, 0, 0)
				break
			}
			s.goEvent(c, i, model.GoUndetermined, model.GoSyscall, 0, 0)
			s.at(int64(seg.Delay), evSyscall, i, 0, 0)
		}
	}
	for p := range int32(s.n) {
		if x := &s.ps[p]; x.g >= 0 && x.status == pRunning {
			s.onCore(p)
			s.runOn(p)
		}
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(s.gs[a].prog.Order, s.gs[b].prog.Order) })
	for _, i := range order {
		s.putGlobal(i)
	}
	for i := range s.w.Arrivals {
		// What comes from outside comes by a timer of the proc that it came to, or by nobody known.
		if a := &s.w.Arrivals[i]; a.Proc >= 0 && !s.rules.Ideal {
			s.ps[int(a.Proc)%s.n].timers.push(event{at: int64(a.At), seq: uint64(i), kind: evArrival, id: int32(i)})
		} else {
			s.at(int64(a.At), evArrival, int32(i), 0, 0)
		}
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

// arrive lets an arrival happen in a context.
func (s *sim) arrive(i int, c where) {
	a := &s.w.Arrivals[i]
	if a.Kind == workload.ArriveCreate {
		s.create(c, a.G, s.gs[a.G].prog.CreateStack)
		return
	}
	s.wakeOp(c, &workload.Op{Kind: workload.OpWake, G: a.G, Seg: a.Seg})
}
