package runqueue

import (
	"slices"

	"github.com/schedscope/schedscope/model"
)

// Sizes and rates of the runtime (runtime/runtime2.go: p.runq, proc.go).
const (
	localSize  = 256
	batchMax   = localSize / 2
	fairnessOf = 61
)

// hypothesis is one hypothesis of what stands where. Usually there is one; where
// several explanations fit, hypotheses are kept side by side until what follows
// decides between them.
type hypothesis struct {
	procs     []queues
	global    fifo
	coming    []slot     // on the way into the global queue: their threads stand still
	positions []position // by slot
	grabbed   model.Time // latest start from the global queue
	cost      cost       // of the rules that it breaks, and of the unlikely that it assumes
	log       []finding
	sealed    *segment       // what was logged before
	clearing  bool           // a thief's own queue, on the way to its steal
	from      model.Time     // between from and until
	until     model.Time     // the operation under way takes effect,
	mover     model.ThreadID // and this thread does it
	touched   []model.ProcID // whose queues may have changed
	all       reported       // of the global queue
	// The same in all hypotheses, and read only.
	r *replay
}

// queues are those of one proc.
type queues struct {
	next     slot
	q        fifo
	tick     tick
	of       int // length of the global queue when it took its latest batch there
	reported reported
}

// position is where a runnable stands and how it came there.
type position struct {
	path
	place     Place
	explained bool // the start was accounted for before its event
	timed     bool // woken by a timer, not by the poll that it looks like
	passed    bool // one behind it in its queue has come first
	lost      bool // not where it was thought to be
	at        model.ProcID
	from      model.Time     // between from and until it came into the global queue last, or into its first one,
	until     model.Time     // and
	mover     model.ThreadID // put it there
	moved     model.Time     // it stands where it stands since then at the latest; lost: it was found to be so then
}

// nowhere is where a runnable stands at first.
var nowhere = position{at: model.NoProc, path: path{queueP: model.NoProc, fromP: model.NoProc, lastP: model.NoProc}}

// path is what is reported of how a runnable came where it stands, and of how it was taken
// from there.
type path struct {
	enqueued Place
	via      Via
	source   Source // set with explained
	taken    Source // the same, but of a locked goroutine how the other thread found it
	grade    Grade
	choices  uint8 // how many likely hypotheses explain its start in different ways; 0: all alike
	plain    bool  // see [Start.Plain]
	fair     bool  // taken because of the 61st tick, before so many in the local queue:
	ahead    int16
	batch    int16
	queueP   model.ProcID
	fromP    model.ProcID
	lastP    model.ProcID
	before   *Decision // the state before it was taken, if somebody wants to know and it is not plain
}

// pay adds a cost to a hypothesis and to the evidence for a start.
func (h *hypothesis) pay(c cost, x *position) {
	h.cost += c
	switch {
	case c >= costDisorder:
		x.grade = max(x.grade, GradeContradicted)
	case c > 0:
		x.grade = max(x.grade, GradeUnique)
	}
}

// cost measures unlikeliness in tenths of the natural logarithm.
type cost int32

// Costs of what a hypothesis may assume. They need not be exact: a wrong hypothesis soon
// breaks a rule that no likely assumption mends.
const (
	costOrder    cost = 10  // enqueued in another order than seen, within the time that the trace leaves open
	costLate     cost = 50  // enqueued later than usual after the event
	costDisorder cost = 60  // the same against what the trace shows
	costTick     cost = 41  // that this is the 61st tick, of which nothing is known: ln 61
	costSize     cost = 30  // a batch of one more or less than the lengths say
	costBroken   cost = 80  // a rule of the runtime broken
	costLone     cost = 100 // a goroutine was somewhere else altogether
	costStays    cost = 10  // a mark worker kept its proc's queue at the end of marking
	costDrain    cost = 20  // a mark worker gave away its proc's queue
)

// copyFrom makes h equal to o, reusing its memory.
func (h *hypothesis) copyFrom(o *hypothesis) {
	o.r.spend((len(o.positions) + o.global.len()) / 4)
	h.r, h.cost, h.grabbed, h.from, h.until, h.mover = o.r, o.cost, o.grabbed, o.from, o.until, o.mover
	h.positions = append(h.positions[:0], o.positions...)
	o.seal()
	h.log, h.sealed = h.log[:0], o.sealed
	h.global.copyFrom(&o.global)
	h.coming = append(h.coming[:0], o.coming...)
	h.touched, h.all = append(h.touched[:0], o.touched...), o.all
	for len(h.procs) < len(o.procs) {
		h.procs = append(h.procs, queues{next: noSlot, tick: newTick()})
	}
	for i := range o.procs {
		a, b := &h.procs[i], &o.procs[i]
		a.next, a.tick, a.of, a.reported = b.next, b.tick, b.of, b.reported
		a.q.copyFrom(&b.q)
	}
}

// equal reports whether the same stands in the queues of both hypotheses. Their
// procs may differ in schedtick and in how things came where they stand: the
// likelier hypothesis is right about that too.
func (h *hypothesis) equal(o *hypothesis) bool {
	h.r.spend(h.global.len() / 16)
	if !h.global.equal(&o.global) || !slices.Equal(h.coming, o.coming) {
		return false
	}
	for i := range h.procs {
		a, b := &h.procs[i], &o.procs[i]
		if a.next != b.next || !a.q.equal(&b.q) {
			return false
		}
	}
	return true
}

