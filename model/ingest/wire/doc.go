// Package wire decodes one generation of an execution trace of Go 1.22 to 1.26
// straight into model events. It does what the reader of golang.org/x/exp/trace
// and the conversion of its events do together, several times as fast, but only
// for generations that are valid: wherever it meets something it does not
// expect, it gives up with an [UnsupportedError] and leaves both the verdict and
// the words for it to that reader. This package promises nothing to other modules.
//
// Decoding follows internal/trace/reader.go (Reader.ReadEvent) of Go 1.26:
//
//  1. Walk the batches and sort them by content (batch.go): strings and stacks
//     go into tables (strings.go, stacks.go), CPU samples into a list ordered by
//     time (samples.go), events stay where they are, as ranges of bytes.
//  2. Look through the events of each thread for what they show of the goroutines'
//     names (roster.go).
//  3. Give each thread a cursor over its batches (cursor.go) and keep the
//     cursors in a heap by the time of their next event (merge.go).
//  4. Take the earliest event, unless a CPU sample comes before it. If the state
//     of goroutines and procs (state.go) says that it cannot have happened yet,
//     because the clocks of two processors disagree, take the earliest one that
//     can.
//  5. Check it, change the state and write what it says (events.go, gos.go,
//     procs.go, ranges.go, annotations.go, emit.go).
//  6. Read the next event of its thread and restore the order of the heap.
//
// The order of events with equal times is part of the result, so steps 4 and 6
// move the cursors about in exactly the way that reader does.
//
// Strings and stacks get numbers in the order in which events first mention
// them, from 1 on. A [Chunk] brings those that its events are the first to use.
//
// Memory stays within a small multiple of the generation's size, whatever its
// bytes say.
package wire
