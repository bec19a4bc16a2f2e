package model_test

import (
	"testing"

	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/modeltest"
)

func TestRegions(t *testing.T) {
	b, m := oneProc()
	b.At(10)
	m.TaskBegin(5, 3, "request").RegionBegin(5, "outer")
	b.At(20)
	m.RegionBegin(5, "inner")
	b.At(30)
	m.Stop("preempted")
	b.At(40)
	m.Start(1)
	b.At(50)
	m.RegionEnd(5, "inner").RegionEnd(5, "outer")
	b.At(60)
	m.Log(5, "category", "message").RegionEnd(9, "before the trace").TaskEnd(5, 3, "request").TaskEnd(8, 0, "old")
	b.At(70)
	m.RegionBegin(0, "last").Exit()
	b.At(80)
	r := replay(t, b)
	if len(r.regions) != 4 {
		t.Fatalf("got %d regions, want 4: %+v", len(r.regions), r.regions)
	}
	want := []struct {
		name              string
		task              model.TaskID
		start, end, depth int
		runnable          int
		openStart         bool
	}{
		{"inner", 5, 20, 50, 1, 10, false},
		{"outer", 5, 10, 50, 0, 10, false},
		{"before the trace", 9, 0, 60, 0, 10, true},
		{"last", 0, 70, 70, 0, 0, false},
	}
	near := func(got model.Time, tick int) bool { d := got.Sub(modeltest.At(tick)); return d >= 0 && d <= 3 }
	for i, w := range want {
		g := r.regions[i]
		if b.Tables.String(g.Name) != w.name || g.Task != w.task || g.Depth != w.depth || g.OpenStart != w.openStart || g.OpenEnd || g.G != 1 {
			t.Errorf("region %d: got %+v, name %q; want %+v", i, g, b.Tables.String(g.Name), w)
		}
		if !near(g.Start, w.start) || !near(g.End, w.end) || g.Times[model.GoRunnable] != modeltest.Ticks(w.runnable) {
			t.Errorf("region %q: [%d, %d), runnable for %d; want ticks %d to %d, %d", w.name, g.Start, g.End, g.Times[model.GoRunnable], w.start, w.end, w.runnable)
		}
	}
	if len(r.tasks) != 2 {
		t.Fatalf("got %d tasks, want 2", len(r.tasks))
	}
	if x := r.tasks[0]; x.ID != 5 || x.Parent != 3 || x.G != 1 || !near(x.Start, 10) || !near(x.End, 60) || x.OpenStart || x.OpenEnd {
		t.Errorf("got %+v; want task 5 of 3 from tick 10 to 60", x)
	}
	// The inner region is part of the outer one and counts once.
	if x := r.tasks[0]; x.Regions != 1 || x.Times != r.regions[1].Times {
		t.Errorf("got %d regions of %v, want the outer one's %v", x.Regions, x.Times, r.regions[1].Times)
	}
	if x := r.tasks[1]; x.ID != 8 || !x.OpenStart || !near(x.Start, 0) {
		t.Errorf("got %+v; want task 8 since the start", x)
	}
}

func TestRanges(t *testing.T) {
	const mark, assist, sweep = "GC concurrent mark phase", "GC mark assist", "GC incremental sweep"
	b, m := oneProc()
	b.At(5)
	m.Range(model.EventRangeActive, model.ScopeGlobal, mark)
	b.At(10)
	m.Range(model.EventRangeBegin, model.ScopeGoroutine, assist)
	b.At(20)
	m.Range(model.EventRangeEnd, model.ScopeGoroutine, assist)
	b.At(30)
	m.Range(model.EventRangeBegin, model.ScopeProc, sweep)
	b.At(35)
	m.Range(model.EventRangeEnd, model.ScopeProc, sweep).Range(model.EventRangeEnd, model.ScopeGlobal, mark)
	b.At(40)
	r := replay(t, b)
	want := []struct {
		name       string
		scope      model.Scope
		start, end int
		openStart  bool
	}{{assist, model.ScopeGoroutine, 10, 20, false}, {sweep, model.ScopeProc, 30, 35, false}, {mark, model.ScopeGlobal, 0, 35, true}}
	if len(r.ranges) != len(want) {
		t.Fatalf("got %d ranges, want %d", len(r.ranges), len(want))
	}
	for i, w := range want {
		g := r.ranges[i]
		if b.Tables.String(g.Name) != w.name || g.Scope != w.scope || g.OpenStart != w.openStart || g.OpenEnd ||
			g.Start != modeltest.At(w.start) || g.End.Sub(modeltest.At(w.end)) > 1 {
			t.Errorf("range %d: got %+v, name %q; want %+v", i, g, b.Tables.String(g.Name), w)
		}
	}
	totals := map[string]model.Duration{}
	for _, x := range r.ends[1].Ranges {
		totals[b.Tables.String(x.Reason)] = x.Total
	}
	if totals[assist] != modeltest.Ticks(10) || totals[sweep] != modeltest.Ticks(5) || totals[mark] != 0 {
		t.Errorf("goroutine's ranges: %v; want 10 ticks of assist, 5 of sweep", totals)
	}
}

func TestMetricsAndLabels(t *testing.T) {
	b, m := oneProc()
	b.At(10)
	b.Metric("/gc/heap/goal:bytes", 4<<20)
	m.Label("mine").Sample().Experimental("AllocFree")
	b.At(20)
	r := replay(t, b)
	if s := only(t, "metrics", r.metrics); s.Name != "/gc/heap/goal:bytes" || s.Value != 4<<20 || s.Time != modeltest.At(10) {
		t.Errorf("got %+v", s)
	}
	if l := r.ends[1].Label; b.Tables.String(l) != "mine" {
		t.Errorf("label %q, want mine", b.Tables.String(l))
	}
}

// TestRegionsDeep: closing half a million regions inside as many of another
// task takes no time to speak of.
func TestRegionsDeep(t *testing.T) {
	const n = 500_000
	tables := model.NewTables()
	machine := model.NewMachine(tables, model.Config{Version: 26})
	apply := func(kind model.EventKind, e model.Event) {
		e.Kind, e.G, e.M, e.P = kind, 1, 1, 0
		if err := machine.Apply(&e); err != nil {
			t.Fatal(err)
		}
	}
	running := model.Event{ID: 1, To: uint8(model.GoRunning)}
	apply(model.EventGoTransition, running)
	apply(model.EventTaskBegin, model.Event{ID: 2})
	for range n {
		apply(model.EventRegionBegin, model.Event{ID: 1})
	}
	for range n {
		apply(model.EventRegionBegin, model.Event{ID: 2})
		apply(model.EventRegionEnd, model.Event{ID: 2})
	}
	if err := machine.Finish(0); err != nil {
		t.Fatal(err)
	}
}
