package workload

import (
	"cmp"
	"slices"

	"github.com/schedscope/schedscope/model"
)

// close ends the window: it cuts what is open, decides what needs the whole
// window, and returns the result.
func (e *Extractor) close(at model.Time) *Workload {
	e.clock.advance(at)
	w := e.w
	w.End = e.clock.now
	if e.stop.active && e.stop.stopped {
		e.endStop(&e.stop)
	}
	var alive []*follower
	e.gs.All(func(f *follower) {
		if f.worker {
			e.settle(f)
		} else if f.index >= 0 {
			alive = append(alive, f)
		}
	})
	slices.SortFunc(alive, func(a, b *follower) int { return cmp.Compare(a.index, b.index) })
	for _, f := range alive {
		e.cut(f)
	}
	w.place()
	w.Procs = cmp.Or(w.Procs, max(e.seen, 1))
	e.w, e.spare = nil, window{waits: w.waits, stretches: w.stretches}
	w.unwake()
	w.order0()
	w.compact()
	w.rename()
	w.trim()
	w.inferReasons(e.words.network)
	w.inferSleeps()
	w.inferLoopback(&e.places)
	w.inferArrivals()
	w.classify(&e.places)
	w.buffered(&e.places)
	w.semaphores(&e.places)
	w.putPoints()
	slices.SortStableFunc(w.Arrivals, func(a, b Arrival) int { return cmp.Compare(a.At, b.At) })
	w.record()
	return &w.Workload
}

