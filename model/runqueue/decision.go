package runqueue

import (
	"slices"

	"github.com/schedscope/schedscope/model"
)

// Decision is the state of the queues just before a proc took a goroutine to
// run it: what the scheduler had before it, as far as the trace shows. It is for
// those who ask what a scheduler by the rules would have done.
//
// Takes that came before but show only later, because a thief or a proc with a
// batch shows its start late, are not carried out in it; see Queue.Taken.
type Decision struct {
	Ordinal int // of the start among all, from 0
	// Start is what the Resolver made of it in the end.
	Start *Start

	Time     model.Time // of the start
	Now      model.Time // of the state: Time, or before if the goroutine was taken earlier than it shows
	G        model.GoID
	M        model.ThreadID
	P        model.ProcID
	Since    model.Time // when G became runnable
	Origin   model.Origin
	Search   model.Time // latest event of M before
	Earliest model.Time // no later than when somebody began to look for work for P
	// Open: G was runnable when the trace began. Blind: what woke it is not known.
	Open, Blind bool

	// Where G stands, on which proc, and how many before it. Lost: another start,
	// which the rules forbid otherwise, showed that it cannot stand where it was put.
	// Grade is that of how it came to stand there.
	Place  Place
	At     model.ProcID
	Index  int
	Lost   bool
	LostAt model.Time
	Grade  Grade // of the evidence for that it stands there

	Next      model.GoID // in P's runnext
	NextTaken bool       // a thief may have taken it out already
	// NextUnsure: it may not be there at all, since a timer may have woken it as well as
	// the network poller.
	NextUnsure bool
	Own        Queue // P's local queue
	Global     Queue
	Victim     Queue // the local queue of At, if that is another proc

	// Tick is P's schedtick modulo 61 before the start, -1 while it rests on one pick, or two picks do
	// not agree on it.
	Tick int

	// Passed are the first of those that stand before G and are still there when all
	// that may have been taken are; there are Over of them.
	Passed [4]Standing
	Over   int

	Procs   int  // GOMAXPROCS
	Idle    int  // idle procs
	Queues  int  // other procs with something in their local queue since before Earliest
	Nexts   int  // other procs with something in runnext alone
	Contend bool // another proc may have changed the global queue while M was looking
	Drained bool // a dedicated mark worker ran on At or P since G became runnable

	kept bool // of those that were lent: a position has it
}

// Queue is the contents of a local or the global queue, without runnext.
type Queue struct {
	Len int
	// Taken is how many from its head others may have taken already, by what they
	// start soon after.
	Taken int
	// Least is how many were surely there when M began to look for work.
	Least int
	// Since is when the first that was not taken became runnable, and Until when it
	// was in the queue at the latest; 0 if there is none.
	Since, Until model.Time
	Head         [4]model.GoID // NoGoroutine beyond the end
}

// Standing is a goroutine in a queue.
type Standing struct {
	G     model.GoID
	Since model.Time
	Until model.Time // it was in its queue by then
	// Start is when it ran, on Proc, as far as known at that time; 0: not known.
	Start model.Time
	Proc  model.ProcID
}

// Left returns how many stand in the queue when all that may have been taken are.
func (q *Queue) Left() int { return q.Len - q.Taken }

// wantViews reports whether somebody wants to know the state before each start.
func (r *replay) wantViews() bool { return len(r.obs.decision) > 0 }

// newView lends a Decision, whatever it holds.
func (r *replay) newView() *Decision {
	var d *Decision
	if n := len(r.views) - 1; n < 0 {
		d = new(Decision)
	} else {
		d, r.views = r.views[n], r.views[:n]
	}
	r.lent = append(r.lent, d)
	return d
}

// takeBack takes back what was lent to hypotheses that were given up, or was reported. h is the only one left, and
// what it has logged is reported.
func (r *replay) takeBack(h *hypothesis) {
	if len(r.lent) < max(64, len(h.positions)/4) {
		return
	}
	for i := range h.positions {
		if d := h.positions[i].before; d != nil {
			d.kept = true
		}
	}
	r.lent = slices.DeleteFunc(r.lent, func(d *Decision) bool {
		if d.kept {
			d.kept = false
			return false
		}
		r.views = append(r.views, d)
		return true
	})
}

