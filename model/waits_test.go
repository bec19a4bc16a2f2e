package model_test

import (
	"testing"

	"github.com/schedscope/schedscope/model"
)

func TestSyncReason(t *testing.T) {
	for _, c := range []struct {
		want   string
		frames []string
	}{
		{"sync.(*Mutex).Lock", []string{"sync.(*Mutex).Lock", "main.f"}},
		{"sync.(*Mutex).Lock", []string{"sync.runtime_SemacquireMutex", "sync.(*Mutex).lockSlow", "sync.(*Mutex).Lock", "main.f", "sync.(*Once).Do"}},
		{"sync.(*Mutex).Lock", []string{"internal/sync.(*Mutex).lockSlow", "internal/sync.(*Mutex).Lock", "sync.(*Mutex).Lock", "main.f"}},
		{"sync.(*Mutex).Lock", []string{"internal/sync.(*Mutex).lockSlow", "internal/sync.(*HashTrieMap[go.shape.int]).Load", "main.f"}},
		{"sync.(*RWMutex).RLock", []string{"sync.runtime_SemacquireRWMutexR", "sync.(*RWMutex).RLock", "main.f"}},
		{"sync.(*RWMutex).Lock", []string{"sync.(*Mutex).lockSlow", "sync.(*Mutex).Lock", "sync.(*RWMutex).Lock", "main.f"}},
		{"sync.(*Once).Do", []string{"sync.(*Mutex).Lock", "sync.(*Once).doSlow", "sync.(*Once).Do", "main.f"}},
		{"sync.(*WaitGroup).Wait", []string{"sync.runtime_SemacquireWaitGroup", "sync.(*WaitGroup).Wait", "main.main"}},
		{model.ReasonGCSemaphore, []string{"runtime.gcMarkDone", "runtime.gcAssistAlloc", "main.f"}},
		{model.ReasonGCSemaphore, []string{"runtime.gcStart", "runtime.mallocgc", "sync.(*Mutex).Lock"}},
		{model.ReasonRuntimeSemaphore, []string{"runtime.stopTheWorldGC", "runtime.ReadMemStats", "main.f"}},
		{"sync", []string{"internal/poll.runtime_Semacquire", "internal/poll.(*fdMutex).rwlock", "main.f"}},
		{"sync", nil},
	} {
		var frames []model.Frame
		for _, f := range c.frames {
			frames = append(frames, model.Frame{Func: f})
		}
		got := model.SyncReason(frames)
		if got != c.want {
			t.Errorf("%v: %q, want %q", c.frames, got, c.want)
		}
	}
}

func TestWaitOf(t *testing.T) {
	for _, c := range []struct {
		reason       string
		want         model.Wait
		heldUp, lock bool
	}{
		{"sync", model.WaitSync, true, true},
		{"sync.(*Mutex).Lock", model.WaitLock, true, true},
		{"sync.(*Once).Do", model.WaitLock, true, true},
		{"sync.(*WaitGroup).Wait", model.WaitGroup, true, false},
		{"sync.(*Cond).Wait", model.WaitCond, true, false},
		{"chan send", model.WaitSend, true, false},
		{"chan receive", model.WaitReceive, true, false},
		{"select", model.WaitSelect, true, false},
		{model.ReasonGCSemaphore, model.WaitGC, false, false},
		{"GC mark assist wait for work", model.WaitGC, false, false},
		{"wait until GC ends", model.WaitGC, false, false},
		{model.ReasonRuntimeSemaphore, model.WaitRuntime, false, false},
		{"system goroutine wait", model.WaitSystem, false, false},
		{"preempted", model.WaitPreempted, false, false},
		{"network", model.WaitNetwork, false, false},
		{"sleep", model.WaitSleep, false, false},
		{"coroutine switch", model.WaitCoroutine, false, false},
		{"synctest", model.WaitOther, false, false},
		{"", model.WaitOther, false, false},
	} {
		if w := model.WaitOf(c.reason); w != c.want || w.HeldUp() != c.heldUp || w.Lock() != c.lock {
			t.Errorf("%q: %d, held up %t, lock %t, want %d, %t, %t", c.reason, w, w.HeldUp(), w.Lock(), c.want, c.heldUp, c.lock)
		}
	}
}
