package model_test

import (
	"testing"

	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/modeltest"
)

// The trace stamps the end of a stop-the-world only after the world restarted; the
// first proc that another thread gets after the runtime has set the number of procs
// shows when. A thread that was woken before gives its proc up again.
func TestSTWEndsLate(t *testing.T) {
	b := modeltest.NewBuilder()
	m, n := b.M(1), b.M(2)
	m.Proc(0).Running(1, "runtime.main")
	n.Proc(1).Running(2, "main.f")
	b.At(10)
	m.STWBegin("GC mark termination")
	b.At(14)
	n.Stop("preempted").ProcStop()
	b.At(16)
	n.ProcStart(1).ProcStop()
	b.At(20)
	m.STWSized(2)
	b.At(30)
	n.ProcStart(1)
	b.At(31)
	n.Start(2)
	b.At(100)
	m.STWEnd("GC mark termination")
	b.At(110)
	r := replay(t, b)
	s := only(t, "stop-the-worlds", r.stws)
	if s.Reason != "GC mark termination" || s.G != 1 || s.OpenStart || s.OpenEnd {
		t.Errorf("got %+v; want the GC mark termination of goroutine 1", s)
	}
	want := [4]model.Time{modeltest.At(10), modeltest.At(16) + 1, modeltest.At(30), modeltest.At(100)}
	if got := [4]model.Time{s.Start, s.Stopped, s.Effective, s.End}; got != want {
		t.Errorf("begins, stopped, effective, ends: got %v, want %v", got, want)
	}
	if stopped := procTime(r, 1, model.ProcStopped); stopped != modeltest.Ticks(16)-2 {
		t.Errorf("proc 1 was stopped for %d, want %d", stopped, modeltest.Ticks(16)-2)
	}
}

// Where nothing shows the restart, the world restarts when the trace says so.
func TestSTWAlone(t *testing.T) {
	b, m := oneProc()
	b.At(10)
	m.STWBegin("read mem stats")
	b.At(20)
	m.STWEnd("read mem stats")
	b.At(30)
	m.STWBegin("GOMAXPROCS")
	b.At(40)
	r := replay(t, b)
	if len(r.stws) != 2 {
		t.Fatalf("got %d stop-the-worlds, want 2", len(r.stws))
	}
	if s := r.stws[0]; s.Stopped != modeltest.At(10) || s.Effective != modeltest.At(20) || s.End != modeltest.At(20) {
		t.Errorf("got %+v; want it stopped from tick 10 to 20", s)
	}
	if s := r.stws[1]; !s.OpenEnd || s.End != modeltest.At(40) {
		t.Errorf("got %+v; want it open until tick 40", s)
	}
}

// procTime adds up a proc's intervals in one state.
func procTime(r *record, p model.ProcID, state model.ProcState) (d model.Duration) {
	for _, s := range r.procs {
		if s.P == p && s.State == state {
			d += s.Duration()
		}
	}
	return d
}
