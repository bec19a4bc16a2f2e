// Schedscope finds out why goroutines wait to run: it reads Go runtime
// execution traces, rebuilds what every goroutine, proc and thread did, and
// reports scheduling latency as text, JSON, tables and pictures.
//
//	schedscope trace.out
//	schedscope analyze -o latency.png -o report.json trace.out
//	schedscope analyze http://localhost:6060 --seconds 5
//
// Run schedscope help for all commands.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
)

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50) // the live heap is small: collecting it more often takes less than 1 % of the CPU
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // a second ^C ends the program at once
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
