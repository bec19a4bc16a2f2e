package runqueue

import (
	"slices"

	"github.com/schedscope/schedscope/model"
)

// explainSteal: s stands in another proc's local queue.
func (h *hypothesis) explainSteal(thief model.ProcID, s *runnable) {
	victim := h.positions[s.slot].at
	i := h.proc(victim).q.index(s.slot)
	if i > 0 {
		h.stealsInFlight(victim, i)
		if h.positions[s.slot].explained {
			h.proc(thief).tick.inc()
			h.started(s)
			return
		}
	}
	i = h.proc(victim).q.index(s.slot)
	if items := h.proc(victim).q.items(); i > 0 && h.sizeCost(items, i, s) == 0 && !h.runsOn(items[0], thief) {
		h.forkDrain(victim, thief, s)
	}
	if h.sizeCost(h.proc(victim).q.items(), i, s) > 0 && h.mayFork() {
		// Not what a thief would run: it was somewhere else, or others are not here.
		c := h.r.fork(h)
		c.lone(thief, s, costLone)
		if j := h.laterThief(victim, i); j > 0 {
			c := h.r.fork(h)
			c.stealInFlight(victim, j)
			c.explain(s)
		}
		h.forkDrain(victim, thief, s)
	}
	h.steal(thief, victim, i, s)
	h.proc(thief).tick.inc()
	h.started(s)
}

// runsOn reports whether the trace shows so far that a runnable ends on a proc, or not yet
// where it ends.
func (h *hypothesis) runsOn(a slot, p model.ProcID) bool {
	x := h.runnable(a)
	return !x.started || x.P == p
}

// lone takes s, at a cost, which must have been somewhere else: in the global queue.
func (h *hypothesis) lone(p model.ProcID, s *runnable, price cost) {
	h.cost += price
	x := &h.positions[s.slot]
	h.take(s.slot)
	x.source, x.via, x.fromP, x.lastP, x.batch, x.grade = SourceGlobal, ViaNone, model.NoProc, model.NoProc, 1, GradeContradicted
	h.proc(p).tick.inc()
	h.started(s)
}

// laterThief finds one behind the i-th in the victim's queue that a thief may have
// taken already, together with all before it.
func (h *hypothesis) laterThief(victim model.ProcID, i int) int {
	items := h.proc(victim).q.items()
	for j := i + 1; j < min(len(items), batchMax); j++ {
		if x := h.runnable(items[j]); h.inFlight(x, victim) && h.sizeCost(items, j, x) == 0 {
			return j
		}
	}
	return -1
}

// inFlight reports whether a thief may have taken x from victim's queue already, NoProc of the
// global one, although the trace shows its start only later.
func (h *hypothesis) inFlight(x *runnable, victim model.ProcID) bool {
	return x.started && x.how == SourceUnknown && x.P != victim && isProc(x.P) && x.earliest <= h.r.now
}

// forkDrain tries whether a dedicated mark worker, while it ran on proc of, gave
// what stood there to the global queue: all, from where p took s, or what stands before
// the first that runs on p after s.
func (h *hypothesis) forkDrain(of, p model.ProcID, s *runnable) {
	if x := &h.r.procs[of]; !x.drains && x.worked < s.Since {
		return
	}
	items := h.proc(of).q.items()
	first := slices.IndexFunc(items, func(a slot) bool { x := h.runnable(a); return x.started && x.P == p && x.Time >= s.Time })
	if first > 0 && h.mayFork() {
		c := h.r.fork(h)
		c.cost += costDrain
		c.takesEffect(s.Since, s.Time, model.NoThread)
		for _, a := range items[:first] {
			c.putGlobal(a)
		}
		c.proc(of).q.drop(first)
		c.explain(s)
	}
	if h.mayFork() {
		c := h.r.fork(h)
		c.cost += costDrain
		c.takesEffect(s.Since, s.Time, model.NoThread)
		c.drain(of)
		c.explainGlobal(p, s)
	}
}

