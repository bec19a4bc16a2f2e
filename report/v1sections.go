package report

// The parts of a [V1] beside latency: what goroutines, procs, threads and the
// runtime did.
type (
	// V1Bursts are Running intervals.
	V1Bursts struct {
		All        V1Dist     `json:"all"`
		System     V1Dist     `json:"system"`
		ByFunction []V1Named  `json:"by_function"`
		Long       V1Tally    `json:"over_10ms"`
		VeryLong   V1Tally    `json:"over_20ms"`
		Places     []V1Place  `json:"stopped_in"` // those over 10 ms by where they stopped
		Longest    []V1Burst  `json:"longest"`    // over 10 ms, the first 20
		Censored   V1Censored `json:"censored"`
	}

	// V1Burst is one long Running interval.
	V1Burst struct {
		Trace     int    `json:"trace"`
		Goroutine int64  `json:"goroutine"`
		Function  string `json:"function"`
		Place     string `json:"stopped_in,omitempty"`
		Proc      int64  `json:"proc"`
		Start     int64  `json:"start_ns"`
		Duration  int64  `json:"duration_ns"`
		Censored  bool   `json:"censored"`
	}

	// V1Place is a function in which bursts stopped: the innermost one of the
	// program, if there is one.
	V1Place struct {
		Function string `json:"function"`
		V1Tally
	}

	// V1Waiting are Waiting intervals.
	V1Waiting struct {
		All      V1Dist     `json:"all"`
		ByReason []V1Named  `json:"by_reason"`
		Censored V1Censored `json:"censored"`
	}

	// V1Syscalls are system calls seen from beginning to end.
	V1Syscalls struct {
		All        V1Dist    `json:"all"`
		WithProc   V1Dist    `json:"with_proc"` // the part with a proc, of each
		Blocked    V1Dist    `json:"blocked"`   // the part without, of those that lost it
		ByWayOut   []V1Named `json:"by_way_out"`
		ByFunction []V1Named `json:"by_function"`
	}

	// V1Handoff are the handoffs of procs for one cause.
	V1Handoff struct {
		Cause     string `json:"cause"`
		Count     int64  `json:"count"`
		Open      int64  `json:"open"` // nobody had the proc by the trace's end
		Gap       V1Dist `json:"gap"`
		InSyscall V1Dist `json:"in_syscall"`
	}

	// V1Netpoll are network wakeups until the goroutine ran.
	V1Netpoll struct {
		All      V1Dist     `json:"all"`
		ByPoller []V1Poller `json:"by_poller"`
	}

	// V1Poller are the network wakeups by one kind of poller.
	V1Poller struct {
		Poller string `json:"poller"`
		Count  int64  `json:"count"`
		Direct int64  `json:"direct"` // run by the poller itself
		Open   int64  `json:"open"`   // had not run by the trace's end
		ToRun  V1Dist `json:"to_run"`
	}

	// V1STW are stop-the-world phases.
	V1STW struct {
		Count     int64         `json:"count"`
		Effective V1Dist        `json:"effective"`
		Traced    V1Dist        `json:"traced"`
		ToStop    V1Dist        `json:"to_stop"`
		Censored  V1Tally       `json:"censored"`
		ByReason  []V1STWReason `json:"by_reason"`
	}

	// V1STWReason are the stop-the-world phases of one reason.
	V1STWReason struct {
		Reason    string `json:"reason"`
		Effective V1Dist `json:"effective"`
		Traced    V1Dist `json:"traced"`
		ToStop    V1Dist `json:"to_stop"`
	}

	// V1GC is what the garbage collector took.
	V1GC struct {
		Share         float64 `json:"share"` // of the procs' time, workers and assists
		Dedicated     int64   `json:"dedicated_ns"`
		Fractional    int64   `json:"fractional_ns"`
		Idle          int64   `json:"idle_ns"`
		Assist        int64   `json:"assist_ns"`
		Marks         V1Dist  `json:"marks"`
		CensoredMarks V1Tally `json:"censored_marks"`
		Assists       V1Tally `json:"assists"` // by the clock
		Sweeps        V1Tally `json:"sweeps"`
		Stops         V1Tally `json:"stops"`
	}

	// V1Procs says what the procs did, and how many goroutines were runnable.
	V1Procs struct {
		Utilisation   float64 `json:"utilisation"`
		Mean          float64 `json:"mean"` // number of procs
		Uses          V1Uses  `json:"uses_ns"`
		MeanRunnable  float64 `json:"mean_runnable"`
		MaxRunnable   int     `json:"max_runnable"`
		MaxRunnableAt int64   `json:"max_runnable_at_ns"`
		Saturated     int64   `json:"saturated_ns"` // no proc idle, a goroutine runnable
		IdleRunnable  V1Idle  `json:"idle_while_runnable"`
	}

	// V1Idle is idle procs while goroutines are runnable, in SchedViz' terms.
	V1Idle struct {
		Episodes     V1Dist `json:"episodes"`
		Wall         int64  `json:"wall_ns"`
		PerProc      int64  `json:"per_proc_ns"`
		PerGoroutine int64  `json:"per_goroutine_ns"`
	}

	// V1Threads says what the threads did.
	V1Threads struct {
		Count          int64 `json:"count"`
		Created        int64 `json:"first_seen_after_start"`
		SeenCreated    int64 `json:"seen_created"`
		Starts         int64 `json:"goroutine_starts"`
		Acquired       int64 `json:"proc_acquisitions"`
		Unknown        int64 `json:"unknown_ns"`
		Running        int64 `json:"running_ns"`
		Searching      int64 `json:"searching_ns"`
		Syscall        int64 `json:"syscall_ns"`
		SyscallBlocked int64 `json:"syscall_blocked_ns"`
		NoProc         int64 `json:"no_proc_ns"` // parked, polling or spinning
	}

	// V1Task are the tasks of one type.
	V1Task struct {
		V1Named
		Censored V1Tally  `json:"censored"`
		Regions  int64    `json:"regions"` // the outermost ones of each goroutine
		States   V1States `json:"states"`  // what goroutines did inside regions
	}

	// V1Region are the regions of one type.
	V1Region struct {
		V1Named
		Censored V1Tally  `json:"censored"`
		States   V1States `json:"states"` // what the goroutines did inside
	}

	// V1States are totals by state of goroutines.
	V1States struct {
		Undetermined   int64 `json:"undetermined_ns"`
		Running        int64 `json:"running_ns"`
		Runnable       int64 `json:"runnable_ns"`
		Waiting        int64 `json:"waiting_ns"`
		Syscall        int64 `json:"syscall_ns"`
		SyscallBlocked int64 `json:"syscall_blocked_ns"`
	}

	// V1Group are the goroutines of one start function.
	V1Group struct {
		Function string     `json:"function"`
		System   bool       `json:"system"`
		Count    int64      `json:"count"`
		Created  int64      `json:"created"` // in the trace
		Ended    int64      `json:"ended"`   // in the trace
		Lifetime int64      `json:"lifetime_ns"`
		States   V1States   `json:"states"`
		Waiting  []V1Reason `json:"waiting"`
	}

	// V1Reason is a total of Waiting.
	V1Reason struct {
		Reason string `json:"reason"`
		Count  int64  `json:"count"`
		Total  int64  `json:"total_ns"`
	}
)
