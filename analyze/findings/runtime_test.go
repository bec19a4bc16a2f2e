package findings_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/findings"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/resulttest"
	"github.com/schedscope/schedscope/fixtures"
)

// TestRuntimeFindings checks findings of programs that are made to show them, and that healthy ones
// have none of them.
func TestRuntimeFindings(t *testing.T) {
	kinds := []string{"gc-assists", "locked-thread-ping-pong", "timers-late-behind-busy-proc"}
	want := map[string]string{
		"assist.go1.26.p4.trace": kinds[0], "gc.go1.26.p4.trace": kinds[0], "trees.go1.26.p4.trace": kinds[0],
		"handmade/go122-gc-stress.trace": kinds[0], "lockthread.go1.26.p4.trace": kinds[1],
		"hogs.go1.26.p2.trace": kinds[2], "syscalls.go1.26.p4.trace": kinds[2],
	}
	healthy := []string{"quiet", "pipeline", "http", "mixed", "goroutines", "timers", "tasks", "files", "flight", "iterpull"}
	for _, name := range fixtures.Names() {
		if program, _, _ := strings.Cut(name, "."); slices.Contains(healthy, program) {
			want[name] = ""
		}
	}
	if len(want) < 20 {
		t.Fatalf("only %d fixtures", len(want))
	}
	for name, want := range want {
		var got []string
		for _, f := range resulttest.Read(t, name).Findings {
			if slices.Contains(kinds, f.Kind) {
				got = append(got, f.Kind)
				if f.Severity < result.Notable || len(f.Evidence) == 0 {
					t.Errorf("%s: %+v", name, f)
				}
				if f.Kind == kinds[1] && (len(f.Where) == 0 || !strings.HasPrefix(f.Where[0].Function, "main.work.func")) {
					t.Errorf("%s: who is locked: %+v", name, f.Where)
				}
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestRenamed checks that former names lead into the catalogue, and are not in it.
func TestRenamed(t *testing.T) {
	known := func(name string) bool {
		return slices.ContainsFunc(slices.Concat(findings.Symptoms, findings.Verdicts, result.CauseSymptoms()), func(s result.Symptom) bool { return s.Name == name })
	}
	for was, now := range findings.Renamed {
		if known(was) || !known(now) {
			t.Errorf("%s, now %s", was, now)
		}
	}
}
