package runqueue

import "github.com/schedscope/schedscope/model"

// start explains where a goroutine that starts was taken from.
func (h *hypothesis) start(s *runnable) {
	if len(h.coming) > 0 {
		h.come()
	}
	x := &h.positions[s.slot]
	if h.r.wantViews() && !x.explained {
		if x.plain = h.plain(s, x); !x.plain && s.how == SourceUnknown {
			x.before = h.view(s)
		}
	}
	switch {
	case x.place == PlaceRunnext && x.at == s.P && (s.how == SourceUnknown || x.timed):
		q := h.proc(s.P)
		h.leaveNext(s.P, q, x)
		if is, _ := s.lockedTo(); is {
			q.tick.inc()
		}
	case !isProc(s.P):
		h.take(s.slot)
		x.source, x.grade = SourceUnknown, GradeContradicted
	case s.how != SourceUnknown && !x.timed:
		h.take(s.slot)
		x.source, x.grade = s.how, max(x.grade, s.howGrade)
		if s.how == SourceNetpoll || s.how == SourceSystem || s.how == SourceSyscall && s.Pseudo == model.NotPseudo {
			h.proc(s.P).tick.inc()
		}
	case x.explained:
		h.proc(s.P).tick.inc()
	default:
		h.explain(s)
		return
	}
	h.started(s)
}

// leaveNext takes x out of the proc's own runnext to run it. It is the same time slice, which schedtick
// does not count (runtime/proc.go: execute).
func (h *hypothesis) leaveNext(p model.ProcID, q *queues, x *position) {
	q.next = noSlot
	if h.r.obs.wantNext() {
		h.touch(p)
	}
	x.source, x.lastP, x.place, x.at = SourceRunnext, p, PlaceNone, model.NoProc
}

// plain reports whether the rules leave nothing else to take than s: it stands in the proc's own
// runnext, or first in its local queue with nothing in runnext, and it is not the turn of the global
// queue; or first in the global queue, and the proc has nothing.
func (h *hypothesis) plain(s *runnable, x *position) bool {
	if s.how != SourceUnknown || !isProc(s.P) || s.OpenStart || s.blind || x.lost || x.grade == GradeContradicted {
		return false
	}
	q := h.proc(s.P)
	switch {
	case x.place == PlaceGlobal:
		return !q.busy() && h.global.len() > 0 && h.global.items()[0] == s.slot
	case x.at != s.P, !h.ownFirst(q):
		return false
	}
	return x.place == PlaceRunnext || x.place == PlaceLocal && q.next == noSlot && q.q.items()[0] == s.slot
}

// ownFirst reports whether a proc looks into its own queues first, or into the global one without
// finding anything.
func (h *hypothesis) ownFirst(q *queues) bool {
	return h.global.len() == 0 || q.tick.sure && q.tick.firm() && q.tick.since() != 0
}

// started notes a start that was explained.
func (h *hypothesis) started(s *runnable) {
	x := &h.positions[s.slot]
	x.taken = x.source
	if is, grade := s.lockedTo(); is {
		x.source, x.via, x.grade = SourceLocked, ViaNone, max(x.grade, grade)
	}
	if x.grade == GradeContradicted && isProc(s.P) {
		h.doubtOrder(s.P)
	}
}

// doubtOrder takes what stands in the global queue and in that of p, from where a start
// contradicted the rules, as only likely to stand there in that order.
func (h *hypothesis) doubtOrder(p model.ProcID) {
	h.r.spend(h.global.len() / 4)
	for _, q := range []*fifo{&h.global, &h.proc(p).q} {
		for _, a := range q.items() {
			x := &h.positions[a]
			x.grade = max(x.grade, GradeUnique)
		}
	}
}

