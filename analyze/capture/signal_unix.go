//go:build unix

package capture

import (
	"os"
	"os/signal"
	"syscall"
)

// notifySignal has SIGUSR2 sent to c.
func notifySignal(c chan<- os.Signal) { signal.Notify(c, syscall.SIGUSR2) }
