// Package perfetto writes traces for timeline viewers, in Perfetto's own format. Procs
// become CPUs, goroutines threads. This package promises nothing to other modules.
//
// A [Writer] follows a [model.Machine] and, where the Go version allows, replays the run
// queues on another goroutine. Output is written while the trace is read; memory grows
// with what is alive and with the distinct names.
//
// Times in the output count from the beginning of the trace, in nanoseconds.
//
// perfetto_subset.proto has the messages.
package perfetto
