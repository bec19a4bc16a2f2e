package requests

import (
	"slices"
	"sort"

	"github.com/schedscope/schedscope/model"
)

// goroutine is what is kept of a goroutine: the latest intervals that are over, and the one
// since then.
type goroutine struct {
	id      model.GoID
	fn      model.StringID // its start function, 0 if not known
	created model.Time     // have a meaning only if the creation was seen
	seen    bool
	creator *goroutine // nil: a timer, or forgotten
	timed   bool       // a timer created it

	segs    []segment
	base    Times // the total of the path where segs begin, or at since
	own     Times // of states, at since
	extra   Times // what the path has more than that, at since
	plain   int   // intervals since the latest with a wait or mark
	samples []sample
	ended   bool
	endedAt model.Time

	kind    Kind // since then; of Running while it assists: GC
	state   model.GoState
	assist  bool
	since   model.Time
	stack   model.StackID      // the latest that was seen
	proc    model.ProcID       // that it ran on
	last    *wait              // the latest that is over
	peers   *votes[*goroutine] // who writes what it reads; nil: nobody was asked for
	spawn   model.StackID      // of its creation
	*server                    // what it serves; nil: nothing
}

// segment is an interval of a goroutine in one state, up to where the next one begins.
type segment struct {
	from  model.Time
	wait  *wait         // resolved wait, or mark of the total; else nil
	stack model.StackID // where it blocked, or running, what was seen at the end
	proc  model.ProcID  // of Runnable and Running
	kind  Kind
}

// wait is a wait that is over, or (from == to) marks the total in a long run of other
// intervals.
type wait struct {
	from, to model.Time
	total    Times // of the path, at the end of the segment
	// by ended it: up to until the path is that of by, the rest is the kind's own. by is nil
	// if that is forgotten.
	by    *goroutine
	until model.Time
	kind  Kind
	link  *link
}

// link is the way from a wait to the one that its waker had before, if that ended while it
// lasted.
type link struct {
	to    *wait
	k     Times      // between the ends of the two
	jump  *wait      // far beyond
	kj    Times      // between the end of the wait and that of jump
	after model.Time // the latest beginning of the waits from to up to jump
	depth int32
}

type sample struct {
	at    model.Time
	stack model.StackID
}

const (
	markEvery = 16 // intervals between two marks of the total
	// maxBytes is how much intervals, waits and links may take.
	maxBytes     = 16 << 20
	segmentBytes = 32
	waitBytes    = 64 + int(NumKinds)*8
	linkBytes    = 48 + 2*int(NumKinds)*8
	// maxChain bounds the recursion over goroutines. What is beyond is unknown.
	maxChain = 1 << 14
)

// end returns where segs[i] ends.
func (g *goroutine) end(i int) model.Time {
	if i+1 < len(g.segs) {
		return g.segs[i+1].from
	}
	return g.since
}

// front returns from where on intervals are kept.
func (g *goroutine) front() model.Time {
	if len(g.segs) > 0 {
		return g.segs[0].from
	}
	return g.since
}

// before returns the kind of the time before what is kept of a goroutine without a creator.
func (g *goroutine) before(front model.Time) Kind {
	if g.timed && front == g.created {
		return Timer
	}
	return Unknown
}

// at returns the index of the interval that contains t, or len(segs) for the present one.
func (g *goroutine) at(t model.Time) int {
	if t >= g.since {
		return len(g.segs)
	}
	return sort.Search(len(g.segs), func(i int) bool { return g.segs[i].from > t }) - 1
}

// path returns the total of the path at since.
func (g *goroutine) path() Times {
	v := g.own
	v.add(&g.extra)
	return v
}

