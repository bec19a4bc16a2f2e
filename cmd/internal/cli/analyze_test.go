package cli

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/fixtures"
)

func TestChecked(t *testing.T) {
	tests := []struct {
		name  string
		trace result.Trace
		code  int
		want  string
	}{
		{"ok", result.Trace{}, exitOK, "check: ok: the times of 1,204 goroutines, 1 thread"},
		{"violated", result.Trace{Violation: "goroutine 7: states add up to 5, want 6"}, exitViolated, "want 6"},
		{"contradiction", result.Trace{Inconsistent: 2}, exitUndecided, "cannot judge: 2 events"},
		{"both", result.Trace{Inconsistent: 2, Violation: "goroutine 7"}, exitViolated, "bug of schedscope"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var stderr bytes.Buffer
			a := newApp(nil, nil, &stderr)
			err := a.checked(&result.Report{Traces: []result.Trace{{Name: "t"}, tt.trace}, Totals: result.Totals{Goroutines: 1204, Threads: 1}})
			code := exitOK
			var e *exitError
			if errors.As(err, &e) {
				code = e.code
			}
			if code != tt.code || !strings.Contains(stderr.String(), tt.want) {
				t.Errorf("exit code %d, stderr %q; want %d and %q", code, stderr.String(), tt.code, tt.want)
			}
		})
	}
}

// TestMissingBatch: that the CPU samples of a generation are missing, or all that a thread did last
// on its own, to which nothing else refers, cannot be proved, and is said.
func TestMissingBatch(t *testing.T) {
	for _, c := range []struct {
		name     string
		from, to int // of the batch
		want     string
	}{
		{"hogs.go1.26.p2.trace", 2810, 5093, "generation 1 has stacks (3) that none of its events refers to: it may lack a batch"},
		{"fanout.go1.26.p4.trace", 68, 6701, "A part of the trace may be missing, such as the last batch of a thread: 910 goroutines"},
	} {
		data, err := os.ReadFile(fixtures.Path(c.name))
		if err != nil {
			t.Fatal(err)
		}
		code, stdout, stderr := execute(t, t.Context(), slices.Delete(data, c.from, c.to), "analyze", "--format", "markdown", "-")
		if code != exitOK || !strings.Contains(stdout+stderr, c.want) || strings.Contains(stderr, "not complete") {
			t.Errorf("%s: exit code %d, %s%s\nwant %s", c.name, code, stdout, stderr, c.want)
		}
	}
}
