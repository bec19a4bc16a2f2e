// Package runqueue reconstructs what a trace does not say: in which run queue
// each goroutine stood before it ran, and who took it from there.
//
// A [Resolver] is an observer of a [model.Machine]: it replays runnext, the
// 256-slot local queues, the global queue and the schedtick of each proc
// behind the steps of the Machine, as the runtime of the trace's Go version
// manages them (runtime/proc.go; [New] refuses versions before Go 1.22). A start
// is told when the steps after it can no longer change what is thought of it,
// so results come some steps late, but in order.
//
//	r, err := runqueue.New(tables, version)
//	r.Observe(observer) // any of the interfaces in observer.go
//	machine.Observe(r)
//	... machine.Apply(event) for all events, machine.Finish ...
//	r.Finish()
//
// Each start carries the grade of its evidence. Nothing is certain while the
// queues are unknown, which they are for some milliseconds at the beginning of
// a trace.
package runqueue
