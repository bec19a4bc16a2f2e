package refsched_test

import (
	"context"
	"os"
	"testing"

	"github.com/schedscope/schedscope/analyze/refsched"
	"github.com/schedscope/schedscope/analyze/workload"
	"github.com/schedscope/schedscope/analyze/workload/workloadtest"
	"github.com/schedscope/schedscope/model"
)

// extract takes the workload out of a fixture.
func extract(tb testing.TB, name string) *workload.Workload {
	tb.Helper()
	w, err := workloadtest.FromTrace(name)
	if err != nil {
		tb.Fatal(err)
	}
	return w
}

// BenchmarkRun measures simulated events per second, without and with a Machine that takes them.
func BenchmarkRun(b *testing.B) {
	for _, name := range []string{"pipeline.go1.26.p4", "http", "trees.go1.26.p4"} {
		path := "../../fixtures/" + name + ".trace"
		if f := os.Getenv("SCHEDSCOPE_BENCH_TRACE"); f != "" {
			path = f
		}
		w := extract(b, path)
		for _, with := range []bool{false, true} {
			kind := "alone"
			if with {
				kind = "machine"
			}
			b.Run(name+"/"+kind, func(b *testing.B) {
				events := int64(0)
				for b.Loop() {
					var emit func(*model.Event)
					if with {
						m := model.NewMachine(w.Tables, model.Config{Version: w.Version})
						emit = func(e *model.Event) { m.Apply(e) }
					}
					res, err := refsched.Run(context.Background(), w, refsched.Config{Costs: refsched.DefaultCosts()}, emit)
					if err != nil {
						b.Fatal(err)
					}
					events += res.Events
				}
				b.ReportMetric(float64(events)/b.Elapsed().Seconds()/1e6, "Mevents/s")
			})
		}
	}
}
