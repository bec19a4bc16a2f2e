// Package replay runs the work of a trace under the reference scheduler and
// compares: with what was recorded, and with what other schedulers would have
// made of it. This package promises nothing to other modules.
//
// A [Replay] follows a trace while it is read. It cuts the trace into windows of a
// bounded number of starts and steps and of a minute at most, takes the work out of each
// ([workload.Extractor]), and simulates it when the window is over, once per seed and variant,
// on all processors; only the distributions of waits are kept. What several windows, and
// several traces, gave is added up. Nothing depends on how many simulations ran at
// the same time.
//
// Measured and simulated schedules report intervals of the same type.
package replay
