package runqueue

import (
	"github.com/schedscope/schedscope/model"
)

// explainGlobal: s stands in the global queue.
func (w *world) explainGlobal(p model.ProcID, s *stay) {
	for w.global.index(s.slot) > 0 && w.grabInFlight(func(c *world) { c.explainGlobal(p, s) }) {
	}
	i := w.global.index(s.slot)
	if i < 0 { // another grab took it along
		w.explain(s)
		return
	}
	w.skip(&w.global, i, s.slot)
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
	size := w.global.len()
	x := &w.spots[s.slot]
	w.take(s.slot)
	x.source, x.via, x.batch, x.fromP = SourceGlobal, ViaNone, 1, model.NoProc
	q := w.proc(p)
	for q.busy() && w.stealsInFlight(p, q.q.len()) {
	}
	n := min(batchMax, size, size/w.r.count()+1)
	t := &q.tick
	switch {
	case q.busy() && t.fair():
		t.vote()
		x.fair, x.ahead = true, int32(q.q.len())
	case q.busy():
		if t.known() && w.mayFork() {
			// What seems to stand in its own queues does not.
			c := w.r.fork(w)
			c.pay(costBroken, &c.spots[s.slot])
			c.forget(p)
			c.batch(p, s, n)
			c.done(s, then)
		}
		if t.known() {
			w.pay(costBroken, x)
		} else {
			w.pay(costTick, x)
		}
		t.vote()
		x.fair, x.ahead = true, int32(q.q.len())
	case t.fair():
		x.fair = true
	default:
		if n > 1 {
			w.forkBatch(p, s, n, then)
		}
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
	for _, a := range append([]slot{q.next}, q.q.items()...) {
		if a != noSlot {
			z := &w.spots[a]
			z.place, z.at, z.lost, z.lostAt = PlaceNone, model.NoProc, true, w.r.now
		}
	}
	q.next = noSlot
	q.q.drop(q.q.len())
}

// forkBatch tries other batches than the n that the lengths suggest: a single
// one, if this may be the 61st tick, and one more or less or in another order,
// where the end of the batch does not fit what runs where.
func (w *world) forkBatch(p model.ProcID, s *stay, n int, then func(*world)) {
	if t := &w.proc(p).tick; !t.known() && w.mayFork() {
		c := w.r.fork(w)
		c.pay(costTick, &c.spots[s.slot])
		c.proc(p).tick.vote()
		c.spots[s.slot].fair = true
		c.done(s, then)
	}
	items := w.global.items()
	size := costSize
	if !w.contended(p, s) {
		size = costBroken
	}
	if last := w.stay(items[n-2]); last.started && last.p != p && w.mayFork() {
		c := w.r.fork(w)
		c.pay(size, &c.spots[s.slot])
		c.batch(p, s, n-1)
		c.done(s, then)
		if j := w.swappable(p, n-2); j > 0 && w.mayFork() {
			c := w.r.fork(w)
			c.pay(costOrder, &c.spots[s.slot])
			list := c.global.items()
			x := list[j]
			copy(list[n-1:j+1], list[n-2:j])
			list[n-2] = x
			c.batch(p, s, n)
			c.done(s, then)
		}
	}
	if len(items) >= n && n < batchMax {
		if next := w.stay(items[n-1]); next.started && next.p == p && w.mayFork() {
			c := w.r.fork(w)
			c.pay(size, &c.spots[s.slot])
			c.batch(p, s, n+1)
			c.done(s, then)
		}
	}
}

// swappable finds one behind the i-th in the global queue that runs on p and may
// have been queued before it.
func (w *world) swappable(p model.ProcID, i int) int {
	items := w.global.items()
	a := w.stay(items[i])
	for j := i + 1; j < len(items); j++ {
		b := w.stay(items[j])
		if b.ready > a.until {
			break
		}
		if b.started && b.p == p {
			return j
		}
	}
	return -1
}

// contended reports whether another proc may have changed the global queue while
// p's thread, which starts s, was looking for work.
func (w *world) contended(p model.ProcID, s *stay) bool {
	if w.grabbed >= s.earliest {
		return true
	}
	items := w.global.items()
	for i := len(items) - 1; i >= 0; i-- {
		x := w.stay(items[i])
		if x.until < s.earliest {
			break
		}
		if x.proc != p {
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

// batch moves n-1 more from the global to p's local queue.
func (w *world) batch(p model.ProcID, s *stay, n int) {
	w.spots[s.slot].batch = int32(n)
	for _, a := range w.global.items()[:n-1] {
		y := w.put(a, PlaceLocal, p)
		y.via, y.batch, y.fromP = ViaGlobal, int32(n), model.NoProc
		y.grade = max(y.grade, w.spots[s.slot].grade)
		w.proc(p).q.push(a)
	}
	w.global.drop(n - 1)
	w.touch(model.NoProc)
}
