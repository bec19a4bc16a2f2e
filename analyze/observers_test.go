package analyze

import (
	"reflect"
	"testing"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

func TestBursts(t *testing.T) {
	r := newRecords()
	b := NewBursts(r.tables, 2)
	f, g := r.goroutine(1, "main.f"), r.goroutine(2, "main.g")
	for i, d := range []model.Duration{1 * ms, 10 * ms, 11 * ms, 25 * ms, 30 * ms} {
		s := goSpan(f, model.GoRunning, model.Duration(i)*100*ms, d)
		s.P = 3
		b.GoSpan(s)
	}
	open := goSpan(g, model.GoRunning, 0, 40*ms)
	open.OpenStart = true
	b.GoSpan(open)
	b.GoSpan(goSpan(g, model.GoRunnable, 0, 90*ms))
	b.Finish()
	equal(t, "count", b.All.Count(), 5)
	equal(t, "long", b.Long, Tally{Count: 4, Total: 106 * ms, Max: 40 * ms, MaxAt: model.Time(40 * ms)})
	equal(t, "very long", b.VeryLong.Count, 3)
	equal(t, "censored", b.Censored.AtStart.Total, 40*ms)
	want := []result.Burst{
		{Goroutine: 2, Function: "main.g", Proc: -1, Start: 0, Duration: 40 * ms, Censored: true},
		{Goroutine: 1, Function: "main.f", Proc: 3, Start: model.Time(400 * ms), Duration: 30 * ms},
	}
	if got := b.Longest(); !reflect.DeepEqual(got, want) {
		t.Errorf("longest = %+v, want %+v", got, want)
	}
}

func TestWaits(t *testing.T) {
	r := newRecords()
	w := NewWaits(r.tables)
	g := r.goroutine(1, "main.f")
	for i, reason := range []string{"select", "sleep", "sleep", ""} {
		s := goSpan(g, model.GoWaiting, model.Duration(i), 10)
		s.Reason = r.str(reason)
		w.GoSpan(s)
	}
	var got []string
	for _, row := range w.ByReason() {
		got = append(got, row.Name)
	}
	if want := []string{"sleep", result.NoName, "select"}; !reflect.DeepEqual(got, want) {
		t.Errorf("reasons = %q, want %q", got, want)
	}
	w.Finish()
	equal(t, "total", w.All.Total(), 40)
}

func TestSyscalls(t *testing.T) {
	r := newRecords()
	c := NewSyscalls(r.tables)
	c.SyscallExit(&model.SyscallExit{Func: r.str("main.f"), Start: 100, End: 200, Path: model.ExitKeptProc})
	c.SyscallExit(&model.SyscallExit{Func: r.str("main.f"), Start: 300, End: 800, Blocked: 350, Path: model.ExitQueued})
	c.Finish()
	equal(t, "all", c.All.Total(), 600)
	equal(t, "with proc", c.WithProc.Total(), 250)
	equal(t, "blocked", c.Blocked.Total(), 350)
	equal(t, "blocked calls", c.Blocked.Count(), 1)
	equal(t, "queued", c.ByPath[model.ExitQueued].Total(), 500)
	equal(t, "kept", c.ByPath[model.ExitKeptProc].Count(), 1)
	equal(t, "by function", c.ByFunc()[0].Count, 2)
}

func TestSTWs(t *testing.T) {
	r := newRecords()
	w, gc := NewSTWs(r.tables), NewGC(r.tables, NewIdle(NewTimeline()))
	for _, s := range []*model.STW{
		{Reason: "GC sweep termination", Start: 100, Stopped: 110, Effective: 150, End: 900},
		{Reason: "GOMAXPROCS", Start: 1000, Stopped: 1300, Effective: 1400, End: 1400},
		{Reason: "read mem stats", Start: 0, Stopped: 0, Effective: 90, End: 90, OpenStart: true},
	} {
		w.STW(s)
		gc.STW(s)
	}
	equal(t, "count", w.Count, 3)
	equal(t, "effective", w.Effective.Total(), 450)
	equal(t, "traced", w.Traced.Total(), 1200)
	equal(t, "to stop", w.ToStop.Max(), 300)
	equal(t, "longest at", w.Effective.MaxAt(), 1000)
	equal(t, "censored", w.Censored, Tally{Count: 1, Total: 90, Max: 90, MaxAt: 0})
	rows := w.ByReason()
	equal(t, "first reason", rows[0].Reason, "GOMAXPROCS")
	equal(t, "second's traced", rows[1].Traced.Total, 800)
	equal(t, "of the collector", gc.Stops, Tally{Count: 1, Total: 50, Max: 50, MaxAt: 100})
}

func TestNetpoll(t *testing.T) {
	n := &Netpoll{}
	n.Netpoll(&model.NetpollWake{Poller: model.PollerSysmon, Time: 100, Started: 400})
	n.Netpoll(&model.NetpollWake{Poller: model.PollerBlocking, Time: 100, Started: 110, Direct: true})
	n.Netpoll(&model.NetpollWake{Poller: model.PollerBlocking, Time: 100, Open: true})
	n.Netpoll(&model.NetpollWake{Poller: 200})
	equal(t, "count", n.ByPoller[model.PollerBlocking].Count, 2)
	equal(t, "direct", n.ByPoller[model.PollerBlocking].Direct, 1)
	n.Finish()
	equal(t, "to run", n.All.Total(), 310)
	equal(t, "open", n.ByPoller[model.PollerBlocking].Open, 1)
	equal(t, "by sysmon", n.ByPoller[model.PollerSysmon].ToRun.Max(), 300)
}

func TestHandoffs(t *testing.T) {
	h := &Handoffs{}
	h.Handoff(&model.Handoff{Cause: model.HandoffSysmon, Lost: 100, Got: 130, InSyscall: 50})
	h.Handoff(&model.Handoff{Cause: model.HandoffSysmon, Lost: 200, InSyscall: 70, Open: true})
	c := &h.ByCause[model.HandoffSysmon]
	equal(t, "count", c.Count, 2)
	equal(t, "gap", c.Gap.Total(), 30)
	equal(t, "open", c.Open, 1)
	equal(t, "in syscall", c.InSyscall.Total(), 120)
}

func TestThreads(t *testing.T) {
	x := &Threads{}
	a := model.Thread{M: 1, Created: true, Starts: 5, Acquired: 3}
	a.Times[model.ThreadNoProc] = 70
	x.Thread(&a)
	x.Thread(&model.Thread{M: 2, Starts: 1})
	x.ThreadStart(&model.ThreadStart{})
	equal(t, "threads", x.Threads, result.Threads{Count: 2, Created: 1, SeenCreated: 1, Starts: 6, Acquired: 3, NoProc: 70})
}

func TestGC(t *testing.T) {
	r := newRecords()
	procs := NewIdle(NewTimeline())
	c := NewGC(r.tables, procs)
	s := r.procSpan(0, 1, "runtime.gcBgMarkWorker", 0, 30)
	s.Work = model.WorkGCDedicated
	c.ProcSpan(s)
	s = r.procSpan(1, 2, "main.f", 0, 20)
	s.Work = model.WorkGCAssist
	c.ProcSpan(s)
	c.ProcSpan(r.procSpan(1, 2, "main.f", 20, 40))
	c.ProcSpan(idleSpan(0, 30, 70))
	procs.Counts(&model.Counts{Start: 0, End: 100, Procs: 2})
	procs.Finish()
	for name, open := range map[string]bool{"GC concurrent mark phase": false, "GC mark assist": true, "GC incremental sweep": false, "other": false} {
		c.Range(&model.RangeSpan{Name: r.str(name), Start: 10, End: 25, OpenEnd: open})
	}
	c.Range(&model.RangeSpan{Name: r.str("GC concurrent mark phase"), Start: 90, End: 100, OpenEnd: true})
	equal(t, "total", c.Total(), 50)
	equal(t, "share", c.Share(), 0.25)
	equal(t, "marks", c.Marks.Total(), 15)
	equal(t, "censored marks", c.CensoredMarks.Total, 10)
	equal(t, "assists", c.Assists.Count, 1)
	equal(t, "sweeps", c.Sweeps.Total, 15)
}

func TestIdle(t *testing.T) {
	r, line := newRecords(), NewTimeline()
	x := NewIdle(line)
	x.Begin(100)
	for _, c := range []model.Counts{
		{Start: 100, End: 110, Procs: 4, Idle: 4},
		{Start: 110, End: 120, Procs: 4, Idle: 3, Running: 1, Runnable: 2},                // no proc overloaded: readied by the poller
		{Start: 120, End: 150, Procs: 4, Idle: 2, Running: 2, Runnable: 5, Overloaded: 1}, // same episode
		{Start: 150, End: 160, Procs: 4, Running: 3, Syscall: 1, Runnable: 7},
		{Start: 160, End: 170, Procs: 4, Idle: 1, Running: 2, Stopped: 1, Runnable: 1, Overloaded: 1},
	} {
		x.Counts(&c)
		for p := range c.Running + c.Syscall {
			line.ProcSpan(r.procSpan(model.ProcID(p), 1, "main.f", model.Duration(c.Start), c.End.Sub(c.Start)))
		}
	}
	x.Finish()
	equal(t, "span", x.Span, 70)
	equal(t, "wall", x.Wall, 40)
	equal(t, "per proc", x.PerProc, 40)
	equal(t, "per goroutine", x.PerGoroutine, 10*2+30*2+10)
	equal(t, "episodes", x.Episodes.Count(), 2)
	equal(t, "longest episode", x.Episodes.Max(), 40)
	equal(t, "its time", x.Episodes.MaxAt(), 10)
	equal(t, "saturated", x.Saturated, 10)
	equal(t, "most runnable", x.MaxRunnable, 7)
	equal(t, "at", x.MaxRunnableAt, 50)
	v := resultOf(x).Procs
	equal(t, "utilisation", v.Utilisation, float64(10+60+30+10+20)/280)
	equal(t, "mean runnable", v.MeanRunnable, float64(20+150+70+10)/70)
}

func TestGoroutines(t *testing.T) {
	r := newRecords()
	gs := NewGoroutines(r.tables)
	f := r.goroutine(1, "main.f")
	f.From, f.SeenCreation, f.HasStarted, f.Started, f.HasEnded, f.Ended = 150, true, true, 160, true, 200
	f.Times[model.GoRunning], f.Times[model.GoWaiting], f.Times[model.GoRunnable], f.RunnableTruly = 20, 25, 5, 4
	f.Block = []model.ReasonTime{{Reason: r.str("sleep"), Count: 1, Total: 5}, {Reason: r.str("select"), Count: 3, Total: 20}}
	g := r.goroutine(2, "main.f")
	g.From = 100
	g.Times[model.GoWaiting] = 100
	g.Block = []model.ReasonTime{{Reason: r.str("select"), Count: 1, Total: 100}}
	gs.GoEnd(f)
	gs.GoEnd(g)

	want := result.Group{Function: "main.f", Count: 2, Created: 1, Ended: 1, Lifetime: 150,
		Waiting: []result.Reason{{Reason: "select", Count: 4, Total: 120}, {Reason: "sleep", Count: 1, Total: 5}}}
	want.States[model.GoRunning], want.States[model.GoWaiting], want.States[model.GoRunnable] = 20, 125, 5
	equal(t, "waiting truly to run", gs.Truly, 4)
	if got := gs.ByFunc(); !reflect.DeepEqual(got, []result.Group{want}) {
		t.Errorf("functions = %+v, want %+v", got, want)
	}
}

func TestTasksAndRegions(t *testing.T) {
	r := newRecords()
	k, regs := NewTasks(r.tables), NewRegions(r.tables)
	k.Task(&model.Task{ID: 1, Name: r.str("get"), G: 5, Start: 0, End: 30})
	k.Task(&model.Task{ID: 2, Name: r.str("get"), G: 5, Start: 10, End: 20})
	k.Task(&model.Task{ID: 3, Name: r.str("put"), G: 5, Start: 10, End: 110, OpenEnd: true})
	row := k.ByName()[1]
	equal(t, "name", row.Name, "get")
	equal(t, "total", row.Total, 40)
	equal(t, "censored", k.ByName()[0].Censored, Tally{Count: 1, Total: 100, Max: 100, MaxAt: 110})
	x := model.Region{Name: r.str("io"), Task: 1, G: 5, Start: 0, End: 30}
	x.Times[model.GoSyscall], x.Times[model.GoRunning] = 20, 10
	regs.Region(&x)
	regs.Region(&x)
	equal(t, "regions", regs.ByName()[0].Count, 2)
	equal(t, "in syscalls", regs.ByName()[0].States[model.GoSyscall], 40)
}

func TestTotals(t *testing.T) {
	x := NewTotals()
	x.Begin(100)
	for i, v := range []uint64{4, 4, 2, 4} {
		x.Metric(&model.MetricSample{Time: model.Time(100 + i), Name: "/sched/gomaxprocs:threads", Value: v})
	}
	x.Event(&model.Event{Kind: model.EventLog})
	x.Event(&model.Event{Kind: 250})
	x.Finish(100, 500)
	equal(t, "span", x.Span, 400)
	equal(t, "events", x.Events, 2)
	if want := []result.Step{{At: 0, Procs: 4}, {At: 2, Procs: 2}, {At: 3, Procs: 4}}; !reflect.DeepEqual(x.GOMAXPROCS, want) {
		t.Errorf("GOMAXPROCS = %v, want %v", x.GOMAXPROCS, want)
	}
}
