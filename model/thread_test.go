package model_test

import (
	"testing"

	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/modeltest"
)

// sysmon borrows a proc to create a thread (runtime/proc.go: allocm).
func TestThreadStart(t *testing.T) {
	b, m := twoProcs()
	sysmon := b.M(9)
	b.At(10)
	m.Syscall()
	b.At(20)
	sysmon.ProcSteal(0)
	b.At(21)
	sysmon.ProcStart(0)
	b.At(25)
	sysmon.ProcStop()
	b.At(30)
	b.M(12).ProcStart(0)
	b.At(40)
	m.SyscallEndBlocked()
	b.At(50)
	r := replay(t, b)
	s := only(t, "threads created", r.starts)
	if s.M != 12 || s.Creator != 9 || s.Time != modeltest.At(30) {
		t.Errorf("got %+v; want thread 12 by 9 at tick 30", s)
	}
	created := map[model.ThreadID]bool{}
	for _, x := range r.summary {
		created[x.M] = x.Created
	}
	if !created[12] || created[1] {
		t.Errorf("created: %v; want thread 12 and not thread 1", created)
	}
}

// A thread parks and is used again.
func TestThreadStates(t *testing.T) {
	b, m := twoProcs()
	n := b.M(2)
	b.At(10)
	m.Create(2, "main.f")
	n.ProcStart(1)
	b.At(20)
	n.Start(2)
	b.At(30)
	n.Block("sync").ProcStop()
	b.At(60)
	m.Unblock(2)
	n.ProcStart(1)
	b.At(61)
	n.Start(2)
	b.At(70)
	n.Syscall()
	b.At(80)
	b.M(9).ProcSteal(1)
	b.At(90)
	r := replay(t, b)
	var x model.Thread
	for _, s := range r.summary {
		if s.M == 2 {
			x = s
		}
	}
	if x.Starts != 2 || x.Acquired != 2 {
		t.Errorf("started %d goroutines, acquired %d procs; want 2, 2", x.Starts, x.Acquired)
	}
	want := map[model.ThreadState]int{model.ThreadRunning: 19, model.ThreadSearching: 11, model.ThreadNoProc: 30,
		model.ThreadSyscall: 10, model.ThreadSyscallBlocked: 10}
	for s, ticks := range want {
		// Events that share a tick come some ns after it.
		if d := x.Times[s] - modeltest.Ticks(ticks); d < -3 || d > 3 {
			t.Errorf("%v for %d, want %d", s, x.Times[s], modeltest.Ticks(ticks))
		}
	}
}

// What a thread held since the start it may tell only after other events.
func TestThreadSinceStart(t *testing.T) {
	b := modeltest.NewBuilder()
	b.At(10)
	m := b.M(1).IdleProc(1)
	b.At(20)
	m.Proc(0).Running(1, "runtime.main")
	b.At(30)
	r := replay(t, b)
	s := only(t, "intervals of the thread", r.threads)
	if s.Start != modeltest.At(0) || s.State != model.ThreadRunning || !s.OpenStart {
		t.Errorf("got %+v; want it running since the start", s)
	}
}

// A goroutine that has just got a proc on its way out of a system call did not
// hold it since the start.
func TestSyscallSinceStartGetsProc(t *testing.T) {
	b, m := twoProcs()
	n := b.M(2)
	b.At(20)
	n.ProcStart(1).InSyscall(2, "main.f")
	b.At(21)
	n.SyscallEndBlocked()
	b.At(22)
	n.Start(2)
	b.At(30)
	m.Exit()
	r := replay(t, b)
	if s := r.of(2)[0]; s.State != model.GoSyscallBlocked || s.Start != modeltest.At(0) || s.End != modeltest.At(21) {
		t.Errorf("got %v in [%d, %d); want blocked since the start until tick 21", s.State, s.Start, s.End)
	}
	if s := r.of(2, model.GoRunnable)[0]; s.Pseudo != model.PseudoSyscall {
		t.Errorf("got pseudo %d, want the way out of a system call", s.Pseudo)
	}
}
