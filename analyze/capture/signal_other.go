//go:build !unix

package capture

import "os"

// notifySignal does nothing: there is no SIGUSR2.
func notifySignal(chan<- os.Signal) {}
