package view_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/findings"
	"github.com/schedscope/schedscope/analyze/resulttest"
)

// TestTwice checks that a trace that is there twice is told, and no other.
func TestTwice(t *testing.T) {
	d := resulttest.Read(t, "http.trace", "quiet.go1.26.p4.trace", "tasks.go1.26.p4.trace")
	if got := findings.Twice(d); len(got) > 0 {
		t.Errorf("different traces: %q", got)
	}
	d = resulttest.Read(t, "http.trace", "quiet.go1.26.p4.trace", "http.trace")
	got := findings.Twice(d)
	if len(got) != 1 || !strings.Contains(got[0], "http.trace has all the figures of ") {
		t.Fatalf("a copy: %q", got)
	}
	if !slices.Contains(d.Notes, got[0]) {
		t.Errorf("the notes do not say it: %q", d.Notes)
	}
}
