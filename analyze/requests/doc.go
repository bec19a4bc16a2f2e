// Package requests finds the requests in a trace and says what each one's time went to.
// This package promises nothing to other modules.
//
// A request is work with a beginning and an end: a request of net/http, a call of gRPC, a task
// of runtime/trace; see [Spec]. Its time is divided twice, each time exactly:
//
//   - own: the states of the request's goroutine. This is certain, except that a wait for the network
//     that nobody polled any more is one for a proc.
//   - path: the critical path. While the goroutine was blocked, it is the path of whoever ended
//     that, for as long as it lasted, and so on. What of it is inferred is marked.
//
// # Paths in one pass
//
//  1. For each goroutine the [Tracker] keeps the intervals of its states, and for each wait that
//     somebody ended, who that was.
//  2. When a request ends, its path is summed up by [Kind]: its intervals, and for a wait those
//     of who ended it, in the same time, and so on. A wait that a goroutine was still in when it
//     began to be waited for is clipped.
//  3. Before it was created, a goroutine's path is that of its creator.
//  4. Of a goroutine with many intervals in the time of a wait, as a worker that many wait for,
//     sums at bounds of blocks of intervals are kept, once somebody asks: of what lies between
//     two of them the path is their difference.
//  5. In a convoy each wait contains the end of the one before it, and the walk of 2 is as long
//     as the convoy. There each wait has a link to the one that its waker was in when it began,
//     and one that jumps far over many (skew-binary jump pointers, Myers 1983), with the sum of
//     what lies between.
//  6. A request's intervals are listed only on demand ([Request.Parts]), by the walk of 2.
//  7. What ended before the oldest request that is open is forgotten. So is what does not fit
//     into [maxBytes], once the open requests have summed it up: waits that began before that
//     are unknown up to there.
//
// # What is known of a wait
//
// Who woke whom is in the trace. That the waker is what was waited for is certain where it is
// the last of those waited for (a WaitGroup, a channel without buffer), and inferred of locks,
// conditions, select, and of connections within the program, whose two ends are paired by when
// one writes and the other wakes up. A wait for the network ends when the network is polled: from the latest poll
// before on, if that was a millisecond or more ago and no proc was free to poll, the request waits for a proc.
package requests
