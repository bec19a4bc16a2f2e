package env

import "sync"

// system reads what the operating system reports.
var system = files{root: "/"}

var machine = sync.OnceValue(system.fixed)

func takeSystem(r *Record) {
	r.Process = self()
	system.take(r)
	x := machine()
	r.CPU, r.Kernel = x.cpu, x.kernel
}

// delaysOf returns how long each living thread of a process has waited for a CPU.
func delaysOf(pid string) map[string]int64 { return system.delays(pid) }
