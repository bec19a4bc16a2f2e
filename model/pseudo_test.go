package model_test

import (
	"testing"

	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/modeltest"
)

// A goroutine that leaves a system call with a proc goes on at once, but the
// format has it Runnable for one tick.
func TestPseudoSyscall(t *testing.T) {
	steal := func(b *modeltest.Builder, m *modeltest.Thread) {
		b.At(10)
		m.Syscall()
		b.At(20)
		b.M(9).ProcSteal(0)
		b.At(30)
	}
	cases := []struct {
		name  string
		build func(b *modeltest.Builder, m *modeltest.Thread)
		want  model.Pseudo
	}{
		{"idle proc", func(b *modeltest.Builder, m *modeltest.Thread) {
			m.ProcStart(1).SyscallEndBlocked()
			b.At(31)
			m.Start(1)
		}, model.PseudoSyscall},
		{"old proc", func(b *modeltest.Builder, m *modeltest.Thread) {
			m.ProcStart(0).SyscallEndBlocked()
			b.At(31)
			m.Start(1)
		}, model.PseudoSyscall},
		{"a sample in between", func(b *modeltest.Builder, m *modeltest.Thread) {
			m.ProcStart(1).SyscallEndBlocked().Sample()
			b.At(31)
			m.Start(1)
		}, model.PseudoSyscall},
		{"second look", func(b *modeltest.Builder, m *modeltest.Thread) {
			m.SyscallEndBlocked()
			b.At(60)
			m.ProcStart(1)
			b.At(61)
			m.Start(1)
		}, model.NotPseudo},
		{"queued", func(b *modeltest.Builder, m *modeltest.Thread) {
			m.SyscallEndBlocked()
			b.At(60)
			b.M(4).ProcStart(1)
			b.At(61)
			b.M(4).Start(1)
		}, model.NotPseudo},
		{"another one ran first", func(b *modeltest.Builder, m *modeltest.Thread) {
			m.ProcStart(1).SyscallEndBlocked()
			b.At(31)
			m.Start(2)
			b.At(40)
			m.Block("sync").Start(1)
		}, model.NotPseudo},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b, m := twoProcs()
			m.Status(2, model.GoRunnable, "main.f")
			steal(b, m)
			c.build(b, m)
			b.At(100)
			r := replay(t, b)
			s := only(t, "Runnable intervals", r.of(1, model.GoRunnable))
			if s.Pseudo != c.want || s.Origin != model.OriginSyscall {
				t.Errorf("got pseudo %d, origin %v; want %d, syscall", s.Pseudo, s.Origin, c.want)
			}
			g := r.ends[1]
			want := g.Times[model.GoRunnable]
			if c.want != model.NotPseudo {
				want = 0
			}
			if g.RunnableTruly != want {
				t.Errorf("truly runnable for %d, want %d of %d", g.RunnableTruly, want, g.Times[model.GoRunnable])
			}
		})
	}
}

// The decoder makes three events, 1 ns apart, of a coroutine switch.
func TestPseudoCoroutine(t *testing.T) {
	for _, exit := range []bool{false, true} {
		b, m := oneProc()
		b.At(10)
		m.CreateBlocked(2, "runtime.corostart")
		b.At(20)
		m.Switch(2)
		b.At(30)
		if exit {
			m.SwitchExit(1)
		} else {
			m.Switch(1)
		}
		b.At(40)
		r := replay(t, b)
		for _, id := range []model.GoID{1, 2} {
			s := only(t, "Runnable intervals", r.of(id, model.GoRunnable))
			if s.Origin != model.OriginCoroutine || s.Pseudo != model.PseudoCoroutine || s.Duration() != 2 {
				t.Errorf("exit %t: goroutine %d: got origin %v, pseudo %d, %d ns; want a coroutine's 2 ns", exit, id, s.Origin, s.Pseudo, s.Duration())
			}
			if d := r.ends[id].RunnableTruly; d != 0 {
				t.Errorf("exit %t: goroutine %d: truly runnable for %d", exit, id, d)
			}
		}
		if g := r.ends[2]; g.HasEnded != exit || g.System {
			t.Errorf("exit %t: coroutine ended %t, system %t", exit, g.HasEnded, g.System)
		}
	}
}

// A waker that then blocks by itself is no coroutine switch.
func TestWakeThenBlockIsNoCoroutine(t *testing.T) {
	b, m := oneProc()
	m.Status(2, model.GoWaiting, "main.f")
	b.At(10)
	m.Unblock(2).Block("chan receive").Start(2)
	b.At(20)
	s := only(t, "Runnable intervals", replay(t, b).of(2, model.GoRunnable))
	if s.Origin != model.OriginGoroutine || s.Pseudo != model.NotPseudo {
		t.Errorf("got origin %v, pseudo %d; want a wait for a goroutine", s.Origin, s.Pseudo)
	}
}

// Nor is a waker that exits within the same tick, if the other one starts later.
func TestWakeThenExitIsNoCoroutine(t *testing.T) {
	b, m := oneProc()
	m.Status(2, model.GoWaiting, "main.f")
	b.At(10)
	m.Unblock(2).Exit()
	b.At(15)
	m.Start(2)
	b.At(20)
	s := only(t, "Runnable intervals", replay(t, b).of(2, model.GoRunnable))
	if s.Origin != model.OriginGoroutine || s.Pseudo != model.NotPseudo {
		t.Errorf("got origin %v, pseudo %d; want a wait for a goroutine", s.Origin, s.Pseudo)
	}
}

// Nor is one that ends 1 ns after its wake where the clock stood still: who it woke
// waited for something that has a name.
func TestExitAtOnceIsNoCoroutine(t *testing.T) {
	b, m := oneProc()
	m.Create(2, "main.f")
	m.Block("chan receive").Start(2)
	m.Create(3, "main.g")
	b.At(10)
	m.Block("sync").Start(3)
	b.At(20)
	m.SwitchExit(2)
	b.At(30)
	g := replay(t, b).of(2, model.GoRunnable)
	if s := g[len(g)-1]; s.Origin != model.OriginGoroutine || s.Pseudo != model.NotPseudo {
		t.Errorf("got origin %v, pseudo %d; want a wait for a goroutine", s.Origin, s.Pseudo)
	}
}