// cut ends the program of a goroutine that is alive at the window's end.
func (e *Extractor) cut(f *follower) {
	w := e.w
	if f.state == model.GoRunning {
		e.settle(f)
		e.ran(f)
	}
	g := &w.Goroutines[f.index]
	x := e.last(f)
	switch {
	case f.foreign && g.Begin == BeginAbsent:
		w.side[f.index].drop = true // it has not run yet
	case f.state == model.GoSyscall && x != nil && x.End == EndSyscall:
		x.Delay = w.End.Sub(max(f.since, w.Start))
	}
	if f.state != model.GoWaiting || f.suspended {
		g.Segments = append(g.Segments, Segment{CPU: f.cpu, Assist: f.assisted(), Ops: int32(len(g.Ops)), Object: -1, Target: -1, End: EndCut})
		w.side[f.index].last = w.End
	}
	e.describe(f)
	f.index, f.cpu, f.waker, f.segments, f.ops = -1, 0, nil, len(g.Segments)*9/8, len(g.Ops)*9/8 // a similar number comes next
	f.assisted()
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

// opRef is operation op of goroutine g, in segment seg.
type opRef struct{ g, op, seg int32 }

// eachWake calls f for each recorded wake by a goroutine, with the segment whose wait it ends.
func (w *window) eachWake(f func(at opRef, o *Op, x *Segment)) {
	for i := range w.Goroutines {
		g, k := &w.Goroutines[i], 0
		for j := range g.Ops {
			for k < len(g.Segments)-1 && int32(j) >= g.Segments[k].Ops {
				k++
			}
			if o := &g.Ops[j]; o.Kind == OpWake {
				f(opRef{int32(i), int32(j), int32(k)}, o, &w.Goroutines[o.G].Segments[o.Seg])
			}
		}
	}
}

// filterOps drops the operations that keep does not report true for.
func (g *Goroutine) filterOps(keep func(*Op) bool) {
	kept, first := g.Ops[:0], int32(0)
	for k := range g.Segments {
		x := &g.Segments[k]
		for j := first; j < x.Ops; j++ {
			if keep(&g.Ops[j]) {
				kept = append(kept, g.Ops[j])
			}
		}
		first, x.Ops = x.Ops, int32(len(kept))
	}
	g.Ops = kept
}

// refer has change renumber all references to goroutines and their segments, and drops those for
// which it reports false.
func (w *window) refer(change func(g, seg *int32) bool) {
	for _, list := range []*[]waiting{&w.sleeps, &w.nets, &w.calls, &w.waits} {
		*list = filter(*list, func(x *waiting) bool { return change(&x.g, &x.seg) })
	}
	w.points = filter(w.points, func(x *point) bool { return change(&x.g, &x.seg) })
	none := int32(-1) // not in a segment
	op := func(o *Op) bool {
		switch o.Kind {
		case OpWake, OpSend:
			return change(&o.G, &o.Seg)
		case OpCreate, OpBlocked:
			return change(&o.G, &none)
		}
		return true
	}
	for i := range w.Goroutines {
		w.Goroutines[i].filterOps(op)
	}
	for i := range w.Cycles {
		w.Cycles[i].Ends = filter(w.Cycles[i].Ends, op)
	}
	w.Arrivals = filter(w.Arrivals, func(a *Arrival) bool {
		if a.Kind == ArriveWake {
			return change(&a.G, &a.Seg)
		}
		return change(&a.G, &none)
	})
}

// filter returns the things that keep, which may change them, reports true for; it changes the list.
func filter[T any](list []T, keep func(*T) bool) []T {
	kept := list[:0]
	for i := range list {
		if keep(&list[i]) {
			kept = append(kept, list[i])
		}
	}
	return kept
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
	w.refer(func(g, _ *int32) bool {
		*g = to[*g]
		return *g >= 0
	})
	for i := range w.Goroutines {
		g := &w.Goroutines[i]
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
}

// rename gives those goroutines an ID of their own that have that of an earlier one, as each
// call of a C thread into Go has (runtime/proc.go: needm takes the goroutine of an earlier one
// from the list of extra threads). In the recording they followed on each other; under another
// schedule the next may come before the last is gone.
func (w *window) rename() {
	seen, free := make(map[model.GoID]bool, len(w.Goroutines)), model.GoID(1<<32) // more than there are
	for i := range w.Goroutines {
		g := &w.Goroutines[i]
		for ; seen[g.ID]; free++ {
			g.ID = free
		}
		seen[g.ID] = true
	}
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
	if len(trimmed) > 0 {
		w.refer(func(g, seg *int32) bool {
			if trimmed[*g] {
				*seg--
			}
			return true
		})
	}
}

// inferReasons finds waits for the network among those that began before the window, of which a trace shows neither reason
// nor place: what comes first after such a wait is a call of the operation that the goroutine waits in next.
func (w *window) inferReasons(network model.StringID) {
	w.sleeps = filter(w.sleeps, func(x *waiting) bool {
		g := &w.Goroutines[x.g]
		if x.seg != 0 || g.Begin != BeginWaiting || g.Segments[0].Reason != 0 || len(g.Segments) < 2 || g.Segments[1].End != EndSyscall {
			return true
		}
		call := w.Tables.Stack(g.Segments[1].Stack)
		i := slices.IndexFunc(g.Segments, func(y Segment) bool { return y.Reason == network })
		if i < 0 {
			return true
		}
		next := g.Segments[i].Stack
		op := innermost(w.Tables.Stack(next))
		if !slices.ContainsFunc(call, func(f model.Frame) bool { return f.Func == op }) {
			return true
		}
		y := &g.Segments[0]
		y.End, y.Class, y.Reason, y.Stack = EndExternal, ClassExternal, network, next
		w.nets = append(w.nets, *x)
		return false
	})
	slices.SortStableFunc(w.nets, func(a, b waiting) int { return cmp.Compare(a.to, b.to) })
}

// record counts what the recorded schedule made of the work.
func (w *window) record() {
	r := &w.Recorded
	r.Starts = int64(w.starts)
	r.Waking, r.Wakers = w.waking, w.wakers
	r.Running, r.Stopped, r.Marking = w.running, w.stopped, w.marking
	if n := float64(w.samples); n >= enoughSamples && w.lastSample > w.sampled { // taken from the beginning of the window to the end, or in a part of it
		part := (n + 1) / (n - 1) * float64(w.lastSample.Sub(w.sampled)) / float64(w.End.Sub(w.Start))
		r.Sampled = model.Duration(min(n*samplePeriod/min(1, part), float64(w.running)))
	}
	for i := range w.Goroutines {
		g := &w.Goroutines[i]
		if !g.System && !g.Tracer {
			r.LastEnd = max(r.LastEnd, w.since(w.side[i].last))
		}
		for k := range g.Segments {
			x := &g.Segments[k]
			g.Work += x.CPU
			switch x.End {
			case EndWait, EndSleep, EndExternal, EndNetwork, EndAssist, EndSyscall:
				r.Wakes[x.Class]++
			}
		}
		r.Work += g.Work
	}
}
