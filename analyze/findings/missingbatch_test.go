package findings

import (
	"fmt"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// TestMissingBatch: a thousand goroutines that wait to the end while procs are idle make a note.
func TestMissingBatch(t *testing.T) {
	for _, tt := range []struct {
		count, idle int
		want        bool
	}{{1000, 2e6, true}, {999, 2e6, false}, {1000, 0, false}} {
		var r result.Report
		r.Latency.Censored.AtEnd.Count = int64(tt.count)
		r.Procs.IdleRunnable.AtEnd = model.Duration(tt.idle)
		var notes strings.Builder
		censoredNotes(&r, func(format string, args ...any) { fmt.Fprintf(&notes, format, args...) })
		if got := strings.Contains(notes.String(), "1,000 goroutines became runnable"); got != tt.want {
			t.Errorf("%+v: %s", tt, notes.String())
		}
	}
}
