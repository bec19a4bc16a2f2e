package model_test

import (
	"testing"

	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/modeltest"
)

// TestSyscallExit has one case per way out of a system call that goroutine 1
// began at tick 10 with proc 0; it ends at tick 30.
func TestSyscallExit(t *testing.T) {
	steal := func(b *modeltest.Builder) {
		b.At(20)
		b.M(9).ProcSteal(0)
		b.At(30)
	}
	cases := []struct {
		name    string
		build   func(b *modeltest.Builder, m *modeltest.Thread)
		want    model.SyscallExitPath
		proc    model.ProcID
		blocked int // ticks
	}{
		{"kept", func(b *modeltest.Builder, m *modeltest.Thread) {
			b.At(30)
			m.SyscallEnd()
		}, model.ExitKeptProc, 0, 0},
		{"old proc", func(b *modeltest.Builder, m *modeltest.Thread) {
			steal(b)
			m.ProcStart(0).SyscallEndBlocked().Start(1)
		}, model.ExitOldProc, 0, 10},
		{"other proc", func(b *modeltest.Builder, m *modeltest.Thread) {
			steal(b)
			m.ProcStart(1).SyscallEndBlocked().Start(1)
		}, model.ExitOtherProc, 1, 10},
		{"queued", func(b *modeltest.Builder, m *modeltest.Thread) {
			steal(b)
			m.SyscallEndBlocked()
		}, model.ExitQueued, model.NoProc, 10},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b, m := twoProcs()
			b.At(10)
			m.With("syscall.read").Syscall()
			c.build(b, m)
			b.At(50)
			r := replay(t, b)
			x := only(t, "system calls", r.exits)
			if x.Path != c.want || x.OldProc != 0 || x.NewProc != c.proc {
				t.Errorf("got %v from proc %d to %d, want %v from 0 to %d", x.Path, x.OldProc, x.NewProc, c.want, c.proc)
			}
			if x.Start != modeltest.At(10) || x.End.Sub(modeltest.At(30)) > 1 {
				t.Errorf("from %d to %d, want %d to %d", x.Start, x.End, modeltest.At(10), modeltest.At(30))
			}
			if d := x.Blocked - modeltest.Ticks(c.blocked); d < 0 || d > 1 {
				t.Errorf("blocked for %d, want %d", x.Blocked, modeltest.Ticks(c.blocked))
			}
			if f := r.tablesFunc(b, x.Stack); f != "syscall.read" {
				t.Errorf("stack begins with %q, want syscall.read", f)
			}
		})
	}
}

func (r *record) tablesFunc(b *modeltest.Builder, id model.StackID) string {
	if s := b.Tables.Stack(id); len(s) > 0 {
		return s[0].Func
	}
	return ""
}

// Of a system call that was under way at the start its end is no measurement.
func TestSyscallSinceStart(t *testing.T) {
	b, m := oneProc()
	n := b.M(2).InSyscall(2, "main.f")
	b.At(30)
	n.SyscallEndBlocked()
	b.At(40)
	m.Stop("preempted").Start(2)
	b.At(50)
	r := replay(t, b)
	if len(r.exits) != 0 {
		t.Errorf("got %+v, want no system call whose beginning is known", r.exits)
	}
	s := only(t, "blocked intervals", r.of(2, model.GoSyscallBlocked))
	if !s.OpenStart || s.Start != modeltest.At(0) || s.End != modeltest.At(30) {
		t.Errorf("blocked in [%d, %d), open %t; want since the start until tick 30", s.Start, s.End, s.OpenStart)
	}
}
