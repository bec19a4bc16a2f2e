package runqueue

import (
	"slices"

	"github.com/schedscope/schedscope/model"
)

// explainGlobal: s stands in the global queue.
func (h *hypothesis) explainGlobal(p model.ProcID, s *runnable) {
	h.r.spend(h.global.len() / 8)
	if i := slices.Index(h.coming, s.slot); i >= 0 {
		h.coming = slices.Delete(h.coming, i, i+1)
		h.global.unshift([]slot{s.slot})
	}
	for h.global.index(s.slot) > 0 && h.grabInFlight(func(c *hypothesis) { c.explainGlobal(p, s) }) {
	}
	i := h.global.index(s.slot)
	if i < 0 { // another grab took it along
		h.explain(s)
		return
	}
	h.skip(&h.global, i, s.slot)
	if i := h.global.index(s.slot); i > 0 { // what stands before it came later
		h.global.removeAt(i)
		h.global.unshift([]slot{s.slot})
	}
	start := func(c *hypothesis) {
		c.proc(p).tick.inc()
		c.started(s)
	}
	h.grab(p, s, start)
	start(h)
}

// grabInFlight looks for a proc that has taken from the head of the global queue
// already, although the trace shows its start only later. A copy, in which another
// explanation is tried, goes on with then.
func (h *hypothesis) grabInFlight(then func(*hypothesis)) bool {
	h.r.spend(h.global.len() / 8)
	x := h.runnable(h.global.items()[0])
	if !h.inFlight(x, model.NoProc) {
		return false
	}
	h.noteBefore(x)
	h.positions[x.slot].explained = true
	h.grab(x.P, x, then)
	return true
}

// grab takes s from the global queue and, if p has nothing of its own, a batch
// behind it (runtime/proc.go: globrunqgetbatch). then goes on in copies.
func (h *hypothesis) grab(p model.ProcID, s *runnable, then func(*hypothesis)) {
	n, others := h.batchSizes(s)
	x := &h.positions[s.slot]
	h.take(s.slot)
	x.source, x.via, x.batch, x.fromP = SourceGlobal, ViaNone, 1, model.NoProc
	q := h.proc(p)
	t := &q.tick
	for q.busy() && !t.fair() && h.emptied(p) {
		h.stealsInFlight(p, q.q.len())
	}
	switch {
	case q.busy() && t.fair():
		t.vote()
		x.fair, x.ahead = true, int16(q.q.len())
	case q.busy():
		price := costTick
		if t.known() {
			price = costBroken
			if h.mayFork() {
				// What seems to stand in its own queues does not.
				c := h.r.fork(h)
				c.pay(costBroken, &c.positions[s.slot])
				c.forget(p)
				c.batch(p, s, n)
				c.done(s, then)
			}
			if late, more, ok := h.late(p, s); ok && h.mayFork() {
				c := h.r.fork(h)
				c.regrab(p, s, late, more)
				c.done(s, then)
			}
			if d := t.off(); d <= 3 {
				price = costTick // a start before was misread
			}
		}
		h.pay(price, x)
		t.vote()
		x.fair, x.ahead = true, int16(q.q.len())
	case t.fair():
		x.fair = true
	default:
		h.forkBatch(p, s, n, others, then)
		h.batch(p, s, n)
	}
	h.grabbed = max(h.grabbed, s.Time)
}

// done ends the taking of s in a copy.
func (h *hypothesis) done(s *runnable, then func(*hypothesis)) {
	h.grabbed = max(h.grabbed, s.Time)
	then(h)
}

// forget takes what seems to stand in a proc's own queues out of them.
func (h *hypothesis) forget(p model.ProcID) {
	h.touch(p)
	q := h.proc(p)
	if q.next != noSlot {
		h.mislay([]slot{q.next})
	}
	h.mislay(q.q.items())
	q.next = noSlot
	q.q.drop(q.q.len())
}

// contended reports whether another proc may have changed the global queue while
// p's thread, which starts s, was looking for work.
func (h *hypothesis) contended(p model.ProcID, s *runnable) bool {
	if h.grabbed >= s.earliest {
		return true
	}
	items := h.global.items()
	for i := len(items) - 1; i >= 0; i-- {
		if h.positions[items[i]].moved < s.earliest {
			break
		}
		h.r.spend(1)
		if h.runnable(items[i]).proc != p {
			return true
		}
	}
	for _, a := range items[:min(4, len(items))] {
		if x := h.runnable(a); x.started && x.P != p && x.earliest <= s.Time {
			return true
		}
	}
	return false
}
