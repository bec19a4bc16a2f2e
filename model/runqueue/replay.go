package runqueue

import (
	"slices"

	"github.com/schedscope/schedscope/model"
)

// Sizes of the runtime (runtime/runtime2.go: p.runq, proc.go).
const (
	localSize  = 256
	batchMax   = localSize / 2
	fairnessOf = 61
)

// procState is one proc of the replay.
type procState struct {
	id    model.ProcID
	next  *stay
	q     []*stay
	idle  bool
	drain bool // runs a dedicated mark worker
	tick  tick
}

// replay holds the queues as they were at the latest operation replayed.
type replay struct {
	obs    *observers
	procs  []*procState
	nprocs int // GOMAXPROCS; 0 while unknown
	idle   int
	global []*stay
	now    model.Time
	out    Start
}

func newReplay(obs *observers) replay { return replay{obs: obs} }

const maxProcs = 1 << 16

// proc returns the state of a proc; nil for ids out of reason.
func (r *replay) proc(id model.ProcID) *procState {
	if id < 0 || id >= maxProcs {
		return nil
	}
	for int(id) >= len(r.procs) {
		r.procs = append(r.procs, &procState{id: model.ProcID(len(r.procs)), idle: false, tick: newTick()})
	}
	return r.procs[id]
}

// count returns the number of procs.
func (r *replay) count() int { return max(1, r.nprocs, len(r.procs)) }

func (r *replay) apply(o *op) {
	r.now = o.at
	switch o.kind {
	case opReady:
		r.ready(o.stay)
	case opStart:
		r.start(o.stay)
	case opIdle, opBusy:
		if p := r.proc(o.p); p != nil {
			r.setIdle(p, o.kind == opIdle)
		}
	case opDrain:
		if p := r.proc(o.p); p != nil {
			p.drain = o.n > 0
		}
	case opProcs:
		r.resize(o.n)
	}
}

func (r *replay) setIdle(p *procState, idle bool) {
	if p.idle == idle {
		return
	}
	p.idle = idle
	if idle {
		r.idle++
	} else {
		r.idle--
	}
}

// resize moves what stands in the queues of procs that cease to exist to the
// head of the global queue (runtime/proc.go: (*p).destroy).
func (r *replay) resize(n int) {
	r.nprocs = n
	for _, p := range r.procs[min(n, len(r.procs)):] {
		r.setIdle(p, false)
		list := p.q
		if p.next != nil {
			list = append([]*stay{p.next}, list...)
		}
		for _, s := range list {
			r.place(s, PlaceGlobal, model.NoProc)
		}
		r.global = append(slices.Clone(list), r.global...)
		p.next, p.q = nil, nil
	}
}

// place records where a stay stands, and where it stood first.
func (r *replay) place(s *stay, where Place, p model.ProcID) {
	s.place, s.at = where, p
	if s.enqueued == PlaceUnknown {
		s.enqueued, s.queueP = where, p
	}
}

// ready puts a stay where the runtime puts it.
func (r *replay) ready(s *stay) {
	if s.neverQueued() {
		s.place, s.enqueued = PlaceNone, PlaceNone
	}
	if s.list != nil {
		r.readyList(s.list)
		return
	}
	if s.place == PlaceNone {
		return
	}
	p := r.proc(s.proc)
	switch {
	case s.entry == entryUnknown, s.entry == entryNone:
	case p == nil || s.entry == entryGlobal:
		r.putGlobal(s)
	case s.entry == entryRunnext:
		r.putNext(p, s)
	default:
		r.putTail(p, s)
	}
}

// neverQueued reports whether the trace shows that the goroutine did not pass
// through a queue.
func (s *stay) neverQueued() bool {
	switch s.how {
	case SourceNetpoll, SourceSyscall, SourceSystem, SourceDirect, SourceCoroutine:
		return true
	}
	return false
}

func (r *replay) putGlobal(s *stay) {
	r.place(s, PlaceGlobal, model.NoProc)
	r.global = append(r.global, s)
}

// putNext puts a stay into runnext and what was there at the tail.
func (r *replay) putNext(p *procState, s *stay) {
	kicked := p.next
	p.next = s
	r.place(s, PlaceRunnext, p.id)
	s.via = ViaOwn
	if kicked != nil {
		r.stealNextInFlight(p, kicked)
		if kicked.explained {
			return
		}
		r.putTail(p, kicked)
	}
}

// stealNextInFlight accounts for a thief that has taken x out of runnext.
func (r *replay) stealNextInFlight(p *procState, x *stay) {
}

// putTail puts a stay at the tail of the local queue.
func (r *replay) putTail(p *procState, s *stay) {
	if len(p.q) >= localSize {
		r.stealsInFlight(p, len(p.q))
	}
	if len(p.q) >= localSize {
		r.overflow(p, s)
		return
	}
	if s.via == ViaNone {
		s.via = ViaOwn
	}
	r.place(s, PlaceLocal, p.id)
	p.q = append(p.q, s)
}

// overflow moves half of a full queue, and s, to the global queue
// (runtime/proc.go: runqputslow).
func (r *replay) overflow(p *procState, s *stay) {
	out := append(slices.Clone(p.q[:batchMax]), s)
	p.q = slices.Delete(p.q, 0, batchMax)
	for _, x := range out {
		r.place(x, PlaceGlobal, model.NoProc)
		x.via = ViaNone
	}
	r.global = append(r.global, out...)
	for _, o := range r.obs.overflow {
		o.Overflow(&Overflow{Time: r.now, P: p.id, Size: len(out), Grade: GradeUnique})
	}
}

// readyList puts a list of goroutines into queues once its last one was seen.
func (r *replay) readyList(l *list) {
	if l.seen++; l.seen < len(l.stays) {
		return
	}
	l.done = true
	var rest []*stay
	for _, s := range l.stays {
		if !s.neverQueued() {
			rest = append(rest, s)
		}
	}
	last := l.stays[len(l.stays)-1]
	p := r.proc(last.proc)
	if p == nil {
		for _, s := range rest {
			r.putGlobal(s)
		}
		return
	}
	if last.entry == entryPoll && last.how != SourceNetpoll {
		// Not the list of a poll, which ends with the one that runs at once: deadlines.
		for _, s := range rest {
			r.putNext(p, s)
		}
		return
	}
	r.inject(p, last, rest)
}

// inject splits a list between the global and the local queue (runtime/proc.go:
// injectglist): as many go to the global queue as there are idle procs.
func (r *replay) inject(p *procState, last *stay, list []*stay) {
	k := r.splitList(p, list)
	for i, s := range list {
		if i < k {
			r.putGlobal(s)
			continue
		}
		s.via = ViaOwn
		if last.origin == model.OriginNetpoll {
			s.via = ViaNetpoll
		}
		if len(p.q) >= localSize {
			r.putGlobal(s) // runqputbatch leaves the rest
			continue
		}
		r.place(s, PlaceLocal, p.id)
		p.q = append(p.q, s)
	}
}

// splitList decides how many of a list went to the global queue. A proc whose
// thread was already woken still looks idle in the trace, so the count of idle
// procs is only an upper bound: one that then ran on p itself went there
// directly, unless p had nothing else to do.
func (r *replay) splitList(p *procState, list []*stay) int {
	k := min(r.idle, len(list))
	best, fewest := k, len(list)+1
	for n := k; n >= 0; n-- {
		wrong := 0
		for i, s := range list {
			if s.started && (s.p == p.id) != (i >= n) {
				wrong++
			}
		}
		if wrong < fewest {
			best, fewest = n, wrong
		}
	}
	return best
}
