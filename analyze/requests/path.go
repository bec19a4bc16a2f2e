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
	first   int     // how many intervals there were before segs
	sums    []Times // of the path at bounds of blocks of intervals, from the one numbered block on
	block   int
	own     Times      // of states, at since
	fixed   model.Time // up to here the path was summed up for a request
	samples []sample
	ended   bool
	endedAt model.Time

	kind    Kind // since then; of Running while it assists: GC
	state   model.GoState
	assist  bool
	selects bool // it waits in a select
	writes  bool // it has written to a connection
	since   model.Time
	stack   model.StackID      // the latest that was seen
	proc    int16              // that it ran on
	last    *wait              // the latest that is over
	peers   *votes[*goroutine] // who writes what it reads; nil: nobody was asked for
	spawn   model.StackID      // of its creation
	*ends                      // of connections that it has; nil: not known
	*server                    // what it serves; nil: nothing
}

// segment is an interval of a goroutine in one state, up to where the next one begins.
type segment struct {
	from  model.Time
	wait  *wait         // that somebody ended; else nil
	stack model.StackID // where it blocked, or running, what was seen at the end
	proc  int16         // of Runnable and Running; -1: not known
	kind  Kind
	waits bool // unlike a mark assist, of kind GC too
}

// wait is a wait that somebody ended.
type wait struct {
	from, to model.Time
	// Up to until the path is that of by, the rest is the kind's own. by is nil if that is
	// forgotten.
	by    *goroutine
	until model.Time
	kind  Kind
	// inferred: that by is what was waited for is not certain.
	inferred bool
	depth    int32 // how many waits each end while the next one lasts, up to this
	link     *link // nil if these are few
}

// link is the way from a wait to one that its waker had before, if that ended while it lasted.
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
	blockSize = 64 // intervals
	linkFrom  = 32 // waits that are walked one by one
	// maxBytes is how much intervals, waits and links may take.
	maxBytes     = 16 << 20
	segmentBytes = 24
	waitBytes    = 48
	linkBytes    = 32 + 2*int(NumKinds)*8
	sumBytes     = int(NumKinds) * 8
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
	low, high := 0, len(g.segs) // high begins later; mostly it is one of the last
	for step := 1; high-step > 0; step *= 2 {
		if g.segs[high-step].from <= t {
			low = high - step
			break
		}
		high -= step
	}
	for low+1 < high {
		if mid := int(uint(low+high) / 2); g.segs[mid].from <= t {
			low = mid
		} else {
			high = mid
		}
	}
	return low
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

// path adds g's path from x to y to v, as somebody's who waits for g if others is set.
func (t *Tracker) path(v *Times, g *goroutine, x, y model.Time, others bool) {
	if x >= y {
		return
	}
	if t.depth == maxChain {
		v[Unknown] += y.Sub(x)
		return
	}
	t.depth++
	if front := g.front(); x < front {
		c := min(front, y)
		if g.creator != nil && front == g.created && g.seen {
			t.path(v, g.creator, x, c, others)
		} else {
			v[g.before(front)] += c.Sub(x)
		}
		x = c
	}
	i, from, to := g.at(x), 0, 0
	if len(g.segs)-i > 2*blockSize {
		if j := g.at(y); j-i > 2*blockSize {
			from = i + blockSize - (g.first+i)%blockSize
			to = j - (g.first+j)%blockSize
		}
	}
	for ; i < len(g.segs) && x < y; i++ {
		if i == from && i < to {
			t.blocks(v, g, from, to, others)
			i = to
			if x = g.since; i == len(g.segs) {
				break
			}
			x = g.segs[i].from
		}
		end := min(g.end(i), y)
		t.interval(v, &g.segs[i], x, end, others)
		x = end
	}
	if x < y {
		k := g.kind
		switch {
		case g.ended:
			k = Unknown
		case k == Running && others:
			k = Others
		}
		t.spend(v, k, x, y)
	}
	t.depth--
}

// interval adds the path of an interval from x to y.
func (t *Tracker) interval(v *Times, s *segment, x, y model.Time, others bool) {
	switch {
	case s.wait != nil && s.wait.by != nil:
		t.waited(v, s.wait, x, y)
	case s.kind == Running && others:
		v[Others] += y.Sub(x)
	default:
		t.spend(v, s.kind, x, y)
	}
}

