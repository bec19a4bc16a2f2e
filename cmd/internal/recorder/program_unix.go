//go:build unix

package recorder

import (
	"os"
	"syscall"
)

// canAsk: programs can be asked to end their recording.
const canAsk = true

// askStop sends the signal that package capture takes as the end of the recording.
func askStop(pid int) { syscall.Kill(pid, syscall.SIGUSR2) }

// ours reports whether the process that records is of the group that the program was
// started in, and not one that has the same number elsewhere, as in a container.
func (p *program) ours() bool {
	group, err := syscall.Getpgid(p.pid)
	return err == nil && group == syscall.Getpgrp()
}

func send(p *os.Process, s os.Signal) { p.Signal(s) }

// signalOf returns the signal that ended a process.
func signalOf(s *os.ProcessState) int {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return int(w.Signal())
	}
	return 0
}