func (h *hypothesis) runnable(s slot) *runnable { return h.r.runnables[s] }

// proc returns the queues of a proc.
func (h *hypothesis) proc(id model.ProcID) *queues { return &h.procs[id] }

// busy reports whether something stands in the proc's own queues.
func (p *queues) busy() bool { return p.next != noSlot || p.q.len() > 0 }

// put records where a runnable stands, and where it stood first.
func (h *hypothesis) put(s slot, where Place, p model.ProcID) *position {
	x := &h.positions[s]
	x.place, x.at, x.moved = where, p, h.until
	if x.enqueued == PlaceUnknown || where == PlaceGlobal {
		x.from, x.until, x.mover = h.from, min(h.until, h.from+putWithin), h.mover
	}
	if x.enqueued == PlaceUnknown {
		x.enqueued, x.queueP = where, p
	}
	h.touch(p)
	return x
}

// putWithin is more than a thread takes to put a goroutine into a queue, unless the
// operating system stops it just then.
const putWithin = 10_000

func (h *hypothesis) putGlobal(s slot) {
	h.put(s, PlaceGlobal, model.NoProc).via = ViaNone
	h.global.push(s)
}

// putNext puts a runnable into runnext and what was there at the tail
// (runtime/proc.go: runqput).
func (h *hypothesis) putNext(p model.ProcID, s slot) {
	q := &h.procs[p]
	kicked := q.next
	if kicked != noSlot && h.nextStolen(p, kicked) {
		kicked = noSlot
	}
	q.next = s
	h.inNext(p, &h.positions[s])
	if h.r.obs.wantNext() || !q.reported.once {
		h.touch(p)
	}
	if kicked != noSlot {
		h.putTail(p, kicked, ViaOwn)
	}
}

// inNext notes that a runnable stands in runnext first.
func (h *hypothesis) inNext(p model.ProcID, x *position) {
	x.place, x.at, x.moved, x.via, x.enqueued, x.queueP = PlaceRunnext, p, h.until, ViaOwn, PlaceRunnext, p
	x.from, x.until, x.mover = h.from, min(h.until, h.from+putWithin), h.mover
}

// putTail puts a runnable at the tail of the local queue, or half of a full queue
// and the runnable into the global one (runtime/proc.go: runqputslow).
func (h *hypothesis) putTail(p model.ProcID, s slot, via Via) {
	q := &h.proc(p).q
	if q.len() >= localSize {
		g := GradeUnique
		if h.mayFork() && h.lastTaken(p, q.items(), localSize, nil) >= 0 {
			c := h.r.fork(h)
			c.stealsInFlight(p, localSize)
			c.putTail(p, s, via)
			g = GradeChosen
		}
		h.overflow(p, s, g)
		return
	}
	h.put(s, PlaceLocal, p).via = via
	q.push(s)
}

func (h *hypothesis) overflow(p model.ProcID, s slot, g Grade) {
	q := &h.proc(p).q
	h.touch(p)
	for _, x := range q.items()[:batchMax] {
		h.putGlobal(x)
	}
	q.drop(batchMax)
	h.putGlobal(s)
	h.note(logOverflow, p, nil, batchMax+1, 0)
	h.log[len(h.log)-1].path.grade = g
}

// putList appends a list to the local queue; what does not fit goes to the
// global queue (runtime/proc.go: runqputbatch).
func (h *hypothesis) putList(p model.ProcID, s slot, via Via) {
	if h.proc(p).q.len() >= localSize {
		h.putGlobal(s)
		return
	}
	h.put(s, PlaceLocal, p).via = via
	h.proc(p).q.push(s)
}

// take removes a runnable from where it stands.
func (h *hypothesis) take(s slot) {
	x := &h.positions[s]
	switch x.place {
	case PlaceRunnext:
		q := h.proc(x.at)
		if q.next == s {
			q.next = noSlot
		}
		if h.r.obs.wantNext() {
			h.touch(x.at)
		}
	case PlaceLocal:
		h.touch(x.at)
		q := &h.proc(x.at).q
		if i := q.index(s); i >= 0 {
			q.removeAt(i)
		}
	case PlaceGlobal:
		h.touch(x.at)
		h.r.spend(h.global.len() / 16)
		if i := h.global.index(s); i >= 0 {
			h.global.removeAt(i)
		} else if i := slices.Index(h.coming, s); i >= 0 {
			h.coming = slices.Delete(h.coming, i, i+1)
		}
	}
	x.lastP = x.at
	x.place, x.at = PlaceNone, model.NoProc
}

// takesEffect says when the operation under way does, between from and until, and
// whose it is.
func (h *hypothesis) takesEffect(from, until model.Time, by model.ThreadID) {
	h.from, h.until, h.mover = from, until, by
}

// resize moves what stands in the queues of procs that cease to exist to the
// head of the global queue (runtime/proc.go: (*p).destroy).
func (h *hypothesis) resize(n int) {
	h.takesEffect(h.r.now, h.r.now, model.NoThread)
	for i := min(n, len(h.procs)); i < len(h.procs); i++ {
		q := &h.procs[i]
		if !q.busy() {
			continue
		}
		var list []slot
		if q.next != noSlot {
			list = append(list, q.next)
		}
		list = append(list, q.q.items()...)
		for _, s := range list {
			h.put(s, PlaceGlobal, model.NoProc).via = ViaNone
		}
		h.global.unshift(list)
		q.next, q.q = noSlot, fifo{}
		h.touch(model.ProcID(i))
	}
}
