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

import "github.com/schedscope/schedscope/cmd/internal/cli"

func main() { cli.Main() }
