package report

// The parts of a [V1] over time and by percentile: what pictures are drawn from.
type (
	// V1Series is what procs did and how many goroutines were runnable, in at most
	// 512 bins of equal width. Merged traces lie on top of each other, so that means
	// are sums divided by the covered time.
	V1Series struct {
		Start       int64        `json:"start_ns"` // of the first bin
		Width       int64        `json:"width_ns"`
		Covered     []int64      `json:"covered_ns"` // the time that each bin refers to
		Procs       []int64      `json:"procs_ns"`   // GOMAXPROCS, integrated
		Uses        V1UsesSeries `json:"uses_ns"`
		Runnable    []int64      `json:"runnable_ns"` // goroutines runnable, integrated
		MaxRunnable []int        `json:"max_runnable"`
		Heap        []uint64     `json:"heap_bytes"` // live heap objects, the greatest sample; 0: none
		Goal        []uint64     `json:"heap_goal_bytes"`
	}

	// V1UsesSeries is the procs' time by what it went to, a value for each bin.
	V1UsesSeries struct {
		User      []int64 `json:"user"`
		GC        []int64 `json:"gc"`
		Assist    []int64 `json:"gc_assist"`
		Runtime   []int64 `json:"runtime"`
		Syscall   []int64 `json:"syscall"`
		Searching []int64 `json:"searching"`
		Stopped   []int64 `json:"stopped"`
		Idle      []int64 `json:"idle"`
		Unknown   []int64 `json:"unknown"`
	}

	// V1Heat counts the waits of latency.all by when they ended and how long they
	// were, in at most 256 columns.
	V1Heat struct {
		Start  int64        `json:"start_ns"`  // of the first column
		Width  int64        `json:"width_ns"`  // of a column
		Bounds []int64      `json:"bounds_ns"` // lower bounds of rows; the first takes what is shorter, too
		Cells  []V1HeatCell `json:"cells"`     // that are not empty, by column and row
	}

	// V1HeatCell is [column, row, count].
	V1HeatCell [3]int64

	// V1Spectrum is a distribution by percentile.
	V1Spectrum struct {
		Name   string       `json:"name"`   // all, an origin; of a reference: measured, go_rules, ideal
		Points []V1Quantile `json:"points"` // of rising q; none beyond what the number of waits supports
	}

	// V1Quantile is a length that a share q of the waits did not exceed.
	V1Quantile struct {
		Q     float64 `json:"q"`
		Value int64   `json:"value_ns"`
	}

	// V1TraceFigures are the figures of one of several traces, to be set side by side.
	V1TraceFigures struct {
		Trace       int     `json:"trace"`
		Span        int64   `json:"span_ns"`
		Procs       float64 `json:"procs"` // GOMAXPROCS, the mean
		Waits       int64   `json:"waits"`
		Total       int64   `json:"total_ns"`
		Waiting     float64 `json:"waiting"` // goroutines, on average: total_ns by span_ns
		P50         int64   `json:"p50_ns"`  // this and what follows up to max_at_ns is 0 without waits
		P99         int64   `json:"p99_ns"`
		P999        int64   `json:"p99_9_ns"`
		Max         int64   `json:"max_ns"`
		MaxAt       int64   `json:"max_at_ns"`
		Utilisation float64 `json:"utilisation"`
		// MainCause is what most waiting was lost to, "" if not known.
		MainCause string `json:"main_cause"`
		// Severity is that of its scheduling latency by itself; reports of older versions of
		// schedscope do not have it.
		Severity string `json:"severity,omitempty"`
	}

	// V1Spread is how much a figure differs between traces, of those that have it:
	// values of single traces, by nearest rank. Trace numbers are places in "traces", of
	// equal ones the first.
	V1Spread struct {
		Name     string  `json:"name"`   // as in per_trace
		Unit     string  `json:"unit"`   // ns, count, share, procs, goroutines
		Traces   int     `json:"traces"` // that have it
		Min      float64 `json:"min"`
		Q1       float64 `json:"q1"`
		Median   float64 `json:"median"`
		Q3       float64 `json:"q3"`
		Max      float64 `json:"max"`
		MinTrace int     `json:"min_trace"`
		MaxTrace int     `json:"max_trace"`
	}
)
