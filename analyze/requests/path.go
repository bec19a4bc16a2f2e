package requests

import (
	"math"
	"slices"
	"sort"

	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// goroutine is what is kept of a goroutine: the latest intervals that are over, and the one
// since then. What each event needs comes first.
type goroutine struct {
	id      model.GoID
	since   model.Time
	segs    []segment
	stack   model.StackID // the latest that was seen
	view    *seenIn       // of it
	proc    int16         // that it ran on
	kind    Kind          // since then; of Running while it assists: GC
	state   model.GoState
	assist  bool
	selects bool // it waits in a select
	writes  bool // it has written to a connection
	accepts bool // it has accepted a connection, of which nobody knows yet who dialled it
	seen    bool // its creation
	timed   bool // a timer created it
	ended   bool
	fn      model.StringID // its start function, 0 if not known
	spawn   model.StackID  // of its creation
	*server                // what it serves; nil: nothing
	*ends                  // of connections that it has; nil: not known
	reading *reading       // of messages; nil: it has read none, or serves something else
	begun   *pending       // its life, if it may be a request
	relay   *relay         // nil: it has handed no message on
	samples []sample
	own     Times // of states, at since

	first     int     // how many intervals there were before segs
	sums      []Times // of the path at bounds of blocks of intervals, from the one numbered block on
	block     int
	last      int                // the latest wait that somebody ended, counted as first does
	ticked    int                // behind a select that a timer ended, until it wakes somebody or selects again; else 0
	links     map[int]*link      // of waits that many lead to
	peers     *votes[*goroutine] // who writes what it reads; nil: nobody was asked for
	fixed     model.Time         // up to here the path was summed up for a request
	lastWrite model.Time         // to a connection
	marked    model.Time         // its latest event of a task
	created   model.Time         // has a meaning only if the creation was seen
	creator   *goroutine         // nil: a timer, or forgotten
	endedAt   model.Time
}

// segment is an interval of a goroutine in one state, up to where the next one begins.
type segment struct {
	from  model.Time
	by    *goroutine    // who ended this wait; nil: nobody, or not known
	stack model.StackID // where it blocked, or running, what was seen at the end
	// Up to so long before the end of a wait the path is that of by, the rest is the kind's own.
	late     uint32
	proc     int16 // of Runnable and Running; -1: not known
	kind     Kind
	waits    bool  // unlike a mark assist, of kind GC too
	inferred bool  // that by is what was waited for is not certain, or that the goroutine could have run
	depth    uint8 // how many waits each end while the next one lasts, up to this; at most linkFrom
	linked   bool  // it has a link
}

// link is a wait that many waits lead to, and the way from it to one that its waker had before, if
// that ended while it lasted.
type link struct {
	from, to, until model.Time
	by              *goroutine
	kind            Kind
	next            *link      // nil: by's path is walked
	k               Times      // between the ends of the two
	jump            *link      // far beyond
	kj              Times      // between the end of the wait and that of jump
	after           model.Time // the latest beginning of the waits from next up to jump
	depth           int32
}

type sample struct {
	at    model.Time
	stack model.StackID
}

const (
	blockSize = 64 // intervals
	linkFrom  = 32 // waits that are walked one by one
	// maxBytes is how much intervals and links may take.
	maxBytes     = 16 << 20
	segmentBytes = 32
	linkBytes    = 96 + 2*int(NumKinds)*8
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

// upTo returns up to when the path of a wait is that of who ended it.
func (g *goroutine) upTo(i int) model.Time { return g.end(i) - model.Time(g.segs[i].late) }

// front returns from where on intervals are kept.
func (g *goroutine) front() model.Time {
	if len(g.segs) > 0 {
		return g.segs[0].from
	}
	return g.since
}

// before returns the kind of the time before what is kept of a goroutine without a creator.
func (g *goroutine) before(front model.Time) Kind {
	return textui.Either(g.timed && front == g.created, Timer, Unknown)
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
	if k == Runnable && from < t.stopped {
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
		t.interval(v, g, i, x, end, others)
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

// interval adds the path of g's interval i from x to y.
func (t *Tracker) interval(v *Times, g *goroutine, i int, x, y model.Time, others bool) {
	switch s := &g.segs[i]; {
	case s.linked:
		t.linked(v, g.links[g.first+i], x, y)
	case s.by != nil:
		until := min(max(g.upTo(i), x), y)
		t.path(v, s.by, x, until, true)
		v[s.kind] += y.Sub(until)
	case s.kind == Running && others:
		v[Others] += y.Sub(x)
	default:
		t.spend(v, s.kind, x, y)
	}
}

// linked adds the path of a wait with a link from x to y.
func (t *Tracker) linked(v *Times, l *link, x, y model.Time) {
	if l.next != nil && y < l.to {
		var rest Times
		t.linked(&rest, l, y, l.to)
		t.linked(v, l, x, l.to)
		v.sub(&rest)
		return
	}
	for l.next != nil {
		if l.after <= x && x < l.jump.to {
			v.add(&l.kj)
			l = l.jump
		} else if l.next.from <= x && x < l.next.to {
			v.add(&l.k)
			l = l.next
		} else {
			break
		}
		y = l.to
	}
	until := min(max(l.until, x), y)
	t.path(v, l.by, x, until, true)
	v[l.kind] += y.Sub(until)
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
			t.interval(&s, g, i, g.segs[i].from, g.end(i), false)
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

// latest returns the index of the latest wait that somebody ended, -1 if it is not kept.
func (g *goroutine) latest() int {
	if i := g.last - g.first; i >= 0 && i < len(g.segs) && g.segs[i].by != nil {
		return i
	}
	return -1
}

// resolved notes that by ended the latest interval of g, a wait, and that up to the time until the path is
// by's. If that was more than 4.29 s (what late can hold) before the end, nothing is noted.
func (t *Tracker) resolved(g, by *goroutine, until model.Time) {
	late := t.now.Sub(until)
	if late > math.MaxUint32 {
		return // that is not what g waited for
	}
	n := len(g.segs) - 1
	w := &g.segs[n]
	w.late, w.inferred = uint32(late), w.kind == Lock || w.kind == Cond || w.kind == Network || w.kind == Connection || g.selects
	if w.kind == Cond {
		t.again(g, by, n)
	}
	if by.ticked > 0 {
		t.flushes(by)
	}
	if p := by.latest(); p >= 0 {
		t.chain(g, by, p)
	}
	w.by, g.last = by, g.first+n
}

// chain links the latest wait of g, which by ended, to the one that by was in when it began, or
// else to the latest one that by had, p, if that ended while it lasted.
func (t *Tracker) chain(g, by *goroutine, p int) {
	n := len(g.segs) - 1
	w := &g.segs[n]
	if by.segs[p].from > w.from {
		if i := by.at(w.from); i < len(by.segs) && by.segs[i].from <= w.from && by.segs[i].by != nil {
			p = i
		}
	}
	from, until := by.end(p), g.upTo(n)
	if from <= w.from || from > until {
		return
	}
	if w.depth = min(by.segs[p].depth+1, linkFrom); w.depth < linkFrom {
		return
	}
	to := t.link(by, p)
	var k Times
	t.path(&k, by, from, until, true)
	k[w.kind] += t.now.Sub(until)
	l := t.link(g, n)
	l.by, l.next, l.k, l.jump, l.kj, l.after, l.depth = by, to, k, to, k, to.from, to.depth+1
	if j := to.jump; j != nil && j.next != nil && to.depth-j.depth == j.depth-j.jump.depth {
		l.jump, l.after = j.jump, max(to.from, to.after, j.after)
		l.kj.add(&to.kj)
		l.kj.add(&j.kj)
	}
}

// link returns the link of a wait, a new one that leads nowhere if it has none.
func (t *Tracker) link(g *goroutine, i int) *link {
	s := &g.segs[i]
	if !s.linked {
		if g.links == nil {
			g.links = map[int]*link{}
		}
		s.linked = true
		g.links[g.first+i] = &link{from: s.from, to: g.end(i), until: g.upTo(i), by: s.by, kind: s.kind}
		t.bytes += linkBytes
	}
	return g.links[g.first+i]
}

// unlink forgets the link of an interval, and where it leads.
func (t *Tracker) unlink(g *goroutine, i int) {
	l := g.links[g.first+i]
	*l = link{from: l.from, to: l.to, until: math.MinInt64, kind: l.kind}
	delete(g.links, g.first+i)
	t.bytes -= linkBytes
}

// close ends the present interval.
func (t *Tracker) close(g *goroutine) {
	if t.now <= g.since {
		return
	}
	if g.kind == Runnable && g.since < t.stopped {
		t.spend(&g.own, g.kind, g.since, t.now)
	} else {
		g.own[g.kind] += t.now.Sub(g.since)
	}
	if len(g.segs) == cap(g.segs) || len(g.samples) > 0 {
		t.room(g)
	}
	n := len(g.segs)
	g.segs = g.segs[:n+1]
	s := &g.segs[n] // what is beyond the end is zero
	s.from, s.stack, s.proc, s.kind, s.waits = g.since, g.stack, g.proc, g.kind, g.state == model.GoWaiting
	t.bytes += segmentBytes
	g.since = t.now
}

// room makes room for an interval, and takes the samples in the present one.
func (t *Tracker) room(g *goroutine) {
	if n := len(g.samples); n > 0 && g.samples[n-1].at >= g.since && g.kind == Running {
		s := stretch{from: g.since, to: t.now, end: g.stack}
		if n := len(g.segs); n > 0 {
			s.begin = g.segs[n-1].stack
		}
		t.walker.sampled(g, &s)
	}
	n, k := len(g.segs), len(t.spare)
	switch {
	case n < cap(g.segs):
		return
	case n == 0 && k > 0:
		g.segs, t.spare = t.spare[k-1], t.spare[:k-1]
	case n >= 32 && g.segs[n/2].from <= t.horizon:
		t.trim(g)
	}
	g.segs = slices.Grow(g.segs, max(8-n, 1))
}

// flushes notes that g wakes or creates another: if a timer ended its select, that is what it waited for before, too,
// unless another case of the same select wakes who is at its other end.
func (t *Tracker) flushes(g *goroutine) {
	if i := g.ticked - g.first - 1; i >= 0 {
		at, selected := t.tables.Stack(g.stack), t.tables.Stack(g.segs[i].stack)
		if len(at) == 0 || len(selected) == 0 || at[0].Func != selected[0].Func || !slices.Equal(at[1:], selected[1:]) {
			t.again(g, nil, i)
		}
	}
	g.ticked = 0
}

// again resolves waits for a condition that was not met again: who waits once more at the same
// place, without having woken anybody, waited for whoever ended the last of them. In a select that a
// timer ended, by is nil: what other cases brought in between was done when it waited again.
func (t *Tracker) again(g, by *goroutine, last int) {
	stack := g.segs[last].stack
	first, kind, most := last, Cond, 16 // waits
	if by == nil {
		kind, most = Channel, last // none is looked at twice
	}
	for i := first - 1; i >= 2 && last-i < 3*most; i -= 3 {
		ran, queued, waited := &g.segs[i], &g.segs[i-1], &g.segs[i-2]
		if ran.kind != Running || queued.kind != Runnable || waited.kind != kind || waited.by == nil ||
			waited.from < g.fixed || waited.stack != stack || ran.stack != stack || stack == 0 {
			break
		}
		first = i - 2
	}
	if first == last {
		return
	}
	for i := first; i < last; i += 3 {
		x := &g.segs[i]
		x.by, x.kind, x.late, x.depth = by, g.segs[last].kind, 0, 0
		if x.linked {
			l := g.links[g.first+i]
			*l = link{from: l.from, to: l.to, until: l.to, by: by, kind: x.kind}
			if by == nil {
				l.until = math.MinInt64
			}
		}
	}
	if n := max((g.first+first)/blockSize-g.block+1, 0); n < len(g.sums) { // which had other wakers
		t.bytes -= (len(g.sums) - n) * sumBytes
		g.sums = g.sums[:n]
	}
}

// trim forgets what ended before the horizon, except for the last of it, where the next began.
func (t *Tracker) trim(g *goroutine) {
	n := max(g.at(t.horizon)-1, 0)
	for i := 0; i < n && len(g.links) > 0; i++ {
		if g.segs[i].linked {
			t.unlink(g, i)
		}
	}
	t.bytes -= n * segmentBytes
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
