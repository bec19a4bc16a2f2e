package runqueue

import (
	"slices"

	"github.com/schedscope/schedscope/model"
)

// explainSteal: s stands in another proc's local queue.
func (w *world) explainSteal(thief model.ProcID, s *stay) {
	victim := w.spots[s.slot].at
	i := w.proc(victim).q.index(s.slot)
	if i > 0 {
		w.stealsInFlight(victim, i)
		if w.spots[s.slot].explained {
			w.proc(thief).tick.inc()
			w.started(s)
			return
		}
	}
	i = w.proc(victim).q.index(s.slot)
	if items := w.proc(victim).q.items(); i > 0 && w.sizeCost(items, i, s) == 0 && !w.runsOn(items[0], thief) {
		w.forkDrain(victim, thief, s)
	}
	if w.sizeCost(w.proc(victim).q.items(), i, s) > 0 && w.mayFork() {
		// Not what a thief would run: it was somewhere else, or others are not here.
		c := w.r.fork(w)
		c.lone(thief, s)
		if j := w.laterThief(victim, i); j > 0 {
			c := w.r.fork(w)
			c.stealInFlight(victim, j)
			c.explain(s)
		}
		w.forkDrain(victim, thief, s)
	}
	w.steal(thief, victim, i, s)
	w.proc(thief).tick.inc()
	w.started(s)
}

// runsOn reports whether the trace shows so far that a stay ends on a proc, or not yet
// where it ends.
func (w *world) runsOn(a slot, p model.ProcID) bool {
	x := w.stay(a)
	return !x.started || x.p == p
}

// lone takes s, which must have been somewhere else: in the global queue.
func (w *world) lone(p model.ProcID, s *stay) {
	w.cost += costLone
	x := &w.spots[s.slot]
	w.take(s.slot)
	x.source, x.via, x.fromP, x.lastP, x.batch, x.grade = SourceGlobal, ViaNone, model.NoProc, model.NoProc, 1, GradeContradicted
	w.proc(p).tick.inc()
	w.started(s)
}

// laterThief finds one behind the i-th in the victim's queue that a thief may have
// taken already, together with all before it.
func (w *world) laterThief(victim model.ProcID, i int) int {
	items := w.proc(victim).q.items()
	for j := i + 1; j < min(len(items), batchMax); j++ {
		if x := w.stay(items[j]); w.inFlight(x, victim) && w.sizeCost(items, j, x) == 0 {
			return j
		}
	}
	return -1
}

// inFlight reports whether a thief may have taken x from victim's queue already,
// although the trace shows its start only later.
func (w *world) inFlight(x *stay, victim model.ProcID) bool {
	return x.started && x.how == SourceUnknown && x.p != victim && isProc(x.p) && x.earliest <= w.r.now
}

// forkDrain tries whether a dedicated mark worker, while it ran on proc of, gave
// what stood there to the global queue: all, from where p took s, or what stands before
// the first that runs on p after s.
func (w *world) forkDrain(of, p model.ProcID, s *stay) {
	if !w.r.drains[of] && w.r.worked[of] < s.ready {
		return
	}
	items := w.proc(of).q.items()
	first := slices.IndexFunc(items, func(a slot) bool { x := w.stay(a); return x.started && x.p == p && x.start >= s.start })
	if first > 0 && w.mayFork() {
		c := w.r.fork(w)
		c.cost += costDrain
		c.takesEffect(s.ready, s.start, model.NoThread)
		for _, a := range items[:first] {
			c.putGlobal(a)
		}
		c.proc(of).q.drop(first)
		c.explain(s)
	}
	if w.mayFork() {
		c := w.r.fork(w)
		c.cost += costDrain
		c.takesEffect(s.ready, s.start, model.NoThread)
		c.drain(of)
		c.explainGlobal(p, s)
	}
}

// drain moves a proc's local queue to the global one (runtime/mgc.go:
// gcBgMarkWorker, when a dedicated worker is preempted).
func (w *world) drain(p model.ProcID) {
	w.touch(p)
	q := w.proc(p)
	if q.next != noSlot {
		w.putGlobal(q.next)
		q.next = noSlot
	}
	for _, s := range q.q.items() {
		w.putGlobal(s)
	}
	q.q.drop(q.q.len())
}

