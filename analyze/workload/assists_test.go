package workload_test

import (
	"testing"

	"github.com/schedscope/schedscope/analyze/workload/workloadtest"
	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model"
)

// TestWithoutAssists checks that mark assists are found in a trace with many, and that the work without them is that much less.
func TestWithoutAssists(t *testing.T) {
	w, err := workloadtest.FromTrace(fixtures.Path("gc.go1.26.p4.trace"))
	if err != nil {
		t.Fatal(err)
	}
	q := w.WithoutAssists()
	var all model.Duration
	for i := range w.Goroutines {
		g, x := &w.Goroutines[i], &q.Goroutines[i]
		op := int32(0)
		for k, s := range g.Segments {
			all += s.Assist
			less := &x.Segments[k]
			if s.Assist < 0 || s.Assist > s.CPU || less.CPU != s.CPU-s.Assist {
				t.Fatalf("goroutine %d, segment %d: %d of %d are assists, %d are left", g.ID, k, s.Assist, s.CPU, less.CPU)
			}
			for last := model.Duration(0); op < s.Ops; op++ {
				if at := x.Ops[op].At; at < last || at > less.CPU {
					t.Fatalf("goroutine %d, segment %d: operation %d is at %d, after %d, of %d", g.ID, k, op, at, last, less.CPU)
				} else {
					last = at
				}
			}
		}
		if sum := g.Work - x.Work; sum < 0 || sum > all {
			t.Errorf("goroutine %d: %d instead of %d", g.ID, x.Work, g.Work)
		}
	}
	if all < 1_000_000 {
		t.Errorf("assists took %d ns in all, want some milliseconds", all)
	}
}
