// Package refsched is a model of the Go scheduler of its own: it runs a
// [workload.Workload] under the rules of runtime/proc.go, as they are in Go 1.22 to
// 1.26, or under others, and tells what happens as the events that the runtime's tracer would
// have written. A [model.Machine] takes them like those of a real trace, so
// every analysis works on simulated schedules.
//
// It is a discrete-event simulation (sim.go): goroutines are interpreted (program.go) on
// procs, whose threads look for work (find.go, steal.go), spin, wake each other
// (wake.go), poll the network (netpoll.go), run timers (timers.go), make system
// calls (syscall.go), are watched by sysmon (sysmon.go), collect garbage (gc.go) and
// stop the world (stw.go). Fewer cores than procs, and CPU quotas, are modelled
// beneath (cores.go). What scheduling costs is given ([Costs]); what has no order in the
// runtime either, such as whom a thief asks first, is drawn from a seed.
//
// The same workload, [Config] and seed give the same events, byte for byte.
package refsched
