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

// world is one hypothesis of what stands where. Usually there is one; where
// several explanations fit, worlds are kept side by side until what follows
// decides between them.
type world struct {
	procs    []queues
	global   fifo
	coming   []slot     // on the way into the global queue: their threads stand still
	spots    []spot     // by slot
	grabbed  model.Time // latest start from the global queue
	cost     cost       // of the rules that it breaks, and of the unlikely that it assumes
	begun    *stay      // its start is accounted for, but not in the log yet
	log      []finding
	sealed   *segment       // what was logged before
	clearing bool           // a thief's own queue, on the way to its steal
	from     model.Time     // between from and until
	until    model.Time     // the operation under way takes effect,
	mover    model.ThreadID // and this thread does it
	touched  []model.ProcID // whose queues may have changed
	all      told           // of the global queue
	// The same in all worlds, and read only.
	r *replay
}

// queues are those of one proc.
type queues struct {
	next slot
	q    fifo
	tick tick
	of   int // length of the global queue when it took its latest batch there
	told told
}

// spot is where a stay stands and how it came there.
type spot struct {
	way
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

// nowhere is where a stay stands at first.
var nowhere = spot{at: model.NoProc, way: way{queueP: model.NoProc, fromP: model.NoProc, lastP: model.NoProc}}

// way is what is reported of how a stay came where it stands, and of how it was taken
// from there.
type way struct {
	enqueued Place
	via      Via
	source   Source // set with explained
	taken    Source // the same, but of a locked goroutine how the other thread found it
	grade    Grade
	choices  uint8 // how many likely worlds explain its start in different ways; 0: all alike
	fair     bool  // taken because of the 61st tick, before so many in the local queue:
	ahead    int16
	batch    int16
	queueP   model.ProcID
	fromP    model.ProcID
	lastP    model.ProcID
	plain    bool      // see [Start.Plain]
	before   *Decision // the state before it was taken, if somebody wants to know and it is not plain
}

// pay adds a cost to a world and to the evidence for a start.
func (w *world) pay(c cost, x *spot) {
	w.cost += c
	switch {
	case c >= costDisorder:
		x.grade = max(x.grade, GradeContradicted)
	case c > 0:
		x.grade = max(x.grade, GradeUnique)
	}
}

// cost measures unlikeliness in tenths of the natural logarithm.
type cost int32

// Costs of what a world may assume. They need not be exact: a wrong world soon
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

// copyFrom makes w equal to o, reusing its memory.
func (w *world) copyFrom(o *world) {
	o.r.spend((len(o.spots) + o.global.len()) / 4)
	w.r, w.cost, w.grabbed, w.from, w.until, w.mover = o.r, o.cost, o.grabbed, o.from, o.until, o.mover
	w.spots = append(w.spots[:0], o.spots...)
	o.seal()
	w.log, w.sealed = w.log[:0], o.sealed
	w.global.copyFrom(&o.global)
	w.coming = append(w.coming[:0], o.coming...)
	w.touched, w.all = append(w.touched[:0], o.touched...), o.all
	for len(w.procs) < len(o.procs) {
		w.procs = append(w.procs, queues{next: noSlot, tick: newTick()})
	}
	for i := range o.procs {
		a, b := &w.procs[i], &o.procs[i]
		a.next, a.tick, a.of, a.told = b.next, b.tick, b.of, b.told
		a.q.copyFrom(&b.q)
	}
}

// equal reports whether the same stands in the queues of both worlds. Their
// procs may differ in schedtick and in how things came where they stand: the
// likelier world is right about that too.
func (w *world) equal(o *world) bool {
	w.r.spend(w.global.len() / 16)
	if !slices.Equal(w.global.items(), o.global.items()) || !slices.Equal(w.coming, o.coming) {
		return false
	}
	for i := range w.procs {
		a, b := &w.procs[i], &o.procs[i]
		if a.next != b.next || !slices.Equal(a.q.items(), b.q.items()) {
			return false
		}
	}
	return true
}

func (w *world) stay(s slot) *stay { return w.r.stays[s] }

// proc returns the queues of a proc.
func (w *world) proc(id model.ProcID) *queues { return &w.procs[id] }

// busy reports whether something stands in the proc's own queues.
func (p *queues) busy() bool { return p.next != noSlot || p.q.len() > 0 }

// put records where a stay stands, and where it stood first.
func (w *world) put(s slot, where Place, p model.ProcID) *spot {
	x := &w.spots[s]
	x.place, x.at, x.moved = where, p, w.until
	if where == PlaceRunnext {
		w.touchNext(p)
	} else {
		w.touch(p)
	}
	if x.enqueued == PlaceUnknown || where == PlaceGlobal {
		x.from, x.until, x.mover = w.from, min(w.until, w.from+putWithin), w.mover
	}
	if x.enqueued == PlaceUnknown {
		x.enqueued, x.queueP = where, p
	}
	return x
}

// putWithin is more than a thread takes to put a goroutine into a queue, unless the
// operating system stops it just then.
const putWithin = 10_000

func (w *world) putGlobal(s slot) {
	w.put(s, PlaceGlobal, model.NoProc).via = ViaNone
	w.global.push(s)
}

// putNext puts a stay into runnext and what was there at the tail
// (runtime/proc.go: runqput).
func (w *world) putNext(p model.ProcID, s slot) {
	q := w.proc(p)
	kicked := q.next
	if kicked != noSlot && w.nextStolen(p, kicked) {
		kicked = noSlot
	}
	q.next = s
	w.put(s, PlaceRunnext, p).via = ViaOwn
	if kicked != noSlot {
		w.putTail(p, kicked, ViaOwn)
	}
}

// putTail puts a stay at the tail of the local queue, or half of a full queue
// and the stay into the global one (runtime/proc.go: runqputslow).
func (w *world) putTail(p model.ProcID, s slot, via Via) {
	q := &w.proc(p).q
	if q.len() >= localSize {
		g := GradeUnique
		if w.mayFork() && w.lastTaken(p, q.items(), localSize) >= 0 {
			c := w.r.fork(w)
			c.stealsInFlight(p, localSize)
			c.putTail(p, s, via)
			g = GradeChosen
		}
		w.overflow(p, s, g)
		return
	}
	w.put(s, PlaceLocal, p).via = via
	q.push(s)
}

func (w *world) overflow(p model.ProcID, s slot, g Grade) {
	q := &w.proc(p).q
	w.touch(p)
	for _, x := range q.items()[:batchMax] {
		w.putGlobal(x)
	}
	q.drop(batchMax)
	w.putGlobal(s)
	w.note(logOverflow, p, nil, batchMax+1, 0)
	w.log[len(w.log)-1].way.grade = g
}

// putList appends a list to the local queue; what does not fit goes to the
// global queue (runtime/proc.go: runqputbatch).
func (w *world) putList(p model.ProcID, s slot, via Via) {
	if w.proc(p).q.len() >= localSize {
		w.putGlobal(s)
		return
	}
	w.put(s, PlaceLocal, p).via = via
	w.proc(p).q.push(s)
}

// take removes a stay from where it stands.
func (w *world) take(s slot) {
	x := &w.spots[s]
	switch x.place {
	case PlaceRunnext:
		w.touchNext(x.at)
		if q := w.proc(x.at); q.next == s {
			q.next = noSlot
		}
	case PlaceLocal:
		w.touch(x.at)
		q := &w.proc(x.at).q
		if i := q.index(s); i >= 0 {
			q.removeAt(i)
		}
	case PlaceGlobal:
		w.touch(x.at)
		w.r.spend(w.global.len() / 16)
		if i := w.global.index(s); i >= 0 {
			w.global.removeAt(i)
		} else if i := slices.Index(w.coming, s); i >= 0 {
			w.coming = slices.Delete(w.coming, i, i+1)
		}
	}
	x.lastP = x.at
	x.place, x.at = PlaceNone, model.NoProc
}

// takesEffect says when the operation under way does, between from and until, and
// whose it is.
func (w *world) takesEffect(from, until model.Time, by model.ThreadID) {
	w.from, w.until, w.mover = from, until, by
}

// resize moves what stands in the queues of procs that cease to exist to the
// head of the global queue (runtime/proc.go: (*p).destroy).
func (w *world) resize(n int) {
	w.takesEffect(w.r.now, w.r.now, model.NoThread)
	for i := min(n, len(w.procs)); i < len(w.procs); i++ {
		q := &w.procs[i]
		if !q.busy() {
			continue
		}
		var list []slot
		if q.next != noSlot {
			list = append(list, q.next)
		}
		list = append(list, q.q.items()...)
		for _, s := range list {
			w.put(s, PlaceGlobal, model.NoProc).via = ViaNone
		}
		w.global.unshift(list)
		q.next, q.q = noSlot, fifo{}
		w.touch(model.ProcID(i))
	}
}
