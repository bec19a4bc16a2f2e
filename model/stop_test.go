package model_test

import (
	"testing"

	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/modeltest"
)

// TestStopStack checks that a Running interval says where it ended: each its
// own place, and none if the trace does not tell.
func TestStopStack(t *testing.T) {
	b := modeltest.NewBuilder()
	b.At(1)
	m := b.M(1).Proc(0).Running(1, "main.main")
	b.At(10)
	m.With("main.slow").Stop("preempted")
	b.At(20)
	m.Start(1)
	b.At(30)
	m.With("runtime.chanrecv1", "main.recv").Block("chan receive")
	b.At(40)
	m.Unblock(1)
	b.At(50)
	m.Start(1)
	b.At(60)
	m.Exit()
	spans := replay(t, b).of(1, model.GoRunning)
	want := []string{"main.slow", "runtime.chanrecv1", ""}
	if len(spans) != len(want) {
		t.Fatalf("%d running intervals, want %d", len(spans), len(want))
	}
	for i, s := range spans {
		got := ""
		if frames := b.Tables.Stack(s.Stack); len(frames) > 0 {
			got = frames[0].Func
		}
		if got != want[i] {
			t.Errorf("interval %d ended in %q, want %q", i, got, want[i])
		}
	}
}
