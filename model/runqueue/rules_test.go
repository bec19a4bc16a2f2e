package runqueue_test

import (
	"testing"

	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/modeltest"
	. "github.com/schedscope/schedscope/model/runqueue"
)

const none = model.NoProc

// A scene is a program with some procs. At first thread i runs goroutine i on
// proc i-1, for the first busy of them; the other procs are idle.
type scene struct {
	*modeltest.Builder
	tick int
}

func newScene(procs, busy int) *scene {
	s := &scene{Builder: modeltest.NewBuilder()}
	for i := 1; i <= busy; i++ {
		s.M(model.ThreadID(i)).Proc(model.ProcID(i-1)).Running(model.GoID(i), "main.f")
	}
	for i := busy; i < procs; i++ {
		s.M(1).IdleProc(model.ProcID(i))
	}
	s.Metric("/sched/gomaxprocs:threads", int64(procs))
	return s
}

// m moves time by 6.4 us, which is more than the scheduler takes for anything,
// and returns a thread.
func (s *scene) m(id model.ThreadID) *modeltest.Thread { return s.later(id, 100) }

// soon is m after 0.2 us only.
func (s *scene) soon(id model.ThreadID) *modeltest.Thread { return s.later(id, 3) }

func (s *scene) later(id model.ThreadID, ticks int) *modeltest.Thread {
	s.tick += ticks
	s.At(s.tick)
	return s.M(id)
}

// waiting makes goroutines wait for a reason; goroutine 1 runs before and after.
func (s *scene) waiting(reason string, ids ...model.GoID) {
	for _, g := range ids {
		s.m(1).Create(g, "main.g")
		s.m(1).Syscall()
		s.m(1).SyscallEnd()
		s.m(1).Block("chan receive")
		s.soon(1).Start(g)
		s.m(1).With("main.f").Unblock(1)
		s.m(1).Block(reason)
		s.soon(1).Start(1)
	}
}

// create makes goroutine 1 of thread 1 create goroutines.
func (s *scene) create(ids ...model.GoID) {
	for _, g := range ids {
		s.m(1).Create(g, "main.g")
	}
}

// poll makes a thread without a proc find goroutines that wait for the network:
// all of them go to the global queue.
func (s *scene) poll(ids ...model.GoID) {
	for _, g := range ids {
		s.soon(9).Unblock(g)
	}
}

// read makes what a thread runs read from the network, as who was polled does.
func (s *scene) read(m model.ThreadID) {
	s.soon(m).With("syscall.read", "internal/poll.(*FD).Read").Syscall()
	s.soon(m).SyscallEnd()
}

// runs makes a thread block what it runs, if anything, and start others in turn.
func (s *scene) runs(m model.ThreadID, ids ...model.GoID) {
	for _, g := range ids {
		s.m(m).Block("chan receive")
		s.soon(m).Start(g)
	}
}

func ids(from, to model.GoID) (out []model.GoID) {
	for g := from; g <= to; g++ {
		out = append(out, g)
	}
	return out
}

// A way is what is told of how a goroutine came to run.
type way struct {
	Source   Source
	Via      Via
	FromP    model.ProcID
	Batch    int
	Enqueued Place
	QueueP   model.ProcID
	Grade    Grade
}

// anyGrade stands for a grade that depends on how likely the resolver takes other
// explanations to be.
const anyGrade = NumGrades

// last returns the latest start of a goroutine.
func (r *record) last(tb testing.TB, g model.GoID) *Start {
	tb.Helper()
	for i := len(r.starts) - 1; i >= 0; i-- {
		if r.starts[i].G == g {
			return &r.starts[i]
		}
	}
	tb.Fatalf("goroutine %d: no start was told", g)
	return nil
}

// way returns how the latest start of a goroutine came about.
func (r *record) way(tb testing.TB, g model.GoID) way {
	tb.Helper()
	x := r.last(tb, g)
	return way{x.Source, x.Via, x.FromP, x.Batch, x.Enqueued, x.QueueP, x.Grade}
}

