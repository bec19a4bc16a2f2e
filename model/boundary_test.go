package model_test

import (
	"testing"

	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/modeltest"
)

// What the trace tells first of a goroutine has held since the start, however
// late it tells it.
func TestUndetermined(t *testing.T) {
	for _, state := range []model.GoState{model.GoRunnable, model.GoWaiting, model.GoRunning, model.GoSyscall} {
		b, m := oneProc()
		b.At(500)
		switch state {
		case model.GoRunning:
			b.M(2).Proc(1).Running(2, "main.f")
		case model.GoSyscall:
			b.M(2).Proc(1).InSyscall(2, "main.f")
		default:
			m.Status(2, state, "main.f")
		}
		b.At(600)
		r := replay(t, b)
		s := only(t, state.String(), r.of(2))
		if s.State != state || s.Start != modeltest.At(0) || s.End != modeltest.At(600) || !s.OpenStart || !s.OpenEnd {
			t.Errorf("got %v in [%d, %d), open %t %t; want %v all along", s.State, s.Start, s.End, s.OpenStart, s.OpenEnd, state)
		}
		if g := r.ends[2]; g.SeenCreation || g.HasEnded || b.Tables.String(g.Func) != "main.f" {
			t.Errorf("%v: got creation %t, end %t, function %q", state, g.SeenCreation, g.HasEnded, b.Tables.String(g.Func))
		}
	}
}

func TestOpenEnds(t *testing.T) {
	b, m := oneProc()
	b.At(10)
	m.Create(2, "main.f").RegionBegin(0, "outer").TaskBegin(1, 0, "task").Range(model.EventRangeBegin, model.ScopeGoroutine, "GC mark assist")
	b.At(20)
	r := replay(t, b)
	if s := only(t, "Runnable intervals", r.of(2)); s.OpenStart || !s.OpenEnd || s.Start != modeltest.At(10) {
		t.Errorf("got %+v; want one open at its end only", s)
	}
	for _, p := range r.procs {
		if p.OpenEnd != (p.End == modeltest.At(20)) {
			t.Errorf("proc interval [%d, %d): open at its end: %t", p.Start, p.End, p.OpenEnd)
		}
	}
	if s := only(t, "regions", r.regions); !s.OpenEnd || s.End != modeltest.At(20) {
		t.Errorf("region: got %+v, want it open", s)
	}
	if s := only(t, "tasks", r.tasks); !s.OpenEnd || s.End != modeltest.At(20) {
		t.Errorf("task: got %+v, want it open", s)
	}
	if s := only(t, "ranges", r.ranges); !s.OpenEnd || s.End != modeltest.At(20) {
		t.Errorf("range: got %+v, want it open", s)
	}
}

// A time that was made up to break a tie is marked on both sides of it.
func TestSyntheticTimes(t *testing.T) {
	b, m := oneProc()
	m.Status(2, model.GoRunnable, "main.f")
	b.At(10)
	m.Block("sync") // on the clock
	b.At(20)
	m.Unblock(1).Start(2) // the start is 1 ns after the wake
	b.At(30)
	m.Block("sync")
	b.At(40)
	m.Start(1)
	b.At(50)
	r := replay(t, b)
	for _, c := range []struct {
		g    model.GoID
		s    model.GoState
		want bool
	}{{1, model.GoWaiting, false}, {1, model.GoRunnable, false}, {2, model.GoRunnable, true}, {2, model.GoRunning, true}, {2, model.GoWaiting, false}} {
		if s := only(t, "intervals", r.of(c.g, c.s)); s.Synthetic != c.want && !s.OpenEnd {
			t.Errorf("goroutine %d: %v in [%d, %d): synthetic %t, want %t", c.g, c.s, s.Start, s.End, s.Synthetic, c.want)
		}
	}
}

func TestClampedTimes(t *testing.T) {
	b, m := oneProc()
	b.At(10)
	m.Create(2, "main.f")
	events := b.Events()
	for i := range events {
		if events[i].ID == 2 && events[i].Kind == model.EventGoTransition {
			events[i].Flags |= model.EventClamped
		}
	}
	r := &record{}
	modeltest.Apply(t, b.Tables, 26, events, r)
	// The trace ends 1 ns later: an interval of at least that is left.
	if s := only(t, "intervals", r.of(2)); !s.Clamped {
		t.Errorf("got %+v, want it marked as clamped", s)
	}
	if s := r.of(1)[0]; s.Clamped {
		t.Errorf("goroutine 1 is marked as clamped: %+v", s)
	}
}

