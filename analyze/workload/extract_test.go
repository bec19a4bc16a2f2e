package workload_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/workload"
	"github.com/schedscope/schedscope/analyze/workload/workloadtest"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/modeltest"
)

// work extracts the whole of a handmade stream.
func work(t *testing.T, b *modeltest.Builder) *workload.Workload {
	t.Helper()
	events := b.Events()
	e := workload.NewExtractor(b.Tables, 26)
	e.Begin(events[0].Time)
	r := &running{}
	modeltest.Apply(t, b.Tables, 26, events, e, r)
	w, err := e.Finish(events[len(events)-1].Time)
	if err != nil {
		t.Fatal(err)
	}
	if err := workloadtest.Check(w); err != nil {
		t.Fatal(err)
	}
	if w.Recorded.Running != r.sum {
		t.Errorf("%d running, want %d as the Machine counts", w.Recorded.Running, r.sum)
	}
	return w
}

type running struct{ sum model.Duration }

func (r *running) GoSpan(s *model.GoSpan) {
	if s.State == model.GoRunning {
		r.sum += s.Duration()
	}
}

var (
	begins = []string{"absent", "runnable", "running", "waiting", "syscall"}
	ends   = []string{"cut", "exit", "wait", "sleep", "external", "network", "syscall", "yield", "goyield", "switch", "assist", "forever"}
	ops    = []string{"create", "wake", "send", "cycle", "stop", "blocked", "acquire", "release", "begin", "end"}
)

// program writes the program of a goroutine: for each segment its computing time
// in ticks, its operations with their offsets, and its end.
func program(w *workload.Workload, id model.GoID) string {
	for i := range w.Goroutines {
		g := &w.Goroutines[i]
		if g.ID != id {
			continue
		}
		var out strings.Builder
		out.WriteString(begins[g.Begin])
		first := int32(0)
		for k := range g.Segments {
			x := &g.Segments[k]
			fmt.Fprintf(&out, "; %d", ticks(x.CPU))
			for _, o := range g.Ops[first:x.Ops] {
				fmt.Fprintf(&out, " %s@%d", target(w, &o), ticks(o.At))
			}
			first = x.Ops
			out.WriteString(" " + ends[x.End])
			if x.Delay > 0 {
				fmt.Fprintf(&out, " %d", ticks(x.Delay))
			}
			if x.Blocking {
				out.WriteString(" blocking")
			}
			if x.Target >= 0 {
				fmt.Fprintf(&out, " to %d", w.Goroutines[x.Target].ID)
			}
			if x.End == workload.EndWait {
				out.WriteString(" " + x.Class.String())
			}
		}
		return out.String()
	}
	return "none"
}

func target(w *workload.Workload, o *workload.Op) string {
	s := ops[o.Kind]
	switch o.Kind {
	case workload.OpCycle, workload.OpStop, workload.OpBegin, workload.OpEnd:
		s += fmt.Sprint(" ", o.G)
	case workload.OpWake, workload.OpSend:
		s += fmt.Sprintf(" %d.%d", w.Goroutines[o.G].ID, o.Seg)
	default:
		s += fmt.Sprint(" ", w.Goroutines[o.G].ID)
	}
	if o.Inject {
		s += " injected"
	}
	return s
}

