// Package workloadtest checks workloads, and takes them out of traces, for tests. This
// package promises nothing to other modules.
package workloadtest

import (
	"fmt"

	"github.com/schedscope/schedscope/analyze/workload"
	"github.com/schedscope/schedscope/model"
)

// Check reports the first way in which the workload is not one that can be run: each wait
// on a recorded wake has exactly one, each goroutine that does not exist at the
// beginning is created once, offsets lie in order within their segments, and
// indices exist; and the times add up as Recorded says. What passes can be simulated.
func Check(w *workload.Workload) error {
	c := checker{w: w, created: make([]int32, len(w.Goroutines)), cycles: make([]int32, len(w.Cycles)),
		stops: make([]int32, len(w.Stops)), wakes: make([][]uint8, len(w.Goroutines))}
	for i := range w.Goroutines {
		c.wakes[i] = make([]uint8, len(w.Goroutines[i].Segments))
	}
	for i := range w.Goroutines {
		c.goroutine(i)
	}
	for i := range w.Cycles {
		x := &w.Cycles[i]
		if x.Work < 0 || x.Sweep < 0 || x.Mark < 0 || x.At < 0 {
			c.bad("cycle %d: negative: %+v", i, x)
		}
		for j := range x.Ends {
			if x.Ends[j].Kind != workload.OpWake {
				c.bad("cycle %d: operation %d at its end is no wake", i, j)
			}
			c.refer(&x.Ends[j])
		}
	}
	for i := range w.Objects {
		for _, x := range w.Objects[i].Parts {
			if x.G < 0 || int(x.G) >= len(w.Goroutines) || x.Seg < 0 || int(x.Seg) >= len(w.Goroutines[x.G].Segments) {
				c.bad("object %d: part %+v", i, x)
			}
		}
	}
	for i := range w.Stops {
		if w.Stops[i].Hold < 0 {
			c.bad("stop %d: holds for %d", i, w.Stops[i].Hold)
		}
	}
	c.arrivals()
	c.refs()
	r := &w.Recorded
	if c.work != r.Work {
		c.bad("segments compute for %d, want %d", c.work, r.Work)
	}
	if sum := r.Work + r.Marking + r.Stopped + r.Waking; sum != r.Running {
		c.bad("work %d, marking %d, stopped %d and waking %d add up to %d, want %d running",
			r.Work, r.Marking, r.Stopped, r.Waking, sum, r.Running)
	}
	return c.err
}

// checker counts references.
type checker struct {
	w       *workload.Workload
	err     error
	work    model.Duration
	created []int32
	cycles  []int32
	stops   []int32
	wakes   [][]uint8
}

func (c *checker) bad(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("workload: "+format, args...)
	}
}

// goroutine checks a program and counts what its operations refer to.
func (c *checker) goroutine(i int) {
	g := &c.w.Goroutines[i]
	if len(g.Segments) == 0 {
		c.bad("goroutine %d: no segments", g.ID)
		return
	}
	first := int32(0)
	for k := range g.Segments {
		x := &g.Segments[k]
		c.work += x.CPU
		if x.CPU < 0 || x.Delay < 0 || x.End >= workload.NumEnds || x.Class >= workload.NumClasses {
			c.bad("goroutine %d: segment %d: %+v", g.ID, k, x)
		}
		if x.Ops < first || int(x.Ops) > len(g.Ops) {
			c.bad("goroutine %d: segment %d: operations %d to %d of %d", g.ID, k, first, x.Ops, len(g.Ops))
			return
		}
		c.ops(g, k, g.Ops[first:x.Ops])
		first = x.Ops
		last := x.End == workload.EndCut || x.End == workload.EndExit || x.End == workload.EndForever
		if at := k == len(g.Segments)-1; last && !at || at && !last && x.End != workload.EndSwitch {
			c.bad("goroutine %d: segment %d of %d ends with kind %d", g.ID, k, len(g.Segments), x.End)
		}
		if int(x.Target) >= len(c.w.Goroutines) || x.Target < -1 || x.Target >= 0 && x.End != workload.EndSwitch && x.End != workload.EndExit {
			c.bad("goroutine %d: segment %d: target %d", g.ID, k, x.Target)
		}
		if int(x.Object) >= len(c.w.Objects) || x.Object < -1 {
			c.bad("goroutine %d: segment %d: object %d", g.ID, k, x.Object)
		}
	}
	if int(first) != len(g.Ops) {
		c.bad("goroutine %d: %d operations belong to no segment", g.ID, len(g.Ops)-int(first))
	}
	x := &g.Segments[0]
	if (g.Begin == workload.BeginWaiting || g.Begin == workload.BeginSyscall) && (x.CPU != 0 || x.Ops != 0) {
		c.bad("goroutine %d: computes before the wait in which it begins: %+v", g.ID, x)
	}
	if g.Begin == workload.BeginSyscall && x.End != workload.EndSyscall {
		c.bad("goroutine %d: begins in a system call that is none: %+v", g.ID, x)
	}
}

