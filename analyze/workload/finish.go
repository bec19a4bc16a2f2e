package workload

import (
	"cmp"
	"slices"

	"github.com/schedscope/schedscope/model"
)

// close ends the window: it cuts what is open, decides what needs the whole
// window, and leaves the result in e.done.
func (e *Extractor) close(at model.Time) {
	e.clock.advance(at)
	w := e.w
	w.End = e.clock.now
	if e.stop.active && e.stop.stopped {
		e.endStop(&e.stop)
	}
	alive := make([]*follower, 0, len(e.gs))
	for _, f := range e.gs {
		if f.worker {
			e.settle(f)
		} else if f.index >= 0 {
			alive = append(alive, f)
		}
	}
	slices.SortFunc(alive, func(a, b *follower) int { return cmp.Compare(a.index, b.index) })
	for _, f := range alive {
		e.cut(f)
	}
	if w.early > earlyWork {
		e.cycle() // it began before the window and goes on after it
	}
	if w.Procs == 0 {
		w.Procs = max(e.seen, 1)
	}
	e.w = nil
	w.unwake()
	w.untrace()
	w.order0()
	w.compact()
	w.rename()
	w.trim()
	w.inferSleeps(&e.places)
	w.inferLoopback(&e.places)
	w.acceptTimes(&e.places)
	w.classify(&e.places)
	w.meet(&e.places)
	w.semaphores(&e.places)
	slices.SortStableFunc(w.Arrivals, func(a, b Arrival) int { return cmp.Compare(a.At, b.At) })
	w.record()
	e.done = &w.Workload
}

// cut ends the program of a goroutine that is alive at the window's end.
func (e *Extractor) cut(f *follower) {
	w := e.w
	e.settle(f)
	g := &w.Goroutines[f.index]
	x := e.last(f)
	switch {
	case f.foreign && g.Begin == BeginAbsent:
		w.side[f.index].drop = true // it has not run yet
	case f.state == model.GoSyscall && x != nil && x.End == EndSyscall:
		x.Delay = w.End.Sub(max(f.since, w.Start))
	}
	if f.state != model.GoWaiting || f.suspended {
		g.Segments = append(g.Segments, Segment{CPU: f.cpu, Ops: int32(len(g.Ops)), Object: -1, Target: -1, End: EndCut})
		w.side[f.index].last = w.End
	}
	e.describe(f)
	f.index, f.cpu, f.waker = -1, 0, nil
}

// order0 ranks those goroutines that were Runnable when the window began and have
// not started in it after those that have.
func (w *window) order0() {
	for i := range w.Goroutines {
		if g := &w.Goroutines[i]; g.Begin == BeginRunnable && g.Order < 0 {
			g.Order = w.order
			w.order++
		}
	}
}

// compact takes out the goroutines that turned out to have no program, and what
// refers to them.
func (w *window) compact() {
	to := make([]int32, len(w.Goroutines))
	n := int32(0)
	for i := range w.side {
		if to[i] = n; w.side[i].drop {
			to[i] = -1
			continue
		}
		n++
	}
	if int(n) == len(w.Goroutines) {
		return
	}
	for i := range w.Goroutines {
		g := &w.Goroutines[i]
		keepOps(g, to)
		for k := range g.Segments {
			if x := &g.Segments[k]; x.Target >= 0 {
				x.Target = to[x.Target]
			}
		}
		if to[i] >= 0 {
			w.Goroutines[to[i]], w.side[to[i]] = *g, w.side[i]
			if c := w.side[to[i]].creator; c >= 0 {
				w.side[to[i]].creator = to[c]
			}
		}
	}
	w.Goroutines, w.side = w.Goroutines[:n], w.side[:n]
	for i := range w.Cycles {
		c := &w.Cycles[i]
		c.Ends = slices.DeleteFunc(c.Ends, func(o Op) bool { return to[o.G] < 0 })
		for j := range c.Ends {
			c.Ends[j].G = to[c.Ends[j].G]
		}
	}
	w.Arrivals = slices.DeleteFunc(w.Arrivals, func(a Arrival) bool { return to[a.G] < 0 })
	for i := range w.Arrivals {
		w.Arrivals[i].G = to[w.Arrivals[i].G]
	}
	for _, list := range []*[]waiting{&w.sleeps, &w.nets, &w.calls, &w.joins, &w.waits} {
		*list = slices.DeleteFunc(*list, func(x waiting) bool { return to[x.g] < 0 })
		for i := range *list {
			(*list)[i].g = to[(*list)[i].g]
		}
	}
}

