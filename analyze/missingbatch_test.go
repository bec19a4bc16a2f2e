package analyze

import (
	"testing"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// TestIdleAtEnd: procs that are idle while goroutines are runnable until the end are noted if
// that lasts too long to be normal.
func TestIdleAtEnd(t *testing.T) {
	for _, tt := range []struct {
		last, want model.Duration
		running    int // beyond, with nobody idle
	}{{last: 2e6, want: 2e6}, {last: 9e5}, {last: 2e6, running: 1}} {
		x := NewIdle(NewTimeline())
		end := model.Time(100 + tt.last)
		x.Counts(&model.Counts{Start: 0, End: 100, Procs: 2, Idle: 2})
		x.Counts(&model.Counts{Start: 100, End: end, Procs: 2, Idle: 1, Running: 1, Runnable: 3})
		if tt.running > 0 {
			x.Counts(&model.Counts{Start: end, End: end + 10, Procs: 2, Running: 2, Runnable: 3})
		}
		x.Finish()
		var v result.Report
		x.Result(&v)
		if got := v.Procs.IdleRunnable.AtEnd; got != tt.want {
			t.Errorf("%+v: got %d", tt, got)
		}
	}
}
