package report

// Schema names the format of [V1]. Within it fields are only ever added.
const Schema = "schedscope/report/v1"

// The types below are the JSON report. Lengths of time are integer nanoseconds,
// with names that end in _ns. Points in time are integer nanoseconds from the
// beginning of the trace that they belong to; where there are several traces,
// "trace" is its place in "traces", from 0. Shares are between 0 and 1. Lists
// are sorted as in the text, most first, and complete unless said otherwise.
// Names are as the trace has them, but for bytes that are no UTF-8.
type (
	// V1 is the whole report.
	V1 struct {
		Schema     string      `json:"schema"`
		Traces     []V1Trace   `json:"traces"`
		Skipped    []V1Skipped `json:"skipped"` // inputs that could not be read
		Totals     V1Totals    `json:"totals"`
		Findings   []V1Finding `json:"findings"` // the verdict, most important first
		Latency    V1Latency   `json:"latency"`
		WorstWaits []V1Wait    `json:"worst_waits"` // as many as were asked for
		Bursts     V1Bursts    `json:"bursts"`
		Waiting    V1Waiting   `json:"waiting"`
		Syscalls   V1Syscalls  `json:"syscalls"`
		Handoffs   []V1Handoff `json:"handoffs"`
		Netpoll    V1Netpoll   `json:"netpoll"`
		STW        V1STW       `json:"stw"`
		GC         V1GC        `json:"gc"`
		Procs      V1Procs     `json:"procs"`
		Threads    V1Threads   `json:"threads"`
		Tasks      []V1Task    `json:"tasks"`
		Regions    []V1Region  `json:"regions"`
		Goroutines []V1Group   `json:"goroutines"` // by start function
		Notes      []string    `json:"notes"`      // what the numbers leave out, in words
	}

	// V1Trace says what was read of one trace.
	V1Trace struct {
		Name         string  `json:"name"`
		Format       string  `json:"format"`     // "go 1.26"
		Bytes        int64   `json:"size_bytes"` // as stored; -1 if not known
		Compression  string  `json:"compression,omitempty"`
		Generations  int     `json:"generations"`
		Start        int64   `json:"start_ns"` // of the window that was analysed
		Span         int64   `json:"span_ns"`
		Complete     bool    `json:"complete"` // nothing was lost
		Loss         *V1Loss `json:"loss,omitempty"`
		EndedEarly   string  `json:"ended_early,omitempty"` // why the recording did
		Inconsistent int64   `json:"inconsistent_events"`   // that contradict those before
	}

	// V1Loss is what could not be read.
	V1Loss struct {
		Bytes      int64  `json:"lost_bytes"`
		Size       int64  `json:"size_bytes"`
		Generation uint64 `json:"generation,omitempty"` // in which reading broke off
		After      int64  `json:"after_ns"`             // time of the last event that was read
		Cause      string `json:"cause"`
	}

	// V1Skipped is an input that could not be read at all.
	V1Skipped struct {
		Name  string `json:"name"`
		Cause string `json:"cause"`
	}

	// V1Totals counts what the traces hold.
	V1Totals struct {
		Span             int64    `json:"span_ns"` // of all traces
		Events           int64    `json:"events"`
		Goroutines       int64    `json:"goroutines"`
		SystemGoroutines int64    `json:"system_goroutines"` // of those
		Threads          int64    `json:"threads"`
		Procs            int      `json:"procs"`      // the most seen
		GOMAXPROCS       []V1Step `json:"gomaxprocs"` // a step for each change
	}

	// V1Step is a new value of GOMAXPROCS.
	V1Step struct {
		Trace int    `json:"trace"`
		At    int64  `json:"at_ns"`
		Procs uint64 `json:"procs"`
	}

	// V1Finding is one statement of the verdict.
	V1Finding struct {
		Kind     string       `json:"kind"`
		Severity string       `json:"severity"` // info, notable, serious
		Grade    string       `json:"grade"`    // certain, inferred
		Text     string       `json:"text"`
		Evidence []V1Evidence `json:"evidence"`
	}

	// V1Evidence is a number that a finding rests on.
	V1Evidence struct {
		Name  string  `json:"name"`
		Value float64 `json:"value"`
		Unit  string  `json:"unit"`
	}

	// V1Dist is a distribution of lengths of time, percentiles by nearest rank.
	V1Dist struct {
		Count int64 `json:"count"`
		Total int64 `json:"total_ns"`
		Min   int64 `json:"min_ns"`
		P50   int64 `json:"p50_ns"`
		P90   int64 `json:"p90_ns"`
		P99   int64 `json:"p99_ns"`
		P999  int64 `json:"p99_9_ns"`
		Max   int64 `json:"max_ns"`
		MaxAt int64 `json:"max_at_ns"`
		Exact bool  `json:"exact"` // false: percentiles are within 0.4 %
	}

	// V1Named is a distribution under a name.
	V1Named struct {
		Name string `json:"name"`
		V1Dist
	}

	// V1Tally is a sum without its distribution.
	V1Tally struct {
		Count int64 `json:"count"`
		Total int64 `json:"total_ns"`
		Max   int64 `json:"max_ns"`
		MaxAt int64 `json:"max_at_ns"`
	}

	// V1Censored are intervals that the trace shows only in part; they are in no
	// distribution.
	V1Censored struct {
		AtStart V1Tally `json:"at_start"`
		AtEnd   V1Tally `json:"at_end"`
	}

	// V1Latency is scheduling latency: runnable until running.
	V1Latency struct {
		All         V1Dist        `json:"all"`
		ByOrigin    []V1Named     `json:"by_origin"` // in a fixed order
		ByFunction  []V1Named     `json:"by_function"`
		ByGoroutine []V1Goroutine `json:"by_goroutine"` // the first 20
		Histogram   []V1Bucket    `json:"histogram"`    // of all, 12 buckets per factor of ten
		System      V1Dist        `json:"system"`       // the runtime's own goroutines
		Censored    V1Censored    `json:"censored"`
		Pseudo      int64         `json:"pseudo"` // runnable by name only; not counted
	}

	// V1Bucket counts lengths of at least From and less than To; the first and
	// the last take what is beyond as well.
	V1Bucket struct {
		From  int64 `json:"from_ns"`
		To    int64 `json:"to_ns"`
		Count int64 `json:"count"`
	}

	// V1Goroutine is the scheduling latency of one goroutine.
	V1Goroutine struct {
		Trace     int    `json:"trace"`
		Goroutine int64  `json:"goroutine"`
		Function  string `json:"function"`
		V1Tally
	}

	// V1Wait is one of the longest waits. What is not known is -1 or left out.
	V1Wait struct {
		Trace         int          `json:"trace"`
		Goroutine     int64        `json:"goroutine"`
		Function      string       `json:"function"`
		Origin        string       `json:"origin"`
		Start         int64        `json:"start_ns"`
		End           int64        `json:"end_ns"`
		Duration      int64        `json:"duration_ns"`
		Stack         []V1Frame    `json:"stack"` // where it had stopped
		Waker         int64        `json:"waker"`
		WakerFunction string       `json:"waker_function,omitempty"`
		WakerStack    []V1Frame    `json:"waker_stack"`
		ReadiedOn     int64        `json:"readied_on_proc"`
		RanOn         int64        `json:"ran_on_proc"`
		Uses          V1Uses       `json:"procs_meanwhile_ns"`
		Approximate   bool         `json:"approximate"`
		Meanwhile     []V1Activity `json:"ran_meanwhile"` // at most 10
	}

	// V1Frame is a frame of a stack, innermost first.
	V1Frame struct {
		Function string `json:"function"`
		File     string `json:"file"`
		Line     uint64 `json:"line"`
	}

	// V1Activity is a goroutine that ran during a wait.
	V1Activity struct {
		Goroutine int64  `json:"goroutine"`
		Function  string `json:"function"`
		Use       string `json:"use"`
		Total     int64  `json:"total_ns"`
	}

	// V1Uses is the procs' time by what it went to.
	V1Uses struct {
		User      int64 `json:"user"`
		GC        int64 `json:"gc"`
		Assist    int64 `json:"gc_assist"`
		Runtime   int64 `json:"runtime"`
		Syscall   int64 `json:"syscall"`
		Searching int64 `json:"searching"`
		Stopped   int64 `json:"stopped"`
		Idle      int64 `json:"idle"`
		Unknown   int64 `json:"unknown"`
	}

	// V1Bursts are Running intervals.
	V1Bursts struct {
		All        V1Dist     `json:"all"`
		System     V1Dist     `json:"system"`
		ByFunction []V1Named  `json:"by_function"`
		Long       V1Tally    `json:"over_10ms"`
		VeryLong   V1Tally    `json:"over_20ms"`
		Longest    []V1Burst  `json:"longest"` // over 10 ms, the first 20
		Censored   V1Censored `json:"censored"`
	}

	// V1Burst is one long Running interval.
	V1Burst struct {
		Trace     int    `json:"trace"`
		Goroutine int64  `json:"goroutine"`
		Function  string `json:"function"`
		Proc      int64  `json:"proc"`
		Start     int64  `json:"start_ns"`
		Duration  int64  `json:"duration_ns"`
		Censored  bool   `json:"censored"`
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
		Censored V1Tally `json:"censored"`
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
