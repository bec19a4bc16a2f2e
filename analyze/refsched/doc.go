// Package refsched is a model of the Go scheduler of its own: it runs a
// [workload.Workload] under the rules of runtime/proc.go, as they are in Go 1.22 to
// 1.26, or under others, and reports what happens: the intervals of goroutines ([Config.Span]), and all else to a [Recorder].
// Package refschedtest makes of that the events that the runtime's tracer would have written. This package promises nothing to
// other modules.
//
// It is a discrete-event simulation (sim.go): goroutines are interpreted (program.go) on
// procs, whose threads look for work (find.go, steal.go), spin, wake each other
// (wake.go), poll the network (netpoll.go), run timers (timers.go), make system
// calls (syscall.go), are watched by sysmon (sysmon.go), collect garbage (gc.go) and
// stop the world (stw.go). CPU quotas are modelled
// beneath (quota.go). What scheduling costs is given ([Costs]); what has no order in the
// runtime either, such as whom a thief asks first, is drawn from a seed.
//
// The same workload, [Config] and seed give the same schedule.
//
// # Rules
//
// Each rule names its place in the runtime's source where it is written down. They are the
// same in Go 1.22 to 1.26, except for these, which go by Rules.Version:
//
//	injectglist wakes one more thread at its end     since 1.23 (inject)
//	a timer wakes the poller only if it is first     since 1.23 (addTimer)
//	one thread polls at a time, except sleepers      since 1.25 (pickNetwork)
//	who is preempted for a stop stays in runnext     since 1.26 (PreemptedTo)
//
// Coroutines (switchTo) exist since Go 1.23. That a proc in a system call has no status of its
// own since Go 1.26 makes no difference here.
//
// Not modelled are contention for the scheduler's locks, a GOMAXPROCS that changes, forEachP
// (by which tracer and collector have each proc do something), stops for the scan of a stack,
// timers that are reset or stopped, and the second look that exitsyscallNoP takes for an idle
// proc: no time passes before it; that procs get the threads back that they had before a stop, that idle ones get mark
// workers then (both since Go 1.26), and that the trace reader comes before all other work.
package refsched
