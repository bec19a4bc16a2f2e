package cli

import (
	"bytes"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime/trace"
	"strings"
	"testing"
	"time"

	"github.com/schedscope/schedscope/analyze/capture"
)

// TestCapturedNextTo records a process whose last seconds are taken meanwhile, and checks that
// only what was taken is said to be captured.
func TestCapturedNextTo(t *testing.T) {
	dir := t.TempDir()
	recorder, err := capture.Start(capture.Options{Dir: filepath.Join(dir, "kept"), Slow: time.Hour, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer recorder.Close()
	write := func(name string, data []byte) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, data, 0o666); err != nil {
			t.Fatal(err)
		}
		return name
	}
	get := func(target string) []byte {
		w := httptest.NewRecorder()
		recorder.Handler().ServeHTTP(w, httptest.NewRequest("GET", target, nil))
		return w.Body.Bytes()
	}

	var whole bytes.Buffer
	if err := trace.Start(&whole); err != nil {
		t.Fatal(err)
	}
	first, err := recorder.Snapshot("first")
	if err != nil {
		t.Fatal(err)
	}
	past := write("past.trace", get("/"))
	trace.Stop() // at once: by the time alone the note might be of it
	ahead := write("ahead.trace", get("/?seconds=0.05"))
	after, err := recorder.Snapshot("after")
	if err != nil {
		t.Fatal(err)
	}

	for file, want := range map[string]string{
		first.File: "captured: the program asked for it: first, at",
		past:       "captured: an HTTP client asked for the past, at",
		ahead:      "captured: an HTTP client asked for 0.05 s, at",
		after.File: "captured: the program asked for it: after, at",
	} {
		code, stdout, stderr := execute(t, t.Context(), nil, "analyze", "--details", file)
		stdout = strings.Join(strings.Fields(stdout), " ")
		if code != exitOK || !strings.Contains(stdout, want) || strings.Contains(stdout, "of its own") {
			t.Errorf("%s: exit code %d, want %q in\n%s%s", file, code, want, stdout, stderr)
		}
	}
	file := write("whole.trace", whole.Bytes())
	code, stdout, stderr := execute(t, t.Context(), nil, "analyze", "--details", file)
	stdout = strings.Join(strings.Fields(stdout), " ")
	const want = "while it was recorded, the program captured a trace of its own, because an HTTP client asked for the past, at "
	if code != exitOK || !strings.Contains(stdout, want) || strings.Contains(stdout, "captured:") || strings.Contains(stdout, "not the program in general") {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
}
