package runqueue

import (
	"slices"

	"github.com/schedscope/schedscope/model"
)

// explainGlobal: s stands in the global queue.
func (w *world) explainGlobal(p model.ProcID, s *stay) {
	w.r.spend(w.global.len() / 8)
	if i := slices.Index(w.coming, s.slot); i >= 0 {
		w.coming = slices.Delete(w.coming, i, i+1)
		w.global.unshift([]slot{s.slot})
	}
	for w.global.index(s.slot) > 0 && w.grabInFlight(func(c *world) { c.explainGlobal(p, s) }) {
	}
	i := w.global.index(s.slot)
	if i < 0 { // another grab took it along
		w.explain(s)
		return
	}
	w.skip(&w.global, i, s.slot)
	if i := w.global.index(s.slot); i > 0 { // what stands before it came later
		w.global.removeAt(i)
		w.global.unshift([]slot{s.slot})
	}
	start := func(c *world) {
		c.proc(p).tick.inc()
		c.started(s)
	}
	w.grab(p, s, start)
	start(w)
}

// grabInFlight looks for a proc that has taken from the head of the global queue
// already, although the trace shows its start only later. A copy, in which another
// explanation is tried, goes on with then.
func (w *world) grabInFlight(then func(*world)) bool {
	w.r.spend(w.global.len() / 8)
	x := w.stay(w.global.items()[0])
	if !x.started || x.how != SourceUnknown || x.earliest > w.r.now || !isProc(x.p) {
		return false
	}
	w.noteBefore(x)
	w.spots[x.slot].explained = true
	w.grab(x.p, x, then)
	return true
}

// grab takes s from the global queue and, if p has nothing of its own, a batch
// behind it (runtime/proc.go: globrunqgetbatch). then goes on in copies.
func (w *world) grab(p model.ProcID, s *stay, then func(*world)) {
	n, others := w.batchSizes(s)
	x := &w.spots[s.slot]
	w.take(s.slot)
	x.source, x.via, x.batch, x.fromP = SourceGlobal, ViaNone, 1, model.NoProc
	q := w.proc(p)
	t := &q.tick
	for q.busy() && !t.fair() && w.emptied(p) {
		w.stealsInFlight(p, q.q.len())
	}
	switch {
	case q.busy() && t.fair():
		t.vote()
		x.fair, x.ahead = true, int16(q.q.len())
	case q.busy():
		price := costTick
		if t.known() {
			price = costBroken
			if w.mayFork() {
				// What seems to stand in its own queues does not.
				c := w.r.fork(w)
				c.pay(costBroken, &c.spots[s.slot])
				c.forget(p)
				c.batch(p, s, n)
				c.done(s, then)
			}
			if late, more, ok := w.late(p, s); ok && w.mayFork() {
				c := w.r.fork(w)
				c.regrab(p, s, late, more)
				c.done(s, then)
			}
			if d := t.off(); d <= 3 {
				price = costTick // a start before was misread
			}
		}
		w.pay(price, x)
		t.vote()
		x.fair, x.ahead = true, int16(q.q.len())
	case t.fair():
		x.fair = true
	default:
		w.forkBatch(p, s, n, others, then)
		w.batch(p, s, n)
	}
	w.grabbed = max(w.grabbed, s.start)
}

// done ends the taking of s in a copy.
func (w *world) done(s *stay, then func(*world)) {
	w.grabbed = max(w.grabbed, s.start)
	then(w)
}

// forget takes what seems to stand in a proc's own queues out of them.
func (w *world) forget(p model.ProcID) {
	w.touch(p)
	q := w.proc(p)
	if q.next != noSlot {
		w.mislay([]slot{q.next})
	}
	w.mislay(q.q.items())
	q.next = noSlot
	q.q.drop(q.q.len())
}

// contended reports whether another proc may have changed the global queue while
// p's thread, which starts s, was looking for work.
func (w *world) contended(p model.ProcID, s *stay) bool {
	if w.grabbed >= s.earliest {
		return true
	}
	items := w.global.items()
	for i := len(items) - 1; i >= 0; i-- {
		if w.spots[items[i]].moved < s.earliest {
			break
		}
		w.r.spend(1)
		if w.stay(items[i]).proc != p {
			return true
		}
	}
	for _, a := range items[:min(4, len(items))] {
		if x := w.stay(a); x.started && x.p != p && x.earliest <= s.start {
			return true
		}
	}
	return false
}
