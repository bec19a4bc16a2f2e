// Package lockstep checks a runtime against the rules of its scheduler, decision
// by decision: of each decision that a trace shows, what would the reference of
// package refsched have done in the same state? This package promises nothing to other
// modules.
//
// A [Checker] observes a model.Machine and drives a resolver of package runqueue, which
// gives the state of the queues before every start.
//
// # Kinds of decisions
//
//   - place: that a goroutine was found where the rules put it when it became runnable.
//   - pick: which goroutine a proc takes next, and from where (findRunnable), with
//     the 61st tick and the size of a batch from the global queue.
//   - steal: of those taken from another proc, how many, and that there was nothing
//     nearer. The victim is random: any will do.
//   - retake: that sysmon took a proc from a system call when it might, and did when
//     it had to.
//   - preempt: the same of goroutines that run for long.
//   - wake: that a goroutine that makes another one runnable wakes a thread if a proc is
//     idle and no thread searches.
//   - exit: that a goroutine queues after a system call only if no proc is free.
//   - gc: how many mark workers of which mode run.
//   - stw: that nothing is started by a thread that enters the scheduler while the
//     world is being stopped.
//
// What is random in the runtime is judged by admissibility: whether the outcome is
// among those that the rules allow. Events of a trace are not the operations on
// queues, but before or after them: a state is what is possible at the time, given
// that takes which show later may have come before. A decision that is right for
// some of these states agrees.
//
// A decision of which the resolver does not know the state is excluded. All other
// ones that do not agree are divergences, of the first [Class] that applies.
package lockstep
