package findings_test

import (
	"slices"
	"testing"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/resulttest"
)

// TestRuntimeFindings checks findings of programs that are made to show them, and that quiet ones
// have none of them.
func TestRuntimeFindings(t *testing.T) {
	kinds := []string{"gc-assists", "locked-thread-ping-pong", "timers-late-behind-busy-proc"}
	for name, want := range map[string]string{
		"assist.go1.26.p4.trace": kinds[0], "gc.go1.26.p4.trace": kinds[0], "trees.go1.26.p4.trace": kinds[0],
		"lockthread.go1.26.p4.trace": kinds[1], "hogs.go1.26.p2.trace": kinds[2],
		"quiet.go1.26.p4.trace": "", "pipeline.go1.26.p4.trace": "", "files.go1.26.p4.trace": "", "iterpull.go1.26.p4.trace": "",
	} {
		var got []string
		for _, f := range resulttest.Read(t, name).Findings {
			if slices.Contains(kinds, f.Kind) {
				got = append(got, f.Kind)
				if f.Severity < result.Notable || len(f.Evidence) == 0 {
					t.Errorf("%s: %+v", name, f)
				}
			}
		}
		if !slices.Equal(got, slices.DeleteFunc([]string{want}, func(s string) bool { return s == "" })) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