// drain moves a proc's local queue to the global one (runtime/mgc.go:
// gcBgMarkWorker, when a dedicated worker is preempted).
func (h *hypothesis) drain(p model.ProcID) {
	h.touch(p)
	q := h.proc(p)
	if q.next != noSlot {
		h.putGlobal(q.next)
		q.next = noSlot
	}
	for _, s := range q.q.items() {
		h.putGlobal(s)
	}
	q.q.drop(q.q.len())
}

// steal moves the first i+1 of victim's queue to the thief, which runs the last
// of them, s (runtime/proc.go: runqsteal).
func (h *hypothesis) steal(thief, victim model.ProcID, i int, s *runnable) {
	if t := h.proc(thief); t.busy() && !h.clearing {
		h.clearing = true
		h.stealsInFlight(thief, t.q.len())
		h.clearing = false
	}
	n := i + 1
	v := &h.proc(victim).q
	x := &h.positions[s.slot]
	h.pay(h.sizeCost(h.proc(victim).q.items(), i, s), x)
	h.pay(h.ignores(s), x)
	if t := h.proc(thief); t.busy() {
		h.pay(costBroken, x)
		if t.q.len()+i > localSize {
			h.forget(thief)
		}
	}
	h.takesEffect(s.earliest, s.Time, s.M)
	for _, a := range v.items()[:i] {
		y := h.put(a, PlaceLocal, thief)
		y.via, y.fromP, y.batch = ViaSteal, victim, int16(n)
		y.grade = max(y.grade, x.grade)
		h.proc(thief).q.push(a)
	}
	v.drop(n)
	h.touch(victim)
	x.place, x.at, x.lastP = PlaceNone, model.NoProc, victim
	x.source, x.via, x.fromP, x.batch = SourceSteal, ViaNone, victim, int16(n)
}

// ignores is what it costs that the thread of s looked into other procs' queues, though
// something stood in the global one, where it looks before (runtime/proc.go:
// findRunnable).
func (h *hypothesis) ignores(s *runnable) cost {
	if h.global.len() > 0 && h.positions[h.global.items()[0]].moved < s.earliest {
		return costBroken
	}
	return 0
}

// sizeCost is what it costs that a thief takes i+1 from the head of a queue
// to run s: a thief takes half, rounded up (runtime/proc.go: runqgrab). What
// was queued while it searched may have come too late for it.
func (h *hypothesis) sizeCost(items []slot, i int, s *runnable) cost {
	most, least := len(items), len(items)
	for least > i+1 && h.positions[items[least-1]].moved > s.earliest {
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
func (h *hypothesis) stealsInFlight(victim model.ProcID, n int) bool {
	i := h.lastTaken(victim, h.proc(victim).q.items(), n, nil)
	if i < 0 {
		return false
	}
	h.stealInFlight(victim, i)
	return true
}

// lastTaken finds the last of the first n of items, in victim's queue, that such a
// thief runs, except s; -1 if none does.
func (h *hypothesis) lastTaken(victim model.ProcID, items []slot, n int, s *runnable) int {
	for i := min(n, len(items)) - 1; i >= 0; i-- {
		if x := h.runnable(items[i]); x != s && h.inFlight(x, victim) && h.sizeCost(items, i, x) == 0 {
			return i
		}
	}
	return -1
}

// emptied reports whether thieves may have taken all that stands in the own queues of
// p, although the trace shows their starts only later.
func (h *hypothesis) emptied(p model.ProcID) bool {
	if h.proc(p).next != noSlot {
		return false
	}
	items := h.proc(p).q.items()
	for len(items) > 0 {
		i := h.lastTaken(p, items, len(items), nil)
		if i < 0 {
			return false
		}
		items = items[i+1:]
	}
	return true
}

// stealInFlight accounts for the thief that runs the i-th in victim's queue.
func (h *hypothesis) stealInFlight(victim model.ProcID, i int) {
	x := h.runnable(h.proc(victim).q.items()[i])
	from, until, by := h.from, h.until, h.mover
	h.noteBefore(x)
	h.positions[x.slot].explained = true
	h.steal(x.P, victim, i, x)
	h.takesEffect(from, until, by)
}
