package calibrate_test

import (
	"context"
	"testing"

	"github.com/schedscope/schedscope/analyze/calibrate"
	"github.com/schedscope/schedscope/analyze/refsched"
	"github.com/schedscope/schedscope/analyze/workload"
	"github.com/schedscope/schedscope/analyze/workload/workloadtest"
	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// work takes the work out of a fixture.
func work(t *testing.T, name string) *workload.Workload {
	t.Helper()
	w, err := workloadtest.FromTrace(fixtures.Path(name))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// simulate calibrates from the schedule that costs make of a workload.
func simulate(t *testing.T, w *workload.Workload, costs refsched.Costs) *calibrate.Calibrator {
	t.Helper()
	m := model.NewMachine(w.Tables, model.Config{Version: w.Version})
	c := calibrate.New(w.Tables, calibrate.Options{})
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
func TestSimulated(t *testing.T) {
	costs := refsched.Costs{Runnext: 150, Local: 210, Global: 330, Steal: 700, Poll: 2000, Direct: 250, Spin: 1600, BackOff: 61_000,
		Wake: 8000, Clone: 45_000, Locked: 2600, Slack: 58_000, Preempt: 12_000, Notice: 1000, Exit: 170, Epoll: 5000}
	want := map[string]model.Duration{"runnext": costs.Runnext, "local": costs.Local, "global": costs.Global, "steal": costs.Steal,
		"poll": costs.Poll, "direct": costs.Direct, "spin": costs.Spin, "backoff": costs.BackOff, "wake": costs.Wake, "locked": costs.Locked,
		"slack": costs.Slack, "preempt": costs.Preempt, "epoll": costs.Epoll, "send": costs.Send}
	all, right := map[string]int{}, map[string]int{}
	for _, name := range fixtures.Real() {
		w := work(t, name)
		for _, e := range simulate(t, w, costs).Estimates() {
			value, ok := want[e.Name]
			if !ok || !e.Calibrated {
				continue
			}
			all[e.Name]++
			if d := e.Value - value; d*20 <= value+100 && -d*20 <= value+100 {
				right[e.Name]++
				continue
			}
			t.Logf("%s: %s is %d of %d samples, simulated with %d", name, e.Name, e.Value, e.Samples, value)
		}
	}
	for _, name := range calibrate.Names() {
		need := all[name] * 4 / 5
		if name == "epoll" {
			need = all[name] / 2 // whose data it was, nothing tells
		}
		if _, ok := want[name]; ok && (all[name] == 0 || right[name] < need) {
			t.Errorf("%s is right for %d of %d", name, right[name], all[name])
		}
	}
}
