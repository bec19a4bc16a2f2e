package result

import "github.com/schedscope/schedscope/model"

// The parts of a [Report] over time and by percentile: what pictures are drawn from.
type (
	// Series is the use of procs and the number of runnable goroutines, in at most 512 bins of
	// equal width. Merged traces lie on top of each other: means are sums divided by the covered
	// time.
	Series struct {
		Start model.Time     `json:"start_ns"` // Beginning of the first bin.
		Width model.Duration `json:"width_ns"` // Width of a bin, in nanoseconds; 0 if there is none.
		// The time that each bin refers to, in nanoseconds: less than the width at the ends,
		// more where traces lie on top of each other.
		Covered []int64    `json:"covered_ns"`
		Procs   []int64    `json:"procs_ns"` // GOMAXPROCS, integrated: proc-nanoseconds.
		Uses    UsesSeries `json:"uses_ns"`  // What the procs' time went to, proc-nanoseconds in each bin.
		// Number of runnable goroutines, integrated: goroutine-nanoseconds.
		Runnable    []int64 `json:"runnable_ns"`
		MaxRunnable []int   `json:"max_runnable"` // The greatest number of runnable goroutines in each bin.
		// Bytes of live heap objects, the greatest sample in each bin; 0: none.
		Heap []uint64 `json:"heap_bytes"`
		// The garbage collector's goal for the heap, the greatest sample in each bin, in
		// bytes; 0: none.
		Goal []uint64 `json:"heap_goal_bytes"`
	}

	// Heat counts the waits of latency.all by when they ended and how long they
	// were, in at most 256 columns.
	Heat struct {
		Start model.Time     `json:"start_ns"` // Beginning of the first column.
		Width model.Duration `json:"width_ns"` // Width of a column, in nanoseconds; 0 if there is none.
		// Lower bounds of the rows, in nanoseconds; the first takes what is shorter, too.
		Bounds []int64    `json:"bounds_ns"`
		Cells  []HeatCell `json:"cells"` // The cells that are not empty, by column and row.
	}

	// HeatCell is [column, row, count] of a cell that is not empty.
	HeatCell [3]int64

	// Spectrum is a distribution by percentile.
	Spectrum struct {
		Name string `json:"name" key:""` // all or an origin.
		// Points of rising q; none beyond what the number of waits supports.
		Points []Quantile `json:"points"`
	}

	// Quantile is a length that a share q of the waits did not exceed.
	Quantile struct {
		Q     float64        `json:"q" range:"0..1"` // Share of the waits that were no longer.
		Value model.Duration `json:"value_ns"`       // Length, in nanoseconds.
	}

	// TraceFigures are the figures of one of several traces, to be set side by side.
	TraceFigures struct {
		Trace int `json:"trace"` // The trace, a place in "traces".
		// Length of the trace, in nanoseconds.
		Span model.Duration `json:"span_ns" figure:"span: length of what was analysed"`
		// Mean number of procs (GOMAXPROCS).
		Procs float64 `json:"procs" figure:"procs: procs, mean"`
		// Number of waits.
		Waits int64 `json:"waits" figure:"latency_samples: scheduling latency, runnable until running: number"`
		// Their lengths in all, goroutine-nanoseconds.
		Total   model.Duration `json:"total_ns" figure:"latency_total lower: scheduling latency, runnable until running: sum"`
		Waiting float64        `json:"waiting"` // Goroutines waiting to run, on average: total_ns by span_ns.
		// Half of the waits were no longer, in nanoseconds; 0 without waits, as what follows
		// up to max_at_ns.
		P50 model.Duration `json:"p50_ns" figure:"latency_p50 lower if=Waits: scheduling latency, runnable until running: median"`
		// 99 % of the waits were no longer, in nanoseconds.
		P99 model.Duration `json:"p99_ns" figure:"latency_p99 lower if=Waits: scheduling latency, runnable until running: 99th percentile"`
		// 99.9 % of the waits were no longer, in nanoseconds.
		P999 model.Duration `json:"p99_9_ns" figure:"latency_p99_9 lower if=Waits: scheduling latency, runnable until running: 99.9th percentile"`
		// The longest wait, in nanoseconds.
		Max   model.Duration `json:"max_ns" figure:"latency_max lower if=Waits: scheduling latency, runnable until running: longest"`
		MaxAt model.Time     `json:"max_at_ns"` // When the longest was.
		// Share of the procs' time in which they ran goroutines or were kept by one in a
		// system call.
		Utilisation float64 `json:"utilisation" figure:"utilisation share: share of the procs' time with goroutines" range:"0..1"`
		MainCause   string  `json:"main_cause"` // What most waiting was lost to; "" if not known.
		// How much its scheduling latency matters by itself; left out by older versions.
		Severity Severity `json:"severity"`
		// The word of its own verdict; left out by older versions.
		Verdict string `json:"verdict,omitempty"`
		// What schedscope compare takes of it in addition; left out by older versions.
		Sample *TraceSample `json:"sample,omitempty"`
	}

	// TraceSample is the data of a trace for schedscope compare: of the program's goroutines
	// unless said otherwise. Unknown values are left out.
	TraceSample struct {
		Events      int64          `json:"events"`                // Number of events.
		CPUSamples  int64          `json:"cpu_samples,omitempty"` // Number of CPU samples of goroutines that ran.
		MinProcs    int            `json:"min_procs"`             // The least GOMAXPROCS.
		MaxProcs    int            `json:"max_procs"`             // The greatest.
		Capacity    model.Duration `json:"capacity_ns"`           // GOMAXPROCS integrated over the trace, in proc-nanoseconds.
		Running     model.Duration `json:"running_ns"`            // How long goroutines ran in all, those of the runtime too, in nanoseconds.
		Run         model.Duration `json:"run_ns"`                // How long those of the program ran, in nanoseconds.
		Wait        model.Duration `json:"wait_ns"`               // How long they waited to run, in waits that the trace shows in part too, in nanoseconds.
		P90         model.Duration `json:"p90_ns"`                // 90 % of the waits were no longer, in nanoseconds.
		Blocked     model.Duration `json:"blocked_ns"`            // How long they waited for something, in nanoseconds.
		STW         model.Duration `json:"stw_ns"`                // Stop-the-world phases, in nanoseconds.
		Wakes       *int64         `json:"wakes,omitempty"`       // How often they became runnable by being created or woken.
		Created     *int64         `json:"created,omitempty"`     // How often by being created.
		Preemptions *int64         `json:"preemptions,omitempty"` // How often by being preempted.
		Starts      int64          `json:"starts"`                // How often they began to run.
		Steals      *int64         `json:"steals,omitempty"`      // Number of steals between run queues.
		Handoffs    int64          `json:"handoffs"`              // Number of handoffs of procs.
		GC          *int64         `json:"gc,omitempty"`          // Number of mark phases that began.
		// The kind of requests with the most time; left out if there are none.
		RequestKind string `json:"request_kind,omitempty"`
		// The requests of that kind: all, under no name, then by handler, task or function.
		Requests []TraceRequests `json:"requests,omitempty"`
	}

	// Places are the traces that have most of something.
	Places struct {
		Reports int64   `json:"reports,omitempty"` // In how many reports of several traces; left out if the report was not made of such.
		Most    []Share `json:"most"`              // The traces with most of it, at most 3.
	}

	// Share is one trace's part of something.
	Share struct {
		Trace int            `json:"trace"`    // The trace, a place in "traces".
		Total model.Duration `json:"total_ns"` // Its time; of requests in the slowest and those of the middle. In nanoseconds.
	}

	// TraceRequests are requests of one trace.
	TraceRequests struct {
		Name  string         `json:"name,omitempty"` // Their handler, task or function; left out: all.
		Count int64          `json:"count"`          // Number of them.
		Total model.Duration `json:"total_ns"`       // Sum of their lengths, in nanoseconds.
		P50   model.Duration `json:"p50_ns"`         // Half of them took no longer, in nanoseconds.
		P99   model.Duration `json:"p99_ns"`         // 99 % of them took no longer, in nanoseconds.
	}

	// Spread is the spread of a figure between the traces that have it: values of single traces,
	// by nearest rank. Trace numbers are places in "traces", of equal ones the first.
	Spread struct {
		Name   string `json:"name"`   // The figure, as in per_trace.
		Unit   string `json:"unit"`   // ns, count, share, procs or goroutines.
		Traces int    `json:"traces"` // Number of traces that have the figure.
		// The least; values of single traces, by nearest rank, as the others.
		Min      float64 `json:"min"`
		Q1       float64 `json:"q1"`        // A quarter of the traces have no more.
		Median   float64 `json:"median"`    // The median.
		Q3       float64 `json:"q3"`        // Three quarters of the traces have no more.
		Max      float64 `json:"max"`       // The greatest.
		MinTrace int     `json:"min_trace"` // The trace with the least, a place in "traces".
		MaxTrace int     `json:"max_trace"` // The trace with the greatest, a place in "traces".
	}
)
