package model_test

import (
	"testing"

	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/modeltest"
)

// TestHandoff has one case per way in which proc 0 leaves thread 1 at tick 20,
// where goroutine 1 has been in a system call since tick 10. Thread 5 runs
// goroutine 5 on proc 1. Thread 4 gets proc 0 at tick 30.
func TestHandoff(t *testing.T) {
	next := func(b *modeltest.Builder) {
		b.At(30)
		b.M(4).ProcStart(0)
	}
	cases := []struct {
		name   string
		build  func(b *modeltest.Builder, m *modeltest.Thread)
		want   model.HandoffCause
		takerM model.ThreadID
		takerG model.GoID
		toM    model.ThreadID
	}{
		{"sysmon", func(b *modeltest.Builder, m *modeltest.Thread) {
			b.M(9).ProcSteal(0)
			next(b)
		}, model.HandoffSysmon, 9, model.NoGoroutine, 4},
		{"entersyscallblock", func(b *modeltest.Builder, m *modeltest.Thread) {
			m.ProcStop()
			next(b)
		}, model.HandoffSyscallBlock, 1, 1, 4},
		{"stop-the-world takes it", func(b *modeltest.Builder, m *modeltest.Thread) {
			b.M(5).STWBegin("GC sweep termination").ProcSteal(0)
			next(b)
			b.M(5).STWEnd("GC sweep termination")
		}, model.HandoffSTW, 5, 5, 4},
		{"given up to a stop-the-world", func(b *modeltest.Builder, m *modeltest.Thread) {
			b.M(5).STWBegin("GC sweep termination")
			m.ProcStop()
			next(b)
			b.M(5).STWEnd("GC sweep termination")
		}, model.HandoffSTW, 1, 1, 4},
		{"forEachP", func(b *modeltest.Builder, m *modeltest.Thread) {
			b.M(5).ProcSteal(0)
			next(b)
		}, model.HandoffForEachP, 5, 5, 4},
		{"another one out of its system call", func(b *modeltest.Builder, m *modeltest.Thread) {
			b.M(5).Syscall()
			b.M(9).ProcSteal(1)
			b.M(5).ProcSteal(0)
			b.At(30)
			b.M(5).ProcStart(0).SyscallEndBlocked()
			b.At(31)
			b.M(5).Start(5)
		}, model.HandoffExit, 5, 5, 5},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := modeltest.NewBuilder()
			m := b.M(1).Proc(0).Running(1, "runtime.main")
			b.M(5).Proc(1).Running(5, "main.f")
			b.At(10)
			m.With("syscall.read").Syscall()
			b.At(20)
			c.build(b, m)
			b.At(40)
			var got []model.Handoff
			for _, h := range replay(t, b).handoffs {
				if h.P == 0 {
					got = append(got, h)
				}
			}
			h := only(t, "handoffs of proc 0", got)
			if h.Cause != c.want || h.TakerM != c.takerM || h.TakerG != c.takerG || h.ToM != c.toM {
				t.Errorf("got %v by thread %d, goroutine %d, to thread %d; want %v by %d, %d, to %d",
					h.Cause, h.TakerM, h.TakerG, h.ToM, c.want, c.takerM, c.takerG, c.toM)
			}
			if h.FromM != 1 || h.FromG != 1 || h.Open {
				t.Errorf("from thread %d, goroutine %d, open %t; want 1, 1, closed", h.FromM, h.FromG, h.Open)
			}
			// Events that share a tick come some ns after it.
			if lost, got := h.Lost-modeltest.At(20), h.Got-modeltest.At(30); lost < 0 || lost > 3 || got < 0 || got > 3 {
				t.Errorf("lost at %d, got at %d; want %d and %d", h.Lost, h.Got, modeltest.At(20), modeltest.At(30))
			}
			if h.InSyscall != h.Lost.Sub(modeltest.At(10)) {
				t.Errorf("in the system call for %d, want %d", h.InSyscall, h.Lost.Sub(modeltest.At(10)))
			}
		})
	}
}

// The end of a C thread's goroutine leaves its proc to whoever wants it.
func TestHandoffThreadDestroyed(t *testing.T) {
	b, m := twoProcs()
	c := b.M(6)
	b.At(10)
	c.CreateInSyscall(8)
	b.At(12)
	c.ProcStart(1).SyscallEndBlocked()
	b.At(13)
	c.Start(8)
	b.At(20)
	c.Syscall()
	b.At(30)
	c.DestroyInSyscall()
	b.At(40)
	b.M(7).ProcStart(1)
	b.At(50)
	m.Exit()
	r := replay(t, b)
	h := only(t, "handoffs", r.handoffs)
	if h.Cause != model.HandoffThreadDestroyed || h.FromG != 8 || h.ToM != 7 {
		t.Errorf("got %v from goroutine %d to thread %d; want %v from 8 to 7", h.Cause, h.FromG, h.ToM, model.HandoffThreadDestroyed)
	}
	if g := r.ends[8]; !g.HasEnded || !g.SeenCreation || g.Times[model.GoRunning] != modeltest.Ticks(7) {
		t.Errorf("goroutine 8: %+v; want one that ran for 7 ticks and ended", g)
	}
	x := only(t, "system calls", r.exits)
	if x.Path != model.ExitDestroyed || x.G != 8 {
		t.Errorf("got %v of goroutine %d, want %v of 8", x.Path, x.G, model.ExitDestroyed)
	}
}

// The same of a goroutine that was in its system call when the trace began.
func TestHandoffThreadDestroyedOpenStart(t *testing.T) {
	b := modeltest.NewBuilder()
	m := b.M(1).Proc(0).Running(1, "runtime.main")
	c := b.M(6).Proc(1).InSyscall(8, "main.c")
	b.At(30)
	c.DestroyInSyscall()
	b.At(40)
	b.M(7).ProcStart(1)
	b.At(50)
	m.Exit()
	r := replay(t, b)
	if h := only(t, "handoffs", r.handoffs); h.Cause != model.HandoffThreadDestroyed || h.FromG != 8 {
		t.Errorf("got %v from goroutine %d, want %v from 8", h.Cause, h.FromG, model.HandoffThreadDestroyed)
	}
}

// Nobody takes the proc until the trace ends.
func TestHandoffOpen(t *testing.T) {
	b, m := oneProc()
	b.At(10)
	m.Syscall()
	b.At(20)
	b.M(9).ProcSteal(0)
	b.At(50)
	r := replay(t, b)
	if h := only(t, "handoffs", r.handoffs); !h.Open || h.Got != modeltest.At(50) || h.ToM != model.NoThread {
		t.Errorf("got %+v, want one open until the end", h)
	}
	s := only(t, "blocked intervals", r.of(1, model.GoSyscallBlocked))
	if !s.OpenEnd || s.Duration() != modeltest.Ticks(30) {
		t.Errorf("blocked for %d, open %t; want 30 ticks, open", s.Duration(), s.OpenEnd)
	}
	if s := only(t, "held intervals", r.of(1, model.GoSyscall)); s.Duration() != modeltest.Ticks(10) || s.Next != model.GoSyscallBlocked {
		t.Errorf("held its proc for %d, then %v; want 10 ticks, then SyscallBlocked", s.Duration(), s.Next)
	}
}
