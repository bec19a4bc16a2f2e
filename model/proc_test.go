package model_test

import (
	"testing"

	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/modeltest"
)

// workers' modes come from their labels, which follow their starts.
func TestWorkKinds(t *testing.T) {
	cases := []struct {
		name  string
		build func(b *modeltest.Builder, m *modeltest.Thread)
		want  model.WorkKind
		gc    int
	}{
		{"user", func(b *modeltest.Builder, m *modeltest.Thread) { m.Start(3) }, model.WorkUser, 0},
		{"dedicated", func(b *modeltest.Builder, m *modeltest.Thread) { m.Start(2).Label("GC (dedicated)") }, model.WorkGCDedicated, 1},
		{"fractional", func(b *modeltest.Builder, m *modeltest.Thread) { m.Start(2).Label("GC (fractional)") }, model.WorkGCFractional, 1},
		{"idle", func(b *modeltest.Builder, m *modeltest.Thread) { m.Start(2).Label("GC (idle)") }, model.WorkGCIdle, 1},
		{"runtime", func(b *modeltest.Builder, m *modeltest.Thread) { m.Start(4) }, model.WorkSystem, 0},
		{"assist", func(b *modeltest.Builder, m *modeltest.Thread) {
			m.Start(3).Range(model.EventRangeBegin, model.ScopeGoroutine, "GC mark assist")
		}, model.WorkGCAssist, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := modeltest.NewBuilder()
			m := b.M(1).Proc(0).Status(2, model.GoRunnable, "runtime.gcBgMarkWorker").
				Status(3, model.GoRunnable, "main.f").Status(4, model.GoRunnable, "runtime.bgsweep").Running(1, "runtime.main")
			b.At(10)
			m.Block("sync")
			b.At(11)
			c.build(b, m)
			b.At(30)
			r := replay(t, b)
			last := r.procs[len(r.procs)-1]
			if last.State != model.ProcRunning || last.Work != c.want || last.End != modeltest.At(30) {
				t.Errorf("proc: %v with %v until %d; want running with %v until %d", last.State, last.Work, last.End, c.want, modeltest.At(30))
			}
			if n := r.counts[len(r.counts)-1]; n.GC != c.gc || n.Running != 1 {
				t.Errorf("counts: %d procs in GC work, %d running; want %d, 1", n.GC, n.Running, c.gc)
			}
		})
	}
}

// A worker's next turn may be in another mode.
func TestWorkerChangesMode(t *testing.T) {
	b := modeltest.NewBuilder()
	m := b.M(1).Proc(0).Status(2, model.GoRunnable, "runtime.gcBgMarkWorker").Running(1, "runtime.main")
	b.At(10)
	m.Stop("preempted")
	b.At(11)
	m.Start(2).Label("GC (dedicated)")
	b.At(20)
	m.Block("system goroutine wait")
	b.At(21)
	m.Unblock(2).Start(2).Label("GC (idle)")
	b.At(30)
	var got []model.WorkKind
	for _, s := range replay(t, b).procs {
		if s.State == model.ProcRunning && s.G == 2 {
			got = append(got, s.Work)
		}
	}
	if len(got) != 2 || got[0] != model.WorkGCDedicated || got[1] != model.WorkGCIdle {
		t.Errorf("got %v; want a dedicated turn, then an idle one", got)
	}
}

// TestLateLabel has a label say what a proc has done since before, and then another goroutine which
// has held that proc since the start, as only a trace that contradicts itself does.
func TestLateLabel(t *testing.T) {
	b, m := twoProcs()
	b.Metric("/sched/gomaxprocs:threads", 3) // one is not seen yet
	b.At(10)
	m.Create(2, "runtime.gcBgMarkWorker")
	w := b.M(2).ProcStart(1).Start(2)
	b.At(20)
	w.Label("GC (idle)")
	b.At(30)
	b.Raw(model.Event{Kind: model.EventGoTransition, ID: 3, From: uint8(model.GoSyscall), To: uint8(model.GoSyscall), G: model.NoGoroutine, P: 1, M: 3})
	b.At(40)
	r := replayRaw(t, b)
	for _, c := range r.counts {
		if c.GC < 0 {
			t.Errorf("%+v", c)
		}
	}
}

