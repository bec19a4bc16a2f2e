package runqueue

import "github.com/schedscope/schedscope/model"

// start explains where a goroutine that starts was taken from.
func (w *world) start(s *stay) {
	x := &w.spots[s.slot]
	known := s.p >= 0 && s.p < maxProcs
	switch {
	case !known:
		w.take(s.slot)
		x.source, x.grade = SourceUnknown, GradeContradicted
	case s.how != SourceUnknown:
		w.take(s.slot)
		x.source, x.grade = s.how, max(x.grade, s.howGrade)
		if s.how == SourceNetpoll || s.how == SourceSystem || s.how == SourceSyscall && s.pseudo == model.NotPseudo {
			w.proc(s.p).tick.inc()
		}
	case x.explained:
		w.proc(s.p).tick.inc()
	default:
		w.explain(s)
		return
	}
	w.started(s)
}

// started logs a start that was explained.
func (w *world) started(s *stay) {
	x := &w.spots[s.slot]
	if s.handed && s.how == SourceUnknown {
		x.source, x.via = SourceLocked, ViaNone
	}
	e := finding{kind: logStart, at: s.start, stay: s, spot: *x, tick: -1}
	if s.p >= 0 && s.p < maxProcs {
		e.tick = int8(w.proc(s.p).tick.value())
	}
	w.log = append(w.log, e)
}

// explain finds the ways in which s can have been taken from a queue. The first
// way is taken in w, each other one in a copy.
func (w *world) explain(s *stay) {
	x := &w.spots[s.slot]
	p := s.p
	switch {
	case x.place == PlaceRunnext && x.at == p:
		w.take(s.slot)
		x.source = SourceRunnext
		if s.handed {
			w.proc(p).tick.inc()
		}
	case x.place == PlaceRunnext:
		w.stealNext(p, x.at, s)
		w.proc(p).tick.inc()
	case x.place == PlaceLocal && x.at == p:
		w.takeLocal(p, s)
		w.proc(p).tick.inc()
	case x.place == PlaceLocal:
		w.explainSteal(p, s)
		return
	case x.place == PlaceGlobal:
		w.explainGlobal(p, s)
		return
	case x.lost:
		x.source, x.via, x.fromP, x.batch, x.grade = SourceGlobal, ViaNone, model.NoProc, 1, GradeContradicted
		w.proc(p).tick.inc()
	default:
		x.source, x.grade = SourceUnknown, GradeContradicted
		w.proc(p).tick.inc()
	}
	w.started(s)
}

// takeLocal takes s from p's own local queue.
func (w *world) takeLocal(p model.ProcID, s *stay) {
	q := &w.proc(p).q
	if i := q.index(s.slot); i > 0 {
		w.stealsInFlight(p, i)
	}
	w.skip(q, q.index(s.slot), s.slot)
	if t := &w.proc(p).tick; t.fair() && w.global.len() > 0 && w.stay(w.global.items()[0]).until < s.earliest {
		w.pay(costBroken, &w.spots[s.slot])
	}
	x := &w.spots[s.slot]
	w.take(s.slot)
	x.source = SourceLocal
}

// skip accounts for n goroutines before s in a queue that did not come first:
// either they were queued behind it, or they are not here at all.
func (w *world) skip(q *fifo, n int, s slot) {
	if n <= 0 {
		return
	}
	var lost cost
	for i := n - 1; i >= 0; i-- {
		a := q.items()[i]
		x, y := w.stay(a), w.stay(s)
		if w.spots[a].via != ViaOwn && y.ready <= x.until {
			w.pay(costOrder, &w.spots[s])
			continue
		}
		lost = costBroken
		q.removeAt(i)
		z := &w.spots[a]
		w.touch(z.at)
		z.place, z.at, z.lost = PlaceNone, model.NoProc, true
	}
	w.pay(lost, &w.spots[s])
}

// stealNext takes s from the runnext of victim.
func (w *world) stealNext(thief, victim model.ProcID, s *stay) {
	x := &w.spots[s.slot]
	w.take(s.slot)
	x.source, x.via, x.fromP, x.batch = SourceStealRunnext, ViaNone, victim, 1
}

