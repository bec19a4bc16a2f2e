package workload

import (
	"math"
	"slices"

	"github.com/schedscope/schedscope/model"
)

// Who waits for a lock, a place in a pool or the next job waits in a queue: whoever has waited longest is served. Another schedule
// serves another one. If the goroutine that was woken is late there, the next in the queue goes on with what that one went on with,
// and the late one with what the next one did, or else all that one holds would stand idle.
//
// Which waits are for one thing is not in a trace, but shows in the order. Waits of goroutines with one start function at one place
// are one queue if of poolLeast wakes or more, while others waited there, at most poolMost of a hundred passed over one that had
// waited for longer: where each waits for something of its own, as for the answer to its request, most do.
const (
	poolLeast = 20
	poolMost  = 5
)

// pools gives the waits in each such queue an object.
func (w *window) pools(p *places) {
	type queue struct {
		waits          []*Segment
		first          model.Time // when the first of them began
		chosen, passed int
	}
	queues, order := map[waitSite]*queue{}, []*queue{}
	for _, x := range slices.Backward(w.waits) {
		if x.seg < 0 {
			continue // see trim
		}
		g := &w.Goroutines[x.g]
		s := &g.Segments[x.seg]
		if s.Object >= 0 || s.Class == ClassRuntime || s.Class == ClassJoin || s.Class == ClassBuffered || g.Locked || w.side[x.g].coro {
			continue
		}
		k := waitSite{int32(g.Func), model.StackID(p.of(s.Stack).user)}
		q := queues[k]
		if q == nil {
			q = &queue{first: math.MaxInt64}
			queues[k], order = q, append(order, q)
		}
		if q.first < x.to {
			q.chosen++
			if q.first < x.from {
				q.passed++
			}
		}
		q.first, q.waits = min(q.first, x.from), append(q.waits, s)
	}
	for _, q := range order {
		if q.chosen >= poolLeast && q.passed*100 <= q.chosen*poolMost {
			for _, s := range q.waits {
				s.Object = int32(len(w.Objects))
			}
			w.Objects = append(w.Objects, Object{Class: q.waits[0].Class})
		}
	}
}
