// Package calibrate estimates what scheduling cost in the program that a trace
// shows: the [refsched.Costs] with which its work is scheduled again.
//
//	c := calibrate.New(tables, calibrate.Options{})
//	machine.Observe(c) // before the resolver: starts are told later than steps
//	resolver.Observe(c)
//	machine.Observe(resolver)
//	... machine.Apply(event) for all events, machine.Finish, resolver.Finish ...
//	costs := c.Costs()
//
// A trace has two kinds of error. Its clock ticks every 64 ns on most platforms, so
// that a single short time is off by up to a tick, either way. And the operating system may
// take a thread away at any moment, which only ever lengthens what is measured,
// sometimes by milliseconds. Hence each parameter is a low or middle quantile of many
// samples, or, where it is only a few ticks long, their mean without the lowest and the highest
// tenth. One with fewer than [MinSamples] samples keeps its default.
//
// What is measured is the time between two events, and those do not stand
// exactly where a simulated operation begins and ends (the runtime emits
// a wake before it queues the goroutine, and a start after it took it). The
// simulator has the same events at the same places, so the parameters are what lies
// between events, not what a line of the runtime takes.
package calibrate