// Every generation repeats all states; nothing may come of it.
func TestGenerationsRepeatStates(t *testing.T) {
	run := func(generations bool) *record {
		b, m := twoProcs()
		b.At(10)
		m.Create(2, "main.f").Status(3, model.GoWaiting, "main.g")
		for i := 20; i <= 40; i += 10 {
			b.At(i)
			if generations {
				b.Generation(m)
			}
		}
		b.At(45)
		m.Syscall()
		b.At(50)
		if generations {
			b.Generation(m)
		}
		b.At(60)
		return replay(t, b)
	}
	with, without := run(true), run(false)
	for _, id := range []model.GoID{1, 2, 3} {
		if a, b := with.of(id), without.of(id); len(a) != len(b) {
			t.Errorf("goroutine %d: %d intervals with generations, %d without", id, len(a), len(b))
		}
		if a, b := with.ends[id].Times, without.ends[id].Times; a != b {
			t.Errorf("goroutine %d: times %v with generations, %v without", id, a, b)
		}
	}
	if a, b := len(with.procs), len(without.procs); a != b {
		t.Errorf("%d intervals of procs with generations, %d without", a, b)
	}
}

// TestBegin accounts for a window only: what is open when it begins goes on as
// open, and nothing of before counts.
func TestBegin(t *testing.T) {
	b, m := twoProcs()
	n := b.M(2)
	m.TaskBegin(1, 0, "task").RegionBegin(1, "region")
	b.At(5)
	m.Create(2, "main.f").Create(3, "main.reader")
	b.At(6)
	n.ProcStart(1).Start(3).Block("network")
	b.At(10)
	n.Unblock(3).Start(2)
	b.At(20)
	n.Syscall()
	b.At(30)
	b.M(9).ProcSteal(1)
	b.At(35)
	m.STWBegin("GOMAXPROCS")
	window := 40
	b.At(50)
	m.STWEnd("GOMAXPROCS").RegionEnd(1, "region").TaskEnd(1, 0, "task")
	n.SyscallEndBlocked()
	b.At(60)
	n.ProcStart(1).Start(3)
	b.At(70)
	events := b.Events()

	machine := model.NewMachine(b.Tables, model.Config{Version: 26})
	v, r := modeltest.NewValidator(b.Tables), &record{}
	begun := false
	for i := range events {
		if !begun && events[i].Time >= modeltest.At(window) {
			begun = true
			machine.Begin(modeltest.At(window))
			v.Begin(modeltest.At(window))
			machine.Observe(v)
			machine.Observe(r)
		}
		if begun {
			v.Event(&events[i])
		}
		if err := machine.Apply(&events[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := machine.Finish(machine.Now()); err != nil {
		t.Error(err)
	}
	if err := v.Err(); err != nil {
		t.Error(err)
	}
	for id, g := range r.ends {
		total := model.Duration(0)
		for _, d := range g.Times {
			total += d
		}
		if total != modeltest.Ticks(30) || g.From != modeltest.At(window) {
			t.Errorf("goroutine %d: accounted for %d from %d; want 30 ticks from %d", id, total, g.From, modeltest.At(window))
		}
	}
	if s := r.of(2)[0]; s.State != model.GoSyscallBlocked || !s.OpenStart || s.Start != modeltest.At(window) {
		t.Errorf("goroutine 2: first interval %+v; want blocked in its system call, open at the window's start", s)
	}
	if s := only(t, "stop-the-worlds", r.stws); !s.OpenStart || s.Start != modeltest.At(window) {
		t.Errorf("stop-the-world: got %+v; want it open at the window's start", s)
	}
	if s := only(t, "regions", r.regions); !s.OpenStart || s.Start != modeltest.At(window) || s.End.Sub(s.Start) > modeltest.Ticks(10)+3 {
		t.Errorf("region: got %+v; want it open at the window's start", s)
	}
	if s := only(t, "tasks", r.tasks); !s.OpenStart {
		t.Errorf("task: got %+v; want it open at the window's start", s)
	}
}