// A thief sleeps before it takes from the runnext of a running proc: 3 us, which
// take 57 us with Linux's usual timer slack (runtime/proc.go: runqgrab). It starts
// what it took some 0.4 us later; the thread can be held up in between.
const (
	backOff model.Duration = 20_000
	pickUp  model.Duration = 3000
)

// nextStolen accounts for a thief that has taken s out of runnext already,
// although the trace shows its start only later.
func (w *world) nextStolen(p model.ProcID, s slot) bool {
	x := w.stay(s)
	if !x.started || x.how != SourceUnknown || x.p == p || w.proc(p).q.len() > 0 ||
		w.r.now.Sub(x.search) < backOff || x.start.Sub(w.r.now) > pickUp {
		return false
	}
	w.stealNext(x.p, p, x)
	w.spots[s].explained, w.spots[s].grade = true, GradeUnique
	return true
}

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
	if w.sizeCost(victim, i, s) > 0 {
		// Not what a thief would run: it was somewhere else, or others are not here.
		c := w.r.fork(w)
		c.lone(thief, s)
		if j := w.laterThief(victim, i); j > 0 {
			c := w.r.fork(w)
			x := c.stay(c.proc(victim).q.items()[j])
			c.spots[x.slot].explained = true
			c.steal(x.p, victim, j, x)
			c.explain(s)
		}
		if w.r.drains[victim] {
			c := w.r.fork(w)
			c.cost += costDrain
			c.drain(victim)
			c.explainGlobal(thief, s)
		}
	}
	w.steal(thief, victim, i, s)
	w.proc(thief).tick.inc()
	w.started(s)
}

// laterThief finds one behind the i-th in the victim's queue that a thief may have
// taken already, together with all before it.
func (w *world) laterThief(victim model.ProcID, i int) int {
	items := w.proc(victim).q.items()
	for j := i + 1; j < min(len(items), batchMax); j++ {
		if x := w.stay(items[j]); w.inFlight(x, victim) && w.sizeCost(victim, j, x) == 0 {
			return j
		}
	}
	return -1
}

// inFlight reports whether a thief may have taken x from victim's queue already,
// although the trace shows its start only later.
func (w *world) inFlight(x *stay, victim model.ProcID) bool {
	return x.started && x.how == SourceUnknown && x.p != victim && x.p >= 0 && x.p < maxProcs && x.earliest <= w.r.now
}

// lone takes s, which must have been somewhere else: in the global queue.
func (w *world) lone(p model.ProcID, s *stay) {
	w.cost += costLone
	x := &w.spots[s.slot]
	w.take(s.slot)
	x.source, x.via, x.fromP, x.batch, x.grade = SourceGlobal, ViaNone, model.NoProc, 1, GradeContradicted
	w.proc(p).tick.inc()
	w.started(s)
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
		if i = w.proc(victim).q.index(s.slot); i < 0 {
			return // another thief has it
		}
	}
	n := i + 1
	v := &w.proc(victim).q
	x := &w.spots[s.slot]
	w.pay(w.sizeCost(victim, i, s), x)
	if w.proc(thief).busy() {
		w.pay(costBroken, x)
	}
	for _, a := range v.items()[:i] {
		y := w.put(a, PlaceLocal, thief)
		y.via, y.fromP, y.batch = ViaSteal, victim, int32(n)
		y.grade = max(y.grade, x.grade)
		w.proc(thief).q.push(a)
	}
	v.drop(n)
	w.touch(victim)
	x.place, x.at, x.lastP = PlaceNone, model.NoProc, victim
	x.source, x.via, x.fromP, x.batch = SourceSteal, ViaNone, victim, int32(n)
}