// steal moves the first i+1 of victim's queue to the thief, which runs the last
// of them, s (runtime/proc.go: runqsteal).
func (w *world) steal(thief, victim model.ProcID, i int, s *stay) {
	if t := w.proc(thief); t.busy() && !w.clearing {
		w.clearing = true
		w.stealsInFlight(thief, t.q.len())
		w.clearing = false
	}
	n := i + 1
	v := &w.proc(victim).q
	x := &w.spots[s.slot]
	w.pay(w.sizeCost(w.proc(victim).q.items(), i, s), x)
	w.pay(w.ignores(s), x)
	if t := w.proc(thief); t.busy() {
		w.pay(costBroken, x)
		if t.q.len()+i > localSize {
			w.forget(thief)
		}
	}
	w.takesEffect(s.earliest, s.start, s.m)
	for _, a := range v.items()[:i] {
		y := w.put(a, PlaceLocal, thief)
		y.via, y.fromP, y.batch = ViaSteal, victim, int16(n)
		y.grade = max(y.grade, x.grade)
		w.proc(thief).q.push(a)
	}
	v.drop(n)
	w.touch(victim)
	x.place, x.at, x.lastP = PlaceNone, model.NoProc, victim
	x.source, x.via, x.fromP, x.batch = SourceSteal, ViaNone, victim, int16(n)
}

// ignores is what it costs that the thread of s looked into other procs' queues, though
// something stood in the global one, where it looks before (runtime/proc.go:
// findRunnable).
func (w *world) ignores(s *stay) cost {
	if w.global.len() > 0 && w.spots[w.global.items()[0]].moved < s.earliest {
		return costBroken
	}
	return 0
}

// sizeCost is what it costs that a thief takes i+1 from the head of a queue
// to run s: a thief takes half, rounded up (runtime/proc.go: runqgrab). What
// was queued while it searched may have come too late for it.
func (w *world) sizeCost(items []slot, i int, s *stay) cost {
	most, least := len(items), len(items)
	for least > i+1 && w.spots[items[least-1]].moved > s.earliest {
		least--
	}
	most, least = most-most/2, least-least/2
	switch n := i + 1; {
	case n > batchMax:
		return 3 * costSize
	case n > most:
		return costSize * cost(min(3, n-most))
	case n < least:
		return costSize * cost(min(3, least-n))
	}
	return 0
}

// stealsInFlight takes from the first n of victim's queue what a thief has taken
// already, although the trace shows its start only later; false if there is none.
func (w *world) stealsInFlight(victim model.ProcID, n int) bool {
	i := w.lastTaken(victim, w.proc(victim).q.items(), n)
	if i < 0 {
		return false
	}
	w.stealInFlight(victim, i)
	return true
}

// lastTaken finds the last of the first n of items, in victim's queue, that such a
// thief runs, -1 if none does.
func (w *world) lastTaken(victim model.ProcID, items []slot, n int) int {
	for i := min(n, len(items)) - 1; i >= 0; i-- {
		if x := w.stay(items[i]); w.inFlight(x, victim) && w.sizeCost(items, i, x) == 0 {
			return i
		}
	}
	return -1
}

// emptied reports whether thieves may have taken all that stands in the own queues of
// p, although the trace shows their starts only later.
func (w *world) emptied(p model.ProcID) bool {
	if w.proc(p).next != noSlot {
		return false
	}
	items := w.proc(p).q.items()
	for len(items) > 0 {
		i := w.lastTaken(p, items, len(items))
		if i < 0 {
			return false
		}
		items = items[i+1:]
	}
	return true
}

// stealInFlight accounts for the thief that runs the i-th in victim's queue.
func (w *world) stealInFlight(victim model.ProcID, i int) {
	x := w.stay(w.proc(victim).q.items()[i])
	from, until, by := w.from, w.until, w.mover
	w.noteBefore(x)
	w.spots[x.slot].explained = true
	w.steal(x.p, victim, i, x)
	w.takesEffect(from, until, by)
}
