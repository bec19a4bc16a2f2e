//go:build unix

package cli

import (
	"errors"
	"io"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestTerminated checks that SIGTERM, by which runners of CI end jobs, ends the program
// being recorded, too.
func TestTerminated(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "mark")
	o := recordOptionsFor(t, 1, "-how", "sleep", "-count", mark)
	ctx, stop := untilSignal(t.Context())
	defer stop()
	began := time.Now()
	go whenExists(mark, func() { syscall.Kill(syscall.Getpid(), syscall.SIGTERM) })
	err := newApp(strings.NewReader(""), io.Discard, io.Discard).recordSides(ctx, o)
	var exit *exitError
	if !errors.As(err, &exit) || exit.code != exitInterrupted {
		t.Errorf("error %v, want code %d", err, exitInterrupted)
	}
	if d := time.Since(began); d > 20*time.Second {
		t.Errorf("it took %v", d)
	}
	checkAbsent(t, o.Dir)
}
