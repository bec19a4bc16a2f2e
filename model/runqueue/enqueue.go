package runqueue

import (
	"github.com/schedscope/schedscope/model"
)

// change carries out what is neither the begin nor the start of a runnable.
func (h *hypothesis) change(o *op) {
	if len(h.coming) > 0 {
		h.come()
	}
	switch o.kind {
	case opGone:
		h.take(o.runnable.slot)
	case opIdle:
		// A proc that nobody holds any more has nothing queued.
		if q := h.proc(o.p); q.q.len() > 0 {
			h.stealsInFlight(o.p, q.q.len())
		}
	case opProcs:
		h.resize(int(o.p))
	case opDrain:
		h.doubtDrain(o.p)
	case opMarkEnd:
		h.markEnds(o.p)
	}
}

// ready puts a runnable where the runtime puts it.
func (h *hypothesis) ready(s *runnable) {
	if len(h.coming) > 0 {
		h.come()
	}
	h.takesEffect(s.Since, s.until, s.by)
	if s.entry == entryRunnext && s.how == SourceUnknown && isProc(s.proc) {
		h.putNext(s.proc, s.slot) // most
		return
	}
	if s.blind {
		x := &h.positions[s.slot]
		x.grade = GradeChosen
		x.choices = max(x.choices, 3) // a timer, the network poller or the runtime
	}
	if s.entry == entryPoll && s.injected != nil && s == s.injected.runnables[0] {
		h.readPoll(s.injected)
	}
	h.enter(s)
}

// enter is the rest of ready.
func (h *hypothesis) enter(s *runnable) {
	x := &h.positions[s.slot]
	if !x.timed && s.how != SourceUnknown {
		x.place, x.enqueued = PlaceNone, PlaceNone
	}
	switch {
	case x.timed:
		h.putNext(s.proc, s.slot)
	case s.injected != nil:
		h.readyInjected(s)
	case s.how != SourceUnknown, s.entry == entryUnknown, s.entry == entryNone:
	case s.entry == entryGlobal, !isProc(s.proc):
		h.putGlobal(s.slot)
	default:
		h.putTail(s.proc, s.slot, ViaOwn)
	}
}

// readPoll takes a list as found by a poll of the network, or as woken by deadlines;
// where the other reading is not much less likely, a copy takes that one.
func (h *hypothesis) readPoll(l *injected) {
	poll, dead := l.poll, l.dead
	p := l.runnables[0].proc
	if !isProc(p) {
		return // who runs timers has a proc
	}
	if h.proc(p).busy() {
		poll += costBroken // who polls has found nothing in its own queues
	}
	timed := dead < poll
	best, other := min(poll, dead), max(poll, dead)
	h.pay(best, &position{})
	switch {
	case other-best > worthTrying && !h.r.ops.of(l.runnables[0].wait).doubtful():
	case len(l.runnables) == 1 && !h.proc(p).busy() || !h.mayFork():
		if other-best <= likely { // nothing that follows will show it
			for _, s := range l.runnables {
				h.positions[s.slot].grade = max(h.positions[s.slot].grade, GradeChosen)
				h.positions[s.slot].choices = max(h.positions[s.slot].choices, 2)
			}
		}
	default:
		c := h.r.fork(h)
		c.cost += other - best
		c.assume(l, !timed)
		c.enter(l.runnables[0])
	}
	h.assume(l, timed)
}

// assume notes how a list is read in this hypothesis.
func (h *hypothesis) assume(l *injected, timed bool) {
	for _, s := range l.runnables {
		h.positions[s.slot].timed = timed
		if h == h.r.hypotheses[0] { // forks are not among them yet
			s.timed = timed
		}
	}
}

// readyInjected puts a list of goroutines into queues when the last one that passes
// through a queue is seen (runtime/proc.go: injectglist). As many go to the global
// queue as there are idle procs, of which the trace gives only a notion:
// copies try other splits.
func (h *hypothesis) readyInjected(s *runnable) {
	if !h.r.complete {
		return
	}
	list := s.injected.queued(h.r.list[:0])
	h.r.list = list
	if !isProc(s.proc) {
		for _, x := range list {
			h.putGlobal(x.slot)
		}
		h.noteInjection(model.NoProc, list, len(list), GradeCertain)
		return
	}
	if len(list) == 0 {
		return
	}
	k, others := h.r.splits(len(list), list[len(list)-1].until)
	grade := GradeCertain
	for _, o := range others {
		if h.mayFork() {
			c := h.r.fork(h)
			c.cost += o.cost
			c.injectSplit(s.proc, list, o.k, GradeChosen)
		} else if o.cost <= likely {
			grade = GradeChosen
		}
	}
	h.injectSplit(s.proc, list, k, grade)
	h.r.split = k
}

// injectSplit puts the first k of a list into the global queue.
func (h *hypothesis) injectSplit(p model.ProcID, list []*runnable, k int, g Grade) {
	for i, s := range list {
		if i < k {
			h.putGlobal(s.slot)
		} else {
			h.putList(p, s.slot, ViaNetpoll)
		}
	}
	h.noteInjection(p, list, k, g)
}

// noteInjection logs a list of which k went to the global queue.
func (h *hypothesis) noteInjection(p model.ProcID, list []*runnable, k int, g Grade) {
	if len(list) > 0 {
		h.note(logInjection, p, list[len(list)-1], k, len(list)-k)
		h.log[len(h.log)-1].path.grade = g
	}
}

// markEnds: before the world stops for the end of a mark phase, all procs are
// asked to stop for an instant, and dedicated workers take that for a
// preemption (runtime/mgc.go: gcMarkDone, forEachP, gcBgMarkWorker), except
// the one that ends the phase on proc by.
func (h *hypothesis) markEnds(by model.ProcID) {
	h.takesEffect(h.r.now, h.r.now, model.NoThread)
	for i := range h.procs {
		if p := model.ProcID(i); p != by && h.r.procs[i].drains && h.proc(p).busy() {
			if h.mayFork() {
				h.r.fork(h).cost += costStays
			}
			h.drain(p)
		}
	}
}

// doubtDrain marks what stands in a proc's queue when a dedicated worker stops:
// it may have moved to the global queue meanwhile, as the worker does when it is
// preempted (runtime/mgc.go: gcBgMarkWorker).
func (h *hypothesis) doubtDrain(p model.ProcID) {
	if h.r.procs[p].drains {
		return
	}
	q := h.proc(p)
	for _, s := range q.q.items() {
		x := &h.positions[s]
		x.grade = max(x.grade, GradeChosen)
		x.choices = max(x.choices, 2)
	}
}
