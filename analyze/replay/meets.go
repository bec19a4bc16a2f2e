package replay

import (
	"context"

	"github.com/schedscope/schedscope/analyze/refsched"
	"github.com/schedscope/schedscope/analyze/workload"
)

// Whether a channel has a buffer is not in a trace. Where the operations on it seem to show all
// (see workload.Op.Meet) it may have none, or a small one that was filled and emptied in
// turn. The recording decides: if goroutines met that do not, simulating it again would give
// other waits than it has. Simulations of the recording itself are right without meetings, as there
// whoever came first there mostly comes first again.
const (
	// meetSeeds are how many simulations are tried each way.
	meetSeeds = 2
	// meetsCost is by which part of the mean wait the simulations may be worse.
	meetsCost = 0.03
)

// setMeets sets whether goroutines meet in a run.
func (r *run) setMeets(decided bool) {
	r.meets = decided && r.kind != runFree && r.kind != runIdeal
}

// meets decides whether what-ifs take channels that seem to have no buffer to have none.
func (r *Replay) meets(w *workload.Workload, costs refsched.Costs) (bool, error) {
	if len(r.o.Variants) == 0 || !hasMeetings(w) || r.recorded.Waits.Count() == 0 {
		return false, nil
	}
	distance := [2]float64{}
	for i := range distance {
		var tried [meetSeeds]*Schedule
		err := parallel(r.ctx, meetSeeds, r.o.Workers, func(ctx context.Context, k int) (err error) {
			tried[k], err = r.one(ctx, w, &run{kind: runFree, seed: uint64(k + 1), meets: i == 1}, costs)
			return err
		})
		if err != nil {
			return false, err
		}
		waits := newSchedule()
		for _, s := range tried {
			waits.merge(s)
		}
		distance[i] = W1(r.recorded.Waits, waits.Waits)
	}
	return distance[1] <= distance[0]+float64(meetsCost*mean(r.recorded.Waits)), nil
}

func hasMeetings(w *workload.Workload) bool {
	for i := range w.Goroutines {
		for j := range w.Goroutines[i].Ops {
			if w.Goroutines[i].Ops[j].Meet {
				return true
			}
		}
	}
	return false
}
