package runqueue

import (
	"github.com/schedscope/schedscope/model"
)

// apply carries an operation out.
func (w *world) apply(o *op) {
	switch o.kind {
	case opReady:
		w.ready(o.stay)
	case opStart:
		w.start(o.stay)
	case opGone:
		w.take(o.stay.slot)
	case opIdle:
		w.goesIdle(o.p)
	case opProcs:
		w.resize(o.n)
	case opDrain:
		w.doubtDrain(o.p)
	case opMarkEnd:
		w.markEnds()
	}
}

// ready puts a stay where the runtime puts it.
func (w *world) ready(s *stay) {
	x := &w.spots[s.slot]
	if s.blind {
		x.grade = GradeChosen
		s.choices = max(s.choices, 3) // a timer, the network poller or the runtime
	}
	if s.timed {
		w.putNext(s.proc, s.slot)
		return
	}
	if s.neverQueued() {
		x.place, x.enqueued = PlaceNone, PlaceNone
	}
	known := isProc(s.proc)
	switch {
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

// readyList puts a list of goroutines into queues when its last one is seen.
func (w *world) readyList(s *stay) {
	l := s.list
	if s != l.lastQueued() {
		return
	}
	l.done = true
	poll := s.entry == entryPoll
	last := l.last()
	switch {
	case !isProc(s.proc):
		list := l.queued()
		for _, x := range list {
			w.putGlobal(x.slot)
		}
		w.noteInjection(model.NoProc, list, len(list), GradeCertain)
	case poll && last.how != SourceNetpoll && last.how != SourceDirect:
		// Not the list of a poll, which ends with the one that runs at once: deadlines.
		for _, x := range l.queued() {
			w.putNext(s.proc, x.slot)
		}
	default:
		w.inject(s.proc, l.queued())
	}
}

// inject splits a list between the global and the local queue (runtime/proc.go:
// injectglist): as many go to the global queue as there are idle procs, of which
// the trace gives no more than a notion. Others are tried as well.
func (w *world) inject(p model.ProcID, list []*stay) {
	if len(list) == 0 {
		return
	}
	most := min(w.r.idling, len(list))
	if w.r.stopped {
		most = 0
	}
	k := min(w.r.idleNow(), len(list))
	for other := range min(most, maxSplits) + 1 {
		if other != k && w.mayFork() {
			c := w.r.fork(w)
			c.cost += costSplit
			c.injectSplit(p, list, other, GradeChosen)
		}
	}
	grade := GradeCertain
	if most > 0 {
		grade = GradeChosen
	}
	w.injectSplit(p, list, k, grade)
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
		w.log[len(w.log)-1].spot.grade = g
	}
}

// maxSplits bounds how many ways to split a list are tried.
const maxSplits = 8

// markEnds: before the world stops for the end of a mark phase, all procs are
// asked to stop for an instant, and dedicated workers take that for a
// preemption (runtime/mgc.go: gcMarkDone, forEachP, gcBgMarkWorker).
func (w *world) markEnds() {
	for i := range w.procs {
		if p := model.ProcID(i); w.r.drains[i] && w.proc(p).busy() {
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
		w.stay(s).choices = max(w.stay(s).choices, 2)
	}
}

// goesIdle checks that a proc that nobody holds any more has nothing queued.
func (w *world) goesIdle(p model.ProcID) {
	if q := w.proc(p); q.q.len() > 0 {
		w.stealsInFlight(p, q.q.len())
	}
}
