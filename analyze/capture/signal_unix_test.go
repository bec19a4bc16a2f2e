//go:build unix

package capture

import (
	"syscall"
	"testing"
)

func TestSignal(t *testing.T) {
	o := options(t)
	o.Signal = true
	_, files := started(t, o)
	if err := syscall.Kill(syscall.Getpid(), syscall.SIGUSR2); err != nil {
		t.Fatal(err)
	}
	if n := lastNote(t, next(t, files).File); n.Reason != ReasonSignal || n.What != "SIGUSR2" {
		t.Errorf("note %+v", n)
	}
}
