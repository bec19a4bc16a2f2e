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
		if !model.IsSync(got) {
			t.Errorf("IsSync(%q) is false", got)
		}
	}
	for _, reason := range []string{"", "select", "sync.(*Cond).Wait", "chan send", "synctest"} {
		if model.IsSync(reason) {
			t.Errorf("IsSync(%q) is true", reason)
		}
	}
}
