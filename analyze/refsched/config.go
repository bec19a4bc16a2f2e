package refsched

import "github.com/schedscope/schedscope/model"

// Config is the schedule under which a workload runs.
type Config struct {
	Procs int // GOMAXPROCS; 0: as recorded
	// Quota is the CPU time that may be used in each 100 ms of a cgroup; 0: no limit.
	Quota model.Duration
	Seed  uint64
	Costs Costs
	Rules Rules
	// AsRecorded: each wake is for the goroutine that it woke in the recording. Else a join ends
	// when all goroutines that it waits for are done, and places of a semaphore are counted: then
	// goroutines may come to wait for each other.
	AsRecorded bool
	// Until ends the simulation, counted from its start; 0: a thousand times the recorded span
	// at most.
	Until model.Duration
	// Request, if not nil, is called with each of the workload's requests that begins and ends.
	Request  func(i int32, took model.Duration)
	Recorder Recorder // if not nil, gets all that happens
	// Span, if not nil, takes each interval of each goroutine, as a [model.Machine] would report it that got the
	// events: in what state it is, from when to when, and whether all of it is seen. The argument is valid during the call.
	Span model.GoSpanObserver
}

// Rules are the scheduler's rules. The zero value with a Version is the
// runtime's own.
type Rules struct {
	Version int  // minor version of Go, 22 to 26
	NoGC    bool // cycles of the garbage collector are left out
	// Ideal: no queues but one, first come first served, no cost, nobody waits
	// while a proc is idle, and goroutines in system calls hold no proc.
	Ideal bool
}