// check compares the ways of the latest starts of goroutines.
func (r *record) check(t *testing.T, want map[model.GoID]way) {
	t.Helper()
	for g, w := range want {
		got := r.way(t, g)
		if w.Grade == anyGrade {
			got.Grade = anyGrade
		}
		if got != w {
			t.Errorf("goroutine %d:\n got %+v\nwant %+v", g, got, w)
		}
	}
}

// TestRules has one case per rule of where a goroutine goes and who takes it.
func TestRules(t *testing.T) {
	cases := []struct {
		name        string
		procs, busy int
		build       func(s *scene)
		want        map[model.GoID]way
	}{
		{"create", 1, 1, func(s *scene) {
			s.create(10)
			s.runs(1, 10)
		}, map[model.GoID]way{
			10: {SourceRunnext, ViaNone, none, 0, PlaceRunnext, 0, GradeCertain},
		}},
		{"kicked out of runnext, first in, first out", 1, 1, func(s *scene) {
			s.create(10, 11, 12, 13)
			s.runs(1, 13, 10, 11, 12)
		}, map[model.GoID]way{
			13: {SourceRunnext, ViaNone, none, 0, PlaceRunnext, 0, GradeCertain},
			10: {SourceLocal, ViaOwn, none, 0, PlaceRunnext, 0, GradeCertain},
			11: {SourceLocal, ViaOwn, none, 0, PlaceRunnext, 0, GradeCertain},
			12: {SourceLocal, ViaOwn, none, 0, PlaceRunnext, 0, GradeCertain},
		}},
		{"woken by a goroutine", 1, 1, func(s *scene) {
			s.waiting("chan receive", 10)
			s.m(1).With("main.f").Unblock(10)
			s.runs(1, 10)
		}, map[model.GoID]way{
			10: {SourceRunnext, ViaNone, none, 0, PlaceRunnext, 0, GradeCertain},
		}},
		{"timers", 1, 1, func(s *scene) {
			s.waiting("sleep", 10, 11)
			s.m(1).Block("chan receive")
			s.soon(1).Unblock(10)
			s.soon(1).Unblock(11)
			s.soon(1).Start(11)
			s.runs(1, 10)
		}, map[model.GoID]way{
			11: {SourceRunnext, ViaNone, none, 0, PlaceRunnext, 0, GradeCertain},
			10: {SourceLocal, ViaOwn, none, 0, PlaceRunnext, 0, GradeCertain},
		}},
		{"Gosched", 1, 1, func(s *scene) {
			s.m(1).Stop("runtime.Gosched")
			s.soon(1).Start(1)
		}, map[model.GoID]way{
			1: {SourceGlobal, ViaNone, none, 1, PlaceGlobal, none, GradeCertain},
		}},
		{"preempted", 1, 1, func(s *scene) {
			s.create(10)
			s.m(1).With("runtime.asyncPreempt2").Stop("preempted")
			s.soon(1).Start(10)
			s.runs(1, 1)
		}, map[model.GoID]way{
			10: {SourceRunnext, ViaNone, none, 0, PlaceRunnext, 0, GradeCertain},
			1:  {SourceGlobal, ViaNone, none, 1, PlaceGlobal, none, GradeCertain},
		}},
		{"goyield", 1, 1, func(s *scene) {
			s.waiting("sync.Mutex.Lock", 10)
			s.m(1).With("main.f").Unblock(10)
			s.soon(1).With("runtime.goyield", "sync.(*Mutex).Unlock").Stop("preempted")
			s.soon(1).Start(10)
			s.runs(1, 1)
		}, map[model.GoID]way{
			10: {SourceRunnext, ViaNone, none, 0, PlaceRunnext, 0, GradeCertain},
			1:  {SourceLocal, ViaOwn, none, 0, PlaceLocal, 0, GradeCertain},
		}},
		{"system call, proc kept from the idle ones", 2, 1, func(s *scene) {
			s.m(1).Syscall()
			s.m(9).ProcSteal(0)
			s.m(1).ProcStart(1).SyscallEndBlocked()
			s.later(1, 1).Start(1)
		}, map[model.GoID]way{
			1: {SourceSyscall, ViaNone, none, 0, PlaceNone, none, GradeCertain},
		}},
		{"system call, second look", 2, 1, func(s *scene) {
			s.m(1).Syscall()
			s.m(9).ProcSteal(0)
			s.m(1).SyscallEndBlocked()
			s.soon(1).ProcStart(1)
			s.soon(1).Start(1)
		}, map[model.GoID]way{
			1: {SourceSyscall, ViaNone, none, 0, PlaceNone, none, GradeUnique},
		}},
		{"system call, queued, its thread woken for a proc lost to sysmon", 2, 2, func(s *scene) {
			s.create(10)
			s.m(1).Syscall()
			s.m(9).ProcSteal(0)
			s.soon(3).ProcStart(0).Start(10)
			s.m(2).Syscall()
			s.m(1).SyscallEndBlocked()
			s.m(9).ProcSteal(1)
			s.soon(1).ProcStart(1)
			s.soon(1).Start(1)
		}, map[model.GoID]way{
			1: {SourceGlobal, ViaNone, none, 1, PlaceGlobal, none, GradeChosen}, // or it came out of its call with the proc
		}},
		{"system call, queued, found by another thread", 1, 1, func(s *scene) {
			s.create(10)
			s.m(1).Syscall()
			s.m(9).ProcSteal(0)
			s.m(2).ProcStart(0).Start(10)
			s.m(1).SyscallEndBlocked()
			s.runs(2, 1)
		}, map[model.GoID]way{
			1: {SourceGlobal, ViaNone, none, 1, PlaceGlobal, none, GradeCertain},
		}},
		{"poll, no idle procs", 1, 1, func(s *scene) {
			s.waiting("network", 10, 11, 12)
			s.m(1).Block("chan receive")
			s.m(1).Unblock(11)
			s.soon(1).Unblock(12)
			s.soon(1).Unblock(10)
			s.soon(1).Start(10)
			s.read(1)
			s.runs(1, 11)
			s.read(1)
			s.runs(1, 12)
			s.read(1)
		}, map[model.GoID]way{
			10: {SourceNetpoll, ViaNone, none, 0, PlaceNone, none, GradeCertain},
			11: {SourceLocal, ViaNetpoll, none, 0, PlaceLocal, 0, GradeCertain},
			12: {SourceLocal, ViaNetpoll, none, 0, PlaceLocal, 0, GradeCertain},
		}},
		{"poll, one idle proc", 2, 2, func(s *scene) {
			s.waiting("network", 10, 11, 12)
			s.m(2).Block("chan receive").ProcStop()
			s.m(1).Block("chan receive")
			s.m(1).Unblock(11)
			s.soon(1).Unblock(12)
			s.soon(1).Unblock(10)
			s.soon(1).Start(10)
			s.read(1)
			s.m(2).ProcStart(1).Start(11)
			s.read(2)
			s.runs(1, 12)
			s.read(1)
		}, map[model.GoID]way{
			10: {SourceNetpoll, ViaNone, none, 0, PlaceNone, none, GradeCertain},
			11: {SourceGlobal, ViaNone, none, 1, PlaceGlobal, none, GradeChosen},
			12: {SourceLocal, ViaNetpoll, none, 0, PlaceLocal, 0, anyGrade},
		}},
		{"network deadlines", 1, 1, func(s *scene) {
			s.waiting("network", 10, 11)
			s.m(1).Block("chan receive")
			s.soon(1).Unblock(10)
			s.soon(1).Unblock(11)
			s.soon(1).Unblock(1)
			s.soon(1).Start(1)
			s.runs(1, 10, 11)
		}, map[model.GoID]way{
			1:  {SourceRunnext, ViaNone, none, 0, PlaceRunnext, 0, GradeCertain},
			10: {SourceLocal, ViaOwn, none, 0, PlaceRunnext, 0, GradeCertain},
			11: {SourceLocal, ViaOwn, none, 0, PlaceRunnext, 0, GradeCertain},
		}},
		{"poll without a proc", 1, 1, func(s *scene) {
			s.waiting("network", 10)
			s.create(11)
			s.poll(10)
			s.runs(1, 11, 10)
		}, map[model.GoID]way{
			11: {SourceRunnext, ViaNone, none, 0, PlaceRunnext, 0, GradeCertain},
			10: {SourceGlobal, ViaNone, none, 1, PlaceGlobal, none, GradeCertain},
		}},
		{"failed park", 1, 1, func(s *scene) {
			s.m(1).Block("network")
			s.soon(1).Unblock(1)
			s.soon(1).Start(1)
		}, map[model.GoID]way{
			1: {SourceDirect, ViaNone, none, 0, PlaceNone, none, GradeUnique},
		}},
		{"assist credit and the end of a stack scan", 1, 1, func(s *scene) {
			s.waiting("GC mark assist wait for work", 10)
			s.waiting("preempted", 11)
			s.waiting("chan receive", 12)
			s.m(1).Create(20, "runtime.gcBgMarkWorker")
			s.runs(1, 20)
			s.m(1).Label("GC (fractional)")
			s.m(1).With("main.f").Unblock(12)
			s.m(1).With("runtime.gcFlushBgCredit").Unblock(10)
			s.m(1).With("runtime.resumeG").Unblock(11)
			s.runs(1, 11, 10, 12)
		}, map[model.GoID]way{
			11: {SourceRunnext, ViaNone, none, 0, PlaceRunnext, 0, GradeCertain},
			10: {SourceLocal, ViaOwn, none, 0, PlaceLocal, 0, GradeCertain},
			12: {SourceLocal, ViaOwn, none, 0, PlaceRunnext, 0, GradeCertain},
		}},
		{"assists woken at the end of marking", 1, 1, func(s *scene) {
			s.waiting("GC mark assist wait for work", 10, 11)
			s.m(1).With("runtime.systemstack_switch", "runtime.gcMarkDone").Unblock(10)
			s.soon(1).With("runtime.systemstack_switch", "runtime.gcMarkDone").Unblock(11)
			s.runs(1, 10, 11)
		}, map[model.GoID]way{
			10: {SourceLocal, ViaNetpoll, none, 0, PlaceLocal, 0, GradeCertain},
			11: {SourceLocal, ViaNetpoll, none, 0, PlaceLocal, 0, GradeCertain},
		}},
		{"runnext stolen", 2, 1, func(s *scene) {
			s.create(10)
			s.m(2).ProcStart(1)
			s.later(2, 1000).Start(10)
		}, map[model.GoID]way{
			10: {SourceStealRunnext, ViaNone, 0, 1, PlaceRunnext, 0, GradeCertain},
		}},
		{"half of five stolen", 2, 1, func(s *scene) {
			s.create(ids(10, 15)...)
			s.m(2).ProcStart(1)
			s.soon(2).Start(12)
			s.runs(2, 10, 11)
			s.runs(1, 15, 13, 14)
		}, map[model.GoID]way{
			12: {SourceSteal, ViaNone, 0, 3, PlaceRunnext, 0, GradeCertain},
			10: {SourceLocal, ViaSteal, 0, 3, PlaceRunnext, 0, GradeCertain},
			11: {SourceLocal, ViaSteal, 0, 3, PlaceRunnext, 0, GradeCertain},
			15: {SourceRunnext, ViaNone, none, 0, PlaceRunnext, 0, GradeCertain},
			13: {SourceLocal, ViaOwn, none, 0, PlaceRunnext, 0, GradeCertain},
			14: {SourceLocal, ViaOwn, none, 0, PlaceRunnext, 0, GradeCertain},
		}},
		{"stolen twice", 3, 1, func(s *scene) {
			s.create(ids(10, 15)...)
			s.m(2).ProcStart(1)
			s.soon(2).Start(12)
			s.m(3).ProcStart(2)
			s.soon(3).Start(10)
			s.runs(2, 11)
		}, map[model.GoID]way{
			12: {SourceSteal, ViaNone, 0, 3, PlaceRunnext, 0, GradeCertain},
			10: {SourceSteal, ViaNone, 1, 1, PlaceRunnext, 0, GradeCertain},
			11: {SourceLocal, ViaSteal, 0, 3, PlaceRunnext, 0, GradeCertain},
		}},
		{"locked to a thread", 2, 2, func(s *scene) {
			s.m(2).Block("chan receive").ProcStop()
			s.m(1).With("main.f").Unblock(2)
			s.m(1).Block("chan receive").ProcStop()
			s.m(2).ProcStart(0)
			s.soon(2).Start(2)
		}, map[model.GoID]way{
			2: {SourceLocked, ViaNone, none, 0, PlaceRunnext, 0, GradeUnique},
		}},
		{"not locked: runnable only after the proc was given up", 2, 2, func(s *scene) {
			s.m(2).Block("chan receive").ProcStop()
			s.m(3).ProcStart(1)
			s.m(3).ProcStop()
			s.m(1).With("main.f").Unblock(2)
			s.m(2).ProcStart(1)
			s.later(2, 1000).Start(2)
		}, map[model.GoID]way{
			2: {SourceStealRunnext, ViaNone, 0, 1, PlaceRunnext, 0, GradeCertain},
		}},
		{"locked inside a callback from C", 1, 1, func(s *scene) {
			s.m(1).Block("chan receive").ProcStop()
			s.m(5).CreateInSyscall(20)
			s.soon(5).ProcStart(0)
			s.soon(5).SyscallEndBlocked()
			s.later(5, 1).Start(20)
			s.m(5).With("runtime.gopark", "runtime.cgocallbackg").Unblock(1)
			s.m(5).With("runtime.gopark", "runtime.cgocallbackg").Block("chan receive").ProcStop()
			s.m(1).ProcStart(0)
			s.soon(1).Start(1)
			s.m(1).With("main.f").Unblock(20)
			s.m(1).Block("sleep").ProcStop()
			s.m(5).ProcStart(0)
			s.soon(5).Start(20)
		}, map[model.GoID]way{
			20: {SourceLocked, ViaNone, none, 0, PlaceRunnext, 0, GradeCertain},
		}},
		{"coroutine", 1, 1, func(s *scene) {
			s.m(1).CreateBlocked(10, "main.coro")
			s.m(1).Switch(10)
			s.m(1).Switch(1)
		}, map[model.GoID]way{
			10: {SourceCoroutine, ViaNone, none, 0, PlaceNone, none, GradeCertain},
			1:  {SourceCoroutine, ViaNone, none, 0, PlaceNone, none, GradeCertain},
		}},
		{"external, without a proc", 1, 1, func(s *scene) {
			s.m(1).Status(10, model.GoWaiting, "main.g")
			s.m(2).Unblock(10)
			s.m(1).Block("chan receive")
			s.soon(1).Start(10)
		}, map[model.GoID]way{
			10: {SourceGlobal, ViaNone, none, 1, PlaceGlobal, none, GradeChosen},
		}},
		{"mark worker", 1, 1, func(s *scene) {
			s.m(1).Create(20, "runtime.gcBgMarkWorker")
			s.runs(1, 20)
			s.m(1).Unblock(1)
			s.m(1).Block("GC worker (idle)")
			s.soon(1).Start(1)
			s.m(1).Stop("runtime.Gosched")
			s.m(1).Unblock(20)
			s.soon(1).Start(20).Label("GC (idle)")
		}, map[model.GoID]way{
			20: {SourceSystem, ViaNone, none, 0, PlaceNone, none, GradeCertain},
		}},
		{"trace reader", 1, 1, func(s *scene) {
			s.m(1).Create(20, "runtime/trace.Start.func1")
			s.runs(1, 20)
			s.m(1).Unblock(1)
			s.m(1).Block("trace reader (blocked)")
			s.soon(1).Start(1)
			s.m(1).Stop("runtime.Gosched")
			s.m(1).Unblock(20)
			s.soon(1).Start(20)
		}, map[model.GoID]way{
			20: {SourceSystem, ViaNone, none, 0, PlaceNone, none, GradeCertain},
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(c.procs, c.busy)
			c.build(s)
			s.later(1, 100)
			replay(t, s.Builder).check(t, c.want)
		})
	}
}
