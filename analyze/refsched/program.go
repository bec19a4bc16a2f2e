package refsched

import (
	"github.com/schedscope/schedscope/analyze/workload"
	"github.com/schedscope/schedscope/model"
)

// segment is the one that the goroutine is in.
func (g *goroutine) segment() *workload.Segment { return &g.prog.Segments[g.seg] }

// runOn lets the running goroutine go on until its next operation, or its segment's end.
func (s *sim) runOn(p int32) {
	x := &s.ps[p]
	g := &s.gs[x.g]
	x.since = s.now
	s.plan(p, stepRun, model.Duration(g.stop-g.off))
}

// run carries out what the goroutine does now.
func (s *sim) run(p int32) {
	x := &s.ps[p]
	i := x.g
	if s.gs[i].worker {
		s.workerRuns(p, i)
		return
	}
	g := &s.gs[i]
	g.off += s.now - x.since
	x.since = s.now
	for {
		seg := g.segment()
		for g.op < seg.Ops && g.stop <= g.off {
			op := &g.prog.Ops[g.op]
			if s.stw.on && (op.Kind == workload.OpCycle || op.Kind == workload.OpStop) {
				// It waits for whoever stops the world, as with worldsema, and so stops at once.
				x.preempt = true
				s.preemptLands(p)
				return
			}
			g.op++
			g.aim()
			woken := s.res.Wakeups
			if s.do(s.of(i), op) {
				return // goes on when the world does
			}
			if s.res.Wakeups > woken {
				// All that follows comes so much later.
				g.off -= int64(s.drawn(CostWaker, p))
			}
		}
		if g.off < g.stop {
			at := s.future(s.now + g.stop - g.off)
			if at >= s.plans.first() || at > s.agenda.first() || at > int64(s.cfg.Until) {
				s.runOn(p)
				return
			}
			s.now, x.since, g.off = at, at, g.stop // nothing happens before
			continue
		}
		if s.finish(p, i, seg) {
			return
		}
	}
}

// nextSegment has the goroutine begin its next segment.
func (s *sim) nextSegment(g *goroutine) {
	g.seg++
	g.off, g.begun = 0, s.now
	g.gen++
	g.aim()
}

// aim sets how far the goroutine runs next: until its next operation, or its segment's end. It is set ahead, as the program is
// likely not near to the processor.
func (g *goroutine) aim() {
	if int(g.seg) < len(g.prog.Segments) {
		seg := g.segment()
		if g.stop = int64(seg.CPU); g.op < seg.Ops {
			g.stop = int64(g.prog.Ops[g.op].At)
		}
	}
}

// do carries out an operation. It reports whether the goroutine does not go on at once.
func (s *sim) do(c where, op *workload.Op) bool {
	switch op.Kind {
	case workload.OpCreate:
		s.create(c, op.G, op.Stack)
	case workload.OpBlocked:
		if x := &s.gs[op.G]; x.state == gAbsent { // runtime/coro.go: newcoro
			s.goEvent(c, op.G, model.GoNotExist, model.GoWaiting, 0, op.Stack)
			x.state, x.fresh = gWaiting, true
		}
	case workload.OpWake:
		s.wakeOp(c, op)
	case workload.OpSend:
		s.at(s.now, evReady, op.G, 0, uint32(op.Seg))
	case workload.OpAcquire:
		return s.acquirePlace(c, op)
	case workload.OpRelease:
		if s.byClass(op.G) {
			s.serve(c, op.G, op)
		}
	case workload.OpBegin, workload.OpEnd:
		s.mark(c.g, op)
	case workload.OpCycle:
		return s.startCycle(c, op.G)
	case workload.OpStop:
		stop := &s.w.Stops[op.G]
		s.stopWorld(c, stop.Reason, stop.Hold, stwProgram)
		return true
	}
	return false
}

// mark notes that a request begins or ends.
func (s *sim) mark(g int32, op *workload.Op) {
	if s.cfg.Request == nil {
		return
	}
	at := s.now
	if op.At == 0 {
		at = s.gs[g].begun
	}
	x := &s.requests[op.G]
	x[op.Kind-workload.OpBegin] = at + 1
	if x[0] > 0 && x[1] > 0 {
		s.cfg.Request(op.G, model.Duration(max(x[1]-x[0], 0)))
	}
}

// create makes a goroutine runnable, next on this proc (runtime/proc.go: newproc).
func (s *sim) create(c where, g int32, stack model.StackID) {
	x := &s.gs[g]
	if x.state != gAbsent {
		return
	}
	s.goEvent(c, g, model.GoNotExist, model.GoRunnable, 0, stack)
	x.state, x.begun = gRunnable, s.now
	s.put(c.p, g, true)
	s.wakep()
}

