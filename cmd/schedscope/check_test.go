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
		sum   checker
		trace result.Trace
		code  int
		want  string
	}{
		{"ok", checker{goroutines: 3, threads: 1, intervals: 1204}, result.Trace{}, exitOK, "check: ok: 1,204 intervals of 3 goroutines, 1 thread"},
		{"violated", checker{}, result.Trace{Violation: "goroutine 7: states add up to 5, want 6"}, exitViolated, "want 6"},
		{"contradiction", checker{}, result.Trace{Inconsistent: 2}, exitUndecided, "cannot judge: 2 events"},
		{"both", checker{}, result.Trace{Inconsistent: 2, Violation: "goroutine 7"}, exitViolated, "bug of schedscope"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var stderr bytes.Buffer
			a := newApp(nil, nil, &stderr)
			err := a.checked(&tt.sum, []result.Trace{{Name: "t"}, tt.trace})
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
