package replay

import (
	"context"
	"testing"

	"github.com/schedscope/schedscope/analyze/refsched"
	"github.com/schedscope/schedscope/analyze/refsched/refschedtest"
	"github.com/schedscope/schedscope/analyze/workload"
	"github.com/schedscope/schedscope/analyze/workload/workloadtest"
	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// workOfFixture takes the work out of a fixture.
func workOfFixture(t *testing.T, name string) *workload.Workload {
	t.Helper()
	w, err := workloadtest.FromTrace(fixtures.Path(name))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// simulateCosts calibrates from the schedule that costs make of a workload.
func simulateCosts(t *testing.T, w *workload.Workload, costs refsched.Costs) *calibrator {
	t.Helper()
	m := model.NewMachine(w.Tables, model.Config{Version: w.Version})
	c := new(calibrator)
	r, err := runqueue.New(w.Tables, w.Version)
	if err != nil {
		t.Fatal(err)
	}
	r.Observe(c)
	m.Observe(r)
	_, err = refschedtest.Run(context.Background(), w, refsched.Config{Costs: costs}, func(ev *model.Event) { _ = m.Apply(ev) }, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Finish(m.Now()); err != nil {
		t.Fatal(err)
	}
	r.Finish()
	return c
}

// TestSimulated checks that what is measured of a simulated schedule is with what it was
// simulated: the calibrator and the simulator mean the same time. Here and there chance makes an
// estimate differ: data that comes from outside just after a write, or timers.
func TestCalibrateSimulated(t *testing.T) {
	costs := refsched.DefaultCosts()
	for k, d := range map[refsched.Cost]model.Duration{refsched.CostRunnext: 150, refsched.CostLocal: 210, refsched.CostGlobal: 330,
		refsched.CostSteal: 700, refsched.CostPoll: 2000, refsched.CostDirect: 250, refsched.CostSpin: 700, refsched.CostBackOff: 61_000,
		refsched.CostWake: 8000, refsched.CostClone: 45_000, refsched.CostLocked: 2600, refsched.CostSlack: 58_000, refsched.CostPreempt: 12_000,
		refsched.CostNotice: 1000, refsched.CostExit: 170, refsched.CostEpoll: 5000} {
		costs.Single[k] = d
	}
	var all, right [refsched.NumCosts]int
	for _, name := range fixtures.Real() {
		got := simulateCosts(t, workOfFixture(t, name), costs).costs()
		for k := range refsched.NumCosts {
			if got.Drawn[k] == nil {
				continue
			}
			all[k]++
			value, want := typical(got, k), costs.Single[k]
			if d := value - want; d*20 <= want+100 && -d*20 <= want+100 {
				right[k]++
				continue
			}
			t.Logf("%s: cost %d is %d, simulated with %d", name, k, value, want)
		}
	}
	for _, k := range []refsched.Cost{refsched.CostRunnext, refsched.CostLocal, refsched.CostGlobal, refsched.CostSteal, refsched.CostDirect,
		refsched.CostBackOff, refsched.CostWake, refsched.CostLocked} {
		if all[k] == 0 || right[k] < all[k]*4/5 {
			t.Errorf("cost %d is right for %d of %d", k, right[k], all[k])
		}
	}
}
