package cli

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/schedscope/schedscope/cmd/internal/recorder"
)

// TestRecordFullDisk records where there is no room for a trace.
func TestRecordFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skip("a small file system cannot be mounted here: ", err)
	}
	defer syscall.Unmount(dir, syscall.MNT_DETACH)
	if recorder.DiskFull(dir) {
		t.Error("an empty file system of 64 KiB is full")
	}
	out := filepath.Join(dir, "x.trace")
	for _, tt := range []struct {
		taken   int // bytes, by another file
		command string
	}{{60 << 10, "recorded -for 1m"}, {64 << 10, "tracer.test"}} {
		if err := os.WriteFile(filepath.Join(dir, "other"), make([]byte, tt.taken), 0o666); err != nil {
			t.Fatal(err)
		}
		if !recorder.DiskFull(dir) {
			t.Errorf("%d of 64 KiB leave room enough", tt.taken)
		}
		args := append([]string{"record", "-d", "100ms", "-o", out, "--"}, strings.Fields(tt.command)...)
		code, _, stderr := execute(t, t.Context(), nil, args...)
		if code != exitUnusable || !strings.Contains(stderr, "no space left on device: nothing that can be read") ||
			!strings.Contains(stderr, "hint: make room") || strings.Contains(stderr, "longer") {
			t.Errorf("%s: exit code %d\n%s", tt.command, code, stderr)
		}
		if _, err := os.Stat(out); err == nil {
			t.Error("there is a trace")
		}
	}
}
