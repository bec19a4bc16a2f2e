// Package runqueue reconstructs what a trace does not say: in which run queue
// each goroutine stood before it ran, and who took it from there. This package promises
// nothing to other modules.
//
// A [Resolver] is an observer of a [model.Machine]: it replays runnext, the
// 256-slot local queues, the global queue and the schedtick of each proc
// behind the steps of the Machine, as the runtime of the trace's Go version
// manages them (runtime/proc.go; [New] refuses versions before Go 1.22). A start
// is reported when later steps cannot change what is thought of it,
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
//  1. The look-ahead (lookahead.go, procs.go, polls.go) turns steps into operations: a goroutine
//     becomes runnable and is put somewhere (rules.go), or starts; a proc becomes idle,
//     or a thread gets it. The replay (replay.go) follows thousands of operations behind,
//     so that it knows when and where most of what stands in a queue will run, and what
//     woken goroutines do next.
//  2. It carries each operation out in a hypothesis (hypothesis.go): the contents of all queues. A
//     start must be explained by where the goroutine stands (dequeue.go, steal.go,
//     global.go, batch.go): those before it were taken by threads that show it only
//     later; half of a queue went to a thief; a batch came from the global queue.
//  3. The trace leaves much open: whether a poll or a deadline woke a goroutine (injected.go),
//     how many procs were idle when a list was put into queues (wakes.go), in which order
//     threads took effect at about the same time, where schedtick stands (tick.go). Each
//     answer is an assumption with a cost, which is about ten times the negative natural
//     logarithm of how often it was right. To break a rule of the runtime costs the most.
//  4. Where another answer is not much less likely, the hypothesis is copied, and the copy goes
//     on with it. What happens next separates the copies: a start that a hypothesis cannot explain
//     costs that hypothesis, hypotheses far behind the best are given up, and of two that have
//     become equal the likelier one stays. What the rest agrees on is reported.
//  5. A start that a hypothesis about as likely as the best explains in another way is reported as
//     chosen, even if that hypothesis has been given up since (log.go).
//
// Each start carries the grade of its evidence ([Grade]). fixtures/truth and
// fixtures/validation measure against an instrumented runtime how often each grade is
// right.
package runqueue
