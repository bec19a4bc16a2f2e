package result

import (
	"github.com/schedscope/schedscope/model"
)

// Schema names the format of [Report]. Within it fields are only ever added.
const Schema = "schedscope.report/v1"

// The types below are the JSON report. Lengths of time are integer nanoseconds,
// with names that end in _ns. Points in time are integer nanoseconds from the
// beginning of the trace that they belong to; where there are several traces,
// "trace" is its place in "traces", from 0. Shares are between 0 and 1. Lists
// are sorted as in the text, most first, and complete unless said otherwise.
// Names are as the trace has them, but for bytes that are no UTF-8.
type (
	// Report is the whole report.
	Report struct {
		Schema   string    `json:"schema"`
		Traces   []Trace   `json:"traces"`
		Skipped  []Skipped `json:"skipped"` // inputs that could not be read
		Totals   Totals    `json:"totals"`
		Findings []Finding `json:"findings"` // the verdict, most important first
		// Of several traces: each one's figures, and how much they differ.
		PerTrace    []TraceFigures `json:"per_trace,omitempty"`
		Spread      []Spread       `json:"spread,omitempty"`
		Series      Series         `json:"series"`
		Heat        Heat           `json:"heat"`
		Latency     Latency        `json:"latency"`
		WorstWaits  []Wait         `json:"worst_waits"` // as many as were asked for
		Causes      Causes         `json:"causes"`
		Queues      Queues         `json:"queues"`
		Pathologies []Pathology    `json:"pathologies"`
		Lateness    Lateness       `json:"lateness"`
		Bursts      Bursts         `json:"bursts"`
		Waiting     Waiting        `json:"waiting"`
		Syscalls    Syscalls       `json:"syscalls"`
		Handoffs    []Handoff      `json:"handoffs" sort:"handoff"`
		Netpoll     Netpoll        `json:"netpoll"`
		STW         STW            `json:"stw"`
		GC          GC             `json:"gc"`
		Procs       Procs          `json:"procs"`
		Threads     Threads        `json:"threads"`
		Tasks       []Task         `json:"tasks" sort:"total"`
		Regions     []Region       `json:"regions" sort:"total"`
		Goroutines  []Group        `json:"goroutines" sort:"total"` // by start function
		Notes       []string       `json:"notes"`                   // what the numbers leave out, in words
	}

	// Trace says what was read of one trace.
	Trace struct {
		Name         string         `json:"name"`
		Format       string         `json:"format"`     // "go 1.26"
		Bytes        int64          `json:"size_bytes"` // as stored; -1 if not known
		Compression  string         `json:"compression,omitempty"`
		Generations  int            `json:"generations"`
		Start        model.Time     `json:"start_ns"` // of the window that was analysed
		Span         model.Duration `json:"span_ns"`
		Complete     bool           `json:"complete"` // nothing was lost
		Loss         *Loss          `json:"loss,omitempty"`
		EndedEarly   string         `json:"ended_early,omitempty"` // why the recording did
		Inconsistent int64          `json:"inconsistent_events"`   // that contradict those before
		// Reference is left out if it was not asked for or cannot be told.
		Reference *Reference `json:"reference,omitempty"`
		// Captured is why the program kept the trace, if that is noted in it.
		Captured *Capture `json:"captured,omitempty"`
	}

	// Reference is how long goroutines of the program waited in a part of a trace, in
	// all, and would have under the reference scheduler.
	Reference struct {
		From     model.Time     `json:"from_ns"`
		Length   model.Duration `json:"length_ns"`
		Whole    bool           `json:"whole"` // all that was analysed
		Waits    int64          `json:"waits"` // measured
		Measured model.Duration `json:"measured_ns"`
		Rules    model.Duration `json:"go_rules_ns"` // the median of some simulations, the least and the greatest:
		Low      model.Duration `json:"go_rules_low_ns"`
		High     model.Duration `json:"go_rules_high_ns"`
		Poor     bool           `json:"poor"` // they do not reproduce the measured waits
		Ideal    model.Duration `json:"ideal_ns"`
		Spectra  []Spectrum     `json:"spectra"` // measured, go_rules, ideal
	}

	// Loss is what could not be read.
	Loss struct {
		Bytes      int64      `json:"lost_bytes"`
		Size       int64      `json:"size_bytes"`
		Generation uint64     `json:"generation,omitempty"` // in which reading broke off
		After      model.Time `json:"after_ns"`             // up to where it was read
		Patchy     bool       `json:"patchy"`               // some threads less far: their times towards the end are wrong
		Cause      string     `json:"cause"`
	}

	// Skipped is an input that could not be read at all.
	Skipped struct {
		Name  string `json:"name"`
		Cause string `json:"cause"`
	}

	// Totals counts what the traces hold.
	Totals struct {
		Span             model.Duration `json:"span_ns"` // of all traces
		Events           int64          `json:"events"`
		Goroutines       int64          `json:"goroutines"`
		SystemGoroutines int64          `json:"system_goroutines"` // of those
		Threads          int64          `json:"threads"`
		Procs            int            `json:"procs" merge:"max"` // the most seen
		GOMAXPROCS       []Step         `json:"gomaxprocs"`        // a step for each change, the first 1024
	}

	// Step is a new value of GOMAXPROCS.
	Step struct {
		Trace int        `json:"trace"`
		At    model.Time `json:"at_ns"`
		Procs uint64     `json:"procs"`
	}

	// Finding is one statement of the verdict.
	Finding struct {
		Kind     string     `json:"kind" key:""`
		Severity Severity   `json:"severity"`
		Grade    Grade      `json:"grade"`
		Text     string     `json:"text"`
		Evidence []Evidence `json:"evidence"`
		// Of merged reports: whose finding it is, and how many of them have one of
		// this kind. The text begins with the name.
		Of      string `json:"of,omitempty"`
		Reports int    `json:"reports,omitempty"`
	}

	// Named is a distribution under a name.
	Named struct {
		Name string `json:"name" key:"name"`
		Dist
	}

	// Tally is a sum without its distribution.
	Tally struct {
		Count int64          `json:"count"`
		Total model.Duration `json:"total_ns"`
		Max   model.Duration `json:"max_ns"`
		MaxAt model.Time     `json:"max_at_ns"`
	}

	// Censored are intervals that the trace shows only in part; they are in no
	// distribution.
	Censored struct {
		AtStart Tally `json:"at_start"`
		AtEnd   Tally `json:"at_end"`
	}

	// Latency is scheduling latency: runnable until running.
	Latency struct {
		All         Dist        `json:"all"`
		ByOrigin    []Named     `json:"by_origin" sort:"origin"` // in a fixed order
		ByFunction  []Named     `json:"by_function" sort:"total"`
		Spectra     []Spectrum  `json:"spectra" sort:"origin"` // all, then by origin
		ByGoroutine []Goroutine `json:"by_goroutine"`          // the first 20
		Histogram   []Bucket    `json:"histogram"`             // of all, 12 buckets per factor of ten
		System      Dist        `json:"system"`                // the runtime's own goroutines
		Censored    Censored    `json:"censored"`
		Pseudo      int64       `json:"pseudo"` // runnable by name only; not counted
	}

	// Bucket counts lengths of at least From and less than To; the first and
	// the last take what is beyond as well.
	Bucket struct {
		From  model.Duration `json:"from_ns" key:""`
		To    model.Duration `json:"to_ns" key:""`
		Count int64          `json:"count"`
	}

	// Goroutine is the scheduling latency of one goroutine.
	Goroutine struct {
		Trace     int        `json:"trace"`
		Goroutine model.GoID `json:"goroutine"`
		Function  string     `json:"function"`
		Tally
	}

	// Wait is one of the longest waits. What is not known is -1 or left out.
	Wait struct {
		Trace         int            `json:"trace"`
		Goroutine     model.GoID     `json:"goroutine"`
		Function      string         `json:"function"`
		Origin        string         `json:"origin"`
		Start         model.Time     `json:"start_ns"`
		End           model.Time     `json:"end_ns"`
		Duration      model.Duration `json:"duration_ns"`
		Stack         []Frame        `json:"stack"` // where it had stopped
		Waker         model.GoID     `json:"waker"`
		WakerFunction string         `json:"waker_function,omitempty"`
		WakerStack    []Frame        `json:"waker_stack"`
		ReadiedOn     model.ProcID   `json:"readied_on_proc"`
		RanOn         model.ProcID   `json:"ran_on_proc"`
		Causes        []CauseTotal   `json:"causes"`   // what it was lost to; adds up to its duration
		Blockers      []Blocker      `json:"blockers"` // whom it was behind in its queue, at most 10
		Uses          Uses           `json:"procs_meanwhile_ns"`
		Approximate   bool           `json:"approximate"`   // what happened at the ends was divided in proportion
		Meanwhile     []Activity     `json:"ran_meanwhile"` // at most 10
		// Time in which it is not known which goroutine ran: as long as it is not
		// 0, those of ran_meanwhile are lower bounds.
		Unattributed model.Duration `json:"unattributed_ns"`
		// Exact if approximate is false and the unattributed time 0.
		Functions      []FuncActivity `json:"functions_meanwhile"` // at most 10
		OtherFunctions model.Duration `json:"functions_unattributed_ns"`
	}

	// Frame is a frame of a stack, innermost first.
	Frame struct {
		Function string `json:"function"`
		File     string `json:"file"`
		Line     uint64 `json:"line"`
	}

	// FuncActivity are the goroutines of one start function that ran, or were in
	// system calls with a proc, during a wait.
	FuncActivity struct {
		Function string         `json:"function"`
		Use      string         `json:"use"` // "syscall", or most of what it ran
		Total    model.Duration `json:"total_ns"`
	}

	// Activity is a goroutine that ran during a wait.
	Activity struct {
		Goroutine model.GoID     `json:"goroutine"`
		Function  string         `json:"function"`
		Use       string         `json:"use"`
		Total     model.Duration `json:"total_ns"`
	}
)

// Add counts a length that ended at the given time. Of equal maxima the first counts.
func (t *Tally) Add(d model.Duration, at model.Time) {
	if t.Count == 0 || d > t.Max {
		t.Max, t.MaxAt = d, at
	}
	t.Count++
	t.Total += d
}

// Merge adds o.
func (c *Censored) Merge(o *Censored) {
	c.AtStart.Merge(&o.AtStart)
	c.AtEnd.Merge(&o.AtEnd)
}
