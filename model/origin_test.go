package model_test

import (
	"testing"

	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/modeltest"
)

// TestOrigin has one case per way in which goroutine 2 becomes Runnable at tick
// 10, once in its life, on thread 1.
func TestOrigin(t *testing.T) {
	cases := []struct {
		name  string
		build func(b *modeltest.Builder, m *modeltest.Thread)
		want  model.Origin
		waker model.GoID
		proc  model.ProcID
	}{
		{"go statement", func(b *modeltest.Builder, m *modeltest.Thread) {
			b.At(10)
			m.Create(2, "main.f")
		}, model.OriginCreated, 1, 0},
		{"AfterFunc", func(b *modeltest.Builder, m *modeltest.Thread) {
			b.At(9)
			m.Block("sleep")
			b.At(10)
			m.Create(2, "main.f")
		}, model.OriginCreated, model.NoGoroutine, 0},
		{"channel", func(b *modeltest.Builder, m *modeltest.Thread) {
			m.Status(2, model.GoWaiting, "main.f")
			b.At(10)
			m.With("runtime.chansend1").Unblock(2)
		}, model.OriginGoroutine, 1, 0},
		{"sleep", func(b *modeltest.Builder, m *modeltest.Thread) {
			waiting(b, m, "sleep", "main.f")
			m.Stop("preempted")
			b.At(10)
			m.Unblock(2)
		}, model.OriginTimer, model.NoGoroutine, 0},
		{"timer's channel", func(b *modeltest.Builder, m *modeltest.Thread) {
			waiting(b, m, "chan receive", "main.f")
			m.Stop("preempted")
			b.At(10)
			m.Unblock(2)
		}, model.OriginTimer, model.NoGoroutine, 0},
		{"timer or network, since before the trace", func(b *modeltest.Builder, m *modeltest.Thread) {
			m.Status(2, model.GoWaiting, "main.f")
			m.Stop("preempted")
			b.At(10)
			m.Unblock(2)
		}, model.OriginExternal, model.NoGoroutine, 0},
		{"network", func(b *modeltest.Builder, m *modeltest.Thread) {
			waiting(b, m, "network", "main.f")
			m.Stop("preempted")
			b.At(10)
			m.Unblock(2)
		}, model.OriginNetpoll, model.NoGoroutine, 0},
		{"system call without a proc", func(b *modeltest.Builder, m *modeltest.Thread) {
			m.Create(2, "main.f").Block("sync").Start(2)
			b.At(5)
			m.Syscall()
			b.At(8)
			b.M(9).ProcSteal(0)
			b.At(10)
			m.SyscallEndBlocked()
		}, model.OriginSyscall, model.NoGoroutine, model.NoProc},
		{"preempted", func(b *modeltest.Builder, m *modeltest.Thread) {
			m.Create(2, "main.f").Block("sync").Start(2)
			b.At(10)
			m.With("runtime.asyncPreempt").Stop("preempted")
		}, model.OriginPreempted, model.NoGoroutine, 0},
		{"preempted by a signal inside an unlock", func(b *modeltest.Builder, m *modeltest.Thread) {
			m.Create(2, "main.f").Block("sync").Start(2)
			b.At(10)
			m.With("runtime.asyncPreempt2", "runtime.asyncPreempt", "sync.(*Mutex).Unlock").Stop("preempted")
		}, model.OriginPreempted, model.NoGoroutine, 0},
		{"Gosched", func(b *modeltest.Builder, m *modeltest.Thread) {
			m.Create(2, "main.f").Block("sync").Start(2)
			b.At(10)
			m.With("runtime.Gosched").Stop("runtime.Gosched")
		}, model.OriginGosched, model.NoGoroutine, 0},
		{"goyield", func(b *modeltest.Builder, m *modeltest.Thread) {
			m.Create(2, "main.f").Block("sync").Start(2)
			b.At(10)
			m.With("runtime.goyield", "runtime.semrelease1", "internal/sync.runtime_Semrelease", "internal/sync.(*Mutex).unlockSlow").Stop("preempted")
		}, model.OriginGoyield, model.NoGoroutine, 0},
		{"stop-the-world", func(b *modeltest.Builder, m *modeltest.Thread) {
			m.Create(2, "main.f").Block("sync").Start(2)
			b.M(5).ProcStart(1).Start(3)
			b.At(8)
			b.M(5).STWBegin("GC mark termination")
			b.At(10)
			m.Stop("preempted")
			m.ProcStop()
			b.At(12)
			b.M(5).STWEnd("GC mark termination")
		}, model.OriginSTW, model.NoGoroutine, 0},
		{"stack scan done", func(b *modeltest.Builder, m *modeltest.Thread) {
			waiting(b, m, "preempted", "main.f")
			b.At(10)
			m.Unblock(2)
		}, model.OriginGC, 1, 0},
		{"assist credit", func(b *modeltest.Builder, m *modeltest.Thread) {
			waiting(b, m, "GC mark assist wait for work", "main.f")
			b.At(10)
			m.Unblock(2)
		}, model.OriginGC, 1, 0},
		{"mark worker", func(b *modeltest.Builder, m *modeltest.Thread) {
			waiting(b, m, "system goroutine wait", "runtime.gcBgMarkWorker")
			m.Stop("preempted")
			b.At(10)
			m.Unblock(2).Start(2).Label("GC (dedicated)")
		}, model.OriginGC, model.NoGoroutine, 0},
		{"scavenger", func(b *modeltest.Builder, m *modeltest.Thread) {
			waiting(b, m, "sleep", "runtime.bgscavenge")
			b.At(10)
			b.M(9).Unblock(2)
		}, model.OriginInjected, model.NoGoroutine, model.NoProc},
		{"sweeper woken by a GC start", func(b *modeltest.Builder, m *modeltest.Thread) {
			waiting(b, m, "GC background sweeper wait", "runtime.bgsweep")
			b.At(10)
			m.With("runtime.systemstack_switch", "runtime.gcMarkTermination").Unblock(2)
		}, model.OriginInjected, 1, 0},
		{"unknown", func(b *modeltest.Builder, m *modeltest.Thread) {
			b.At(10)
			m.Status(2, model.GoRunnable, "main.f")
		}, model.OriginUnknown, model.NoGoroutine, model.NoProc},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := modeltest.NewBuilder()
			m := b.M(1).Proc(0).IdleProc(1).Status(3, model.GoRunnable, "main.g").Running(1, "runtime.main")
			c.build(b, m)
			b.At(20)
			var spans []model.GoSpan
			for _, s := range replay(t, b).of(2, model.GoRunnable) {
				// Being created just to set the scene is not what the case is about.
				if s.Start >= modeltest.At(10) || s.Origin != model.OriginCreated {
					spans = append(spans, s)
				}
			}
			s := only(t, "Runnable intervals", spans)
			if s.Origin != c.want || s.Waker != c.waker || s.WakerProc != c.proc {
				t.Errorf("got origin %v, waker %d, proc %d; want %v, %d, %d", s.Origin, s.Waker, s.WakerProc, c.want, c.waker, c.proc)
			}
			if s.Pseudo != model.NotPseudo {
				t.Errorf("pseudo %d: it was a wait", s.Pseudo)
			}
		})
	}
}

// waiting makes goroutine 2 wait for a reason and goroutine 1 run after it.
func waiting(b *modeltest.Builder, m *modeltest.Thread, reason, fn string) {
	b.At(1)
	m.Create(2, fn).Stop("runtime.Gosched").Start(2)
	b.At(2)
	m.Block(reason).Start(1)
	b.At(3)
}
