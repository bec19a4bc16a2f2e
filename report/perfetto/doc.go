// Package perfetto writes traces for timeline viewers: in Perfetto's own format and
// as Chrome's JSON. Procs become CPUs, goroutines threads.
package perfetto
