package runqueue

import (
	"cmp"
	"math"
	"slices"

	"github.com/schedscope/schedscope/model"
)

// maxProcs bounds the procs that are followed: what is done for each of them
// would take long with the ids of hostile traces.
const maxProcs = 1 << 12

// isProc reports whether an id is that of a proc that is followed.
func isProc(id model.ProcID) bool { return id >= 0 && id < maxProcs }

const (
	// Of 4 hypotheses, truth -stored misses its bound: 0.9285 of the steals in hogs are right.
	maxHypotheses      = 16   // side by side
	maxUndecided       = 8192 // operations for which hypotheses are kept side by side
	likely        cost = 80   // a hypothesis that costs at most that beyond the best casts doubt on it
	worthTrying   cost = 60   // what costs at most that beyond the likeliest is tried in a copy
	maxBehind     cost = 200  // hypotheses that cost so much more than the best are given up
)

// procSeen is a proc, whatever stands in its queues.
type procSeen struct {
	search            // of its thread
	idle   *acquired  // what ends its being idle, nil if it is not
	drains bool       // it runs a dedicated mark worker
	worked model.Time // when it last did
}

// replay keeps the hypotheses and reports what they agree on.
type replay struct {
	rules
	ops       *waitOps
	obs       *observers
	pool      *pool       // takes back runnables that were reported
	runnables []*runnable // by slot
	unused    []slot      // the first left of them are free
	left      int
	nprocs    int // GOMAXPROCS; 0 while unknown
	procs     []procSeen
	idling    int  // procs that are idle
	stopped   bool // the world is
	now       model.Time
	complete  bool // the latest of a list completes it

	hypotheses []*hypothesis
	fresh      []*hypothesis // made while the current operation is applied
	spare      []*hypothesis
	segments   segments
	wakes      wakes
	effort     int    // steps that the search for explanations may still take
	undecided  int    // operations since hypotheses agreed last
	split      int    // of the latest list, how many went to the global queue
	flips      []cost // scratch
	flips2     []cost
	list       []*runnable // scratch
	views      []*Decision // to be used again
	lent       []*Decision // in use, or in nobody's any more
	outLengths Lengths     // scratch, so that reporting does not allocate
}

func newReplay(ru rules, ops *waitOps, obs *observers, to *pool) *replay {
	r := &replay{rules: ru, ops: ops, obs: obs, pool: to, effort: effortMost}
	r.hypotheses = []*hypothesis{{r: r}}
	return r
}

// known reports whether there is room for a proc.
func (r *replay) known(id model.ProcID) bool { return uint(id) < uint(len(r.procs)) }

// grow makes room for a proc; false for ids out of reason.
func (r *replay) grow(id model.ProcID) bool {
	for isProc(id) && len(r.procs) <= int(id) {
		r.procs = append(r.procs, procSeen{worked: math.MinInt64})
		r.wakes.found = append(r.wakes.found, Wakeup{})
		for _, h := range r.hypotheses {
			if len(h.procs) < len(r.procs) {
				h.procs = append(h.procs, queues{next: noSlot, tick: newTick()})
			}
		}
	}
	return isProc(id)
}

// count returns the number of procs: GOMAXPROCS, which each generation of a
// trace records, or before that how many were seen.
func (r *replay) count() int {
	if r.nprocs > 0 {
		return r.nprocs
	}
	return max(1, len(r.procs))
}

// admit gives a runnable that has none its slot in all hypotheses.
func (r *replay) admit(s *runnable) {
	if s.slot != noSlot {
		return
	}
	r.enlist(s)
	for _, h := range r.hypotheses {
		h.positions[s.slot] = nowhere
	}
}

// enlist gives a runnable its slot.
func (r *replay) enlist(s *runnable) {
	if r.left == 0 {
		r.extend()
	}
	r.left--
	s.slot = r.unused[r.left]
	r.runnables[s.slot] = s
}

// extend makes one more slot.
func (r *replay) extend() {
	r.unused = append(r.unused, 0)
	r.unused[0], r.left = slot(len(r.runnables)), 1
	r.runnables = append(r.runnables, nil)
	for _, h := range r.hypotheses {
		h.positions = append(h.positions, nowhere)
	}
}