func (c *checker) ops(g *workload.Goroutine, k int, ops []workload.Op) {
	at := model.Duration(0)
	for j := range ops {
		o := &ops[j]
		if o.At < at || o.At > g.Segments[k].CPU {
			c.bad("goroutine %d: segment %d: operation at %d, want %d to %d", g.ID, k, o.At, at, g.Segments[k].CPU)
		}
		at = o.At
		c.refer(o)
	}
}

// refer counts what an operation refers to.
func (c *checker) refer(o *workload.Op) {
	n := len(c.created)
	switch o.Kind {
	case workload.OpCycle:
		n = len(c.cycles)
	case workload.OpStop:
		n = len(c.stops)
	case workload.OpAcquire, workload.OpRelease:
		n = len(c.w.Objects)
	case workload.OpBegin, workload.OpEnd:
		n = len(c.w.Requests)
	}
	if o.G < 0 || int(o.G) >= n {
		c.bad("operation refers to %d of %d: %+v", o.G, n, o)
		return
	}
	switch o.Kind {
	case workload.OpCreate, workload.OpBlocked:
		c.created[o.G]++
	case workload.OpCycle:
		c.cycles[o.G]++
	case workload.OpStop:
		c.stops[o.G]++
	case workload.OpWake:
		c.wake(o.G, o.Seg, workload.EndWait)
	case workload.OpSend:
		c.wake(o.G, o.Seg, workload.EndNetwork)
	case workload.OpAcquire, workload.OpRelease:
		if x := &c.w.Objects[o.G]; x.Class != workload.ClassSemaphore {
			c.bad("operation on a semaphore refers to an object of class %v: %+v", x.Class, o)
		}
	case workload.OpBegin, workload.OpEnd:
	default:
		c.bad("operation of unknown kind: %+v", o)
	}
}

func (c *checker) wake(g, seg int32, end workload.EndKind) {
	list := c.w.Goroutines[g].Segments
	if seg < 0 || int(seg) >= len(list) || list[seg].End != end {
		c.bad("wake of goroutine %d from segment %d of %d, which does not wait for it", c.w.Goroutines[g].ID, seg, len(list))
		return
	}
	if c.wakes[g][seg] < 2 {
		c.wakes[g][seg]++
	}
}

func (c *checker) arrivals() {
	at := model.Duration(0)
	for i := range c.w.Arrivals {
		a := &c.w.Arrivals[i]
		if a.At < at || a.G < 0 || int(a.G) >= len(c.created) {
			c.bad("arrival %d: %+v", i, a)
			continue
		}
		at = a.At
		if a.Kind == workload.ArriveCreate {
			c.created[a.G]++
		} else {
			c.wake(a.G, a.Seg, workload.EndWait)
		}
	}
}

// refs checks how often everything is referred to.
func (c *checker) refs() {
	for i := range c.w.Goroutines {
		g := &c.w.Goroutines[i]
		want := int32(0)
		if g.Begin == workload.BeginAbsent {
			want = 1
		}
		if c.created[i] != want {
			c.bad("goroutine %d: created %d times, want %d", g.ID, c.created[i], want)
		}
		for k := range g.Segments {
			if end := g.Segments[k].End; (end == workload.EndWait || end == workload.EndNetwork) && c.wakes[i][k] != 1 {
				c.bad("goroutine %d: segment %d waits for %d wakes, want 1", g.ID, k, c.wakes[i][k])
			}
		}
	}
	for i, n := range c.cycles {
		if want := c.w.Cycles[i].Periodic; want != (n == 0) || n > 1 {
			c.bad("cycle %d: begun %d times; periodic: %v", i, n, want)
		}
	}
	for i, n := range c.stops {
		if n > 1 {
			c.bad("stop %d: made %d times, want 1", i, n)
		}
	}
}
