package result

import "github.com/schedscope/schedscope/model"

// The parts of a [Report] other than latency: what goroutines, procs, threads and the
// runtime did.
type (
	// Bursts are Running intervals.
	Bursts struct {
		// Of goroutines of the program.
		All        Dist    `json:"all" figure:"burst: running at a time"`
		System     Dist    `json:"system"`                   // Of the runtime's own goroutines.
		ByFunction []Named `json:"by_function" sort:"total"` // By start function.
		// Those over 10 ms.
		Long     Tally   `json:"over_10ms" figure:"burst_over_10ms lower: running for over 10 ms at a time"`
		VeryLong Tally   `json:"over_20ms"`               // Those over 20 ms.
		Places   []Place `json:"stopped_in" sort:"total"` // Those over 10 ms by the function in which they stopped.
		Longest  []Burst `json:"longest"`                 // Those over 10 ms, the first 20.
		// Intervals that the window shows only in part; they are in no distribution.
		Censored Censored `json:"censored"`
	}

	// Burst is one long Running interval.
	Burst struct {
		Trace     int            `json:"trace"`                // The trace, a place in "traces".
		Goroutine model.GoID     `json:"goroutine"`            // Number of the goroutine.
		Function  string         `json:"function"`             // Start function of the goroutine.
		Place     string         `json:"stopped_in,omitempty"` // The function in which it stopped; left out if not known.
		Proc      model.ProcID   `json:"proc"`                 // The proc that it ran on.
		Start     model.Time     `json:"start_ns"`             // When it began.
		Duration  model.Duration `json:"duration_ns"`          // Length, in nanoseconds.
		Censored  bool           `json:"censored"`             // The window shows only a part of it.
	}

	// Place is a function in which bursts stopped: the innermost one of the
	// program, if there is one.
	Place struct {
		Function string `json:"function" key:"name"` // The innermost function of the program, if there is one.
		Tally
	}

	// Waiting are Waiting intervals.
	Waiting struct {
		// All of them.
		All Dist `json:"all" figure:"waiting: waiting for something"`
		// By the reason that the runtime records, sync by what was called.
		ByReason []Named `json:"by_reason" sort:"total" figure:"waiting by=reason: waiting for something"`
		// Intervals that the window shows only in part; they are in no distribution.
		Censored Censored `json:"censored"`
	}

	// Syscalls are system calls seen from beginning to end.
	Syscalls struct {
		// All of them, from entry to exit.
		All      Dist `json:"all" figure:"syscall: system calls"`
		WithProc Dist `json:"with_proc"` // The part of each with a proc.
		// The part without a proc, of those that lost it.
		Blocked Dist `json:"blocked" figure:"syscall_blocked: system calls, the part without a proc"`
		// By how the goroutine came to run again.
		ByWayOut   []Named `json:"by_way_out" sort:"wayout" figure:"syscall by=way_out: system calls"`
		ByFunction []Named `json:"by_function" sort:"total"` // By start function of the goroutine.
	}

	// Handoff are the handoffs of procs for one cause.
	Handoff struct {
		Cause string `json:"cause" key:""` // Why the proc changed hands.
		// Number of handoffs.
		Count int64 `json:"count" figure:"handoffs: handoffs of procs"`
		// Number of those after which nobody had the proc by the end of the trace.
		Open int64 `json:"open"`
		// How long nobody had the proc.
		Gap       Dist `json:"gap" figure:"handoff_gap lower: how long nobody had the proc"`
		InSyscall Dist `json:"in_syscall"` // How long the system calls had lasted when their proc was taken.
	}

	// Netpoll are network wakeups until the goroutine ran.
	Netpoll struct {
		// From the wakeup until the goroutine ran.
		All Dist `json:"all" figure:"netpoll lower: network wakeup until running"`
		// By who polled.
		ByPoller []Poller `json:"by_poller" sort:"poller" figure:"by=poller"`
	}

	// Poller are the network wakeups by one kind of poller.
	Poller struct {
		Poller string `json:"poller" key:""` // Who polled the network.
		Count  int64  `json:"count"`         // Number of wakeups.
		// Those run by the poller itself.
		Direct int64 `json:"direct" figure:"netpoll_direct: goroutines run by the poller itself"`
		Open   int64 `json:"open"` // Those that had not run by the end of the trace.
		// From the wakeup until the goroutine ran.
		ToRun Dist `json:"to_run" figure:"netpoll lower: network wakeup until running"`
	}

	// STW are stop-the-world phases.
	STW struct {
		// Number of phases, those that the window shows only in part included.
		Count int64 `json:"count" figure:"stw_phases: stop-the-world phases, those in part included"`
		// From the beginning until the world was seen running again.
		Effective Dist `json:"effective" figure:"stw lower: stop-the-world phases"`
		// From the beginning to the traced end, which the runtime stamps only after the
		// restart.
		Traced Dist `json:"traced"`
		// From the beginning until no other proc was active.
		ToStop   Dist  `json:"to_stop" figure:"stw_to_stop lower: stopping the world"`
		Censored Tally `json:"censored"` // Those that the window shows only in part.
		// By the reason that the runtime records, sync by what was called.
		ByReason []STWReason `json:"by_reason" sort:"total" figure:"by=reason"`
	}

	// STWReason are the stop-the-world phases of one reason.
	STWReason struct {
		Reason string `json:"reason" key:"name"` // Name of the reason.
		// From the beginning until the world was seen running again.
		Effective Dist `json:"effective" figure:"stw lower: stop-the-world phases"`
		// From the beginning to the traced end, which the runtime stamps only after the
		// restart.
		Traced Dist `json:"traced"`
		ToStop Dist `json:"to_stop"` // From the beginning until no other proc was active.
	}

	// GC is the cost of the garbage collector.
	GC struct {
		// Share of the procs' time that workers and assists took.
		Share float64 `json:"share" figure:"gc_share share: share of the procs' time for the garbage collector" range:"0..1"`
		// Time of dedicated mark workers, proc-nanoseconds.
		Dedicated model.Duration `json:"dedicated_ns" figure:"gc_work by=kind of=dedicated: the procs' time for marking"`
		// Time of fractional mark workers, proc-nanoseconds.
		Fractional model.Duration `json:"fractional_ns" figure:"gc_work by=kind of=fractional: the procs' time for marking"`
		// Time of idle-time mark workers, proc-nanoseconds.
		Idle model.Duration `json:"idle_ns" figure:"gc_work by=kind of=idle: the procs' time for marking"`
		// Time of assists, proc-nanoseconds.
		Assist model.Duration `json:"assist_ns" figure:"gc_work by=kind of=assist: the procs' time for marking"`
		// Concurrent mark phases, one for each cycle.
		Marks         Dist  `json:"marks" figure:"gc_mark: mark phases"`
		CensoredMarks Tally `json:"censored_marks"`   // Mark phases that the window shows only in part.
		Cycles        int64 `json:"cycles,omitempty"` // Mark phases that began.
		// Assists of goroutines, by the clock: a goroutine may wait during one.
		Assists Tally `json:"assists" figure:"gc_assist lower: mark assists by the clock"`
		// Incremental sweeps on procs.
		Sweeps Tally `json:"sweeps" figure:"gc_sweep: incremental sweeps"`
		// Stop-the-world phases of the garbage collector, as stw.effective.
		Stops Tally `json:"stops"`
	}

	// Procs describes the use of the procs, and the number of runnable goroutines.
	Procs struct {
		// Share of the procs' time in which they ran goroutines or were kept by one in a
		// system call.
		Utilisation float64 `json:"utilisation" figure:"utilisation share: share of the procs' time with goroutines" range:"0..1"`
		// Mean number of procs (GOMAXPROCS).
		Mean float64 `json:"mean" figure:"procs: procs, mean"`
		// What the procs' time went to.
		Uses Uses `json:"uses_ns" figure:"procs_time by=use: the procs' time by what it went to"`
		// Mean number of runnable goroutines.
		MeanRunnable float64 `json:"mean_runnable" figure:"runnable_mean: runnable goroutines, mean"`
		// The greatest number of runnable goroutines.
		MaxRunnable   int        `json:"max_runnable" merge:"-" figure:"runnable_max lower: runnable goroutines, most"`
		MaxRunnableAt model.Time `json:"max_runnable_at_ns" merge:"-"` // When that was.
		// Time with no proc idle and a goroutine runnable, in nanoseconds.
		Saturated    model.Duration `json:"saturated_ns" figure:"saturated lower: time with no proc idle and a goroutine runnable"`
		IdleRunnable Idle           `json:"idle_while_runnable"` // Procs that were idle while goroutines were runnable.
		// The moment with the most runnable goroutines; reports of older versions do not have it.
		Peak Peak `json:"peak"`
	}

	// Peak is the moment with the most runnable goroutines, of the runtime too.
	Peak struct {
		Trace    int        `json:"trace"`    // The trace, a place in "traces".
		Runnable int        `json:"runnable"` // Number of runnable goroutines.
		At       model.Time `json:"at_ns"`    // When it was.
		// Who readied them, greatest count first; only of 100 goroutines or more.
		Wakers []PeakWaker `json:"wakers"`
	}

	// PeakWaker is a goroutine that readied others.
	PeakWaker struct {
		Goroutine model.GoID `json:"goroutine"` // Number of the goroutine.
		Function  string     `json:"function"`  // The outermost function of its stack.
		Count     int        `json:"count"`     // Number of goroutines that it readied, of those runnable at the peak.
	}

	// Idle is idle procs while goroutines are runnable, in SchedViz' terms.
	Idle struct {
		// Intervals in which at least one proc was idle and at least one goroutine runnable,
		// whole ones in the trace or not.
		Episodes Dist `json:"episodes" figure:"idle_while_runnable lower: times with a proc idle and a goroutine runnable"`
		// Time in which a proc was idle while another was overloaded, in nanoseconds.
		Wall model.Duration `json:"wall_ns" figure:"idle_while_runnable_wall lower: time with a proc idle while another was overloaded"`
		// The lesser of idle and overloaded procs, integrated over that time, in
		// proc-nanoseconds.
		PerProc model.Duration `json:"per_proc_ns" figure:"idle_while_runnable_per_proc lower: the same in proc-nanoseconds"`
		// The lesser of idle procs and runnable goroutines, integrated over all time, in
		// proc-nanoseconds.
		PerGoroutine model.Duration `json:"per_goroutine_ns" figure:"idle_while_runnable_per_goroutine lower: idle procs while goroutines were runnable, proc-nanoseconds"`
		// Length of the episode that lasted until the trace's end, in nanoseconds; left out
		// if that is less than 1 ms.
		AtEnd model.Duration `json:"at_end_ns,omitzero"`
	}

	// Threads describes the use of the threads.
	Threads struct {
		Count int64 `json:"count"` // Number of threads.
		// Those whose first event came after the beginning: no fewer than were created.
		Created        int64          `json:"first_seen_after_start"`
		SeenCreated    int64          `json:"seen_created"`       // Those whose creation is in the trace.
		Starts         int64          `json:"goroutine_starts"`   // How often they began to run a goroutine.
		Acquired       int64          `json:"proc_acquisitions"`  // How often they got a proc.
		Unknown        model.Duration `json:"unknown_ns"`         // Time of which nothing is known, thread-nanoseconds.
		Running        model.Duration `json:"running_ns"`         // Time running a goroutine, thread-nanoseconds.
		Searching      model.Duration `json:"searching_ns"`       // Time with a proc and no goroutine, thread-nanoseconds.
		Syscall        model.Duration `json:"syscall_ns"`         // Time in system calls with a proc, thread-nanoseconds.
		SyscallBlocked model.Duration `json:"syscall_blocked_ns"` // Time in system calls without a proc, thread-nanoseconds.
		// Time without a proc, thread-nanoseconds: parked, polling the network, or looking for
		// a proc.
		NoProc model.Duration `json:"no_proc_ns"`
	}

	// Task are the tasks of one type.
	Task struct {
		Named
		Censored Tally  `json:"censored"` // Those that the window shows only in part.
		Regions  int64  `json:"regions"`  // Number of regions in them: the outermost ones of each goroutine.
		States   States `json:"states"`   // What goroutines did inside regions.
	}

	// Region are the regions of one type.
	Region struct {
		Named
		Censored Tally  `json:"censored"` // Those that the window shows only in part.
		States   States `json:"states"`   // What the goroutines did inside.
	}

	// Group are the goroutines of one start function.
	Group struct {
		Function  string         `json:"function" key:"name"`  // Start function of the goroutine.
		System    bool           `json:"system"`               // They are of the runtime.
		Count     int64          `json:"count"`                // Number of goroutines.
		Created   int64          `json:"created"`              // Those created within the window.
		Ended     int64          `json:"ended"`                // Those that ended within the window.
		LeftEarly int64          `json:"left_early,omitempty"` // Those created in its first quarter that had not ended at its end.
		LeftLate  int64          `json:"left_late,omitempty"`  // Those created in its second half that had not.
		Lifetime  model.Duration `json:"lifetime_ns"`          // Their lifetimes in all, goroutine-nanoseconds.
		States    States         `json:"states"`               // The same by state.
		Waiting   []Reason       `json:"waiting" sort:"total"` // Waiting by reason.
	}

	// Reason is a total of Waiting.
	Reason struct {
		Reason string         `json:"reason" key:"name"` // Name of the reason.
		Count  int64          `json:"count"`             // Number of times.
		Total  model.Duration `json:"total_ns"`          // Time in all, goroutine-nanoseconds.
	}
)
