// Package env records what a trace does not: on what it was recorded, and what
// the operating system and other programs did meanwhile. This package promises nothing to
// other modules.
//
// A [Record] is taken where the measured window begins and another where it ends.
// Written into the trace as user messages of category [Category] they make the file
// self-contained; a recorder outside of the process keeps them in a file next to it.
package env

// Category is the category of user log messages that hold records, as JSON.
const Category = "schedscope.env"

// Schema of a Record.
const Schema = "schedscope.env/v1"

// Record is the state of process and machine at one moment. Times are in nanoseconds
// since any fixed moment; what could not be read is absent (nil, "").
type Record struct {
	Schema string `json:"schema"`
	Point  string `json:"point"` // "begin" or "end"

	Workload string `json:"workload,omitempty"`
	Ops      *int64 `json:"ops,omitempty"` // done since the beginning, as counted by the program; at the end

	Go         string `json:"go"` // runtime.Version
	OS         string `json:"os"`
	Arch       string `json:"arch"`
	CPU        string `json:"cpu,omitempty"` // model
	NumCPU     int    `json:"ncpu"`
	GOMAXPROCS int    `json:"gomaxprocs"`
	GOGC       string `json:"gogc,omitempty"`
	Memlimit   string `json:"memlimit,omitempty"`
	Kernel     string `json:"kernel,omitempty"`
	Runner     string `json:"runner,omitempty"` // of CI, if its environment names one
	Commit     string `json:"commit,omitempty"`
	// Samples says whether the recorder had CPU samples taken, or found that they were.
	Samples *bool `json:"samples,omitempty"`

	MonoNS  int64    `json:"mono_ns"` // monotonic clock
	Process *Process `json:"process,omitempty"`
	Host    *Host    `json:"host,omitempty"`
	Cgroup  *Cgroup  `json:"cgroup,omitempty"`
	// CanaryNS is how long a fixed piece of work took: the least of several.
	CanaryNS int64  `json:"canary_ns,omitempty"`
	Sum      string `json:"sum,omitempty"` // of all else, see [savedfile.Sum]; "" within a Run
}

// Process are counters of the process, all threads.
type Process struct {
	UserNS   int64  `json:"user_ns"`
	SystemNS int64  `json:"system_ns"`
	Nivcsw   int64  `json:"nivcsw"`             // involuntary context switches
	DelayNS  *int64 `json:"delay_ns,omitempty"` // runnable but not on a CPU, of threads that live (schedstat)
}

// Host are counters of the machine, all CPUs (/proc/stat).
type Host struct {
	BusyNS  int64  `json:"busy_ns"` // all but idle, iowait and steal
	IdleNS  int64  `json:"idle_ns"` // iowait included
	StealNS int64  `json:"steal_ns"`
	PSINS   *int64 `json:"psi_ns,omitempty"` // some task waited for a CPU (/proc/pressure/cpu)
}

// Cgroup are counters of the control group's CPU quota.
type Cgroup struct {
	Periods   int64 `json:"periods"`
	Throttled int64 `json:"throttled"`
}

// Run is the pair of records at the beginning and the end of a recording. A nil field is
// unknown.
type Run struct {
	Begin Record `json:"begin"`
	End   Record `json:"end"`
	Sum   string `json:"sum,omitempty"` // of all else
}
