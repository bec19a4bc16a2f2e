package cli

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/schedscope/schedscope/analyze/result"
)

// TestQuote: a line is shown of a file that is older than the trace, and of no other.
func TestQuote(t *testing.T) {
	dir := t.TempDir()
	source, trace := filepath.Join(dir, "main.go"), filepath.Join(dir, "t.trace")
	for path, text := range map[string]string{source: "package main\n\tc.mu.Lock() \n", trace: ""} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		file string
		line uint64
		age  time.Duration
		want string
	}{{source, 2, time.Hour, "c.mu.Lock()"}, {source, 3, time.Hour, ""}, {source, 0, time.Hour, ""}, {source, 2, -time.Hour, ""}, {dir, 1, time.Hour, ""}, {"", 1, time.Hour, ""}} {
		changed := time.Now().Add(-tt.age)
		if err := os.Chtimes(source, changed, changed); err != nil {
			t.Fatal(err)
		}
		v := &result.Report{Traces: []result.Trace{{Name: trace}}, Findings: []result.Finding{{Where: []result.Culprit{{File: tt.file, Line: tt.line}}}}}
		if quote(v); v.Findings[0].Where[0].Source != tt.want {
			t.Errorf("%+v: %q", tt, v.Findings[0].Where[0].Source)
		}
	}
}