// view returns the state before s is taken for proc s.p.
func (h *hypothesis) view(s *runnable) *Decision {
	d := h.r.newView()
	*d = Decision{} // what is put together first is copied
	d.Ordinal, d.Time, d.Now, d.G, d.M, d.P, d.Since, d.Origin = s.Ordinal, s.Time, h.r.now, s.G, s.M, s.P, s.Since, s.Origin
	d.Search, d.Earliest, d.Open, d.Blind = s.Search, s.earliest, s.OpenStart, s.blind
	d.Next, d.Procs, d.Idle = model.NoGoroutine, h.r.count(), h.r.idling
	x := &h.positions[s.slot]
	d.Place, d.At, d.Lost, d.Grade = x.place, x.at, x.lost, x.grade
	if x.lost {
		d.LostAt = x.moved
	}
	if !isProc(s.P) {
		return d
	}
	q := h.proc(s.P)
	d.Tick = -1
	if q.tick.sure && q.tick.firm() {
		d.Tick = q.tick.since()
	}
	if q.next != noSlot {
		n := h.runnable(q.next)
		d.Next = n.G
		d.NextTaken = n != s && n.started && n.how == SourceUnknown && n.P != s.P && n.earliest <= h.r.now
		d.NextUnsure = n.timed || n.blind || n.entry == entryPoll
	}
	h.viewQueue(&d.Own, &q.q, s, s.P)
	h.viewGlobal(&d.Global, s)
	switch {
	case x.place == PlaceLocal && x.at == s.P:
		d.Index = q.q.index(s.slot)
		h.passed(d, q.q.items(), d.Own.Taken)
	case x.place == PlaceLocal:
		v := &h.proc(x.at).q
		d.Index = v.index(s.slot)
		h.viewQueue(&d.Victim, v, s, x.at)
		if n := h.proc(x.at).next; n != noSlot && h.positions[n].moved > s.earliest && d.Victim.Least == d.Victim.Len {
			d.Victim.Least-- // what comes into runnext kicks out the last one
		}
	case x.place == PlaceRunnext && x.at != s.P:
		h.viewQueue(&d.Victim, &h.proc(x.at).q, s, x.at)
	case x.place == PlaceGlobal:
		if d.Index = h.global.index(s.slot); d.Index < 0 { // it was on the way, and is there now
			d.Index = 0
			d.Global.Len++
		}
		h.passed(d, h.global.items(), d.Global.Taken)
		d.Contend = h.contended(s.P, s)
	}
	for _, p := range [...]model.ProcID{s.P, x.at} {
		d.Drained = d.Drained || isProc(p) && int(p) < len(h.r.procs) && (h.r.procs[p].drains || h.r.procs[p].worked >= s.Since)
	}
	if q.q.len() == 0 || x.at != s.P {
		for i := range h.procs {
			switch o := &h.procs[i]; {
			case model.ProcID(i) == s.P:
			case o.q.len() > 0 && (h.positions[o.q.items()[0]].moved <= s.earliest || x.place == PlaceLocal && model.ProcID(i) == x.at):
				d.Queues++
			case o.next != noSlot && o.q.len() == 0 || x.place == PlaceRunnext && model.ProcID(i) == x.at:
				d.Nexts++
			}
		}
	}
	return d
}

// noteBefore notes the state before x is taken, earlier than its start shows.
func (h *hypothesis) noteBefore(x *runnable) {
	if h.r.wantViews() {
		h.positions[x.slot].before = h.view(x)
	}
}

// viewQueue describes the local queue of proc p.
func (h *hypothesis) viewQueue(v *Queue, q *fifo, s *runnable, p model.ProcID) {
	items := q.items()
	for n := 1; n > 0; v.Taken += n { // a thief may have taken them already
		n = h.lastTaken(p, items[v.Taken:], batchMax, s) + 1
	}
	h.viewItems(v, items, s)
}

// viewGlobal describes the global queue.
func (h *hypothesis) viewGlobal(v *Queue, s *runnable) {
	items := h.global.items()
	for v.Taken < len(items) {
		x := h.runnable(items[v.Taken])
		if x == s || !h.inFlight(x, model.NoProc) {
			break
		}
		size, n := len(items)-v.Taken, 1
		if !h.proc(x.P).busy() {
			n = h.r.batchOf(size)
		}
		v.Taken += n
	}
	h.viewItems(v, items, s)
}

func (h *hypothesis) viewItems(v *Queue, items []slot, s *runnable) {
	v.Len = len(items)
	for i := range v.Head {
		v.Head[i] = model.NoGoroutine
		if i < len(items) {
			v.Head[i] = h.runnable(items[i]).G
		}
	}
	for v.Least = len(items); v.Least > 0 && h.positions[items[v.Least-1]].moved > s.earliest; {
		v.Least--
	}
	if v.Taken < len(items) {
		x := h.runnable(items[v.Taken])
		v.Since, v.Until = x.Since, x.until
	}
}

// passed describes what stands before the goroutine and cannot have been taken.
func (h *hypothesis) passed(d *Decision, items []slot, taken int) {
	for i := taken; i < d.Index; i++ {
		if d.Over < len(d.Passed) {
			x := h.runnable(items[i])
			p := Standing{G: x.G, Since: x.Since, Until: x.until, Proc: model.NoProc}
			if x.started {
				p.Start, p.Proc = x.Time, x.P
			}
			d.Passed[d.Over] = p
		}
		d.Over++
	}
}
