// Package ingest reads Go execution traces into model events. It is the only
// package that knows golang.org/x/exp/trace. This package promises nothing to other
// modules.
//
// A trace of Go 1.22 or newer is a sequence of generations, about one second
// each, every one of which lists all goroutines and procs again and has its own
// tables of strings and stacks. Hence each can be decoded alone:
//
//  1. Index: walk the batch headers, skipping over what is in the batches, to
//     find where generations begin, when, and what they consist of ([NewIndex]).
//     From a stream the same walk cuts off one generation at a time (split.go).
//  2. Choose: drop the generations outside the window (window.go).
//  3. Decode each generation alone, several at once, into model events, with
//     strings and stacks numbered in order of appearance in that generation.
//     Package wire does this if the generation is valid (native.go). If not, a
//     reader of the library over file header + generation takes over (decode.go,
//     convert.go) from where wire gave up.
//  4. Wait: what is decoded before its turn is kept, bounded by bytes; the
//     generation whose turn it is can always go on (pipeline.go).
//  5. Stitch, in order and on the caller's goroutine: name goroutines, renumber
//     strings and stacks by content, and fill in what a generation alone does
//     not show, from the state carried over from the one before (stitch.go).
//  6. Set times (clock.go) and hand out ([Reader.Next]).
//
// This is done in the same way for one worker and many, from a file and from a
// stream, so the events are the same, too. Reading per generation is also more
// exact than one reader over the whole trace, which must keep time from going
// backward and so shifts the first events of a generation, by milliseconds, past
// the late status events that end the one before. [ClockReader] brings those
// times back for comparison.
//
// Traces of Go 1.11 to 1.21 have no generations: one sequential reader decodes
// the whole file, which it holds in memory. Those that would make it overflow
// the stack are refused (v1guard.go). Events at the same time on several procs come in another
// order now and then, by which figures change by nanoseconds: the decoder goes through its procs in
// the order of a Go map (internal/trace/internal/tracev1/parser.go: parseEventBatches).
//
// The memory for a trace is bounded by its length: too many generations (index.go), batches
// (decode.go) or goroutines, tasks and regions that are alive at once (stitch.go) are refused, of
// which hostile traces alone have as many.
//
// All input is untrusted. What comes before a break is delivered, and panics of the decoder
// end there, too. [Reader.Loss] says what is missing: nothing, only if
//
//   - each generation was read to its end, in all the bytes of the file,
//   - all strings and stacks referred to were defined,
//   - each generation names the goroutines of the one before, and as many procs as GOMAXPROCS,
//   - the file has the size that it had.
//
// A prefix of whole generations is such a trace, too. A file may change while it is read: what a
// generation yields is compared with the index first (index.go: check).
package ingest