// TestRequests checks where requests are in the programs: 0 begins while its goroutine waits to run and ends in the
// middle of a segment that is preempted, 1 begins where its goroutine is created and ends with it, and 2 began before
// the window.
func TestRequests(t *testing.T) {
	b := modeltest.NewBuilder()
	m := b.M(1).Proc(0).IdleProc(1).Running(1, "runtime.main")
	b.At(10)
	m.Create(2, "main.g").Block("chan receive")
	b.At(12)
	m.Start(2)
	b.At(17)
	m.Unblock(1)
	b.At(20)
	m.Exit()
	b.At(23)
	m.Start(1)
	b.At(30)
	m.Stop("preempted")
	b.At(40)
	m.Start(1)
	b.At(45)
	m.Block("sleep")
	b.At(50)
	events := b.Events()
	e := workload.NewExtractor(b.Tables, 26)
	e.Begin(modeltest.At(5))
	modeltest.Apply(t, b.Tables, 26, events, e)
	e.Request(7, 1, modeltest.At(17), 1, modeltest.At(43))
	e.Request(8, 2, modeltest.At(10), 2, modeltest.At(20))
	e.Request(9, 1, modeltest.At(2), 1, modeltest.At(43))
	w, err := e.Finish(modeltest.At(50))
	if err != nil {
		t.Fatal(err)
	}
	if err := workloadtest.Check(w); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[model.GoID]string{
		1: "running; 5 create 2@5 wait hand-off; 12 begin 0@0 end 0@10 forever",
		2: "absent; 8 begin 1@0 wake 1.0@5 end 1@8 exit",
	} {
		if got := program(w, id); got != want {
			t.Errorf("goroutine %d: got  %s\nwant %s", id, got, want)
		}
	}
	if len(w.Requests) != 2 || w.Requests[0].Group != 7 || ticks(w.Requests[0].End-w.Requests[0].Start) != 26 {
		t.Errorf("got %+v", w.Requests)
	}
}

// ticks returns a duration in ticks, made-up nanoseconds left out.
func ticks(d model.Duration) int64 { return int64(d+modeltest.Tick/2) / modeltest.Tick }

