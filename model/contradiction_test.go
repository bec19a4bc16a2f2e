package model_test

import (
	"strings"
	"testing"

	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/modeltest"
)

// An event that contradicts the ones before it is reported, and the Machine
// goes on from what it claims.
func TestContradictions(t *testing.T) {
	transition := func(id int64, from, to model.GoState) model.Event {
		return model.Event{Kind: model.EventGoTransition, ID: id, From: uint8(from), To: uint8(to), G: model.NoGoroutine, P: 0, M: 1}
	}
	cases := []struct {
		name string
		ev   model.Event
		want string
	}{
		{"other state", transition(1, model.GoWaiting, model.GoRunnable), "got state Running, want Waiting"},
		{"unknown goroutine", transition(7, model.GoWaiting, model.GoRunnable), "got an unknown goroutine"},
		{"no state", transition(1, model.GoRunning, model.GoUndetermined), "no such transition"},
		{"invalid proc", model.Event{Kind: model.EventProcTransition, ID: -5, To: uint8(model.ProcStatusIdle), M: 1}, "proc -5: invalid id"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b, _ := oneProc()
			b.At(10)
			b.Raw(c.ev)
			b.At(20)
			m := model.NewMachine(b.Tables, model.Config{Version: 26})
			var errs []string
			for _, ev := range b.Events() {
				if err := m.Apply(&ev); err != nil {
					errs = append(errs, err.Error())
				}
			}
			if e := only(t, "errors", errs); !strings.Contains(e, c.want) {
				t.Errorf("got %q, want something with %q", e, c.want)
			}
			if err := m.Finish(modeltest.At(30)); err != nil {
				t.Errorf("finishing: %v", err)
			}
		})
	}
}

// Time that goes back counts as standing still.
func TestTimeGoesBack(t *testing.T) {
	b, m := oneProc()
	b.At(20)
	m.Block("sleep")
	events := b.Events()
	events[len(events)-1].Time = modeltest.At(5)
	machine := model.NewMachine(b.Tables, model.Config{Version: 26})
	var err error
	for i := range events {
		err = machine.Apply(&events[i])
	}
	if err == nil || !strings.Contains(err.Error(), "time goes back") {
		t.Errorf("got %v, want a complaint about time", err)
	}
	if err := machine.Finish(machine.Now()); err != nil || machine.Now() != modeltest.At(20) {
		t.Errorf("finishing at %d: %v; want %d", machine.Now(), err, modeltest.At(20))
	}
}

// A goroutine that leaves a system call on another thread, and ends there, is not found on the first
// thread any more.
func TestMovedInSyscall(t *testing.T) {
	b, _ := oneProc()
	move := func(at int, m model.ThreadID, from, to model.GoState) {
		b.At(at)
		b.Raw(model.Event{Kind: model.EventGoTransition, ID: 1, From: uint8(from), To: uint8(to), G: model.NoGoroutine, P: 0, M: m})
	}
	move(10, 1, model.GoRunning, model.GoSyscall)
	move(20, 2, model.GoSyscall, model.GoRunning)
	move(30, 2, model.GoRunning, model.GoNotExist)
	move(40, 1, model.GoNotExist, model.GoRunnable)
	b.At(50)
	r := replayRaw(t, b)
	if last := r.goSpans[len(r.goSpans)-1]; last.State != model.GoRunnable || last.End != modeltest.At(50) {
		t.Errorf("the last interval is %+v, want Runnable until the end", last)
	}
}

// A goroutine that another thread and proc still have when it ends is not used for another one.
func TestNotUsedAgain(t *testing.T) {
	b, _ := oneProc()
	move := func(at int, id int64, p model.ProcID, m model.ThreadID, from, to model.GoState) {
		b.At(at)
		b.Raw(model.Event{Kind: model.EventGoTransition, ID: id, From: uint8(from), To: uint8(to), G: model.NoGoroutine, P: p, M: m})
	}
	for _, from := range []model.GoState{model.GoRunnable, model.GoSyscall} {
		move(10, 1, 0, 1, model.GoRunning, model.GoSyscall)
		move(20, 1, 1, 2, from, model.GoRunning)
		move(30, 1, 1, 2, model.GoRunning, model.GoNotExist)
		move(40, 7, 1, 2, model.GoNotExist, model.GoSyscall)
		b.At(50)
		b.Raw(model.Event{Kind: model.EventProcTransition, ID: 0, From: uint8(model.ProcStatusRunning), To: uint8(model.ProcStatusIdle), G: model.NoGoroutine, P: 0, M: 1})
		b.At(60)
		machine, r := model.NewMachine(b.Tables, model.Config{Version: 26}), &record{}
		machine.Observe(r)
		for _, ev := range b.Events() {
			_ = machine.Apply(&ev)
		}
		_ = machine.Finish(machine.Now())
		if last := r.goSpans[len(r.goSpans)-1]; last.G != 7 || last.State != model.GoSyscall || last.Start != modeltest.At(40) {
			t.Errorf("from %v: the last interval is %+v, want a system call since 40", from, last)
		}
		b, _ = oneProc()
	}
}

// A proc that GOMAXPROCS did away with while a thread had it stays without states, whoever takes it
// then and whatever that runs.
func TestRemovedProcTaken(t *testing.T) {
	b, m := oneProc()
	b.M(2).Proc(1)
	m.STWBegin("start trace")
	b.Metric("/sched/gomaxprocs:threads", 1)
	b.At(20)
	b.Raw(model.Event{Kind: model.EventProcTransition, ID: 1, From: uint8(model.ProcStatusIdle), To: uint8(model.ProcStatusRunning), G: model.NoGoroutine, P: model.NoProc, M: 3})
	b.At(30)
	b.Raw(model.Event{Kind: model.EventGoTransition, ID: 3, From: uint8(model.GoNotExist), To: uint8(model.GoSyscall), G: model.NoGoroutine, P: 1, M: 3})
	b.At(50)
	replayRaw(t, b)
}

// A damaged trace may have goroutines with any number. None is alive before its first event, or after its last one.
func TestAnyGoroutine(t *testing.T) {
	for _, id := range []model.GoID{0, 1, 256, model.NoGoroutine, model.NoGoroutine - 1, -256} {
		m := model.NewMachine(model.NewTables(), model.Config{Version: 26})
		for i, to := range []model.GoState{model.GoNotExist, model.GoRunnable, model.GoNotExist} {
			if i > 0 {
				_ = m.Apply(&model.Event{Time: model.Time(i), Kind: model.EventGoTransition, ID: int64(id), From: uint8(model.GoNotExist) + uint8(model.GoRunnable-model.GoNotExist)*uint8(i-1), To: uint8(to), G: model.NoGoroutine, P: model.NoProc, M: model.NoThread})
			}
			if g := m.Goroutine(id); (g != nil) != (to != model.GoNotExist) {
				t.Errorf("goroutine %d, after %d events: got %v", id, i, g)
			}
		}
	}
}
