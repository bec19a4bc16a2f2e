package lockstep

import (
	"testing"

	"github.com/schedscope/schedscope/model"
)

// TestEarlyPreempt judges preemptions by how long the turn lasted, and the one before on the same proc.
func TestEarlyPreempt(t *testing.T) {
	const us, ms = 1000, 1_000_000
	for _, tt := range []struct {
		before, turn model.Duration
		want         Class // Unexplained unless agreed
		agreed       int64
	}{
		{5 * ms, 12 * ms, 0, 1},
		{12 * ms, 10 * us, StaleRead, 0},
		{12 * ms, 5 * ms, OS, 0},
		{12 * ms, 8 * ms, Unexplained, 0},
		{5 * ms, 10 * us, Unexplained, 0},
	} {
		c, err := New(model.NewTables(), 26, Options{})
		if err != nil {
			t.Fatal(err)
		}
		c.queues.began = true
		const at = 1_000_000_000
		q := c.procs.proc(0)
		q.slice = at - model.Time(tt.turn)
		q.before = q.slice - model.Time(tt.before)
		c.procs.requests = append(c.procs.requests, request{kind: Preempt, at: at, in: tt.turn, d: Divergence{Time: at}})
		c.procs.until(at + 1)
		k := &c.queues.result.Kinds[Preempt]
		if k.Agreed != tt.agreed || tt.agreed == 0 && k.Diverged[tt.want] != 1 {
			t.Errorf("%d us after a turn of %d us: %+v, want %v", tt.turn/us, tt.before/us, *k, tt.want)
		}
	}
}
