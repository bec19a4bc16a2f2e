package bound

import (
	"github.com/schedscope/schedscope/analyze/workload"
	"github.com/schedscope/schedscope/model"
)

// certain returns for each segment, counted as in walk.first, whether the wake that ended
// its wait is what it has to wait for in every schedule: the end of a join or, of two goroutines
// that wake nobody else from there and are woken by nobody else, the other's operation. A
// worker may be given its next item by another producer, and whose turn it is at a lock
// depends on who comes first.
func (c *walk) certain() []bool {
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
	c.eachWake(func(i int32, op *workload.Op, x *workload.Segment) {
		note(waker, side{op.G, x.Stack}, i)
		note(wakee, side{i, op.Stack}, op.G)
	})
	list := make([]bool, len(c.woken))
	c.eachWake(func(i int32, op *workload.Op, x *workload.Segment) {
		alone := waker[side{op.G, x.Stack}] != several && wakee[side{i, op.Stack}] != several
		list[c.first[op.G]+int(op.Seg)] = x.Class == workload.ClassJoin || x.Class == workload.ClassHandoff && alone
	})
	return list
}

// eachWake calls f for each operation that ends a wait.
func (c *walk) eachWake(f func(i int32, op *workload.Op, x *workload.Segment)) {
	for i := range c.w.Goroutines {
		for j := range c.w.Goroutines[i].Ops {
			op := &c.w.Goroutines[i].Ops[j]
			if op.Kind != workload.OpWake || !c.known(op.G) || op.Seg < 0 || int(op.Seg) >= len(c.w.Goroutines[op.G].Segments) {
				continue
			}
			if x := &c.w.Goroutines[op.G].Segments[op.Seg]; x.End == workload.EndWait {
				f(int32(i), op, x)
			}
		}
	}
}
