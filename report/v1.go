package report

import "github.com/schedscope/schedscope/internal/hdr"

// Schema names the format of [V1]. Within it fields are only ever added.
const Schema = "schedscope.report/v1"

// The types below are the JSON report. Lengths of time are integer nanoseconds,
// with names that end in _ns. Points in time are integer nanoseconds from the
// beginning of the trace that they belong to; where there are several traces,
// "trace" is its place in "traces", from 0. Shares are between 0 and 1. Lists
// are sorted as in the text, most first, and complete unless said otherwise.
// Names are as the trace has them, but for bytes that are no UTF-8.
type (
	// V1 is the whole report.
	V1 struct {
		Schema   string      `json:"schema"`
		Traces   []V1Trace   `json:"traces"`
		Skipped  []V1Skipped `json:"skipped"` // inputs that could not be read
		Totals   V1Totals    `json:"totals"`
		Findings []V1Finding `json:"findings"` // the verdict, most important first
		// Of several traces: each one's figures, and how much they differ.
		PerTrace    []V1TraceFigures `json:"per_trace,omitempty"`
		Spread      []V1Spread       `json:"spread,omitempty"`
		Series      V1Series         `json:"series"`
		Heat        V1Heat           `json:"heat"`
		Latency     V1Latency        `json:"latency"`
		WorstWaits  []V1Wait         `json:"worst_waits"` // as many as were asked for
		Causes      V1Causes         `json:"causes"`
		Queues      V1Queues         `json:"queues"`
		Pathologies []V1Pathology    `json:"pathologies"`
		Lateness    V1Lateness       `json:"lateness"`
		Bursts      V1Bursts         `json:"bursts"`
		Waiting     V1Waiting        `json:"waiting"`
		Syscalls    V1Syscalls       `json:"syscalls"`
		Handoffs    []V1Handoff      `json:"handoffs"`
		Netpoll     V1Netpoll        `json:"netpoll"`
		STW         V1STW            `json:"stw"`
		GC          V1GC             `json:"gc"`
		Procs       V1Procs          `json:"procs"`
		Threads     V1Threads        `json:"threads"`
		Tasks       []V1Task         `json:"tasks"`
		Regions     []V1Region       `json:"regions"`
		Goroutines  []V1Group        `json:"goroutines"` // by start function
		Notes       []string         `json:"notes"`      // what the numbers leave out, in words
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
		// Reference is left out if it was not asked for or cannot be told.
		Reference *V1Reference `json:"reference,omitempty"`
		// Captured is why the program kept the trace, if that is noted in it.
		Captured *V1Capture `json:"captured,omitempty"`
	}

	// V1Reference is how long goroutines of the program waited in a part of a trace, in
	// all, and would have under the reference scheduler.
	V1Reference struct {
		From     int64        `json:"from_ns"`
		Length   int64        `json:"length_ns"`
		Whole    bool         `json:"whole"` // all that was analysed
		Waits    int64        `json:"waits"` // measured
		Measured int64        `json:"measured_ns"`
		Rules    int64        `json:"go_rules_ns"` // the median of some simulations, the least and the greatest:
		Low      int64        `json:"go_rules_low_ns"`
		High     int64        `json:"go_rules_high_ns"`
		Poor     bool         `json:"poor"` // they do not reproduce the measured waits
		Ideal    int64        `json:"ideal_ns"`
		Spectra  []V1Spectrum `json:"spectra"` // measured, go_rules, ideal
	}

	// V1Loss is what could not be read.
	V1Loss struct {
		Bytes      int64  `json:"lost_bytes"`
		Size       int64  `json:"size_bytes"`
		Generation uint64 `json:"generation,omitempty"` // in which reading broke off
		After      int64  `json:"after_ns"`             // up to where it was read
		Patchy     bool   `json:"patchy"`               // some threads less far: their times towards the end are wrong
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
		GOMAXPROCS       []V1Step `json:"gomaxprocs"` // a step for each change, the first 1024
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
		// Of merged reports: whose finding it is, and how many of them have one of
		// this kind. The text begins with the name.
		Of      string `json:"of,omitempty"`
		Reports int    `json:"reports,omitempty"`
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
		V1Sketch
	}

	// V1Sketch is the whole of a distribution, so that it can be merged with others.
	V1Sketch struct {
		// HDR is an HdrHistogram of 2 significant digits in the V2 compressed encoding
		// as base64. It is left out of a single value, which is the greatest.
		HDR string `json:"hdr,omitempty"`
		// Unknown: percentiles are not known, and 0. It was merged with one without HDR,
		// as older versions of the program wrote them.
		Unknown bool `json:"unknown,omitempty"`

		whole  bool           // packed is set, while reports are merged
		packed hdr.Packed     // HDR
		merged *hdr.Histogram // of several
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
		Spectra     []V1Spectrum  `json:"spectra"`      // all, then by origin
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
		Trace         int            `json:"trace"`
		Goroutine     int64          `json:"goroutine"`
		Function      string         `json:"function"`
		Origin        string         `json:"origin"`
		Start         int64          `json:"start_ns"`
		End           int64          `json:"end_ns"`
		Duration      int64          `json:"duration_ns"`
		Stack         []V1Frame      `json:"stack"` // where it had stopped
		Waker         int64          `json:"waker"`
		WakerFunction string         `json:"waker_function,omitempty"`
		WakerStack    []V1Frame      `json:"waker_stack"`
		ReadiedOn     int64          `json:"readied_on_proc"`
		RanOn         int64          `json:"ran_on_proc"`
		Causes        []V1CauseTotal `json:"causes"`   // what it was lost to; adds up to its duration
		Blockers      []V1Blocker    `json:"blockers"` // whom it was behind in its queue, at most 10
		Uses          V1Uses         `json:"procs_meanwhile_ns"`
		Approximate   bool           `json:"approximate"`   // what happened at the ends was divided in proportion
		Meanwhile     []V1Activity   `json:"ran_meanwhile"` // at most 10
		// Time in which it is not known which goroutine ran: as long as it is not
		// 0, those of ran_meanwhile are lower bounds.
		Unattributed int64 `json:"unattributed_ns"`
		// Exact if approximate is false and the unattributed time 0.
		Functions      []V1FuncActivity `json:"functions_meanwhile"` // at most 10
		OtherFunctions int64            `json:"functions_unattributed_ns"`
	}

	// V1Frame is a frame of a stack, innermost first.
	V1Frame struct {
		Function string `json:"function"`
		File     string `json:"file"`
		Line     uint64 `json:"line"`
	}

	// V1FuncActivity are the goroutines of one start function that ran, or were in
	// system calls with a proc, during a wait.
	V1FuncActivity struct {
		Function string `json:"function"`
		Use      string `json:"use"` // "syscall", or most of what it ran
		Total    int64  `json:"total_ns"`
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
)
