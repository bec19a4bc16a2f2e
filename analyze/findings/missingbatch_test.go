package findings_test

import (
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/findings"
	"github.com/schedscope/schedscope/analyze/resulttest"
	"github.com/schedscope/schedscope/model"
)

// TestMissingBatch: a hundred goroutines that wait to the end while procs are idle make a note. Of the
// fixtures none has more than 1, and 910 without a batch (TestMissingBatch of the command).
func TestMissingBatch(t *testing.T) {
	for _, tt := range []struct {
		count, idle int
		want        bool
	}{{100, 2e6, true}, {99, 2e6, false}, {100, 0, false}} {
		r := resulttest.Read(t, "quiet.go1.26.p4.trace")
		r.Latency.Censored.AtEnd.Count = int64(tt.count)
		r.Procs.IdleRunnable.AtEnd = model.Duration(tt.idle)
		notes := strings.Join(findings.Notes(r), "\n")
		if got := strings.Contains(notes, "goroutines became runnable and did not run until the end"); got != tt.want {
			t.Errorf("%+v: %s", tt, notes)
		}
	}
}
