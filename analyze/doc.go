// Package analyze measures scheduling behaviour. This package promises nothing to other
// modules.
//
// Every analysis is a struct that implements the observer interfaces of package
// model that it needs. Give it to [model.Machine.Observe], or take them all
// together as a [Report]. An analysis holds results, never the trace: its memory
// depends on how many different functions, reasons and names there are, not on
// the trace's length. What was found is data ([Report.Result]); package result merges that
// of several traces.
//
// # The way of a trace
//
//  1. Package ingest decodes generations ahead of time, on goroutines of its own, and hands
//     out events in order.
//  2. Package session applies the events to a Machine, which owns the tables of goroutines,
//     procs and threads.
//  3. Accounting: when an interval ends, the Machine calls the analyses of intervals and
//     counts, on the same goroutine and with its own records, which nobody copies. A feed
//     calls those of the hot path directly.
//  4. Queues and causes: the Machine writes each change as a [model.Step] into a batch, which
//     a second goroutine takes, a few batches behind. There package runqueue reconstructs
//     the run queues, package causes explains each wait, and pathologies are looked for.
//  5. Requests: once a goroutine may serve requests, events go into batches, too, with what the Machine
//     knows of their goroutines. A third goroutine takes them, and finds requests and their paths.
//  6. Finish waits for both, and each analysis adds its results to one [result.Report].
//
// Three cores are busy: one with 1 to 3, the others with 4 and 5. Batches make each stay with its own code for a
// while, too, for which the instruction cache has room. Nothing in 2 to 5 may look anything up by name, allocate or
// format per event.
//
// # Times
//
// Lengths are exact nanoseconds of the trace's clock. Points in time in results
// are offsets from the origin of the trace, which [Report.Begin] sets, so that
// those of several traces can stand side by side.
//
// # Order
//
// All lists are sorted by size, ties by name or time, so that equal input gives
// equal output. Names beyond [result.MaxNames] different ones of a kind (task types
// made by fmt.Sprintf, say) are counted together as [result.OtherNames].
//
// Methods that return results may rearrange internal storage: an analysis is
// not safe for concurrent use.
package analyze
