//go:build unix

package recorder

import (
	"os/exec"
	"syscall"
)

// prepareChild puts a child into a process group of its own: it ends with all that it
// started, and ^C reaches it through this program only.
func prepareChild(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