// waited adds the path of a wait from x to y.
func (t *Tracker) waited(v *Times, w *wait, x, y model.Time) {
	if w.link != nil && y < w.to {
		var rest Times
		t.waited(&rest, w, y, w.to)
		t.waited(v, w, x, w.to)
		v.sub(&rest)
		return
	}
	for l := w.link; l != nil; l = w.link {
		if l.after <= x && x < l.jump.to {
			v.add(&l.kj)
			w = l.jump
		} else if l.to.from <= x && x < l.to.to {
			v.add(&l.k)
			w = l.to
		} else {
			break
		}
		y = w.to
	}
	until := x
	if w.by != nil {
		until = min(max(w.until, x), y)
		t.path(v, w.by, x, until, true)
	}
	v[w.kind] += y.Sub(until)
}

// blocks adds the path of g's intervals from one to another index, both at bounds of blocks.
func (t *Tracker) blocks(v *Times, g *goroutine, from, to int, others bool) {
	first, last := (g.first+from)/blockSize, (g.first+to)/blockSize
	if len(g.sums) == 0 {
		g.block, g.sums = (g.first+blockSize-1)/blockSize, append(g.sums, Times{})
		t.bytes += sumBytes
	}
	for n := g.block + len(g.sums) - 1; n < last; n++ {
		s := g.sums[n-g.block]
		for i := n*blockSize - g.first; i < (n+1)*blockSize-g.first; i++ {
			t.interval(&s, &g.segs[i], g.segs[i].from, g.end(i), false)
		}
		g.sums = append(g.sums, s)
		t.bytes += sumBytes
	}
	d := g.sums[last-g.block]
	d.sub(&g.sums[first-g.block])
	if others {
		d.deeper()
	}
	v.add(&d)
}

// chain links a wait to the one that its waker was in when it began, or else to the latest one
// that the waker had, if that ended while it lasted.
func (t *Tracker) chain(w *wait) {
	p := w.by.last
	if p != nil && p.from > w.from {
		if i := w.by.at(w.from); i >= 0 && i < len(w.by.segs) && w.by.segs[i].from <= w.from && w.by.segs[i].wait != nil {
			p = w.by.segs[i].wait
		}
	}
	if p == nil || p.to <= w.from || p.to > w.until {
		return
	}
	if w.depth = p.depth + 1; w.depth < linkFrom {
		return
	}
	l := &link{to: p}
	t.path(&l.k, w.by, p.to, w.until, true)
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
		g.last = w
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
	if n := len(t.spare); g.segs == nil && n > 0 {
		g.segs, t.spare = t.spare[n-1], t.spare[:n-1]
	} else if g.segs == nil {
		g.segs = make([]segment, 0, 8)
	}
	g.segs = append(g.segs, segment{from: g.since, wait: w, stack: g.stack, proc: g.proc, kind: g.kind, waits: g.state == model.GoWaiting})
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
			waited.from < g.fixed || waited.stack != g.stack || ran.stack != g.stack || g.stack == 0 {
			break
		}
		first = i - 2
	}
	if first == len(g.segs) {
		return
	}
	for i := first; i < len(g.segs); i += 3 {
		x := g.segs[i].wait
		if x.link != nil {
			t.bytes -= linkBytes
		}
		x.by, x.until, x.link, x.depth = w.by, x.to, nil, 0
	}
	if n := max((g.first+first)/blockSize-g.block+1, 0); n < len(g.sums) { // which had other wakers
		t.bytes -= (len(g.sums) - n) * sumBytes
		g.sums = g.sums[:n]
	}
}

// newWait returns a wait from a block of them.
func (t *Tracker) newWait() *wait {
	if len(t.waits) == 0 {
		t.waits = make([]wait, 16) // of which one keeps all
	}
	w := &t.waits[0]
	t.waits = t.waits[1:]
	t.bytes += waitBytes
	return w
}

// forget drops what ended a wait: nobody asks for it.
func (s *segment) forget(t *Tracker) {
	if w := s.wait; w != nil {
		t.bytes -= waitBytes
		if w.link != nil {
			t.bytes -= linkBytes
		}
		w.by, w.link = nil, nil
	}
}

// trim forgets what ended before the horizon, but for the last of it, where the next began.
func (t *Tracker) trim(g *goroutine) {
	n := 0
	for ; n+1 < len(g.segs) && g.end(n+1) <= t.horizon; n++ {
		t.bytes -= segmentBytes
		g.segs[n].forget(t)
	}
	g.segs = slices.Delete(g.segs, 0, n)
	g.first += n
	if n := min((g.first+blockSize-1)/blockSize-g.block, len(g.sums)); n > 0 {
		g.sums = slices.Delete(g.sums, 0, n)
		g.block += n
		t.bytes -= n * sumBytes
	}
	if g.created < t.horizon {
		g.creator = nil
	}
	n = sort.Search(len(g.samples), func(i int) bool { return g.samples[i].at >= t.horizon })
	g.samples = slices.Delete(g.samples, 0, n)
	t.bytes -= n * turnBytes
}