// wakeOp ends the wait of the goroutine that the operation names, or the one to come; where waits are served by class that
// of whoever has waited longest.
func (s *sim) wakeOp(c where, op *workload.Op) {
	x := &s.gs[op.G]
	exists := int(op.Seg) < len(x.prog.Segments)
	switch {
	case exists && s.byClass(x.prog.Segments[op.Seg].Object):
		s.release(c, x.prog.Segments[op.Seg].Object, op)
	case x.state == gWaiting && x.seg == op.Seg && !x.polled && !x.midway:
		if op.Inject {
			s.inject([]int32{op.G}, c, op.Stack)
			return
		}
		s.wakeFrom(c, op.G, op.Stack, !op.Tail)
	case x.state != gDone && op.Seg >= x.seg && exists:
		s.woken[x.first+op.Seg] = true
	}
}

// wakeFrom makes a waiting goroutine runnable (runtime/proc.go: ready).
func (s *sim) wakeFrom(c where, g int32, stack model.StackID, next bool) {
	s.unblock(c, g, stack)
	s.put(c.p, g, next)
	s.wakep()
}

// unblock reports that g waits no more; the caller puts it somewhere.
func (s *sim) unblock(c where, g int32, stack model.StackID) {
	x := &s.gs[g]
	s.goEvent(c, g, model.GoWaiting, model.GoRunnable, 0, stack)
	x.state = gRunnable
	if x.midway {
		x.midway = false
		return
	}
	if x.polled {
		x.polled = false
		s.netWaiters--
	}
	s.nextSegment(x)
}

// finish ends a segment. It reports whether the goroutine has stopped running.
func (s *sim) finish(p, i int32, seg *workload.Segment) bool {
	g := &s.gs[i]
	if len(s.parts) > 0 {
		for _, o := range s.parts[g.first+g.seg] {
			s.partDone(s.of(i), o, &workload.Op{})
		}
	}
	switch seg.End {
	case workload.EndExit:
		for _, o := range s.joins[i] {
			s.partDone(s.of(i), o, &workload.Op{})
		}
		delete(s.joins, i)
		if s.switchable(seg.Target) {
			s.switchTo(p, i, seg)
			return true
		}
		s.goEvent(s.of(i), i, model.GoRunning, model.GoNotExist, 0, 0)
		s.leave(g, gDone)
		s.done(g)
		g.locked = -1 // the thread is nobody's any more
		s.next(p)
	case workload.EndCut, workload.EndForever:
		s.block(p, i, seg.Reason, seg.Stack)
		s.done(g)
	case workload.EndWait:
		return s.wait(p, i, seg)
	case workload.EndSleep, workload.EndExternal, workload.EndNetwork, workload.EndAssist:
		return s.delay(p, i, seg)
	case workload.EndSyscall:
		s.enterSyscall(p, i, seg)
	case workload.EndYield:
		s.yield(i, seg, -1)
		s.wakep()
		s.next(p)
	case workload.EndGoyield:
		s.yield(i, seg, p)
		s.next(p)
	case workload.EndSwitch:
		s.switchTo(p, i, seg)
	default:
		s.nextSegment(g)
		return false
	}
	return true
}

// done counts a program that has come to its end. The runtime's own goroutines go on with what
// nobody waits for.
func (s *sim) done(g *goroutine) {
	s.left--
	if !g.prog.System && !g.prog.Tracer {
		s.res.Span = model.Duration(s.now)
	}
}

// next has the proc look for work after its goroutine stopped; the thread of one that
// is locked to it gives the proc away (runtime/proc.go: schedule, stoplockedm).
func (s *sim) next(p int32) {
	x := &s.ps[p]
	if m := x.m; s.ms[m].g >= 0 && s.gs[s.ms[m].g].locked == m && s.gs[s.ms[m].g].state != gDone {
		s.procStop(s.onProc(p))
		s.ms[m].p = -1
		s.handoff(p)
		return
	}
	s.ms[x.m].g = -1
	x.g = -1
	s.find(p)
}

// leave takes a goroutine off its proc and thread.
func (s *sim) leave(g *goroutine, to gstate) {
	g.state, g.p, g.m = to, -1, -1
}

// block stops a goroutine for a reason and has its proc look for other work (runtime/proc.go:
// park_m).
func (s *sim) block(p, i int32, reason model.StringID, stack model.StackID) {
	s.stopWaiting(i, reason, stack)
	s.next(p)
}

