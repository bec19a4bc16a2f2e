package refsched_test

import (
	"context"
	"os"
	"testing"

	"github.com/schedscope/schedscope/analyze/refsched"
	"github.com/schedscope/schedscope/analyze/refsched/refschedtest"
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

// BenchmarkRun measures simulated starts per second, without and with a Machine that takes them.
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
				starts := int64(0)
				for b.Loop() {
					var res *refsched.Result
					var err error
					if cfg := (refsched.Config{Costs: refsched.DefaultCosts()}); with {
						m := model.NewMachine(w.Tables, model.Config{Version: w.Version})
						res, err = refschedtest.Run(context.Background(), w, cfg, func(e *model.Event) { m.Apply(e) }, nil)
					} else {
						res, err = refsched.Run(context.Background(), w, cfg)
					}
					if err != nil {
						b.Fatal(err)
					}
					starts += res.Starts
				}
				b.ReportMetric(float64(starts)/b.Elapsed().Seconds()/1e6, "Mstarts/s")
			})
		}
	}
}