// rename gives those goroutines an ID of their own that have that of an earlier one, as each
// call of a C thread into Go has (runtime/proc.go: needm takes the goroutine of an earlier one
// from the list of extra threads). In the recording they followed on each other; under another
// schedule the next may come before the last is gone.
func (w *window) rename() {
	seen := make(map[model.GoID]bool, len(w.Goroutines))
	free := model.GoID(1)
	for i := range w.Goroutines {
		free = max(free, w.Goroutines[i].ID+1)
	}
	for i := range w.Goroutines {
		g := &w.Goroutines[i]
		for seen[g.ID] {
			g.ID, free = free, free+1
		}
		seen[g.ID] = true
	}
}

// keepOps renumbers the goroutines that the ops of g refer to and drops the ops of
// those that are gone.
func keepOps(g *Goroutine, to []int32) {
	kept := g.Ops[:0]
	first := int32(0)
	for k := range g.Segments {
		x := &g.Segments[k]
		for _, o := range g.Ops[first:x.Ops] {
			if o.Kind == OpWake || o.Kind == OpCreate || o.Kind == OpBlocked {
				if o.G = to[o.G]; o.G < 0 {
					continue
				}
			}
			kept = append(kept, o)
		}
		first, x.Ops = x.Ops, int32(len(kept))
	}
	g.Ops = kept
}

// trim takes out the wait in which a coroutine was created, if that ended with a switch to it.
func (w *window) trim() {
	trimmed := map[int32]bool{}
	for i := range w.Goroutines {
		g := &w.Goroutines[i]
		if x := g.Segments; w.side[i].blocked && len(x) > 1 && x[0].End == EndSwitch && x[0].Target < 0 && x[0].CPU == 0 && x[0].Ops == 0 {
			g.Segments = x[1:]
			trimmed[int32(i)] = true
		}
	}
	if len(trimmed) == 0 {
		return
	}
	shift := func(o *Op) {
		if o.Kind == OpWake && trimmed[o.G] {
			o.Seg--
		}
	}
	for i := range w.Goroutines {
		for j := range w.Goroutines[i].Ops {
			shift(&w.Goroutines[i].Ops[j])
		}
	}
	for i := range w.Cycles {
		for j := range w.Cycles[i].Ends {
			shift(&w.Cycles[i].Ends[j])
		}
	}
	for i := range w.Arrivals {
		if a := &w.Arrivals[i]; a.Kind == ArriveWake && trimmed[a.G] {
			a.Seg--
		}
	}
	for _, list := range []*[]waiting{&w.sleeps, &w.nets, &w.calls, &w.joins, &w.waits} {
		for i := range *list {
			if x := &(*list)[i]; trimmed[x.g] {
				x.seg--
			}
		}
	}
}

// acceptTimes makes waits for connections end when they did.
func (w *window) acceptTimes(p *places) {
	for _, n := range w.nets {
		x := &w.Goroutines[n.g].Segments[n.seg]
		if x.End == EndExternal && p.of(x.Stack).flags&placeAccept != 0 {
			x.Absolute, x.Delay = true, w.since(n.to)
		}
	}
}

// record counts what the recorded schedule made of the work.
func (w *window) record() {
	r := &w.Recorded
	r.Starts = int64(w.starts)
	r.Waking, r.Wakers = w.waking, w.wakers
	r.Running, r.Stopped, r.Stretched, r.Marking = w.running, w.stopped, w.stretch, w.marking
	for i := range w.Goroutines {
		g := &w.Goroutines[i]
		if g.Begin == BeginAbsent {
			r.Created++
		}
		if !g.System && !g.Tracer {
			r.LastEnd = max(r.LastEnd, w.since(w.side[i].last))
		}
		for k := range g.Segments {
			x := &g.Segments[k]
			r.Work += x.CPU
			switch x.End {
			case EndWait, EndSleep, EndExternal, EndNetwork, EndAssist, EndSyscall:
				r.Wakes[x.Class]++
			}
		}
	}
}
