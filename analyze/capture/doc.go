// Package capture records execution traces inside a program that is in production, and
// keeps those that matter.
//
// [Start] keeps the last seconds of the program in memory, by the runtime's flight
// recorder, and writes them to a file when something was slow: when goroutines waited too
// long for a proc ([Options.Latency]), when a request took too long ([Recorder.Observe]),
// on SIGUSR2 ([Options.Signal]), or when the program asks ([Recorder.Snapshot]).
// [Recorder.Handler] hands traces out over HTTP; it does nothing unless it is mounted.
//
//	rec, err := capture.Start(capture.Options{
//		Dir:     "/var/lib/shop/traces",
//		Latency: capture.Latency{Limit: 20 * time.Millisecond},
//		Slow:    500 * time.Millisecond,
//		Signal:  true,
//	})
//	if err != nil {
//		slog.Warn("no capture", "error", err) // a nil Recorder does nothing
//	}
//	defer rec.Close()
//
// Each file holds why it was written ([Note]) and records of process and machine (package
// analyze/gate/env), which schedscope reads. Numbers of such a trace describe the worst
// moments, not the program.
//
// [FromEnv] has schedscope record make a recording of the program from its start.
//
// A process has one flight recorder. It may run together with a trace of
// [runtime/trace.Start], of which a process has one, too, and with net/http/pprof.
//
// The package needs nothing but the standard library.
package capture
