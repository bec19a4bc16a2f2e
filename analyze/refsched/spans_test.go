package refsched_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/refsched"
	"github.com/schedscope/schedscope/analyze/refsched/refschedtest"
	"github.com/schedscope/schedscope/analyze/workload/workloadtest"
	"github.com/schedscope/schedscope/model"
)

// spanList keeps the intervals of the program's goroutines, by goroutine, as far as [refsched.Config.Span] has them.
type spanList map[model.GoID][]model.GoSpan

func (l spanList) GoSpan(s *model.GoSpan) {
	if s.System {
		return
	}
	x := *s
	x.P, x.M, x.Waker, x.WakerStack, x.WakerProc, x.WakerThread = model.NoProc, model.NoThread, model.NoGoroutine, 0, model.NoProc, model.NoThread
	x.Origin, x.Reason, x.Stack = 0, 0, 0
	x.Next, x.Synthetic, x.Clamped = 0, false, false
	if x.State == model.GoSyscallBlocked {
		x.State = model.GoSyscall
	}
	l[s.G] = append(l[s.G], x)
}

// TestSpans checks that a simulation reports the same intervals as a Machine that takes its events.
func TestSpans(t *testing.T) {
	traces, err := filepath.Glob("../../fixtures/*.trace")
	if err != nil || len(traces) == 0 {
		t.Fatal(traces, err)
	}
	for i, path := range traces {
		name := filepath.Base(path)
		if strings.Contains(name, "1.21") || testing.Short() && i%3 > 0 {
			continue
		}
		w, err := workloadtest.FromTrace(path)
		if err != nil {
			continue // of an old format, or empty
		}
		w.Tables.SetNames(nil) // of a later generation than the workload's
		for kind, cfg := range map[string]refsched.Config{
			"go":       {Costs: refsched.DefaultCosts()},
			"recorded": {Costs: refsched.DefaultCosts(), AsRecorded: true, Procs: 2},
			"ideal":    {Rules: refsched.Rules{Ideal: true}},
			"quota":    {Costs: refsched.DefaultCosts(), Procs: 4, Quota: 50_000_000},
		} {
			got, want := spanList{}, spanList{}
			cfg.Seed, cfg.Span = uint64(i), got
			m := model.NewMachine(w.Tables, model.Config{Version: w.Version})
			m.Observe(want)
			_, err := refschedtest.Run(context.Background(), w, cfg, func(ev *model.Event) { m.Apply(ev) }, nil)
			if err != nil {
				t.Fatal(name, kind, err)
			}
			m.Finish(m.Now())
			for g, list := range want {
				for k, x := range list {
					if k >= len(got[g]) || x != got[g][k] {
						t.Fatalf("%s, %s: goroutine %d: interval %d of %d, %d: got %+v, want %+v", name, kind, g, k, len(list), len(got[g]), got[g][k:min(k+1, len(got[g]))], x)
					}
				}
				if len(got[g]) != len(list) {
					t.Fatalf("%s, %s: goroutine %d: %d intervals, want %d", name, kind, g, len(got[g]), len(list))
				}
			}
			if len(got) != len(want) {
				t.Fatalf("%s, %s: %d goroutines, want %d", name, kind, len(got), len(want))
			}
		}
	}
}
