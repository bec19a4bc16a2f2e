package bound

import (
	"cmp"
	"slices"

	"github.com/schedscope/schedscope/analyze/workload"
)

// point is when something happens at the earliest. low is the length of the longest chain up to
// it, in nanoseconds; high is the same with computing time shortened to 1-1/c of itself, and
// with what only the upper bound contains, in c-ths of a nanosecond.
type point struct{ low, high int64 }

func (a point) latest(b point) point { return point{max(a.low, b.low), max(a.high, b.high)} }

// walk carries a workload out as if there were as many procs as it can use. The order
// in which it takes goroutines that can go on does not matter: a chain's length
// does not depend on it.
type walk struct {
	w     *workload.Workload
	cores int
	at    []position
	first []int         // by goroutine: its first segment in woken
	woken []point       // by segment: when the wake came, low < 0: not yet
	ready []int32       // goroutines that can go on
	met   map[int]int32 // by segment, as in woken: who waits for it to end

	// cycles of the garbage collector come one after the other: those before next have ended,
	// the latest at over.
	cycles []point // when each began, low < 0: not yet
	next   int
	over   point

	runs []run // segments of the program's own goroutines that the window shows whole
	last point // end of the last of them
	cut  point // end of the last that is cut off
	all  point // as last, for all goroutines
	odd  int
}

// run is the earliest time at which a segment can run.
type run struct{ start, end int64 }

// position is where a goroutine's program stands.
type position struct {
	now   point // when its segment began, as if it had not waited within it
	seg   int
	op    int   // next operation, if it has begun its segment
	from  int64 // CPU time of the segment that has been counted: before it waited within it
	state state
}

type state uint8

const (
	absent  state = iota
	going         // can go on
	waiting       // for a wake from segment seg
	midway        // within a segment, for the other side of a channel without a buffer
	passive       // a coroutine that waits to be switched to, before segment seg
	done
)

var never = point{-1, -1}

func newWalk(w *workload.Workload, cores int) *walk {
	c := &walk{w: w, cores: cores, at: make([]position, len(w.Goroutines)), first: make([]int, len(w.Goroutines))}
	n := 0
	for i := range w.Goroutines {
		c.first[i] = n
		n += len(w.Goroutines[i].Segments)
	}
	c.woken, c.cycles = make([]point, n), make([]point, len(w.Cycles))
	c.runs = make([]run, 0, n)
	for i := range c.woken {
		c.woken[i] = never
	}
	for i := range c.cycles {
		c.cycles[i] = never
	}
	return c
}

// begin lets everything happen that does not depend on anything in the window.
func (c *walk) begin() {
	// Coroutines that wait must be found waiting by who switches to them.
	for _, waits := range []bool{false, true} {
		for i := range c.w.Goroutines {
			if b := c.w.Goroutines[i].Begin; b != workload.BeginAbsent && (b == workload.BeginWaiting) == waits {
				c.create(int32(i), point{})
			}
		}
	}
	for i := range c.w.Arrivals {
		a := &c.w.Arrivals[i]
		switch at := c.delayed(point{}, int64(a.At)); a.Kind {
		case workload.ArriveCreate:
			c.create(a.G, at)
		case workload.ArriveWake:
			c.wake(a.G, a.Seg, at)
		}
	}
	for i := range c.w.Cycles {
		if c.w.Cycles[i].Periodic {
			c.cycle(int32(i), c.delayed(point{}, int64(c.w.Cycles[i].At)))
		}
	}
}

// delayed returns the point that is d after p.
func (c *walk) delayed(p point, d int64) point {
	return point{plus(p.low, d), plus(p.high, times(d, c.cores))}
}

// computed returns the point that is d of computing after p.
func (c *walk) computed(p point, d int64) point {
	p.low = plus(p.low, d)
	if c.cores > 1 {
		p.high = plus(p.high, times(d, c.cores-1))
	}
	return p
}

// follow carries out what can be until nothing is left.
func (c *walk) follow() {
	for {
		for len(c.ready) > 0 {
			g := c.ready[len(c.ready)-1]
			c.ready = c.ready[:len(c.ready)-1]
			c.run(g)
		}
		// A cycle that nobody begins must not keep back those after it.
		if c.next >= len(c.cycles) {
			return
		}
		c.odd++
		c.next++
		c.endCycles()
	}
}

func (c *walk) known(g int32) bool { return g >= 0 && int(g) < len(c.at) }

func (c *walk) create(g int32, at point) {
	if !c.known(g) || c.at[g].state != absent {
		c.odd++
		return
	}
	c.at[g] = position{now: at, state: going}
	c.ready = append(c.ready, g)
}