// usual carries out what most operations are, in the only hypothesis: a goroutine comes into runnext, or
// it starts out of runnext, or is the first in the local queue while nothing stands in runnext and the
// global queue (runtime/proc.go: runqput, runqget). It does nothing and returns false if there is more to it.
func (r *replay) usual(o *op) bool {
	if r.now = o.at; r.effort < effortMost {
		r.limit()
	}
	s, h := o.runnable, r.hypotheses[0]
	if len(r.hypotheses) > 1 || len(h.coming) > 0 || o.kind > opStart || s.how != SourceUnknown || !r.known(s.P) {
		return false
	}
	if o.kind == opReady {
		if s.entry != entryRunnext || !r.known(s.proc) || h.proc(s.proc).q.len() >= localSize {
			return false
		}
		r.enlist(s)
		q, x := h.proc(s.proc), &h.positions[s.slot]
		*x = nowhere
		h.takesEffect(s.Since, s.until, s.by)
		if q.next != noSlot || !q.reported.once || r.obs.wantNext() {
			h.putNext(s.proc, s.slot)
		} else {
			q.next = s.slot
			h.inNext(s.proc, x)
		}
		r.wakep(s.G, s.proc, s.Origin)
	} else {
		if s.slot == noSlot || s.handed {
			return false
		}
		x, q, look := &h.positions[s.slot], h.proc(s.P), &r.procs[s.P]
		next := x.place == PlaceRunnext
		if x.at != s.P || x.grade == GradeContradicted || !next && (q.next != noSlot || h.global.len() > 0 || q.q.buf[q.q.head] != s.slot) {
			return false
		}
		r.now = s.Time
		if r.wantViews() {
			if x.plain = !s.blind && h.ownFirst(q); !x.plain {
				x.before = h.view(s)
			}
		}
		if next {
			h.leaveNext(s.P, q, x)
		} else {
			h.touch(s.P)
			q.q.removeAt(0)
			q.tick.inc()
			x.source, x.lastP = SourceLocal, s.P
		}
		x.taken = x.source
		if r.woken(s.P, true); look.end(r.now) {
			r.wakep(s.G, s.P, s.Origin)
		}
		r.free(s)
		if o.on {
			look.begin(o.at)
		}
		r.reportStart(s, &x.path, int8(q.tick.value()))
	}
	if h.cost = 0; len(h.touched) > 0 {
		h.noteLengths()
	}
	return true
}

// apply carries an operation that is not usual out in all hypotheses, and reports what they agree on then.
func (r *replay) apply(o *op) {
	var start *runnable
	switch o.kind {
	case opSearch:
		if r.grow(o.p) {
			r.procs[o.p].begin(o.at)
		}
		return
	case opReady:
		r.ready(o.runnable)
	case opStart:
		start = o.runnable
		r.now = start.Time
		if r.start(start); o.on && isProc(o.p) {
			r.procs[o.p].begin(o.at)
		}
	case opWorld:
		if r.stopped = o.on; !r.stopped {
			r.restart()
			r.wakep(model.NoGoroutine, model.NoProc, model.OriginUnknown)
		}
		return
	default:
		if !r.change(o) {
			return
		}
	}
	if !r.alone() {
		r.settle(start)
		return
	}
	h := r.hypotheses[0]
	h.cost = 0 // what counts is the difference from others
	if len(h.log) > 0 {
		r.report(h)
	}
	if start != nil {
		r.reportStart(start, &h.positions[start.slot].path, h.tickOf(start.P))
	}
	if len(h.touched) > 0 {
		h.noteLengths()
	}
}

// ready puts a runnable where the runtime puts it, and follows what that makes it wake.
func (r *replay) ready(s *runnable) {
	r.grow(s.proc)
	r.grow(s.P)
	r.admit(s)
	if l := s.injected; l != nil {
		if s.entry == entryPoll && !l.weighed {
			l.weigh(r.ops)
			for _, x := range l.runnables {
				r.admit(x)
			}
		}
		r.complete = !l.done && l.complete(s)
		l.done = l.done || r.complete
	}
	for _, h := range r.hypotheses {
		h.ready(s)
	}
	wakes := s.Origin != model.OriginSyscall && s.Origin != model.OriginGoyield && s.how == SourceUnknown
	switch l := s.injected; {
	case l == nil:
	case s.timed:
		wakes = true
	case !r.complete:
		wakes = false
	default:
		n := r.split
		if wakes = s.proc != model.NoProc && r.injectWakes; s.proc == model.NoProc {
			r.list = l.queued(r.list[:0])
			n = len(r.list)
		}
		r.signal(n, trigger{at: r.now, g: s.G, byP: s.proc, origin: s.Origin})
	}
	if wakes {
		r.wakep(s.G, s.proc, s.Origin)
	}
}

// start ends a runnable, and follows what a thread makes the runtime wake that has found
// something.
func (r *replay) start(s *runnable) {
	r.grow(s.P)
	r.admit(s)
	for _, h := range r.hypotheses {
		h.start(s)
	}
	if isProc(s.P) {
		if r.woken(s.P, true); r.procs[s.P].end(r.now) || s.how == SourceSystem {
			r.wakep(s.G, s.P, s.Origin)
		}
	}
	r.free(s)
}

// free takes the slot of a runnable that is over.
func (r *replay) free(s *runnable) {
	s.over = true
	r.unused[r.left] = s.slot
	r.left++
}

