package refsched

import (
	"cmp"
	"slices"

	"github.com/schedscope/schedscope/analyze/workload"
	"github.com/schedscope/schedscope/model"
)

// Least returns a time that no schedule of the program takes less than on this number of cores, until the last segment
// of its own goroutines that the window shows whole: whoever wakes whom, where the program leaves that open, and whatever
// the garbage collector does. No model of a scheduler goes into it, except for how long system calls keep their procs.
//
//  1. Follow the program with as many procs as it can use and a scheduler that costs nothing (chains.run): each segment
//     begins as early as possible, at s(i), when the one before has ended, the wait between them is over and the
//     goroutine exists. The end of the last one is the length of the longest chain.
//  2. Only those waits for a wake count that every schedule has (sureWaits). After any other a new chain begins, and
//     after one for something from outside, which may be the program itself after all.
//  3. Let w(i) be the computing time of segment i. Until time r, no schedule can have done more of it than
//     min(w(i), r-s(i)), so that of all work at least R(r) = sum over i of max(0, w(i) - max(0, r-s(i))) is left, and c
//     cores take R(r)/c to do it: the time is at least r + R(r)/c for every r. The greatest of these is reached at some
//     s(i), or at the end of the longest chain.
//  4. A system call keeps its proc until sysmon comes, which counts as work, with a margin (callMargin).
//
// Where goroutines are left out (Config.NoTracer), it does not hold. It takes time and memory in proportion to the number
// of segments and operations, and sorts the segments by their beginnings.
func Least(w *workload.Workload, cores int) model.Duration {
	cores = max(cores, 1)
	c := chains{w: w, at: make([]position, len(w.Goroutines)), first: make([]int, len(w.Goroutines)), met: map[int]int32{}}
	n := 0
	for i := range w.Goroutines {
		c.first[i] = n
		n += len(w.Goroutines[i].Segments)
	}
	c.woken, c.runs = make([]int64, n), make([]stretch, 0, n)
	for i := range c.woken {
		c.woken[i] = -1
	}
	c.sureWaits(n)
	// Coroutines that wait must be found waiting by who switches to them.
	for _, waits := range []bool{false, true} {
		for i := range w.Goroutines {
			if b := w.Goroutines[i].Begin; b != workload.BeginAbsent && (b == workload.BeginWaiting) == waits {
				c.create(int32(i), 0, false)
			}
		}
	}
	for i := range w.Arrivals {
		if a := &w.Arrivals[i]; a.Kind == workload.ArriveCreate {
			c.create(a.G, max(0, int64(a.At)), false)
		}
	}
	for len(c.ready) > 0 {
		g := c.ready[len(c.ready)-1]
		c.ready = c.ready[:len(c.ready)-1]
		c.run(g)
	}
	computing := c.least(cores)
	c.runs = append(c.runs, c.calls...)
	return model.Duration(max(computing, int64((1-callMargin)*float64(c.least(cores)))-int64(SysmonMin)))
}

// callMargin is the part of the time that calls lose their procs sooner, more than was ever found in simulations: to
// sysmon, where a proc has had the same schedtick for 10 ms, to who stops the world, and to threads that come out of
// other calls (runtime/proc.go: retake, exitsyscallTryGetP).
const callMargin = 0.02

// chains carries a workload out as if there were as many procs as it can use. The order in which it takes goroutines
// that can go on does not matter: a chain's length does not depend on it. Times are in nanoseconds.
type chains struct {
	w     *workload.Workload
	at    []position
	first []int         // by goroutine: the number of its first segment
	sure  []bool        // by segment: its wait has to be waited for in every schedule
	woken []int64       // by segment: when the wake came, -1: not yet
	met   map[int]int32 // by segment: who waits for it to end
	ready []int32       // goroutines that can go on
	runs  []stretch     // the earliest times of segments of the program's own goroutines that the window shows whole
	calls []stretch     // what system calls keep their procs for, at least
	last  int64         // end of the last of runs
}

// stretch is the earliest time at which something can happen.
type stretch struct{ start, end int64 }

// position is where a goroutine's program stands.
type position struct {
	now   int64 // when its segment began, as if it had not waited within it
	from  int64 // CPU time of the segment that has been counted: before it waited within it
	seg   int
	op    int // next operation, if it has begun its segment
	state chainState
}

type chainState uint8

const (
	chainAbsent  chainState = iota
	chainGoing              // can go on
	chainWaiting            // for a wake from segment seg
	chainMidway             // within a segment, for the other side of a channel without a buffer
	chainPassive            // a coroutine that waits to be switched to, before segment seg
	chainDone
)

