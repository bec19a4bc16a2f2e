package runqueue

import "github.com/schedscope/schedscope/model"

// start explains where a goroutine that starts was taken from.
func (w *world) start(s *stay) {
	x := &w.spots[s.slot]
	known := isProc(s.p)
	if w.r.wantViews() && !x.explained {
		if x.plain = w.plain(s); !x.plain && (s.how == SourceUnknown || s.how == SourceSystem) {
			x.before = w.view(s)
		}
	}
	switch {
	case !known:
		w.take(s.slot)
		x.source, x.grade = SourceUnknown, GradeContradicted
	case s.how != SourceUnknown && !x.timed:
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

// plain reports whether the rules leave nothing else to take than s: it stands in the proc's own
// runnext, or first in its local queue with nothing in runnext, and it is not the turn of the global
// queue.
func (w *world) plain(s *stay) bool {
	x := &w.spots[s.slot]
	if s.how != SourceUnknown || !isProc(s.p) || x.at != s.p || s.open || s.blind || x.lost || x.grade == GradeContradicted {
		return false
	}
	q := w.proc(s.p)
	if w.global.len() > 0 && (!q.tick.sure || !q.tick.firm() || q.tick.since() == 0) {
		return false
	}
	return x.place == PlaceRunnext || x.place == PlaceLocal && q.next == noSlot && q.q.items()[0] == s.slot
}

// started notes a start that was explained.
func (w *world) started(s *stay) {
	x := &w.spots[s.slot]
	x.taken = x.source
	if is, grade := s.lockedTo(); is {
		x.source, x.via, x.grade = SourceLocked, ViaNone, max(x.grade, grade)
	}
	if x.grade == GradeContradicted && isProc(s.p) {
		w.doubtOrder(s.p)
	}
	w.begun = s
	if !w.r.alone() {
		w.logBegun()
	}
}

// doubtOrder takes what stands in the global queue and in that of p, from where a start
// contradicted the rules, for no more than likely to stand there in that order.
func (w *world) doubtOrder(p model.ProcID) {
	w.r.spend(w.global.len() / 4)
	for _, q := range []*fifo{&w.global, &w.proc(p).q} {
		for _, a := range q.items() {
			x := &w.spots[a]
			x.grade = max(x.grade, GradeUnique)
		}
	}
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
		if is, _ := s.lockedTo(); is {
			w.proc(p).tick.inc()
		}
	case x.place == PlaceRunnext:
		w.stealNext(x.at, s)
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
		w.cost += costBroken // every start that a world cannot explain speaks against it
		x.source, x.via, x.fromP, x.lastP, x.batch, x.grade = SourceGlobal, ViaNone, model.NoProc, model.NoProc, 1, GradeContradicted
		w.proc(p).tick.inc()
	default:
		// In a queue since before the trace, or in one that nothing shows: a local
		// one, the global one or runnext.
		if items := w.global.items(); s.open && len(items) > 0 && !w.proc(p).busy() && w.runsOn(items[0], p) && w.mayFork() {
			// The head of the global queue, with what stands behind it.
			c := w.r.fork(w)
			c.cost += costOrder
			c.put(s.slot, PlaceGlobal, model.NoProc)
			c.global.unshift([]slot{s.slot})
			c.spots[s.slot].grade = GradeChosen
			c.explainGlobal(p, s)
		}
		x.source, x.grade = SourceUnknown, GradeChosen
		x.choices = max(x.choices, 3)
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
	if q.index(s.slot) > 0 {
		w.forkDrain(p, p, s)
		if late, more, ok := w.late(p, s); ok && w.mayFork() {
			c := w.r.fork(w)
			c.regrab(p, s, late, more)
			c.takeLocal(p, s)
			c.proc(p).tick.inc()
			c.started(s)
		}
	}
	w.skip(q, q.index(s.slot), s.slot)
	if t := &w.proc(p).tick; t.fair() && w.global.len() > 0 && w.spots[w.global.items()[0]].moved < s.earliest {
		w.pay(costBroken, &w.spots[s.slot])
	}
	x := &w.spots[s.slot]
	w.take(s.slot)
	x.source = SourceLocal
}

// skip accounts for n goroutines before s in a queue that did not come first: they
// were queued behind it, or they are not here at all, or, where they are several, it is
// not, unless others have passed them as well.
func (w *world) skip(q *fifo, n int, s slot) {
	if n <= 0 {
		return
	}
	w.r.spend(n)
	x := &w.spots[s]
	wrong, again := 0, 0
	var later []slot
	for i, a := range q.items()[:n] {
		alone := i == 0 || !w.together(q.items()[i-1], a) // what came together pays together
		if w.unordered(a, s) {
			if alone {
				w.pay(costOrder, x)
			}
			continue
		}
		if q == &w.global && w.cameLater(a, s) {
			if alone {
				w.pay(costLate, x)
			}
			later = append(later, a)
			continue
		}
		wrong++
		if z := &w.spots[a]; z.passed {
			again++
		} else {
			z.passed = true
		}
	}
	for _, a := range later {
		q.removeAt(q.index(a))
		w.comesLater(a, x.from)
	}
	n -= len(later)
	if wrong > 1 && (again < wrong || wrong > manyLost) {
		w.pay(costLone, x)
		return
	}
	for i := n - 1; i >= 0 && wrong > 0; i-- {
		if a := q.items()[i]; !w.unordered(a, s) {
			w.pay(costBroken, x)
			q.removeAt(i)
			w.touch(w.spots[a].at)
			w.mislay([]slot{a})
		}
	}
}

// manyLost is more than are lost at once: then it is the order that is wrong.
const manyLost = 8

// unordered reports whether a, which seems to stand before b in a queue, may stand
// behind it: other threads put them there, at about the same time.
func (w *world) unordered(a, b slot) bool {
	x, y := &w.spots[a], &w.spots[b]
	return x.via != ViaOwn && x.mover != y.mover && y.from <= x.until
}

// stealNext takes s from the runnext of victim.
func (w *world) stealNext(victim model.ProcID, s *stay) {
	x := &w.spots[s.slot]
	w.pay(w.ignores(s), x)
	w.take(s.slot)
	x.source, x.via, x.fromP, x.batch = SourceStealRunnext, ViaNone, victim, 1
}

const (
	// backOff is less than a thief searches before it takes from the runnext of a
	// running proc: it sleeps for 3 us, which take 57 us with Linux's usual timer
	// slack (runtime/proc.go: runqgrab), and the trace shows the start of its
	// search late.
	backOff model.Duration = 20_000
	// pickUp is more than passes until it starts what it took: usually 0.4 us.
	pickUp model.Duration = 3000
)

// nextStolen accounts for a thief that has taken s out of runnext already,
// although the trace shows its start only later.
func (w *world) nextStolen(p model.ProcID, s slot) bool {
	x := w.stay(s)
	if !x.started || x.how != SourceUnknown || x.p == p || w.proc(p).q.len() > 0 ||
		w.r.now.Sub(x.search) < backOff || x.start.Sub(w.r.now) > pickUp {
		return false
	}
	w.noteBefore(x)
	w.stealNext(p, x)
	z := &w.spots[s]
	z.explained, z.grade = true, max(z.grade, GradeUnique)
	return true
}