// wake ends the wait that ends a segment, or the one to come.
func (c *walk) wake(g, seg int32, at point) {
	if !c.known(g) || seg < 0 || int(seg) >= len(c.w.Goroutines[g].Segments) {
		c.odd++
		return
	}
	k := c.first[g] + int(seg)
	if end := c.w.Goroutines[g].Segments[seg].End; c.woken[k].low >= 0 || end != workload.EndWait && end != workload.EndNetwork {
		c.odd++
		return
	}
	c.woken[k] = at
	if p := &c.at[g]; p.state == waiting && p.seg == int(seg) {
		p.now = p.now.latest(at)
		p.seg++
		p.state = going
		c.ready = append(c.ready, g)
	}
}

// cycle begins a cycle of the garbage collector.
func (c *walk) cycle(i int32, at point) {
	if i < 0 || int(i) >= len(c.cycles) || c.cycles[i].low >= 0 {
		c.odd++
		return
	}
	c.cycles[i] = at
	c.endCycles()
}

// endCycles ends the cycles whose turn it is. The lower bound takes cycles to be free
// and independent of each other: a schedule may leave them out.
func (c *walk) endCycles() {
	for ; c.next < len(c.cycles) && c.cycles[c.next].low >= 0; c.next++ {
		x := &c.w.Cycles[c.next]
		c.over.high = max(c.over.high, c.cycles[c.next].high)
		c.over.high = c.computed(c.over, int64(x.Work)).high
		for k := range x.Ends {
			if op := &x.Ends[k]; op.Kind == workload.OpWake {
				c.wake(op.G, op.Seg, point{c.cycles[c.next].low, c.over.high})
			}
		}
	}
}

// run carries a goroutine's program on until it waits, or ends.
func (c *walk) run(i int32) {
	g, p := &c.w.Goroutines[i], &c.at[i]
	for p.state == going {
		if p.seg >= len(g.Segments) {
			p.state = done // it had just begun when the window ended
			return
		}
		s := &g.Segments[p.seg]
		if p.seg > 0 {
			p.op = max(p.op, int(g.Segments[p.seg-1].Ops))
		}
		for ; p.op < min(int(s.Ops), len(g.Ops)); p.op++ {
			op := &g.Ops[p.op]
			at := min(int64(op.At), int64(s.CPU))
			if op.Meet && !c.meet(i, p, op, at) {
				return
			}
			c.do(op, c.computed(p.now, at))
		}
		start := c.computed(p.now, p.from)
		p.now, p.from = c.computed(p.now, int64(s.CPU)), 0
		c.count(s, start, p.now, g.System || g.Tracer)
		c.end(i, p, s)
	}
}

// meet has a goroutine that is to wake another one on a channel without a buffer go on no
// sooner than that waits. It reports whether it can go on.
func (c *walk) meet(i int32, p *position, op *workload.Op, at int64) bool {
	if !c.known(op.G) || op.Seg < 0 || int(op.Seg) >= len(c.w.Goroutines[op.G].Segments) {
		return true // do counts it as odd
	}
	q := &c.at[op.G]
	if q.state == waiting && q.seg == int(op.Seg) {
		c.shift(i, p, c.computed(p.now, at).latest(q.now), at)
		return true
	}
	if q.state == done || q.seg > int(op.Seg) {
		return true
	}
	if c.met == nil {
		c.met = map[int]int32{}
	}
	c.met[c.first[op.G]+int(op.Seg)] = i
	p.state = midway
	return false
}

// shift has a segment go on at t when it has computed for so long.
func (c *walk) shift(i int32, p *position, t point, at int64) {
	start, end := c.computed(p.now, p.from), c.computed(p.now, at)
	if g := &c.w.Goroutines[i]; end.low > start.low && !g.System && !g.Tracer && g.Segments[p.seg].End != workload.EndCut {
		c.runs = append(c.runs, run{start.low, end.low})
	}
	p.from = at
	p.now.low = plus(p.now.low, t.low-end.low)
	p.now.high = plus(p.now.high, t.high-end.high)
}

// arrive is the other half of a meeting: the goroutine comes to the wait for which another one
// waits within its segment. Both go on.
func (c *walk) arrive(p *position, k int) bool {
	i, ok := c.met[k]
	if !ok {
		return false
	}
	delete(c.met, k)
	q := &c.at[i]
	op := &c.w.Goroutines[i].Ops[q.op]
	at := min(int64(op.At), int64(c.w.Goroutines[i].Segments[q.seg].CPU))
	p.now = p.now.latest(c.computed(q.now, at))
	c.shift(i, q, p.now, at)
	q.op++
	q.state = going
	c.ready = append(c.ready, i)
	c.woken[k] = p.now
	return true
}