// sureWaits finds the waits, of n segments, whose recorded wake is what they have to wait for in every schedule: the end of a
// join or, of two goroutines that wake nobody else from there and are woken by nobody else, the other's operation. A
// worker may be given its next item by another producer, and whose turn it is at a lock depends on who comes first.
func (c *chains) sureWaits(n int) {
	type side struct {
		g     int32
		stack model.StackID
	}
	const several int32 = -1
	waker, wakee := map[side]int32{}, map[side]int32{}
	note := func(m map[side]int32, k side, other int32) {
		if o, ok := m[k]; ok && o != other {
			other = several
		}
		m[k] = other
	}
	each := func(f func(i int32, op *workload.Op, x *workload.Segment)) {
		for i := range c.w.Goroutines {
			for j := range c.w.Goroutines[i].Ops {
				op := &c.w.Goroutines[i].Ops[j]
				if op.Kind != workload.OpWake || !c.known(op) {
					continue
				}
				if x := &c.w.Goroutines[op.G].Segments[op.Seg]; x.End == workload.EndWait {
					f(int32(i), op, x)
				}
			}
		}
	}
	each(func(i int32, op *workload.Op, x *workload.Segment) {
		note(waker, side{op.G, x.Stack}, i)
		note(wakee, side{i, op.Stack}, op.G)
	})
	c.sure = make([]bool, n)
	each(func(i int32, op *workload.Op, x *workload.Segment) {
		alone := waker[side{op.G, x.Stack}] != several && wakee[side{i, op.Stack}] != several
		c.sure[c.first[op.G]+int(op.Seg)] = x.Class == workload.ClassJoin || x.Class == workload.ClassHandoff && alone
	})
}

// known reports whether the segment that an operation is for exists.
func (c *chains) known(op *workload.Op) bool {
	return op.G >= 0 && int(op.G) < len(c.at) && op.Seg >= 0 && int(op.Seg) < len(c.w.Goroutines[op.G].Segments)
}

// goOn lets a goroutine go on, at a time at the earliest.
func (c *chains) goOn(g int32, at int64) {
	c.at[g].now, c.at[g].state = max(c.at[g].now, at), chainGoing
	c.ready = append(c.ready, g)
}

// create creates a goroutine. A blocked one waits: to be switched to or, if it begins with a wait, in that.
func (c *chains) create(g int32, at int64, blocked bool) {
	if g < 0 || int(g) >= len(c.at) || c.at[g].state != chainAbsent {
		return
	}
	segs := c.w.Goroutines[g].Segments
	inWait := len(segs) > 0 && segs[0].CPU == 0 && (segs[0].End == workload.EndWait || segs[0].End == workload.EndForever)
	if blocked && !inWait {
		c.at[g] = position{now: at, state: chainPassive}
		return
	}
	c.goOn(g, at)
}

// switchTo lets a coroutine go on that waits to be switched to.
func (c *chains) switchTo(g int32, at int64) {
	if g >= 0 && int(g) < len(c.at) && c.at[g].state == chainPassive {
		c.goOn(g, at)
	}
}

// run carries a goroutine's program on until it waits, or ends.
func (c *chains) run(i int32) {
	g, p := &c.w.Goroutines[i], &c.at[i]
	for p.state == chainGoing {
		if p.seg >= len(g.Segments) {
			p.state = chainDone // it had just begun when the window ended
			return
		}
		s := &g.Segments[p.seg]
		if p.seg > 0 {
			p.op = max(p.op, int(g.Segments[p.seg-1].Ops))
		}
		for ; p.op < min(int(s.Ops), len(g.Ops)); p.op++ {
			op := &g.Ops[p.op]
			at := min(int64(op.At), int64(s.CPU))
			switch op.Kind {
			case workload.OpCreate, workload.OpBlocked:
				c.create(op.G, plus(p.now, at), op.Kind == workload.OpBlocked)
			case workload.OpWake:
				if op.Meet && !c.meet(i, op, at) {
					return
				}
				c.wake(op, plus(p.now, at))
			}
		}
		start := plus(p.now, p.from)
		p.now, p.from = plus(p.now, int64(s.CPU)), 0
		if s.End != workload.EndCut && !g.System && !g.Tracer {
			c.last = max(c.last, p.now)
			if s.CPU > 0 {
				c.runs = append(c.runs, stretch{start, p.now})
			}
		}
		c.end(i, s)
	}
}