// totalAt returns the total of the path where segs[i] begins.
func (t *Tracker) totalAt(g *goroutine, i int) Times {
	j := i - 1
	for j >= 0 && g.segs[j].wait == nil {
		j--
	}
	v := g.base
	if j >= 0 {
		v = g.segs[j].wait.total
	}
	for j++; j < i; j++ {
		t.spend(&v, g.segs[j].kind, g.segs[j].from, g.end(j))
	}
	return v
}

// spend adds an interval that no waker explains.
func (t *Tracker) spend(v *Times, k Kind, from, to model.Time) {
	if k == Runnable {
		for _, s := range t.stopsIn(from, to) {
			stopped := min(s.to, to).Sub(max(s.from, from))
			v[STW] += stopped
			v[Runnable] -= stopped
		}
	}
	v[k] += to.Sub(from)
}

// total returns the total of g's path at time at, of which only differences have a meaning.
func (t *Tracker) total(g *goroutine, at model.Time) Times {
	if t.depth++; t.depth > maxChain {
		t.depth--
		return Times{Unknown: model.Duration(at)}
	}
	v := t.totalOf(g, at)
	t.depth--
	return v
}

func (t *Tracker) totalOf(g *goroutine, at model.Time) Times {
	if at >= g.since {
		v, k := g.path(), g.kind
		if g.ended {
			k = Unknown
		}
		t.spend(&v, k, g.since, at)
		return v
	}
	if front := g.front(); at < front {
		v := g.base
		if g.creator != nil && front == g.created && g.seen {
			before, then := t.total(g.creator, at), t.total(g.creator, g.created)
			v.add(&before)
			v.sub(&then)
		} else {
			v[g.before(front)] -= front.Sub(at)
		}
		return v
	}
	i := g.at(at)
	if s := &g.segs[i]; s.wait != nil && s.wait.to > s.wait.from {
		v, w := s.wait.total, t.rest(s.wait, at)
		v.sub(&w)
		return v
	}
	v := t.totalAt(g, i)
	t.spend(&v, g.segs[i].kind, g.segs[i].from, at)
	return v
}

// rest returns the path of a wait from time at, inside it, to its end.
func (t *Tracker) rest(w *wait, at model.Time) Times {
	var v Times
chain:
	for w.link != nil {
		switch l := w.link; {
		case l.after <= at && at < l.jump.to:
			v.add(&l.kj)
			w = l.jump
		case l.to.from <= at && at < l.to.to:
			v.add(&l.k)
			w = l.to
		default:
			break chain
		}
	}
	if w.by == nil || at >= w.until {
		v[w.kind] += w.to.Sub(at)
		return v
	}
	p, before := t.total(w.by, w.until), t.total(w.by, at)
	p.sub(&before)
	p.deeper()
	v.add(&p)
	v[w.kind] += w.to.Sub(w.until)
	return v
}

// chain links a wait to the latest one that its waker had, if that ended while it lasted.
func (t *Tracker) chain(w *wait) {
	p := w.by.last
	if p == nil || p.to <= w.from || p.to > w.until {
		return
	}
	l := &link{to: p, k: t.total(w.by, w.until)}
	l.k.sub(&p.total)
	l.k.deeper()
	l.k[w.kind] += w.to.Sub(w.until)
	l.depth, l.jump, l.kj, l.after = depthOf(p)+1, p, l.k, p.from
	if q := p.link; q != nil {
		if j := q.jump.link; j != nil && q.depth-j.depth == j.depth-depthOf(j.jump) {
			l.jump, l.after = j.jump, max(p.from, q.after, j.after)
			l.kj.add(&q.kj)
			l.kj.add(&j.kj)
		}
	}
	w.link = l
	t.bytes += linkBytes
}

// depthOf returns how many links follow each other from w on.
func depthOf(w *wait) int32 {
	if w.link == nil {
		return 0
	}
	return w.link.depth
}