func TestProcStates(t *testing.T) {
	b, m := twoProcs()
	b.At(10)
	b.M(2).ProcStart(1)
	b.At(20)
	b.M(2).ProcStop()
	m.Syscall()
	b.At(30)
	m.SyscallEnd()
	b.At(40)
	m.Block("sleep")
	b.At(50)
	m.ProcStop()
	b.At(60)
	r := replay(t, b)
	ticks := func(p model.ProcID, s model.ProcState) int { return int((procTime(r, p, s) + 3) / modeltest.Tick) }
	for _, c := range []struct {
		p    model.ProcID
		s    model.ProcState
		want int
	}{
		{0, model.ProcRunning, 30}, {0, model.ProcSyscall, 10}, {0, model.ProcSearching, 10}, {0, model.ProcIdle, 10},
		{1, model.ProcIdle, 50}, {1, model.ProcSearching, 10}, {1, model.ProcRunning, 0},
	} {
		if got := ticks(c.p, c.s); got != c.want {
			t.Errorf("proc %d was %v for %d ticks, want %d", c.p, c.s, got, c.want)
		}
	}
}

// GOMAXPROCS shrinks from 3 to 1 and grows to 2 again.
func TestResize(t *testing.T) {
	b := modeltest.NewBuilder()
	b.Metric("/sched/gomaxprocs:threads", 3)
	m := b.M(1).Proc(0).IdleProc(1).IdleProc(2).Running(1, "runtime.main")
	b.At(10)
	m.STWBegin("GOMAXPROCS")
	b.Metric("/sched/gomaxprocs:threads", 1)
	m.STWEnd("GOMAXPROCS")
	b.At(20)
	m.STWBegin("GOMAXPROCS")
	b.Metric("/sched/gomaxprocs:threads", 2)
	m.STWEnd("GOMAXPROCS")
	b.At(30)
	m.Create(2, "main.f")
	b.M(2).ProcStart(1).Start(2)
	b.At(40)
	r := replay(t, b)
	at := func(tick int) model.Counts {
		for _, c := range r.counts {
			if c.Start <= modeltest.At(tick) && modeltest.At(tick) < c.End {
				return c
			}
		}
		t.Fatalf("no counts at tick %d", tick)
		return model.Counts{}
	}
	for _, c := range []struct{ tick, procs, running int }{{5, 3, 1}, {15, 1, 1}, {25, 2, 1}, {35, 2, 2}} {
		if got := at(c.tick); got.Procs != c.procs || got.Running != c.running {
			t.Errorf("tick %d: %d procs, %d running; want %d, %d", c.tick, got.Procs, got.Running, c.procs, c.running)
		}
	}
}

// A goroutine that became runnable on a proc that GOMAXPROCS then did away with
// runs elsewhere: the proc must not be counted out of the overloaded ones twice.
func TestResizeWithWaiter(t *testing.T) {
	b, m1 := twoProcs()
	m2 := b.M(2)
	b.At(5)
	m2.ProcStart(1)
	b.At(6)
	m1.Create(3, "main.f")
	b.At(7)
	m2.Start(3)
	b.At(10)
	m2.Create(2, "main.f")
	b.At(12)
	m1.STWBegin("GOMAXPROCS")
	b.At(13)
	m2.Stop("preempted").ProcStop()
	b.At(14)
	b.Metric("/sched/gomaxprocs:threads", 1)
	b.At(15)
	m1.STWEnd("GOMAXPROCS").Block("sync")
	b.At(16)
	m1.Start(2)
	b.At(18)
	m1.Block("sync")
	b.At(19)
	m1.Start(3)
	b.At(30)
	r := replay(t, b)
	for _, c := range r.counts {
		if c.Overloaded < 0 || c.Overloaded > c.Procs {
			t.Fatalf("counts %+v: overloaded procs out of range", c)
		}
	}
}

// A runnable goroutine on the queue of a busy proc while another is idle.
func TestCountsOverloaded(t *testing.T) {
	b, m := twoProcs()
	b.At(10)
	m.Create(2, "main.f").Create(3, "main.f")
	b.At(20)
	b.M(2).ProcStart(1)
	b.At(21)
	b.M(2).Start(2)
	b.At(30)
	r := replay(t, b)
	for _, c := range r.counts {
		if c.Start < modeltest.At(10) || c.Start == modeltest.At(10) && c.Runnable == 1 {
			continue
		}
		wantIdle, wantRunnable := 1, 2
		if c.Start >= modeltest.At(20) {
			wantIdle = 0
		}
		if c.Start >= modeltest.At(21) {
			wantRunnable = 1
		}
		if c.Overloaded != 1 || c.Idle != wantIdle || c.Runnable != wantRunnable {
			t.Errorf("from %d: %d overloaded, %d idle, %d runnable; want 1, %d, %d", c.Start, c.Overloaded, c.Idle, c.Runnable, wantIdle, wantRunnable)
		}
	}
}
