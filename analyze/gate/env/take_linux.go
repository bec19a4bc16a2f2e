package env

// system reads what the operating system tells.
var system = files{root: "/"}

func takeSystem(r *Record) {
	r.Process = self()
	system.take(r)
}
