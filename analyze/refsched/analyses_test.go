package refsched_test

import (
	"context"
	"testing"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/analyze/findings"
	"github.com/schedscope/schedscope/analyze/refsched"
	"github.com/schedscope/schedscope/analyze/refsched/refschedtest"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/modeltest"
)

// TestAnalyses checks that simulated schedules are fit for every analysis of recorded ones: the
// Machine accepts them, times are conserved, and to the nanosecond each wait has a
// cause and each start a source.
func TestAnalyses(t *testing.T) {
	for _, name := range []string{"http", "trees.go1.26.p4", "gc.go1.26.p4", "syscalls.go1.22.p4", "mixed.go1.24.p2",
		"lockthread.go1.26.p4", "iterpull.go1.26.p4", "timers.go1.26.p4", "mutex.go1.26.p4"} {
		t.Run(name, func(t *testing.T) {
			w := extract(t, "../../fixtures/"+name+".trace")
			m := model.NewMachine(w.Tables, model.Config{Version: w.Version})
			valid := modeltest.NewValidator(w.Tables)
			r := analyze.New(w.Tables, analyze.Options{Version: w.Version})
			r.ObserveSteps(m)
			r.Observe(m)
			m.Observe(valid)
			res, err := refschedtest.Run(context.Background(), w, refsched.Config{Costs: refsched.DefaultCosts(), Seed: 1}, func(e *model.Event) {
				valid.Event(e)
				if err := m.Apply(e); err != nil {
					t.Errorf("applying: %v", err)
				}
				r.Event(e)
			}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := m.Finish(m.Now()); err != nil {
				t.Errorf("finishing: %v", err)
			}
			r.Finish(m.Start(), m.Now())
			if err := m.Check(); err != nil {
				t.Errorf("checking: %v", err)
			}
			if err := valid.Err(); err != nil {
				t.Errorf("validating: %v", err)
			}
			if !res.Finished {
				t.Errorf("%d programs did not end", res.Stuck)
			}
			if c := r.Causes; c.Refused != "" || c.Total != r.Latency.All.Total() || c.Waits != r.Latency.All.Count() {
				t.Errorf("causes of %d waits of %d ns, want %d of %d (%s)", c.Waits, c.Total, r.Latency.All.Count(), r.Latency.All.Total(), c.Refused)
			}
			if len(findings.Verdict(r.Result())) == 0 {
				t.Error("no verdict")
			}
		})
	}
}