func (s *sim) stopWaiting(i int32, reason model.StringID, stack model.StackID) {
	g := &s.gs[i]
	s.goEvent(s.of(i), i, model.GoRunning, model.GoWaiting, reason, stack)
	s.leave(g, gWaiting)
}

// wait ends a segment in a wait for a wake, unless it came already.
func (s *sim) wait(p, i int32, seg *workload.Segment) bool {
	g := &s.gs[i]
	if s.byClass(seg.Object) {
		if s.objects[seg.Object].take() {
			s.nextSegment(g)
			return false
		}
		s.objects[seg.Object].queue.push(i)
	} else if s.woken[g.first+g.seg] {
		s.nextSegment(g)
		return false
	}
	s.block(p, i, seg.Reason, seg.Stack)
	return true
}

// delay ends a segment in a wait of a length that does not depend on the schedule.
func (s *sim) delay(p, i int32, seg *workload.Segment) bool {
	g := &s.gs[i]
	due := s.now + int64(seg.Delay)
	if seg.Absolute {
		due = max(s.now, int64(seg.Delay))
	}
	switch {
	case seg.End == workload.EndSleep && due <= s.now,
		seg.End == workload.EndNetwork && s.woken[g.first+g.seg],
		seg.End == workload.EndExternal && due <= s.now,
		seg.End == workload.EndAssist && s.rules.NoGC:
		s.nextSegment(g)
		return false
	}
	s.stopWaiting(i, seg.Reason, seg.Stack)
	s.await(p, i, seg, due)
	s.next(p)
	return true
}

// await arranges for the end of a delay that began on p.
func (s *sim) await(p, i int32, seg *workload.Segment, due int64) {
	g := &s.gs[i]
	switch seg.End {
	case workload.EndSleep:
		s.addTimer(p, due, i, g.gen)
	case workload.EndExternal:
		s.pollFor(g)
		s.at(due, evReady, i, 0, uint32(g.seg))
	case workload.EndNetwork:
		s.pollFor(g)
	case workload.EndAssist:
		s.gc.assists = append(s.gc.assists, i)
		s.at(due, evAssist, i, 0, g.gen)
	}
}

func (s *sim) pollFor(g *goroutine) {
	g.polled = true
	s.netWaiters++
}

// yield puts a running goroutine back: on p's local queue, or the global one (runtime/proc.go:
// goyield_m, goschedImpl).
func (s *sim) yield(i int32, seg *workload.Segment, to int32) {
	g := &s.gs[i]
	s.goEvent(s.of(i), i, model.GoRunning, model.GoRunnable, model.StringID(seg.End), seg.Stack)
	s.leave(g, gRunnable)
	s.nextSegment(g)
	s.put(to, i, false)
}

// switchable reports whether goroutine i, -1 for none, waits to be switched to, and has
// something to do then.
func (s *sim) switchable(i int32) bool {
	if i < 0 || s.gs[i].state != gWaiting {
		return false
	}
	g := &s.gs[i]
	return g.fresh || g.segment().End == workload.EndSwitch && int(g.seg) < len(g.prog.Segments)-1
}

// switchTo hands the thread to another coroutine, which must be waiting to be switched
// to (runtime/coro.go: coroswitch_m). The goroutine waits to be switched to in turn, or ends.
func (s *sim) switchTo(p, i int32, seg *workload.Segment) {
	g := &s.gs[i]
	last := int(g.seg) == len(g.prog.Segments)-1
	if last {
		s.done(g)
	}
	if !s.switchable(seg.Target) {
		s.block(p, i, seg.Reason, seg.Stack)
		return
	}
	to := &s.gs[seg.Target]
	m := s.ps[p].m
	s.goEvent(s.of(i), seg.Target, model.GoWaiting, model.GoRunnable, 0, seg.Stack)
	to.span.Pseudo = model.PseudoCoroutine
	if seg.End == workload.EndExit {
		s.goEvent(s.of(i), i, model.GoRunning, model.GoNotExist, 0, 0)
		s.leave(g, gDone)
	} else {
		s.stopWaiting(i, 0, seg.Stack)
	}
	s.goEvent(where{-1, m, p}, seg.Target, model.GoRunnable, model.GoRunning, 0, 0)
	if to.fresh {
		to.fresh = false
	} else {
		s.nextSegment(to)
	}
	to.state, to.p, to.m = gRunning, p, m
	s.ps[p].g, s.ms[m].g = seg.Target, seg.Target
	s.runOn(p)
}