// explain finds the ways in which s can have been taken from a queue, other than its proc's own
// runnext. The first way is taken in h, each other one in a copy.
func (h *hypothesis) explain(s *runnable) {
	x := &h.positions[s.slot]
	p := s.P
	switch {
	case x.place == PlaceRunnext:
		h.stealNext(x.at, s)
		h.proc(p).tick.inc()
	case x.place == PlaceLocal && x.at == p:
		h.takeLocal(p, s)
		h.proc(p).tick.inc()
	case x.place == PlaceLocal:
		h.explainSteal(p, s)
		return
	case x.place == PlaceGlobal:
		h.explainGlobal(p, s)
		return
	case x.lost:
		h.lone(p, s, costBroken) // every start that a hypothesis cannot explain speaks against it
		return
	default:
		// In a queue since before the trace, or in one that nothing shows: a local
		// one, the global one or runnext.
		if items := h.global.items(); s.OpenStart && len(items) > 0 && !h.proc(p).busy() && h.runsOn(items[0], p) && h.mayFork() {
			// The head of the global queue, with what stands behind it.
			c := h.r.fork(h)
			c.cost += costOrder
			c.put(s.slot, PlaceGlobal, model.NoProc)
			c.global.unshift([]slot{s.slot})
			c.positions[s.slot].grade = GradeChosen
			c.explainGlobal(p, s)
		}
		x.source, x.grade = SourceUnknown, GradeChosen
		x.choices = max(x.choices, 3)
		h.proc(p).tick.inc()
	}
	h.started(s)
}

// takeLocal takes s from p's own local queue.
func (h *hypothesis) takeLocal(p model.ProcID, s *runnable) {
	q := &h.proc(p).q
	i := q.index(s.slot)
	if i > 0 {
		h.stealsInFlight(p, i)
		i = q.index(s.slot)
	}
	if i > 0 {
		h.forkDrain(p, p, s)
		if late, more, ok := h.late(p, s); ok && h.mayFork() {
			c := h.r.fork(h)
			c.regrab(p, s, late, more)
			c.takeLocal(p, s)
			c.proc(p).tick.inc()
			c.started(s)
		}
	}
	h.skip(q, i, s.slot)
	if t := &h.proc(p).tick; t.fair() && h.global.len() > 0 && h.positions[h.global.items()[0]].moved < s.earliest {
		h.pay(costBroken, &h.positions[s.slot])
	}
	x := &h.positions[s.slot]
	h.take(s.slot)
	x.source = SourceLocal
}

// skip accounts for n goroutines before s in a queue that did not come first: they
// were queued behind it, or they are not here at all, or, where they are several, it is
// not, unless others have passed them as well.
func (h *hypothesis) skip(q *fifo, n int, s slot) {
	if n <= 0 {
		return
	}
	h.r.spend(n)
	x := &h.positions[s]
	wrong, again := 0, 0
	var later []slot
	for i, a := range q.items()[:n] {
		alone := i == 0 || !h.together(q.items()[i-1], a) // what came together pays together
		if h.unordered(a, s) {
			if alone {
				h.pay(costOrder, x)
			}
			continue
		}
		if q == &h.global && h.cameLater(a, s) {
			if alone {
				h.pay(costLate, x)
			}
			later = append(later, a)
			continue
		}
		wrong++
		if z := &h.positions[a]; z.passed {
			again++
		} else {
			z.passed = true
		}
	}
	for _, a := range later {
		q.removeAt(q.index(a))
		h.comesLater(a, x.from)
	}
	n -= len(later)
	if wrong > 1 && (again < wrong || wrong > manyLost) {
		h.pay(costLone, x)
		return
	}
	for i := n - 1; i >= 0 && wrong > 0; i-- {
		if a := q.items()[i]; !h.unordered(a, s) {
			h.pay(costBroken, x)
			q.removeAt(i)
			h.touch(h.positions[a].at)
			h.mislay([]slot{a})
		}
	}
}

// manyLost is more than are lost at once: then it is the order that is wrong.
const manyLost = 8

// unordered reports whether a, which seems to stand before b in a queue, may stand
// behind it: other threads put them there, at about the same time.
func (h *hypothesis) unordered(a, b slot) bool {
	x, y := &h.positions[a], &h.positions[b]
	return x.via != ViaOwn && x.mover != y.mover && y.from <= x.until
}

// stealNext takes s from the runnext of victim.
func (h *hypothesis) stealNext(victim model.ProcID, s *runnable) {
	x := &h.positions[s.slot]
	h.pay(h.ignores(s), x)
	h.take(s.slot)
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
func (h *hypothesis) nextStolen(p model.ProcID, s slot) bool {
	x := h.runnable(s)
	if !x.started || x.how != SourceUnknown || x.P == p || h.proc(p).q.len() > 0 ||
		h.r.now.Sub(x.Search) < backOff || x.Time.Sub(h.r.now) > pickUp {
		return false
	}
	h.noteBefore(x)
	h.stealNext(p, x)
	z := &h.positions[s]
	z.explained, z.grade = true, max(z.grade, GradeUnique)
	return true
}