// close ends the present interval at time at. If somebody ended a wait, w says so.
func (t *Tracker) close(g *goroutine, at model.Time, w *wait) {
	if at <= g.since {
		return
	}
	t.spend(&g.own, g.kind, g.since, at)
	if w != nil {
		if w.kind == Cond {
			t.again(g, w)
		}
		t.chain(w)
		p := t.rest(w, w.from)
		g.extra.add(&p)
		g.extra[w.kind] -= at.Sub(g.since)
		w.total, g.last, g.plain = g.path(), w, 0
	} else if g.plain++; g.plain >= markEvery {
		w = t.newWait()
		w.from, w.to, w.total, g.plain = at, at, g.path(), 0
	}
	if n := len(g.segs); n >= 64 && n == cap(g.segs) && g.segs[n/2].from <= t.horizon {
		t.trim(g)
	}
	if n := len(g.samples); n > 0 && g.samples[n-1].at >= g.since && g.kind == Running {
		s := stretch{from: g.since, to: at, end: g.stack}
		if n := len(g.segs); n > 0 {
			s.begin = g.segs[n-1].stack
		}
		t.walker.sampled(g, &s)
	}
	if g.segs == nil {
		g.segs = make([]segment, 0, 8)
	}
	g.segs = append(g.segs, segment{from: g.since, wait: w, stack: g.stack, proc: g.proc, kind: g.kind})
	t.bytes += segmentBytes
	g.since = at
}

// again resolves waits for a condition that was not met again: who waits once more at the same
// place, without having woken anybody, waited for whoever ended the last of them.
func (t *Tracker) again(g *goroutine, w *wait) {
	const most = 16 // waits
	first := len(g.segs)
	for i := first - 1; i >= 2 && len(g.segs)-i < 3*most; i -= 3 {
		ran, queued, waited := &g.segs[i], &g.segs[i-1], &g.segs[i-2]
		if ran.kind != Running || queued.kind != Runnable || waited.kind != Cond || waited.wait == nil || waited.wait.by == nil ||
			waited.stack != g.stack || ran.stack != g.stack || g.stack == 0 {
			break
		}
		first = i - 2
	}
	if first == len(g.segs) {
		return
	}
	path := t.totalAt(g, first)
	for i := first; i < len(g.segs); i++ {
		s := &g.segs[i]
		if s.kind == Cond {
			if s.wait.link != nil {
				t.bytes -= linkBytes
			}
			s.wait.by, s.wait.until, s.wait.link = w.by, s.wait.to, nil
			p := t.rest(s.wait, s.from)
			path.add(&p)
		} else {
			t.spend(&path, s.kind, s.from, g.end(i))
		}
		if s.wait != nil {
			s.wait.total = path
		}
	}
	g.extra = path // the wait that ends is in own already, and what it has more is still to come
	g.extra.sub(&g.own)
	g.extra[w.kind] += w.to.Sub(w.from)
}

// newWait returns a wait from a block of them.
func (t *Tracker) newWait() *wait {
	if len(t.waits) == 0 {
		t.waits = make([]wait, 64)
	}
	w := &t.waits[0]
	t.waits = t.waits[1:]
	t.bytes += waitBytes
	return w
}

// trim forgets what ended before the horizon.
func (t *Tracker) trim(g *goroutine) {
	if i := sort.Search(len(g.segs), func(i int) bool { return g.end(i) > t.horizon }); i > 0 {
		g.base = t.totalAt(g, i)
		for j := range i {
			t.bytes -= segmentBytes
			if w := g.segs[j].wait; w != nil {
				t.bytes -= waitBytes
				if w.link != nil {
					t.bytes -= linkBytes
				}
				w.by, w.link = nil, nil // nobody asks for what is before
			}
		}
		g.segs = slices.Delete(g.segs, 0, i)
	}
	if g.created < t.horizon {
		g.creator = nil
	}
	n := sort.Search(len(g.samples), func(i int) bool { return g.samples[i].at >= t.horizon })
	g.samples = slices.Delete(g.samples, 0, n)
	t.bytes -= n * turnBytes
}