func TestPrograms(t *testing.T) {
	tests := []struct {
		name  string
		build func(b *modeltest.Builder, m *modeltest.Thread)
		want  map[model.GoID]string
	}{
		{"hand-off", func(b *modeltest.Builder, m *modeltest.Thread) {
			b.At(10)
			m.With("main.f").Create(2, "main.g").Block("chan receive")
			b.At(12)
			m.Start(2)
			b.At(17)
			m.With("main.send", "main.g").Unblock(1)
			b.At(20)
			m.Exit().Start(1)
			b.At(30)
		}, map[model.GoID]string{
			1: "running; 10 create 2@10 wait hand-off; 10 cut",
			2: "absent; 8 wake 1.0@5 exit",
		}},
		{"preempted and moved", func(b *modeltest.Builder, m *modeltest.Thread) {
			b.At(10)
			m.Create(2, "main.g").Stop("preempted").Start(2)
			n := b.M(2).ProcStart(1)
			b.At(15)
			n.Start(1)
			b.At(20)
			n.Unblock(3)
			b.At(25)
			n.Stop("runtime.Gosched")
			b.At(26)
		}, map[model.GoID]string{
			1: "running; 20 create 2@10 wake 3.0@15 yield; 0 cut",
			2: "absent; 16 cut",
			3: "waiting; 0 wait hand-off; 0 cut",
		}},
		{"stack scan", func(b *modeltest.Builder, m *modeltest.Thread) {
			n := b.M(2).ProcStart(1)
			b.At(5)
			n.Create(2, "runtime.gcBgMarkWorker").Start(2)
			b.At(10)
			m.Block("preempted")
			b.At(12)
			n.Unblock(1)
			b.At(14)
			m.Start(1)
			b.At(20)
			n.Block("GC worker (idle)")
			b.At(21)
		}, map[model.GoID]string{1: "running; 17 cut", 2: "none"}},
		{"system calls", func(b *modeltest.Builder, m *modeltest.Thread) {
			b.At(10)
			m.Syscall()
			b.At(13)
			m.SyscallEnd()
			b.At(20)
			m.Syscall()
			b.At(25)
			b.M(9).ProcSteal(0)
			b.At(40)
			m.SyscallEndBlocked()
			b.At(45)
			n := b.M(2).ProcStart(0)
			n.Start(1)
			b.At(50)
			n.Syscall().ProcStop()
			b.At(60)
		}, map[model.GoID]string{1: "running; 10 syscall 3; 7 syscall 20; 5 syscall 10 blocking; 0 cut"}},
		{"timers and network", func(b *modeltest.Builder, m *modeltest.Thread) {
			b.At(10)
			m.With("time.Sleep", "main.f").Block("sleep")
			b.At(30)
			m.Unblock(1).Start(1)
			b.At(35)
			m.Block("network")
			b.At(60)
			m.Unblock(1).Start(1)
			b.At(61)
			m.Exit()
			b.At(70)
			m.Create(5, "main.timer")
			b.At(71)
		}, map[model.GoID]string{
			1: "running; 10 sleep 20; 5 external 25; 1 exit",
			5: "absent; 0 cut",
		}},
		{"coroutines", func(b *modeltest.Builder, m *modeltest.Thread) {
			b.At(5)
			m.CreateBlocked(2, "runtime.corostart")
			b.At(10)
			m.Switch(2)
			b.At(14)
			m.Switch(1)
			b.At(16)
			m.Switch(2)
			b.At(19)
			m.SwitchExit(1)
			b.At(20)
		}, map[model.GoID]string{
			1: "running; 10 blocked 2@5 switch to 2; 2 switch to 2; 1 cut",
			2: "absent; 4 switch to 1; 3 exit to 1",
		}},
		{"begin", func(b *modeltest.Builder, m *modeltest.Thread) {
			m.Status(4, model.GoRunnable, "main.d").Status(5, model.GoRunnable, "main.e")
			b.M(3).InSyscall(6, "main.s")
			b.At(4)
			m.Block("chan receive")
			b.At(6)
			m.Start(5)
			b.At(8)
			m.Unblock(3).Exit().Start(4)
			b.At(10)
		}, map[model.GoID]string{
			1: "running; 4 forever",
			3: "waiting; 0 wait hand-off; 0 cut",
			4: "runnable; 2 cut",
			5: "runnable; 2 wake 3.0@2 exit",
			6: "syscall; 0 syscall 10; 0 cut",
		}},
		{"C thread", func(b *modeltest.Builder, m *modeltest.Thread) {
			b.At(4)
			c := b.M(7).CreateInSyscall(8)
			b.At(5)
			c.ProcStart(1).SyscallEndBlocked().Start(8)
			b.At(9)
			c.Syscall()
			b.At(10)
			c.DestroyInSyscall()
			b.M(8).CreateInSyscall(9).DestroyInSyscall()
			b.At(11)
		}, map[model.GoID]string{8: "absent; 4 exit", 9: "none"}},
		{"garbage collection", func(b *modeltest.Builder, m *modeltest.Thread) {
			b.At(10)
			m.STWBegin("GC sweep termination")
			b.At(14)
			m.STWEnd("GC sweep termination")
			b.At(16)
			m.Block("GC mark assist wait for work")
			b.At(17)
			m.Create(2, "runtime.gcBgMarkWorker").Start(2)
			b.At(25)
			m.Unblock(1)
			b.At(30)
			m.STWBegin("GC mark termination")
			b.At(33)
			m.STWEnd("GC mark termination").Unblock(3)
			b.At(35)
			m.Block("GC worker (idle)").Start(1)
			b.At(40)
		}, map[model.GoID]string{
			1: "running; 12 cycle 0@10 assist 9; 5 cut",
			2: "none",
			3: "waiting; 0 wait runtime; 0 cut",
		}},
		{"stop the world", func(b *modeltest.Builder, m *modeltest.Thread) {
			b.M(2).ProcStart(1).Start(4)
			b.At(10)
			m.STWBegin("GOMAXPROCS")
			b.At(12)
			b.M(2).Stop("preempted").ProcStop()
			b.At(20)
			m.STWEnd("GOMAXPROCS")
			b.At(21)
			b.M(2).ProcStart(1).Start(4)
			b.At(25)
		}, map[model.GoID]string{
			1: "running; 15 stop 0@10 cut",
			4: "runnable; 16 cut",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := modeltest.NewBuilder()
			m := b.M(1).Proc(0).IdleProc(1).Running(1, "runtime.main").Status(3, model.GoWaiting, "main.c")
			if tt.name == "stop the world" {
				m.Status(4, model.GoRunnable, "main.d")
			}
			tt.build(b, m)
			w := work(t, b)
			for id, want := range tt.want {
				if got := program(w, id); got != want {
					t.Errorf("goroutine %d:\n got %s\nwant %s", id, got, want)
				}
			}
		})
	}
}
