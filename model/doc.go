// Package model reconstructs scheduler state from execution-trace events. This package
// promises nothing to other modules.
//
// A [Machine] folds a stream of [Event] values, in order, into the states of
// goroutines (G), threads (M) and procs (P), and hands what it establishes to
// observers: intervals in one state ([GoSpan], [ProcSpan], [ThreadSpan]),
// handoffs of procs, ways out of system calls, network-poller wakeups,
// stop-the-world phases, ranges, tasks, regions and metrics. It keeps state
// only for what is alive, so memory does not grow with the trace's length.
//
// Nothing here is estimated. What a trace does not determine is reported as
// unknown (for example [OriginUnknown], [PollerAmbiguous]); the few rules that
// are deductions rather than readings say so where they are implemented.
//
// Times are integer nanoseconds of the trace's own clock. State times are
// conserved exactly: for each goroutine they add up to its lifetime, for each
// proc and thread to the time it was known. See [Machine.Check].
package model
