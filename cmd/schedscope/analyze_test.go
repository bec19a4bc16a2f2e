package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/result"
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
