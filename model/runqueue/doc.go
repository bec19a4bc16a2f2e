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
// # How
//
// The front (front.go) turns steps into operations on queues: a goroutine becomes
// runnable and is put somewhere (rules.go), or starts. The replay follows some
// hundreds of operations behind, so that it knows when and where most of what
// stands in a queue will run. It carries each operation out in a world (world.go),
// the contents of all queues. A start must be explained (dequeue.go, steal.go,
// global.go): goroutines that stand before it in its queue were taken by threads
// that show it only later; half of a queue went to a thief; a batch came from the
// global queue. Where the trace leaves open what happened, the world is copied and
// each copy goes on with another explanation, at a cost for what is unlikely or
// breaks a rule of the runtime. What happens next tells copies apart: those that
// cost too much are given up, and what the rest agrees on is told.
//
// Each start carries the grade of its evidence ([Grade]). fixtures/truth measures
// against an instrumented runtime how often each grade is right.
package runqueue
