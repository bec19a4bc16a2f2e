// Package cli is the command schedscope: one file per verb.
package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/schedscope/schedscope/internal/atomicfile"
)

// Main runs the command with the arguments of the process, and ends the process.
func Main() {
	ctx, stop := untilSignal(context.Background())
	context.AfterFunc(ctx, stop) // a second ^C ends the program at once
	// That the reader of stdout has left is an error of writing: other outputs must be complete.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	collectLate()
	a := newApp(os.Stdin, os.Stdout, os.Stderr)
	a.late = func() {
		if atomicfile.Abandon() {
			if a.progress.on {
				fmt.Fprint(os.Stderr, clearLine)
			}
			fmt.Fprintln(os.Stderr, "schedscope: interrupted; no file was written") // stdout may have a part
			os.Exit(exitInterrupted)
		}
	}
	os.Exit(a.run(ctx, os.Args[1:]))
}

// untilSignal returns a context that ^C and SIGTERM end, by which docker, systemd and runners of CI
// end what they run.
func untilSignal(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
}