// wake ends the wait that ends a segment, or the one to come.
func (c *chains) wake(op *workload.Op, at int64) {
	if !c.known(op) {
		return
	}
	k, end := c.first[op.G]+int(op.Seg), c.w.Goroutines[op.G].Segments[op.Seg].End
	if c.woken[k] >= 0 || end != workload.EndWait && end != workload.EndNetwork {
		return
	}
	c.woken[k] = at
	if p := &c.at[op.G]; p.state == chainWaiting && p.seg == int(op.Seg) {
		p.seg++
		c.goOn(op.G, at)
	}
}

// meet has goroutine i, which is to wake another one on a channel without a buffer, go on no sooner than that waits. It
// reports whether it can go on.
func (c *chains) meet(i int32, op *workload.Op, at int64) bool {
	if !c.known(op) || !c.sure[c.first[op.G]+int(op.Seg)] {
		return true
	}
	q := &c.at[op.G]
	switch {
	case q.state == chainWaiting && q.seg == int(op.Seg):
		c.shift(i, max(plus(c.at[i].now, at), q.now), at)
		return true
	case q.state == chainDone || q.seg > int(op.Seg):
		return true
	}
	c.met[c.first[op.G]+int(op.Seg)] = i
	c.at[i].state = chainMidway
	return false
}

// shift has the segment of goroutine i go on at t when it has computed for so long.
func (c *chains) shift(i int32, t, at int64) {
	g, p := &c.w.Goroutines[i], &c.at[i]
	start, end := plus(p.now, p.from), plus(p.now, at)
	if end > start && !g.System && !g.Tracer && g.Segments[p.seg].End != workload.EndCut {
		c.runs = append(c.runs, stretch{start, end})
	}
	p.from = at
	p.now = plus(p.now, t-end)
}

// arrive is the other half of a meeting: the goroutine at p comes to wait k, for which another one waits within its
// segment. Both go on. It reports whether there is one.
func (c *chains) arrive(p *position, k int) bool {
	i, ok := c.met[k]
	if !ok {
		return false
	}
	delete(c.met, k)
	q, g := &c.at[i], &c.w.Goroutines[i]
	at := min(int64(g.Ops[q.op].At), int64(g.Segments[q.seg].CPU))
	p.now = max(p.now, plus(q.now, at))
	c.shift(i, p.now, at)
	q.op++
	c.woken[k] = p.now
	c.goOn(i, q.now)
	return true
}

// end ends the segment at which goroutine i stands.
func (c *chains) end(i int32, s *workload.Segment) {
	p := &c.at[i]
	switch s.End {
	case workload.EndExit:
		p.state = chainDone
		c.switchTo(s.Target, p.now) // runtime/coro.go: coroexit
		return
	case workload.EndCut, workload.EndForever:
		p.state = chainDone
		return
	case workload.EndSwitch:
		p.state = chainPassive
		p.seg++
		c.switchTo(s.Target, p.now)
		return
	case workload.EndExternal, workload.EndNetwork:
		p.now = 0
	case workload.EndWait:
		k := c.first[i] + p.seg
		switch {
		case !c.sure[k]:
			p.now = 0
		case s.Meet && c.woken[k] < 0 && c.arrive(p, k):
		case c.woken[k] < 0:
			p.state = chainWaiting
			return
		default:
			p.now = max(p.now, c.woken[k])
		}
	case workload.EndSleep, workload.EndSyscall:
		if s.End == workload.EndSyscall && !s.Blocking {
			c.calls = append(c.calls, stretch{p.now, plus(p.now, min(int64(s.Delay), int64(SysmonMin)))})
		}
		if s.Absolute {
			p.now = max(p.now, int64(s.Delay))
		} else {
			p.now = plus(p.now, int64(s.Delay))
		}
	}
	p.seg++
}

// least returns the greatest r + R(r)/cores.
func (c *chains) least(cores int) int64 {
	left := int64(0)
	ends := make([]int64, len(c.runs))
	for i, r := range c.runs {
		ends[i] = r.end
		left = plus(left, r.end-r.start)
	}
	best := max(c.last, left/int64(cores))
	if left >= mostTime || c.last >= mostTime {
		return best
	}
	slices.SortFunc(c.runs, func(a, b stretch) int { return cmp.Compare(a.start, b.start) })
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
		best = max(best, now+left/int64(cores))
	}
	return best
}

// mostTime is what longer times count as. Only a broken trace has such.
const mostTime = int64(1) << 61

// plus adds times that are not negative.
func plus(a, b int64) int64 {
	if b = max(b, 0); a > mostTime-min(b, mostTime) {
		return mostTime
	}
	return a + b
}
