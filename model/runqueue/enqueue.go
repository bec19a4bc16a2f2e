package runqueue

import (
	"github.com/schedscope/schedscope/model"
)

// change carries out what is neither the begin nor the start of a stay.
func (w *world) change(o *op) {
	switch o.kind {
	case opGone:
		w.take(o.stay.slot)
	case opIdle:
		// A proc that nobody holds any more has nothing queued.
		if q := w.proc(o.p); q.q.len() > 0 {
			w.stealsInFlight(o.p, q.q.len())
		}
	case opProcs:
		w.resize(int(o.n))
	case opDrain:
		w.doubtDrain(o.p)
	case opMarkEnd:
		w.markEnds(o.p)
	}
}

// ready puts a stay where the runtime puts it.
func (w *world) ready(s *stay) {
	x := &w.spots[s.slot]
	w.takesEffect(s.ready, s.until, s.by)
	if s.blind {
		x.grade = GradeChosen
		x.choices = max(x.choices, 3) // a timer, the network poller or the runtime
	}
	if s.entry == entryPoll && s.list != nil && s == s.list.stays[0] {
		w.readPoll(s.list)
	}
	w.enter(s)
}

// enter is the rest of ready.
func (w *world) enter(s *stay) {
	x := &w.spots[s.slot]
	if !x.timed && s.neverQueued() {
		x.place, x.enqueued = PlaceNone, PlaceNone
	}
	known := isProc(s.proc)
	switch {
	case x.timed:
		w.putNext(s.proc, s.slot)
	case s.list != nil:
		w.readyList(s)
	case s.neverQueued(), s.entry == entryUnknown, s.entry == entryNone:
	case s.entry == entryGlobal, !known:
		w.putGlobal(s.slot)
	case s.entry == entryRunnext:
		w.putNext(s.proc, s.slot)
	default:
		w.putTail(s.proc, s.slot, ViaOwn)
	}
}

// readPoll takes a list as found by a poll of the network, or as woken by deadlines;
// where the other reading is not much less likely, a copy takes that one.
func (w *world) readPoll(l *list) {
	poll, dead := l.poll, l.dead
	p := l.stays[0].proc
	if !isProc(p) {
		return // who runs timers has a proc
	}
	if w.proc(p).busy() {
		poll += costBroken // who polls has found nothing in its own queues
	}
	timed := dead < poll
	best, other := min(poll, dead), max(poll, dead)
	w.pay(best, &spot{})
	switch {
	case other-best > worthTrying && !w.r.ops.of(l.stays[0].wait).doubtful():
	case len(l.stays) == 1 && !w.proc(p).busy() || !w.mayFork():
		if other-best <= likely { // nothing that follows will show it
			for _, s := range l.stays {
				w.spots[s.slot].grade = max(w.spots[s.slot].grade, GradeChosen)
				w.spots[s.slot].choices = max(w.spots[s.slot].choices, 2)
			}
		}
	default:
		c := w.r.fork(w)
		c.cost += other - best
		c.assume(l, !timed)
		c.enter(l.stays[0])
	}
	w.assume(l, timed)
}

// assume notes how a list is read in this world.
func (w *world) assume(l *list, timed bool) {
	for _, s := range l.stays {
		w.spots[s.slot].timed = timed
		if w == w.r.worlds[0] { // forks are not among them yet
			s.timed = timed
		}
	}
}

// readyList puts a list of goroutines into queues when the last one that passes
// through a queue is seen (runtime/proc.go: injectglist). As many go to the global
// queue as there are idle procs, of which the trace gives no more than a notion:
// copies try other splits.
func (w *world) readyList(s *stay) {
	if !w.r.complete {
		return
	}
	list := s.list.queued(w.r.list[:0])
	w.r.list = list
	if !isProc(s.proc) {
		for _, x := range list {
			w.putGlobal(x.slot)
		}
		w.noteInjection(model.NoProc, list, len(list), GradeCertain)
		return
	}
	if len(list) == 0 {
		return
	}
	k, others := w.r.splits(len(list), list[len(list)-1].until)
	grade := GradeCertain
	for _, o := range others {
		if w.mayFork() {
			c := w.r.fork(w)
			c.cost += o.cost
			c.injectSplit(s.proc, list, o.k, GradeChosen)
		} else if o.cost <= likely {
			grade = GradeChosen
		}
	}
	w.injectSplit(s.proc, list, k, grade)
	w.r.split = k
}

// injectSplit puts the first k of a list into the global queue.
func (w *world) injectSplit(p model.ProcID, list []*stay, k int, g Grade) {
	for i, s := range list {
		if i < k {
			w.putGlobal(s.slot)
		} else {
			w.putList(p, s.slot, ViaNetpoll)
		}
	}
	w.noteInjection(p, list, k, g)
}

// noteInjection logs a list of which k went to the global queue.
func (w *world) noteInjection(p model.ProcID, list []*stay, k int, g Grade) {
	if len(list) > 0 {
		w.note(logInjection, p, list[len(list)-1], k, len(list)-k)
		w.log[len(w.log)-1].way.grade = g
	}
}

// markEnds: before the world stops for the end of a mark phase, all procs are
// asked to stop for an instant, and dedicated workers take that for a
// preemption (runtime/mgc.go: gcMarkDone, forEachP, gcBgMarkWorker), except
// the one that ends the phase on proc by.
func (w *world) markEnds(by model.ProcID) {
	w.takesEffect(w.r.now, w.r.now, model.NoThread)
	for i := range w.procs {
		if p := model.ProcID(i); p != by && w.r.drains[i] && w.proc(p).busy() {
			if w.mayFork() {
				w.r.fork(w).cost += costStays
			}
			w.drain(p)
		}
	}
}

// doubtDrain marks what stands in a proc's queue when a dedicated worker stops:
// it may have moved to the global queue meanwhile, as the worker does when it is
// preempted (runtime/mgc.go: gcBgMarkWorker).
func (w *world) doubtDrain(p model.ProcID) {
	if w.r.drains[p] {
		return
	}
	q := w.proc(p)
	for _, s := range q.q.items() {
		x := &w.spots[s]
		x.grade = max(x.grade, GradeChosen)
		x.choices = max(x.choices, 2)
	}
}
