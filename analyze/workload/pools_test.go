package workload_test

import (
	"testing"

	"github.com/schedscope/schedscope/analyze/workload"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/modeltest"
)

// TestPools checks that waits are one queue if whoever has waited longest is served, with one exception, and else none.
func TestPools(t *testing.T) {
	for _, x := range []struct {
		name string
		next func(i int) int
		want int // waits with an object
	}{
		{"in order", func(i int) int { return i % 4 }, 40},
		{"one is passed over", func(i int) int { return i%4 ^ i/39 }, 40},
		{"each for itself", func(i int) int { return i / 2 % 4 }, 0},
	} {
		b := modeltest.NewBuilder()
		m, c := b.M(1).Proc(0).Running(1, "main.main"), b.M(2)
		c.Proc(1).Running(9, "main.other")
		now := 10
		tick := func() { now += 10; b.At(now) }
		tick()
		c.Block("forever")
		wait := func(i int) {
			c.Start(model.GoID(2 + i))
			tick()
			c.With("runtime.selectgo", "main.member").Block("select")
			tick()
		}
		for i := range 4 {
			m.With("main.main").Create(model.GoID(2+i), "main.member")
			tick()
			wait(i)
		}
		for i := range 40 {
			m.With("runtime.chanrecv1", "main.main").Unblock(model.GoID(2 + x.next(i)))
			tick()
			wait(x.next(i))
		}
		got, w := 0, work(t, b)
		for g := range 4 {
			for _, s := range segments(t, w, model.GoID(2+g)) {
				if s.End == workload.EndWait && s.Object >= 0 {
					got++
				}
			}
		}
		if got != x.want || len(w.Objects) > 1 {
			t.Errorf("%s: %d waits have an object, want %d of one (%+v)", x.name, got, x.want, w.Objects)
		}
	}
}
