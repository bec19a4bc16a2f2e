package refsched_test

import (
	"context"
	"testing"

	"github.com/schedscope/schedscope/analyze/refsched"
	"github.com/schedscope/schedscope/analyze/workload/workloadtest"
	"github.com/schedscope/schedscope/model"
)

// A random workload runs to its end under every kind of rules, as a schedule that the
// Machine accepts.
func TestRun(t *testing.T) {
	for seed := range uint64(60) {
		w := workloadtest.Random(seed, workloadtest.Options{})
		for name, cfg := range map[string]refsched.Config{
			"go":    {Costs: refsched.DefaultCosts()},
			"ideal": {Rules: refsched.Rules{Ideal: true}},
			"cores": {Costs: refsched.DefaultCosts(), Procs: 4, Cores: 2},
			"free":  {},
		} {
			cfg.Seed = seed
			m := model.NewMachine(w.Tables, model.Config{Version: w.Version})
			bad := 0
			res, err := refsched.Run(context.Background(), w, cfg, func(e *model.Event) {
				if err := m.Apply(e); err != nil && bad < 3 {
					bad++
					t.Errorf("seed %d, %s: %v", seed, name, err)
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := m.Finish(m.Now()); err != nil {
				t.Errorf("seed %d, %s: %v", seed, name, err)
			}
			if err := m.Check(); err != nil {
				t.Errorf("seed %d, %s: %v", seed, name, err)
			}
			if !res.Finished {
				t.Errorf("seed %d, %s: got %d goroutines stuck, want all finished", seed, name, res.Stuck)
			}
		}
	}
}
