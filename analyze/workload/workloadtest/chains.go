package workloadtest

import (
	"fmt"

	"github.com/schedscope/schedscope/analyze/workload"
	"github.com/schedscope/schedscope/model"
)

// Work returns the computing time of all segments of w.
func Work(w *workload.Workload) model.Duration {
	var sum model.Duration
	for i := range w.Goroutines {
		for k := range w.Goroutines[i].Segments {
			sum += w.Goroutines[i].Segments[k].CPU
		}
	}
	return sum
}

// Chains carries w out with as many procs as it can use, where computing takes cpu
// times as long and delays take delay times as long as w says. It returns when the last
// goroutine stops, which is the length of the longest chain of what depends on each other.
//
// GC cycles and stop-the-worlds take no time, and a wait for assist credit its
// Delay. The error says that w gets stuck: a wait that nobody ends, or an operation
// that comes twice.
func Chains(w *workload.Workload, cpu, delay int64) (model.Duration, error) {
	c := chains{w: w, cpu: model.Duration(cpu), delay: model.Duration(delay), at: make([]position, len(w.Goroutines)), woken: map[wait]model.Duration{}, met: map[wait]int32{}}
	for i := range w.Goroutines {
		if w.Goroutines[i].Begin != workload.BeginAbsent {
			c.create(int32(i), 0)
		}
	}
	for _, a := range w.Arrivals {
		switch a.Kind {
		case workload.ArriveCreate:
			c.create(a.G, a.At*c.delay)
		case workload.ArriveWake:
			c.wake(wait{a.G, a.Seg}, a.At*c.delay)
		}
	}
	for i := range w.Cycles {
		if w.Cycles[i].Periodic {
			c.endCycle(&w.Cycles[i], w.Cycles[i].At*c.delay)
		}
	}
	for len(c.ready) > 0 && c.err == nil {
		g := c.ready[len(c.ready)-1]
		c.ready = c.ready[:len(c.ready)-1]
		c.run(g)
	}
	return c.last, c.stuck()
}

// chains is an execution with unlimited procs.
type chains struct {
	w          *workload.Workload
	cpu, delay model.Duration
	at         []position
	ready      []int32
	woken      map[wait]model.Duration
	met        map[wait]int32 // who waits for a goroutine to come to this wait
	last       model.Duration
	err        error
}

// wait is the wait that ends a segment.
type wait struct{ g, seg int32 }

// position is where a goroutine's program stands.
type position struct {
	now     model.Duration // when the segment began, less what it waited since
	seg     int32
	op      int32 // the next one
	exists  bool
	waits   bool
	blocked bool // created, but waits to be switched to
	done    bool
}

func (c *chains) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

func (c *chains) create(g int32, now model.Duration) {
	p := &c.at[g]
	if p.exists {
		c.fail("goroutine %d is created twice", g)
		return
	}
	p.exists, p.now = true, now
	c.ready = append(c.ready, g)
}

func (c *chains) wake(k wait, now model.Duration) {
	if int(k.g) >= len(c.at) || k.seg < 0 || int(k.seg) >= len(c.w.Goroutines[k.g].Segments) {
		c.fail("there is no segment %d of goroutine %d to wake from", k.seg, k.g)
		return
	}
	switch kind := c.w.Goroutines[k.g].Segments[k.seg].End; kind {
	case workload.EndWait, workload.EndNetwork:
	default:
		c.fail("goroutine %d is woken from segment %d, which ends with %d", k.g, k.seg, kind)
	}
	if _, twice := c.woken[k]; twice {
		c.fail("goroutine %d is woken twice from segment %d", k.g, k.seg)
	}
	c.woken[k] = now
	if p := &c.at[k.g]; p.waits && p.seg == k.seg && p.op == c.w.Goroutines[k.g].Segments[k.seg].Ops {
		p.waits = false
		p.now = max(p.now, now)
		p.seg++
		c.ready = append(c.ready, k.g)
	}
}

func (c *chains) endCycle(cycle *workload.Cycle, now model.Duration) {
	for i := range cycle.Ends {
		c.wake(wait{cycle.Ends[i].G, cycle.Ends[i].Seg}, now)
	}
}