// change carries out what changes the procs, and the end of a runnable without a start; it
// returns false if that is out of reason.
func (r *replay) change(o *op) bool {
	if (o.kind == opIdle || o.kind == opBusy || o.kind == opDrain) && !r.grow(o.p) {
		return false
	}
	switch o.kind {
	case opIdle:
		r.woken(o.p, false)
		r.procs[o.p].end(r.now)
		// A proc taken from a system call is given to another thread at once, if it has
		// something to run (runtime/proc.go: handoffp).
		if g, h := o.acquired, r.hypotheses[0]; g.taken && g.known && g.kind == acquiredWoken && (h.proc(o.p).busy() || h.global.len() > 0) {
			g.kind = acquiredHandoff
		}
		r.setIdle(o.p, o.acquired)
	case opBusy:
		r.acquire(o.p, o.acquired) // before the last idle one's end makes all signals void
		r.setIdle(o.p, nil)
	case opDrain:
		r.procs[o.p].drains, r.procs[o.p].worked = o.on, o.at
	case opProcs:
		r.nprocs = int(o.p)
		for i := r.nprocs; i < len(r.procs); i++ {
			r.setIdle(model.ProcID(i), nil)
		}
	}
	for _, h := range r.hypotheses {
		h.change(o)
	}
	if o.kind == opGone {
		r.free(o.runnable)
	}
	return true
}

// setIdle makes a proc idle until end, or with nil not idle.
func (r *replay) setIdle(p model.ProcID, end *acquired) {
	x := &r.procs[p]
	if (x.idle == nil) == (end == nil) {
		return
	}
	if x.idle = end; end == nil {
		r.idling--
		return
	}
	r.idling++
	r.wakes.order++
	end.order = r.wakes.order
}

// most returns how many hypotheses are kept side by side: fewer where there are very
// many procs or goroutines, so that copying them does not take long.
func (r *replay) most() int {
	return max(1, min(maxHypotheses, 4096/max(1, len(r.procs)), 1<<18/max(1, len(r.runnables))))
}

// mayFork reports whether another copy can be looked after.
func (h *hypothesis) mayFork() bool {
	return h.r.effort > effortReserve && len(h.r.fresh) < h.r.most()-1
}

// fork returns a copy of h, in which another explanation is tried.
func (r *replay) fork(h *hypothesis) *hypothesis {
	var c *hypothesis
	if n := len(r.spare); n > 0 {
		c, r.spare = r.spare[n-1], r.spare[:n-1]
	} else {
		c = new(hypothesis)
	}
	c.copyFrom(h)
	r.fresh = append(r.fresh, c)
	return c
}

// alone reports whether there is one hypothesis, so that what happens in it can be reported at
// once. The last that an operation does in a hypothesis is to account for a start.
func (r *replay) alone() bool { return len(r.hypotheses) == 1 && len(r.fresh) == 0 }

// settle gives up, of several hypotheses, those that are too unlikely, or equal to a likelier one,
// and reports what the remaining ones agree on. All have accounted for a start, if there is one.
func (r *replay) settle(start *runnable) {
	if len(r.fresh) > 0 {
		r.hypotheses, r.fresh = append(r.hypotheses, r.fresh...), r.fresh[:0]
	}
	sorted, before := true, r.hypotheses[0].cost
	for _, h := range r.hypotheses {
		if start != nil {
			h.logStart(start)
		}
		if len(h.touched) > 0 {
			h.noteLengths()
		}
		sorted, before = sorted && before <= h.cost, h.cost
	}
	if !sorted {
		slices.SortStableFunc(r.hypotheses, func(a, b *hypothesis) int { return cmp.Compare(a.cost, b.cost) })
	}
	kept, most := r.hypotheses[:1], r.most() // written at most as far as the loop has read
	for _, h := range r.hypotheses[1:] {
		i := 0
		for i < len(kept) && !h.equal(kept[i]) {
			i++
		}
		if i < len(kept) && h.cost-kept[i].cost <= likely {
			kept[i].doubtQueued(h)
		}
		if i < len(kept) || len(kept) >= most || h.cost > kept[0].cost+maxBehind {
			r.giveUp(kept, h)
			continue
		}
		kept = append(kept, h)
	}
	r.hypotheses = kept
	best := kept[0]
	if len(kept) > 1 && r.undecided > maxUndecided {
		for _, h := range kept[1:] {
			r.giveUp(kept[:1], h)
		}
		r.hypotheses = kept[:1]
	}
	if r.undecided++; len(r.hypotheses) == 1 {
		r.report(best)
		r.takeBack(best)
		r.undecided = 0
	}
	if base := best.cost; base != 0 {
		for _, h := range r.hypotheses {
			h.cost -= base
		}
	}
}

// giveUp drops h. What it explains in another way than a hypothesis that is kept and that is
// about as likely is in doubt.
func (r *replay) giveUp(kept []*hypothesis, h *hypothesis) {
	for _, k := range kept {
		if h.cost-k.cost <= likely {
			k.doubt(h, kept[0])
		}
	}
	r.drop(h)
}

// drop takes back a hypothesis that is given up.
func (r *replay) drop(h *hypothesis) {
	h.log, h.sealed = h.log[:0], nil
	r.spare = append(r.spare, h)
}

// finish reports what is held back.
func (r *replay) finish() {
	for _, h := range r.hypotheses[1:] {
		r.giveUp(r.hypotheses[:1], h)
	}
	r.report(r.hypotheses[0])
}
