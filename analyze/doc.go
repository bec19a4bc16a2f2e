// Package analyze measures scheduling behaviour.
//
// Every analysis is a struct that implements the observer interfaces of package
// model that it needs. Give it to [model.Machine.Observe], or take them all
// together as a [Report]. An analysis holds results, never the trace: its memory
// depends on how many different functions, reasons and names there are, not on
// the trace's length. What was found is data ([Report.Result]); package result merges that
// of several traces.
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
// equal output. Names beyond [maxNames] different ones of a kind (task types
// made by fmt.Sprintf, say) are counted together as [OtherNames].
//
// Methods that return results may rearrange internal storage: an analysis is
// not safe for concurrent use.
package analyze
