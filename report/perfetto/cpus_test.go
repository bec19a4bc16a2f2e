package perfetto_test

import (
	"bytes"
	"testing"

	"github.com/schedscope/schedscope/model"
	. "github.com/schedscope/schedscope/report/perfetto"
)

// TestStrays checks that goroutines which run at the same time on no proc that is known,
// or on one of too great a number, do not end each other's intervals.
func TestStrays(t *testing.T) {
	var out bytes.Buffer
	tables := model.NewTables()
	m := model.NewMachine(tables, model.Config{Version: 26})
	w, err := NewWriter(&out, tables, Options{Version: 26})
	if err != nil {
		t.Fatal(err)
	}
	w.ObserveSteps(m)
	w.Observe(m, 0)
	fn := tables.AddString("main.work")
	const big = 1<<31 + 5
	for _, s := range []model.GoSpan{
		{G: 3, P: 0, Start: 20, End: 30},
		{G: 2, P: model.NoProc, Start: 10, End: 40},
		{G: big, P: 5000, Start: 0, End: 50},
		{G: 4, P: model.NoProc, Start: 45, End: 60},
		{G: 2, P: model.NoProc, Start: 40, End: 70},
	} {
		s.State, s.Func, s.Stack, s.Waker = model.GoRunning, fn, 0, model.NoGoroutine
		w.GoSpan(&s)
		if s.End != 40 { // G2 goes on
			s.State, s.P, s.Start, s.End = model.GoWaiting, model.NoProc, s.End, s.End+1
			w.GoSpan(&s)
		}
	}
	if err := w.Finish(80); err != nil {
		t.Fatal(err)
	}
	x := &exported{data: out.Bytes(), end: 80, want: &truth{
		running: map[model.ProcID]model.Duration{0: 10}, procs: map[model.ProcID]model.Duration{0: 10}, nowhere: 30 + 50 + 15 + 30}}
	f := readFile(t, x.data)
	checkStates(t, x, f)
	names := map[uint64]string{}
	for _, p := range f.packets {
		for _, th := range p.tree {
			names[th.tid] = th.name
		}
	}
	if names[3] != "main.work" || names[1<<30+5] != "main.work, goroutine 2147483653" {
		t.Errorf("threads %v", names)
	}
}
