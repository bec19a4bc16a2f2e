package result

import "github.com/schedscope/schedscope/model"

// The parts of a [Report] over time and by percentile: what pictures are drawn from.
type (
	// Series is what procs did and how many goroutines were runnable, in at most
	// 512 bins of equal width. Merged traces lie on top of each other, so that means
	// are sums divided by the covered time.
	Series struct {
		Start       model.Time     `json:"start_ns"` // of the first bin
		Width       model.Duration `json:"width_ns"`
		Covered     []int64        `json:"covered_ns"` // the time that each bin refers to
		Procs       []int64        `json:"procs_ns"`   // GOMAXPROCS, integrated
		Uses        UsesSeries     `json:"uses_ns"`
		Runnable    []int64        `json:"runnable_ns"` // goroutines runnable, integrated
		MaxRunnable []int          `json:"max_runnable"`
		Heap        []uint64       `json:"heap_bytes"` // live heap objects, the greatest sample; 0: none
		Goal        []uint64       `json:"heap_goal_bytes"`
	}

	// Heat counts the waits of latency.all by when they ended and how long they
	// were, in at most 256 columns.
	Heat struct {
		Start  model.Time     `json:"start_ns"`  // of the first column
		Width  model.Duration `json:"width_ns"`  // of a column
		Bounds []int64        `json:"bounds_ns"` // lower bounds of rows; the first takes what is shorter, too
		Cells  []HeatCell     `json:"cells"`     // that are not empty, by column and row
	}

	// HeatCell is [column, row, count].
	HeatCell [3]int64

	// Spectrum is a distribution by percentile.
	Spectrum struct {
		Name   string     `json:"name" key:""` // all, an origin; of a reference: measured, go_rules, ideal
		Points []Quantile `json:"points"`      // of rising q; none beyond what the number of waits supports
	}

	// Quantile is a length that a share q of the waits did not exceed.
	Quantile struct {
		Q     float64        `json:"q"`
		Value model.Duration `json:"value_ns"`
	}

	// TraceFigures are the figures of one of several traces, to be set side by side.
	TraceFigures struct {
		Trace       int            `json:"trace"`
		Span        model.Duration `json:"span_ns"`
		Procs       float64        `json:"procs"` // GOMAXPROCS, the mean
		Waits       int64          `json:"waits"`
		Total       model.Duration `json:"total_ns"`
		Waiting     float64        `json:"waiting"` // goroutines, on average: total_ns by span_ns
		P50         model.Duration `json:"p50_ns"`  // this and what follows up to max_at_ns is 0 without waits
		P99         model.Duration `json:"p99_ns"`
		P999        model.Duration `json:"p99_9_ns"`
		Max         model.Duration `json:"max_ns"`
		MaxAt       model.Time     `json:"max_at_ns"`
		Utilisation float64        `json:"utilisation"`
		// MainCause is what most waiting was lost to, "" if not known.
		MainCause string `json:"main_cause"`
		// Severity is that of its scheduling latency by itself; reports of older versions of
		// schedscope do not have it.
		Severity Severity `json:"severity"`
	}

	// Spread is how much a figure differs between traces, of those that have it:
	// values of single traces, by nearest rank. Trace numbers are places in "traces", of
	// equal ones the first.
	Spread struct {
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
