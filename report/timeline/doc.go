// Package timeline records what procs, threads and goroutines did, and when, in the
// compact form that the interactive timeline of package page draws: lanes of spans,
// queue lengths, wakes and steals as arrows.
package timeline
