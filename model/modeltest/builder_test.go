package modeltest_test

import (
	"testing"

	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/modeltest"
)

func TestBuilderTimes(t *testing.T) {
	b := modeltest.NewBuilder()
	m := b.M(1).Proc(0).Running(1, "main.main")
	b.At(3)
	m.With("main.f").Block("sleep")
	events := b.Events()
	want := []struct {
		kind      model.EventKind
		time      model.Time
		synthetic bool
	}{
		{model.EventSync, modeltest.At(0), false},
		{model.EventProcTransition, modeltest.At(0) + 1, true},
		{model.EventGoTransition, modeltest.At(0) + 2, true},
		{model.EventGoTransition, modeltest.At(3), false},
		{model.EventSync, modeltest.At(3) + 1, true},
	}
	if len(events) != len(want) {
		t.Fatalf("got %d events, want %d", len(events), len(want))
	}
	for i, w := range want {
		e := events[i]
		if e.Kind != w.kind || e.Time != w.time || (e.Flags&model.EventSyntheticTime != 0) != w.synthetic {
			t.Errorf("event %d: got %v at %d, flags %d; want %v at %d, synthetic %t", i, e.Kind, e.Time, e.Flags, w.kind, w.time, w.synthetic)
		}
	}
	var stack []string
	for _, f := range b.Tables.Stack(events[3].SubjectStack) {
		stack = append(stack, f.Func)
	}
	if len(stack) != 2 || stack[0] != "main.f" || stack[1] != "main.main" {
		t.Errorf("stack of the block: got %q, want main.f in main.main", stack)
	}
}

func TestBuilderContext(t *testing.T) {
	b := modeltest.NewBuilder()
	m := b.M(1).Proc(0).Running(1, "main.main").CreateBlocked(2, "runtime.corostart")
	m.Switch(2).SwitchExit(1).Syscall()
	b.M(2).ProcSteal(0)
	m.SyscallEndBlocked()
	type context struct {
		id int64
		to model.GoState
		g  model.GoID
		p  model.ProcID
	}
	var got []context
	for _, e := range b.Events() {
		if e.Kind == model.EventGoTransition {
			got = append(got, context{e.ID, model.GoState(e.To), e.G, e.P})
		}
	}
	want := []context{
		{1, model.GoRunning, model.NoGoroutine, 0},
		{2, model.GoWaiting, 1, 0},
		{2, model.GoRunnable, 1, 0}, {1, model.GoWaiting, 1, 0}, {2, model.GoRunning, model.NoGoroutine, 0},
		{1, model.GoRunnable, 2, 0}, {2, model.GoNotExist, 2, 0}, {1, model.GoRunning, model.NoGoroutine, 0},
		{1, model.GoSyscall, 1, 0},
		{1, model.GoRunnable, 1, model.NoProc},
	}
	if len(got) != len(want) {
		t.Fatalf("got %d transitions, want %d: %v", len(got), len(want), got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("transition %d: got %v, want %v", i, got[i], want[i])
		}
	}
}

func TestBuilderPanics(t *testing.T) {
	cases := []struct {
		name string
		do   func(b *modeltest.Builder, m *modeltest.Thread)
	}{
		{"start of a running goroutine", func(b *modeltest.Builder, m *modeltest.Thread) { b.M(2).Proc(1).Start(1) }},
		{"start of nobody", func(b *modeltest.Builder, m *modeltest.Thread) { m.Block("").Start(9) }},
		{"block twice", func(b *modeltest.Builder, m *modeltest.Thread) { m.Block("").Block("") }},
		{"a proc twice", func(b *modeltest.Builder, m *modeltest.Thread) { b.M(2).ProcStart(0) }},
		{"stop without a proc", func(b *modeltest.Builder, m *modeltest.Thread) { b.M(2).ProcStop() }},
		{"steal a running proc", func(b *modeltest.Builder, m *modeltest.Thread) { b.M(2).ProcSteal(0) }},
		{"create twice", func(b *modeltest.Builder, m *modeltest.Thread) { m.Create(1, "main.f") }},
		{"time backwards", func(b *modeltest.Builder, m *modeltest.Thread) { b.At(5).At(4) }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("did not panic")
				}
			}()
			b := modeltest.NewBuilder()
			c.do(b, b.M(1).Proc(0).Running(1, "main.main"))
		})
	}
}
