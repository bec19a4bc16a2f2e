// Package requests finds the requests in a trace and says what each one's time went to.
//
// A request is work with a beginning and an end: a request of net/http, a call of gRPC, a task
// of runtime/trace; see [Spec]. Its time is divided twice, each time exactly:
//
//   - own: the states of the request's goroutine. This is certain.
//   - path: the critical path. While the goroutine was blocked, it is the path of whoever ended
//     that, for as long as it lasted, and so on. What of it is inferred is marked.
//
// # Paths in one pass
//
//  1. For each goroutine the [Tracker] keeps the intervals of its states and, with them, the
//     running total of its path, a vector of time by [Kind]. total(g, t) is that total at t.
//  2. A goroutine that w woke at b had waited since a. The path of the wait is total(w, b) -
//     total(w, a). At b this is known, because w runs: all its waits before b have ended. It is
//     added to the total of the goroutine that waited.
//  3. total(g, t) with t inside such a wait is the total at the end of the wait, less the path
//     of the wait from t on. Clipping a path and resolving it commute, so differences of totals
//     are exact.
//  4. Before it was created, a goroutine's path is that of its creator.
//  5. In a convoy each wait contains the end of the one before it, and the walk of 3 is as long
//     as the convoy. Each such wait has a link to the one before, and one that jumps far over
//     many (skew-binary jump pointers, Myers 1983), with the sum of what lies between.
//  6. A request's path is the difference of totals at its end and its start. Its intervals are
//     listed only on demand ([Request.Parts]), which walks them.
//  7. What ended before the oldest request that is open is forgotten. So is what does not fit
//     into [maxBytes]: waits that began before that are unknown up to there.
//
// # What is known of a wait
//
// Who woke whom is in the trace. That the waker is what was waited for is certain where it is
// the last of those waited for (a WaitGroup, a channel without buffer), and inferred of locks,
// conditions, select, and of connections within the program, whose two ends are paired by when
// one writes and the other wakes up.
package requests
