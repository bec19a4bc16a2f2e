// Package timeline records what procs, threads and goroutines did, and when, in the
// compact form that the interactive timeline of package page draws: lanes of spans,
// queue lengths, wakes and steals as arrows. This package promises nothing to other
// modules.
//
// A [Recorder] observes a [model.Machine]. What it keeps is bounded: beyond
// [Options] it merges the shortest intervals of each lane with their neighbours into
// mixtures, which still show exactly how long what state took but not in which
// order (lane.go). Every interval that is at least as long as the quantum stays as
// it is. The encoding (encode.go) says what was merged and left out.
package timeline