// sizeCost is what it costs that a thief takes i+1 from the head of the victim's
// queue to run s: a thief takes half, rounded up. What was queued while it
// searched may have come too late for it.
func (w *world) sizeCost(victim model.ProcID, i int, s *stay) cost {
	items := w.proc(victim).q.items()
	most, least := len(items), len(items)
	for least > i+1 && w.stay(items[least-1]).until > s.earliest {
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

// stealsInFlight looks for thieves that have taken from the first n of victim's
// queue already, although the trace shows their starts only later.
func (w *world) stealsInFlight(victim model.ProcID, n int) bool {
	q := &w.proc(victim).q
	for i := min(n, q.len()) - 1; i >= 0; i-- {
		x := w.stay(q.items()[i])
		if w.inFlight(x, victim) && w.sizeCost(victim, i, x) == 0 {
			w.spots[x.slot].explained = true
			w.steal(x.p, victim, i, x)
			return true
		}
	}
	return false
}

// explainGlobal: s stands in the global queue.
func (w *world) explainGlobal(p model.ProcID, s *stay) {
	for w.global.index(s.slot) > 0 && w.grabInFlight() {
	}
	i := w.global.index(s.slot)
	if i < 0 { // another grab took it along
		w.explain(s)
		return
	}
	w.skip(&w.global, i, s.slot)
	w.grab(p, s, true)
	w.proc(p).tick.inc()
	w.started(s)
}

// grabInFlight looks for a proc that has taken from the head of the global queue
// already, although the trace shows its start only later.
func (w *world) grabInFlight() bool {
	x := w.stay(w.global.items()[0])
	if !x.started || x.how != SourceUnknown || x.earliest > w.r.now || x.p < 0 || x.p >= maxProcs {
		return false
	}
	w.spots[x.slot].explained = true
	w.grab(x.p, x, false)
	return true
}

// grab takes s from the global queue and, if p has nothing of its own, a batch
// behind it (runtime/proc.go: globrunqgetbatch).
func (w *world) grab(p model.ProcID, s *stay, fork bool) {
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
		w.note(logFairness, p, s, q.q.len(), 0)
	case q.busy():
		if fork && t.known() {
			// What seems to stand in its own queues does not.
			c := w.r.fork(w)
			c.pay(costBroken, &c.spots[s.slot])
			c.forget(p)
			c.batch(p, s, n)
			c.done(p, s)
		}
		if t.known() {
			w.pay(costBroken, x)
		} else {
			w.pay(costTick, x)
		}
		t.vote()
		w.note(logFairness, p, s, q.q.len(), 0)
	case t.fair():
		w.note(logFairness, p, s, 0, 0)
	default:
		if fork && n > 1 {
			w.forkBatch(p, s, n)
		}
		w.batch(p, s, n)
	}
	w.grabbed = max(w.grabbed, s.start)
}

// done ends the explanation of a start in a copy.
func (w *world) done(p model.ProcID, s *stay) {
	w.grabbed = max(w.grabbed, s.start)
	w.proc(p).tick.inc()
	w.started(s)
}

// forget takes what seems to stand in a proc's own queues out of them.
func (w *world) forget(p model.ProcID) {
	w.touch(p)
	q := w.proc(p)
	for _, a := range append([]slot{q.next}, q.q.items()...) {
		if a != noSlot {
			z := &w.spots[a]
			z.place, z.at, z.lost = PlaceNone, model.NoProc, true
		}
	}
	q.next = noSlot
	q.q.drop(q.q.len())
}

// forkBatch tries other batches than the n that the lengths suggest: a single
// one, if this may be the 61st tick, and one more or less or in another order,
// where the end of the batch does not fit what runs where.
func (w *world) forkBatch(p model.ProcID, s *stay, n int) {
	if t := &w.proc(p).tick; !t.known() {
		c := w.r.fork(w)
		c.pay(costTick, &c.spots[s.slot])
		c.proc(p).tick.vote()
		c.note(logFairness, p, s, 0, 0)
		c.done(p, s)
	}
	items := w.global.items()
	size := costSize
	if !w.contended(p, s) {
		size = costBroken
	}
	if last := w.stay(items[n-2]); last.started && last.p != p {
		c := w.r.fork(w)
		c.pay(size, &c.spots[s.slot])
		c.batch(p, s, n-1)
		c.done(p, s)
		if j := w.swappable(p, n-2); j > 0 {
			c := w.r.fork(w)
			c.pay(costOrder, &c.spots[s.slot])
			list := c.global.items()
			x := list[j]
			copy(list[n-1:j+1], list[n-2:j])
			list[n-2] = x
			c.batch(p, s, n)
			c.done(p, s)
		}
	}
	if len(items) >= n && n < batchMax {
		if next := w.stay(items[n-1]); next.started && next.p == p {
			c := w.r.fork(w)
			c.pay(size, &c.spots[s.slot])
			c.batch(p, s, n+1)
			c.done(p, s)
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
