package replay

import (
	"context"
	"slices"
	"testing"

	"github.com/schedscope/schedscope/analyze/refsched"
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
	c := newCalibrator()
	m.Observe(c)
	r, err := runqueue.New(w.Tables, w.Version)
	if err != nil {
		t.Fatal(err)
	}
	r.Observe(c)
	m.Observe(r)
	_, err = refsched.Run(context.Background(), w, refsched.Config{Costs: costs}, func(ev *model.Event) { _ = m.Apply(ev) })
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
// simulated: an estimator and the simulator mean the same time. Here and there chance makes an
// estimate differ: data that comes from outside just after a write, or timers.
func TestCalibrateSimulated(t *testing.T) {
	costs := refsched.Costs{Single: [refsched.NumCosts]model.Duration{refsched.CostRunnext: 150, refsched.CostLocal: 210, refsched.CostGlobal: 330,
		refsched.CostSteal: 700, refsched.CostPoll: 2000, refsched.CostDirect: 250, refsched.CostSpin: 1600, refsched.CostBackOff: 61_000,
		refsched.CostWake: 8000, refsched.CostClone: 45_000, refsched.CostLocked: 2600, refsched.CostSlack: 58_000, refsched.CostPreempt: 12_000,
		refsched.CostNotice: 1000, refsched.CostExit: 170, refsched.CostEpoll: 5000}}
	// Of these there are no samples.
	unsure := []refsched.Cost{refsched.CostSpin, refsched.CostClone, refsched.CostPreempt, refsched.CostExit, refsched.CostWaker, refsched.CostNotice, refsched.CostEpoll}
	var all, right [refsched.NumCosts]int
	for _, name := range fixtures.Real() {
		w := workOfFixture(t, name)
		for _, e := range estimates(simulateCosts(t, w, costs)) {
			value := costs.Single[e.Kind]
			if slices.Contains(unsure, e.Kind) || e.From != "trace" {
				continue
			}
			all[e.Kind]++
			if d := e.Value - value; d*20 <= value+100 && -d*20 <= value+100 {
				right[e.Kind]++
				continue
			}
			t.Logf("%s: %s is %d of %d samples, simulated with %d", name, e.Kind, e.Value, e.Samples, value)
		}
	}
	for k := range refsched.NumCosts {
		need := all[k] * 4 / 5
		if !slices.Contains(unsure, k) && (all[k] == 0 || right[k] < need) {
			t.Errorf("%s is right for %d of %d", k, right[k], all[k])
		}
	}
}
