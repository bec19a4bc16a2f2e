package causes

import (
	"testing"

	"github.com/schedscope/schedscope/model"
)

// goSpan makes an interval of a goroutine.
func goSpan(g model.GoID, s model.GoState, start, length model.Duration) *model.GoSpan {
	return &model.GoSpan{G: g, State: s, Start: model.Time(start), End: model.Time(start + length),
		P: model.NoProc, M: model.NoThread, Waker: model.NoGoroutine, WakerProc: model.NoProc, WakerThread: model.NoThread}
}

// equal compares a value with what a test expects.
func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}
