package refsched_test

import (
	"context"
	"testing"

	"github.com/schedscope/schedscope/analyze/refsched"
	"github.com/schedscope/schedscope/analyze/refsched/refschedtest"
	"github.com/schedscope/schedscope/analyze/workload"
	"github.com/schedscope/schedscope/analyze/workload/workloadtest"
	"github.com/schedscope/schedscope/model"
)

// The work of a trace runs to its end under every kind of rules, as a schedule that the
// Machine accepts. fixtures/validation/properties does the same with random workloads.
func TestRun(t *testing.T) {
	for seed, name := range []string{"convoy.go1.26.p4", "gc.go1.26.p4", "iterpull.go1.26.p4", "resize.go1.26.p4", "syscalls.go1.22.p4"} {
		w := extract(t, "../../fixtures/"+name+".trace")
		for name, cfg := range map[string]refsched.Config{
			"go":    {Costs: refsched.DefaultCosts()},
			"ideal": {Rules: refsched.Rules{Ideal: true}},
			"quota": {Costs: refsched.DefaultCosts(), Procs: 4, Quota: 50_000_000},
			"free":  {},
		} {
			cfg.Seed = uint64(seed)
			m := model.NewMachine(w.Tables, model.Config{Version: w.Version})
			bad := 0
			res, err := refschedtest.Run(context.Background(), w, cfg, func(e *model.Event) {
				if err := m.Apply(e); err != nil && bad < 3 {
					bad++
					t.Errorf("seed %d, %s: %v", seed, name, err)
				}
			}, nil)
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

// In a standstill nobody gets on, and its goroutine seems to compute.
func TestStandstill(t *testing.T) {
	tables := model.NewTables()
	w := &workload.Workload{Tables: tables, Version: 26, Procs: 2, End: 100_000, Standstills: []workload.Standstill{{At: 4000, Length: 50_000}}}
	w.Goroutines = []workload.Goroutine{{ID: 1, Func: tables.AddString("main.main"), Begin: workload.BeginRunning, Work: 10_000,
		Segments: []workload.Segment{{CPU: 10_000, Object: -1, Target: -1, End: workload.EndExit}}}}
	for ideal, want := range map[bool]model.Duration{false: 60_000, true: 10_000} {
		res, err := refsched.Run(context.Background(), w, refsched.Config{Rules: refsched.Rules{Ideal: ideal}})
		if err != nil || !res.Finished || res.Span != want {
			t.Errorf("ideal %v: %+v, %v; want a span of %d", ideal, res, err, want)
		}
	}
}

// What the operating system took uses nothing of a quota.
func TestQuotaTaken(t *testing.T) {
	tables := model.NewTables()
	const ms = 1_000_000
	for taken, most := range map[model.Duration]model.Duration{0: 200 * ms, 50 * ms: 120 * ms} {
		w := &workload.Workload{Tables: tables, Version: 26, Procs: 1, End: 100 * ms, Outages: workload.Outages{Total: taken}}
		w.Recorded.Work = 100 * ms
		w.Goroutines = []workload.Goroutine{{ID: 1, Func: tables.AddString("main.main"), Begin: workload.BeginRunning, Work: 100 * ms,
			Segments: []workload.Segment{{CPU: 100 * ms, Object: -1, Target: -1, End: workload.EndExit}}}}
		res, err := refsched.Run(context.Background(), w, refsched.Config{Quota: 60 * ms})
		if err != nil || !res.Finished || res.Span > most || res.Span < most-100*ms {
			t.Errorf("%d taken: %+v, %v; want a span of %d at most", taken, res, err, most)
		}
	}
}

// spansOf is called with intervals.
type spansOf func(*model.GoSpan)

func (f spansOf) GoSpan(s *model.GoSpan) { f(s) }

// A time slice that sysmon ended late ends when it did, and one that began before as the rules say.
func TestLate(t *testing.T) {
	tables := model.NewTables()
	fn := tables.AddString("main.main")
	const ms = 1_000_000
	for _, x := range []struct{ at, length, least, most model.Duration }{
		{0, 0, 10 * ms, 20 * ms}, {0, 26 * ms, 26 * ms, 27 * ms}, {5 * ms, 26 * ms, 10 * ms, 20 * ms}, {0, 60 * ms, 40 * ms, 41 * ms},
	} {
		w := &workload.Workload{Tables: tables, Version: 26, Procs: 1, End: 100 * ms}
		for i := range 2 {
			w.Goroutines = append(w.Goroutines, workload.Goroutine{ID: model.GoID(i + 1), Func: fn, Begin: workload.BeginRunnable, Order: int32(i), Work: 40 * ms,
				Segments: []workload.Segment{{CPU: 40 * ms, Object: -1, Target: -1, End: workload.EndExit}}})
		}
		if x.length > 0 {
			w.Late = []workload.Late{{At: x.at, Length: x.length}, {At: 50 * ms, Length: 30 * ms, Proc: 1}}
		}
		began := model.Time(0)
		_, err := refsched.Run(t.Context(), w, refsched.Config{Seed: 1, Span: spansOf(func(s *model.GoSpan) {
			if s.G == 2 && s.State == model.GoRunning && began == 0 {
				began = s.Start
			}
		})})
		if err != nil || began < model.Time(x.least) || began > model.Time(x.most) {
			t.Errorf("%+v: the other runs at %d, %v", x, began, err)
		}
	}
}

// A system call that sysmon does not see keeps others waiting on its proc until it looks: when it did in the recording, however seldom it has since.
func TestHeld(t *testing.T) {
	tables := model.NewTables()
	for _, x := range []struct{ held, least, most model.Duration }{{0, 0, 1_000_000}, {5_000_000, 5_000_000, 5_100_000}, {9_000_000, 9_000_000, 9_100_000}} {
		w := &workload.Workload{Tables: tables, Version: 26, Procs: 1, End: 20_000_000}
		fn := tables.AddString("main.main")
		w.Goroutines = []workload.Goroutine{
			{ID: 1, Func: fn, Begin: workload.BeginRunning, Work: 2000, Segments: []workload.Segment{
				{CPU: 1000, Object: -1, Target: -1, End: workload.EndSyscall, Delay: 10_000_000, Held: x.held},
				{CPU: 1000, Object: -1, Target: -1, End: workload.EndExit}}},
			{ID: 2, Func: fn, Begin: workload.BeginRunnable, Work: 1000, Segments: []workload.Segment{{CPU: 1000, Object: -1, Target: -1, End: workload.EndExit}}}}
		began := model.Time(0)
		_, err := refsched.Run(context.Background(), w, refsched.Config{Costs: refsched.DefaultCosts(), Span: spansOf(func(s *model.GoSpan) {
			if s.G == 2 && s.State == model.GoRunning {
				began = s.Start
			}
		})})
		if err != nil || began < model.Time(x.least) || began > model.Time(x.most) {
			t.Errorf("%+v: the other runs at %d, %v", x, began, err)
		}
	}
}

// A semaphore holds back who would take a place too many, however long those take that have one.
func TestSemaphore(t *testing.T) {
	const children, room = 12, 3
	tables := model.NewTables()
	w := &workload.Workload{Tables: tables, Version: 26, Procs: 4, End: 1_000_000, Objects: []workload.Object{{Class: workload.ClassSemaphore, Room: room}}}
	segment := func(cpu model.Duration, ops int, end workload.EndKind) workload.Segment {
		return workload.Segment{CPU: cpu, Ops: int32(ops), Object: -1, Target: -1, End: end}
	}
	spawner := workload.Goroutine{ID: 1, Func: tables.AddString("main.main"), Begin: workload.BeginRunning, Proc: 0}
	w.Goroutines = append(w.Goroutines, spawner)
	for i := range int32(children) {
		at := model.Duration(i * 100)
		w.Goroutines[0].Ops = append(w.Goroutines[0].Ops, workload.Op{Kind: workload.OpAcquire, At: at}, workload.Op{Kind: workload.OpCreate, At: at, G: i + 1})
		w.Goroutines = append(w.Goroutines, workload.Goroutine{ID: model.GoID(i + 2), Func: tables.AddString("main.child"), Proc: model.NoProc,
			Segments: []workload.Segment{segment(10_000+model.Duration(i%3)*5000, 1, workload.EndExit)}, Ops: []workload.Op{{Kind: workload.OpRelease, At: 10_000}}})
		w.Recorded.Work += w.Goroutines[i+1].Segments[0].CPU
	}
	w.Goroutines[0].Segments = []workload.Segment{segment(2000, 2*children, workload.EndExit)}
	w.Recorded.Work += 2000
	w.Recorded.Running = w.Recorded.Work
	if err := workloadtest.Check(w); err != nil {
		t.Fatal(err)
	}
	for recorded, want := range map[bool]int{false: room, true: children} {
		m := model.NewMachine(tables, model.Config{Version: w.Version})
		exists, most := 0, 0
		res, err := refschedtest.Run(context.Background(), w, refsched.Config{AsRecorded: recorded}, func(e *model.Event) {
			if err := m.Apply(e); err != nil {
				t.Error(err)
			}
			if e.Kind == model.EventGoTransition {
				if model.GoState(e.From) == model.GoNotExist {
					exists++
				} else if model.GoState(e.To) == model.GoNotExist && e.ID != 1 {
					exists--
				}
				most = max(most, exists)
			}
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		// A child that has given its place back may still compute for 10 us.
		if !res.Finished || most < want || !recorded && most > 2*room {
			t.Errorf("as recorded %v: %d at once, want %d; %+v", recorded, most, want, res)
		}
	}
}

// TestAbsolute has what comes from outside at times of its own: work before it that takes longer does not delay it, and what came
// meanwhile is not waited for.
func TestAbsolute(t *testing.T) {
	tables := model.NewTables()
	main := tables.AddString("main.main")
	for _, tt := range []struct {
		delay, want model.Duration
		absolute    bool
	}{{100_000, 130_000, false}, {100_000, 110_000, true}, {10_000, 30_000, true}} {
		segments := []workload.Segment{
			{CPU: 20_000, Object: -1, Target: -1, End: workload.EndExternal, Delay: tt.delay, Absolute: tt.absolute},
			{CPU: 10_000, Object: -1, Target: -1, End: workload.EndExit},
		}
		w := &workload.Workload{Tables: tables, Version: 26, Procs: 1, End: 1_000_000}
		w.Goroutines = []workload.Goroutine{{ID: 1, Func: main, Begin: workload.BeginRunning, Work: 30_000, Segments: segments}}
		res, err := refsched.Run(context.Background(), w, refsched.Config{})
		if err != nil || !res.Finished || res.Span != tt.want {
			t.Errorf("%+v: %+v, %v", tt, res, err)
		}
	}
}
