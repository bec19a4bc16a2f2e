// Package profile writes what a trace shows as profiles that go tool pprof reads:
// waits, what they were behind, system calls and handoffs by stack. It is the only importer of
// github.com/google/pprof. This package promises nothing to other modules.
//
// A [Profile] holds sums by stack and labels, of any number of traces; a
// [Collector] fills one from one trace while that is read. The sums are exactly
// those of the report: what the report leaves out (the runtime's own goroutines,
// what is open at an end) is left out here, and nothing else.
package profile