// count accounts for a segment.
func (c *walk) count(s *workload.Segment, start, end point, system bool) {
	if s.End != workload.EndCut {
		c.all = c.all.latest(end)
	}
	switch {
	case system:
	case s.End == workload.EndCut:
		c.cut = c.cut.latest(end)
	default:
		c.last = c.last.latest(end)
		if s.CPU > 0 {
			c.runs = append(c.runs, run{start.low, end.low})
		}
	}
}

// do carries out an operation. That a stop-the-world takes time is in Bounds.Held.
func (c *walk) do(op *workload.Op, at point) {
	switch op.Kind {
	case workload.OpCreate:
		c.create(op.G, at)
	case workload.OpBlocked:
		c.createBlocked(op.G, at)
	case workload.OpWake, workload.OpSend:
		c.wake(op.G, op.Seg, at)
	case workload.OpCycle:
		c.cycle(op.G, at)
	}
}

// createBlocked creates a goroutine that waits: to be switched to or, if it begins with
// a wait, in that.
func (c *walk) createBlocked(g int32, at point) {
	if !c.known(g) || c.at[g].state != absent {
		c.odd++
		return
	}
	if segs := c.w.Goroutines[g].Segments; len(segs) > 0 && segs[0].CPU == 0 && (segs[0].End == workload.EndWait || segs[0].End == workload.EndForever) {
		c.create(g, at)
		return
	}
	c.at[g] = position{now: at, state: passive}
}

// end ends the segment at which p stands.
func (c *walk) end(i int32, p *position, s *workload.Segment) {
	switch s.End {
	case workload.EndExit:
		p.state = done
		if s.Target >= 0 { // runtime/coro.go: coroexit
			c.switchTo(s.Target, p.now)
		}
		return
	case workload.EndCut, workload.EndForever:
		p.state = done
		return
	case workload.EndWait, workload.EndNetwork:
		at := c.woken[c.first[i]+p.seg]
		if s.Meet && at.low < 0 && c.arrive(p, c.first[i]+p.seg) {
			break
		}
		if at.low < 0 {
			p.state = waiting
			return
		}
		p.now = p.now.latest(at)
	case workload.EndSwitch:
		p.state = passive
		p.seg++
		if s.Target >= 0 {
			c.switchTo(s.Target, p.now)
		}
		return
	case workload.EndSleep, workload.EndExternal, workload.EndSyscall:
		if s.Absolute {
			p.now = p.now.latest(c.delayed(point{}, int64(s.Delay)))
		} else {
			p.now = c.delayed(p.now, int64(s.Delay))
		}
	case workload.EndAssist:
		p.now.high = c.delayed(p.now, int64(s.Delay)).high
	}
	p.seg++
}

// switchTo lets a coroutine go on that waits to be switched to.
func (c *walk) switchTo(g int32, at point) {
	if !c.known(g) || c.at[g].state != passive {
		c.odd++
		return
	}
	q := &c.at[g]
	q.now = q.now.latest(at)
	q.state = going
	c.ready = append(c.ready, g)
}

// unreached counts goroutines that have stopped in the middle of their programs.
func (c *walk) unreached() int {
	n := 0
	for i := range c.at {
		switch p := &c.at[i]; p.state {
		case waiting, midway:
			n++
		case absent, passive:
			if p.seg < len(c.w.Goroutines[i].Segments) {
				n++
			}
		}
	}
	return n
}

// lower returns the greatest r + R(r)/c; see the package's comment.
func (c *walk) lower() int64 {
	left := int64(0)
	ends := make([]int64, len(c.runs))
	for i, r := range c.runs {
		ends[i] = r.end
		left = plus(left, r.end-r.start)
	}
	best := max(c.last.low, left/int64(c.cores))
	if left >= most || c.last.low >= most {
		return best
	}
	slices.SortFunc(c.runs, func(a, b run) int { return cmp.Compare(a.start, b.start) })
	slices.Sort(ends)
	now, active := int64(0), int64(0)
	pass := func(t int64) {
		left -= active * (t - now)
		now = t
	}
	for _, r := range c.runs {
		for ; len(ends) > 0 && ends[0] <= r.start; ends = ends[1:] {
			pass(ends[0])
			active--
		}
		pass(r.start)
		active++
		best = max(best, now+left/int64(c.cores))
	}
	return best
}
