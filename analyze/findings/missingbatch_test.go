package findings_test

import (
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/findings"
	"github.com/schedscope/schedscope/analyze/resulttest"
	"github.com/schedscope/schedscope/model"
)

// TestMissingBatch: a thousand goroutines that wait to the end while procs are idle make a note.
func TestMissingBatch(t *testing.T) {
	for _, tt := range []struct {
		count, idle int
		want        bool
	}{{1000, 2e6, true}, {999, 2e6, false}, {1000, 0, false}} {
		r := resulttest.Read(t, "quiet.go1.26.p4.trace")
		r.Latency.Censored.AtEnd.Count = int64(tt.count)
		r.Procs.IdleRunnable.AtEnd = model.Duration(tt.idle)
		notes := strings.Join(findings.Notes(r), "\n")
		if got := strings.Contains(notes, "1,000 goroutines became runnable"); got != tt.want {
			t.Errorf("%+v: %s", tt, notes)
		}
	}
}
