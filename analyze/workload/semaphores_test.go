package workload_test

import (
	"testing"

	"github.com/schedscope/schedscope/analyze/workload"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/modeltest"
)

// spawner has goroutine 1 create children, at most room of them at a time: before a creation it waits
// if there are as many. Every third wait begins late, so that a child has ended without
// ending one. Where strange, nobody whom the trace shows ends the wait before the creation.
func spawner(n, room int, strange func(i int) bool) *modeltest.Builder {
	b := modeltest.NewBuilder()
	m := b.M(1).Proc(0).Running(1, "main.main")
	c := b.M(2)
	c.Proc(1).Running(9, "main.other")
	now := 10
	tick := func() { now += 10; b.At(now) }
	tick()
	c.Block("forever")
	var alive []model.GoID
	for i := range n {
		tick()
		end := func(wakes bool) {
			g := alive[0]
			alive = alive[1:]
			c.Start(g)
			tick()
			if wakes {
				c.With("runtime.chanrecv1", "main.child").Unblock(1)
				tick()
			}
			c.Exit()
			tick()
		}
		if len(alive) == room {
			switch {
			case i%3 == 0:
				end(false)
			case strange(i):
				m.With("runtime.chansend1", "main.main").Block("chan send")
				c.Start(alive[0])
				alive = alive[1:]
				tick()
				c.Exit()
				c.Unblock(1)
				tick()
				m.Start(1)
			default:
				m.With("runtime.chansend1", "main.main").Block("chan send")
				tick()
				end(true)
				m.Start(1)
			}
			tick()
		}
		g := model.GoID(100 + i)
		m.With("main.main").Create(g, "main.child")
		alive = append(alive, g)
	}
	tick()
	return b
}

func TestSemaphore(t *testing.T) {
	never := func(int) bool { return false }
	w := work(t, spawner(60, 4, never))
	if len(w.Objects) != 1 || w.Objects[0].Class != workload.ClassSemaphore || w.Objects[0].Room != 4 {
		t.Fatalf("got objects %+v, want a semaphore with 4 places", w.Objects)
	}
	kinds := map[workload.OpKind]int{}
	waits := 0
	for i := range w.Goroutines {
		for _, o := range w.Goroutines[i].Ops {
			kinds[o.Kind]++
		}
		for _, x := range w.Goroutines[i].Segments {
			if x.Class == workload.ClassSemaphore {
				waits++
			}
		}
	}
	// Each creation takes a place, waiting or not, and each child that ended gave one back.
	if waits+kinds[workload.OpAcquire] != 60 || waits+kinds[workload.OpRelease] != 56 || kinds[workload.OpRelease] == 0 {
		t.Errorf("%d waits, %d places taken without, %d given back without", waits, kinds[workload.OpAcquire], kinds[workload.OpRelease])
	}
	if w := work(t, spawner(60, 4, func(int) bool { return true })); len(w.Objects) > 0 {
		t.Errorf("others end the waits: got objects %+v", w.Objects)
	}
	// A single one is nobody's place.
	w = work(t, spawner(60, 4, func(i int) bool { return i == 40 }))
	if len(w.Objects) != 1 || w.Objects[0].Class != workload.ClassSemaphore {
		t.Fatalf("one wait ends otherwise: got objects %+v, want a semaphore", w.Objects)
	}
	n, reason := 0, w.Objects[0].Reason
	for _, x := range segments(t, w, 1) {
		if x.Reason == reason && x.Object < 0 {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d waits are for no place, want 1", n)
	}
}
