package result

import "github.com/schedscope/schedscope/model"

// The parts of a [Report] beside latency: what goroutines, procs, threads and the
// runtime did.
type (
	// Bursts are Running intervals.
	Bursts struct {
		All        Dist     `json:"all"`
		System     Dist     `json:"system"`
		ByFunction []Named  `json:"by_function" sort:"total"`
		Long       Tally    `json:"over_10ms"`
		VeryLong   Tally    `json:"over_20ms"`
		Places     []Place  `json:"stopped_in" sort:"total"` // those over 10 ms by where they stopped
		Longest    []Burst  `json:"longest"`                 // over 10 ms, the first 20
		Censored   Censored `json:"censored"`
	}

	// Burst is one long Running interval.
	Burst struct {
		Trace     int            `json:"trace"`
		Goroutine model.GoID     `json:"goroutine"`
		Function  string         `json:"function"`
		Place     string         `json:"stopped_in,omitempty"`
		Proc      model.ProcID   `json:"proc"`
		Start     model.Time     `json:"start_ns"`
		Duration  model.Duration `json:"duration_ns"`
		Censored  bool           `json:"censored"`
	}

	// Place is a function in which bursts stopped: the innermost one of the
	// program, if there is one.
	Place struct {
		Function string `json:"function" key:"name"`
		Tally
	}

	// Waiting are Waiting intervals.
	Waiting struct {
		All      Dist     `json:"all"`
		ByReason []Named  `json:"by_reason" sort:"total"`
		Censored Censored `json:"censored"`
	}

	// Syscalls are system calls seen from beginning to end.
	Syscalls struct {
		All        Dist    `json:"all"`
		WithProc   Dist    `json:"with_proc"` // the part with a proc, of each
		Blocked    Dist    `json:"blocked"`   // the part without, of those that lost it
		ByWayOut   []Named `json:"by_way_out" sort:"wayout"`
		ByFunction []Named `json:"by_function" sort:"total"`
	}

	// Handoff are the handoffs of procs for one cause.
	Handoff struct {
		Cause     string `json:"cause" key:""`
		Count     int64  `json:"count"`
		Open      int64  `json:"open"` // nobody had the proc by the trace's end
		Gap       Dist   `json:"gap"`
		InSyscall Dist   `json:"in_syscall"`
	}

	// Netpoll are network wakeups until the goroutine ran.
	Netpoll struct {
		All      Dist     `json:"all"`
		ByPoller []Poller `json:"by_poller" sort:"poller"`
	}

	// Poller are the network wakeups by one kind of poller.
	Poller struct {
		Poller string `json:"poller" key:""`
		Count  int64  `json:"count"`
		Direct int64  `json:"direct"` // run by the poller itself
		Open   int64  `json:"open"`   // had not run by the trace's end
		ToRun  Dist   `json:"to_run"`
	}

	// STW are stop-the-world phases.
	STW struct {
		Count     int64       `json:"count"`
		Effective Dist        `json:"effective"`
		Traced    Dist        `json:"traced"`
		ToStop    Dist        `json:"to_stop"`
		Censored  Tally       `json:"censored"`
		ByReason  []STWReason `json:"by_reason" sort:"total"`
	}

	// STWReason are the stop-the-world phases of one reason.
	STWReason struct {
		Reason    string `json:"reason" key:"name"`
		Effective Dist   `json:"effective"`
		Traced    Dist   `json:"traced"`
		ToStop    Dist   `json:"to_stop"`
	}

	// GC is what the garbage collector took.
	GC struct {
		Share         float64        `json:"share"` // of the procs' time, workers and assists
		Dedicated     model.Duration `json:"dedicated_ns"`
		Fractional    model.Duration `json:"fractional_ns"`
		Idle          model.Duration `json:"idle_ns"`
		Assist        model.Duration `json:"assist_ns"`
		Marks         Dist           `json:"marks"`
		CensoredMarks Tally          `json:"censored_marks"`
		Assists       Tally          `json:"assists"` // by the clock
		Sweeps        Tally          `json:"sweeps"`
		Stops         Tally          `json:"stops"`
	}

	// Procs says what the procs did, and how many goroutines were runnable.
	Procs struct {
		Utilisation   float64        `json:"utilisation"`
		Mean          float64        `json:"mean"` // number of procs
		Uses          Uses           `json:"uses_ns"`
		MeanRunnable  float64        `json:"mean_runnable"`
		MaxRunnable   int            `json:"max_runnable" merge:"-"`
		MaxRunnableAt model.Time     `json:"max_runnable_at_ns" merge:"-"`
		Saturated     model.Duration `json:"saturated_ns"` // no proc idle, a goroutine runnable
		IdleRunnable  Idle           `json:"idle_while_runnable"`
	}

	// Idle is idle procs while goroutines are runnable, in SchedViz' terms.
	Idle struct {
		Episodes     Dist           `json:"episodes"`
		Wall         model.Duration `json:"wall_ns"`
		PerProc      model.Duration `json:"per_proc_ns"`
		PerGoroutine model.Duration `json:"per_goroutine_ns"`
	}

	// Threads says what the threads did.
	Threads struct {
		Count          int64          `json:"count"`
		Created        int64          `json:"first_seen_after_start"`
		SeenCreated    int64          `json:"seen_created"`
		Starts         int64          `json:"goroutine_starts"`
		Acquired       int64          `json:"proc_acquisitions"`
		Unknown        model.Duration `json:"unknown_ns"`
		Running        model.Duration `json:"running_ns"`
		Searching      model.Duration `json:"searching_ns"`
		Syscall        model.Duration `json:"syscall_ns"`
		SyscallBlocked model.Duration `json:"syscall_blocked_ns"`
		NoProc         model.Duration `json:"no_proc_ns"` // parked, polling or spinning
	}

	// Task are the tasks of one type.
	Task struct {
		Named
		Censored Tally  `json:"censored"`
		Regions  int64  `json:"regions"` // the outermost ones of each goroutine
		States   States `json:"states"`  // what goroutines did inside regions
	}

	// Region are the regions of one type.
	Region struct {
		Named
		Censored Tally  `json:"censored"`
		States   States `json:"states"` // what the goroutines did inside
	}

	// Group are the goroutines of one start function.
	Group struct {
		Function string         `json:"function" key:"name"`
		System   bool           `json:"system"`
		Count    int64          `json:"count"`
		Created  int64          `json:"created"` // in the trace
		Ended    int64          `json:"ended"`   // in the trace
		Lifetime model.Duration `json:"lifetime_ns"`
		States   States         `json:"states"`
		Waiting  []Reason       `json:"waiting" sort:"total"`
	}

	// Reason is a total of Waiting.
	Reason struct {
		Reason string         `json:"reason" key:"name"`
		Count  int64          `json:"count"`
		Total  model.Duration `json:"total_ns"`
	}
)
