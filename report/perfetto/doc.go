// Package perfetto writes traces for timeline viewers: in Perfetto's own format and
// as Chrome's JSON. Procs become CPUs, goroutines threads.
//
// A [Writer] follows a [model.Machine] and, where the Go version allows, replays
// the run queues beside it. What it tells goes to one of two encoders, of which
// [NewPerfetto] and [NewChrome] are the front doors. Output is written while the trace
// is read; memory grows with what is alive and with the distinct names.
//
// Times in the output count from the beginning of the trace, in nanoseconds (Chrome:
// in microseconds with three decimals).
package perfetto