// run carries g's program on until it waits or ends.
func (c *chains) run(i int32) {
	g, p := &c.w.Goroutines[i], &c.at[i]
	for c.err == nil && !p.done && !p.waits && !p.blocked {
		if int(p.seg) >= len(g.Segments) {
			c.fail("goroutine %d has no segment %d", i, p.seg)
			return
		}
		s := &g.Segments[p.seg]
		var before model.Duration
		for ; p.op < s.Ops; p.op++ {
			op := &g.Ops[p.op]
			if op.At < before || op.At > s.CPU {
				c.fail("goroutine %d, operation %d: at %d, after one at %d, in a segment of %d", i, p.op, op.At, before, s.CPU)
			}
			before = op.At
			if op.Meet && c.early(op) {
				c.met[wait{op.G, op.Seg}] = i
				p.waits = true
				return
			}
			if op.Meet { // whichever of the two was followed first
				p.now = max(p.now, c.at[op.G].now-op.At*c.cpu)
			}
			c.do(op, p.now+op.At*c.cpu)
		}
		p.now += s.CPU * c.cpu
		c.end(i, p, s)
	}
}

// early reports whether the goroutine that the operation is to wake does not wait yet.
func (c *chains) early(op *workload.Op) bool {
	p := &c.at[op.G]
	return !p.exists || !p.waits || p.seg != op.Seg || p.op < c.w.Goroutines[op.G].Segments[p.seg].Ops
}

// meets lets whoever waits for g to come to its wait go on, and reports whether there is one.
func (c *chains) meets(g int32, p *position) bool {
	k := wait{g, p.seg}
	i, ok := c.met[k]
	if !ok {
		return false
	}
	q := &c.at[i]
	op := &c.w.Goroutines[i].Ops[q.op]
	now := max(p.now, q.now+op.At*c.cpu)
	q.now, p.now = now-op.At*c.cpu, now
	q.waits = false
	q.op++
	c.woken[k] = now
	c.ready = append(c.ready, i)
	return true
}

func (c *chains) do(op *workload.Op, now model.Duration) {
	switch op.Kind {
	case workload.OpCreate:
		c.create(op.G, now)
	case workload.OpBlocked:
		p := &c.at[op.G]
		if p.exists {
			c.fail("goroutine %d is created twice", op.G)
		}
		p.exists, p.blocked = true, true
	case workload.OpWake, workload.OpSend:
		c.wake(wait{op.G, op.Seg}, now)
	case workload.OpCycle:
		c.endCycle(&c.w.Cycles[op.G], now)
	}
}

// end ends the segment at which p stands.
func (c *chains) end(i int32, p *position, s *workload.Segment) {
	c.last = max(c.last, p.now)
	switch s.End {
	case workload.EndExit, workload.EndCut, workload.EndForever:
		p.done = true
		if int(p.seg) != len(c.w.Goroutines[i].Segments)-1 {
			c.fail("goroutine %d ends before its last segment", i)
		}
		if s.End == workload.EndExit && s.Target >= 0 {
			c.resume(i, p, s.Target)
		}
		return
	case workload.EndWait, workload.EndNetwork:
		if s.Meet && c.meets(i, p) {
			break
		}
		t, ok := c.woken[wait{i, p.seg}]
		if p.waits = !ok; p.waits {
			return
		}
		p.now = max(p.now, t)
	case workload.EndSwitch:
		c.switchTo(i, p, s.Target)
		return
	case workload.EndSleep, workload.EndExternal, workload.EndSyscall, workload.EndAssist:
		if s.Absolute {
			p.now = max(p.now, s.Delay*c.delay)
		} else {
			p.now += s.Delay * c.delay
		}
	}
	p.seg++
}

func (c *chains) switchTo(i int32, p *position, target int32) {
	p.blocked = true
	p.seg++
	c.resume(i, p, target)
}

// resume lets a coroutine that waits to be switched to go on.
func (c *chains) resume(i int32, p *position, target int32) {
	q := &c.at[target]
	if !q.blocked {
		c.fail("goroutine %d switches to %d, which does not wait for that", i, target)
		return
	}
	q.blocked = false
	q.now = max(q.now, p.now)
	c.ready = append(c.ready, target)
}

// stuck returns what went wrong, or who still waits.
func (c *chains) stuck() error {
	for i := range c.at {
		p, g := &c.at[i], &c.w.Goroutines[i]
		switch {
		case !p.exists:
			c.fail("goroutine %d is never created", i)
		case p.done, p.blocked && int(p.seg) >= len(g.Segments):
		default:
			c.fail("goroutine %d is stuck in segment %d of %d", i, p.seg, len(g.Segments))
		}
	}
	return c.err
}
