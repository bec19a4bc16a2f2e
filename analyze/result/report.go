package result

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// Schema is the format of [Report]. Within it fields are only ever added.
const Schema = "schedscope.report/v2"

// The types below are the JSON report. The schema is generated from them: what is said of a
// type or a field is its description there, in the words of those who read JSON.
type (
	// Report is a report of schedscope analyze. Within a version fields are only ever added,
	// so readers skip those that they do not know; schedscope itself refuses to read a report
	// with unknown fields, or without those that it needs. Lengths of time are integer
	// nanoseconds, with names that end in _ns. Points in time (start_ns, end_ns, at_ns,
	// max_at_ns) are integer nanoseconds from the beginning of the trace that they belong to.
	// Shares are between 0 and 1. Lists are sorted, most first, and complete unless said
	// otherwise. Names are as the trace has them: untrusted text.
	Report struct {
		Schema string `json:"schema"` // Name and version of this format.
		// The traces, in the order of their names; "trace" elsewhere is a place in this list, from 0.
		Traces  []Trace   `json:"traces" merge:"-" figure:"traces: traces"`
		Skipped []Skipped `json:"skipped"` // Inputs that could not be read.
		// Number of reports of several traces that it was made of; left out if there are none.
		Reports  int64     `json:"reports,omitempty"`
		Totals   Totals    `json:"totals"`                     // What the traces hold.
		Verdict  Verdict   `json:"verdict,omitzero" merge:"-"` // What it all comes to.
		Findings []Finding `json:"findings"`                   // What was found, most important first.
		// Of several traces: the figures of each. Left out for a single one.
		PerTrace []TraceFigures `json:"per_trace,omitempty"`
		// Of several traces: how much their figures differ. Left out for a single one.
		Spread []Spread `json:"spread,omitempty"`
		// What procs did and how many goroutines were runnable, in at most 512 bins of equal
		// width. Traces lie on top of each other: means are sums divided by the covered time.
		Series Series `json:"series"`
		// Scheduling latencies by when they ended and how long they were, in at most 256
		// columns.
		Heat Heat `json:"heat"`
		// Scheduling latency: how long goroutines of the program were runnable until they ran.
		Latency    Latency `json:"latency"`
		WorstWaits []Wait  `json:"worst_waits" merge:"-"` // The longest waits in full, as many as were asked for.
		Causes     Causes  `json:"causes"`                // What the waits were lost to.
		Blame      Blame   `json:"blame"`                 // What kept goroutines waiting, by code.
		Queues     Queues  `json:"queues"`                // What the run queues did.
		// Known ways of scheduling going wrong that were found, most serious first.
		Pathologies []Pathology `json:"pathologies" figure:"by=pathology"`
		// Bounds of what lies before scheduling latency: how late network and timer wakeups
		// were.
		Lateness Lateness `json:"lateness"`
		Bursts   Bursts   `json:"bursts"` // How long goroutines of the program ran at a time.
		// How long goroutines of the program waited for something, by reason.
		Waiting  Waiting  `json:"waiting"`
		Syscalls Syscalls `json:"syscalls"` // System calls seen from beginning to end.
		// Procs that changed hands, by cause.
		Handoffs   []Handoff `json:"handoffs" sort:"handoff" figure:"by=handoff"`
		Netpoll    Netpoll   `json:"netpoll"`                 // Network wakeups until the goroutine ran.
		STW        STW       `json:"stw"`                     // Stop-the-world phases.
		GC         GC        `json:"gc"`                      // What the garbage collector took.
		Procs      Procs     `json:"procs"`                   // What the procs did.
		Threads    Threads   `json:"threads"`                 // What the threads did.
		Tasks      []Task    `json:"tasks" sort:"total"`      // Tasks of runtime/trace, by type.
		Regions    []Region  `json:"regions" sort:"total"`    // Regions of runtime/trace, by type.
		Goroutines []Group   `json:"goroutines" sort:"total"` // Goroutines by start function.
		// Requests that were found, by kind; left out if there are none.
		Requests []RequestKind `json:"requests,omitempty" sort:"total" figure:"by=request"`
		Notes    []string      `json:"notes"` // What the numbers leave out, in words.
		// Hash of all else in it; without it what was changed in the report is not noticed.
		Sum string `json:"sum,omitempty" merge:"-"`
	}

	// Trace describes one trace and what was read of it.
	Trace struct {
		Name        string         `json:"name"`                    // Where it was read from.
		Format      string         `json:"format"`                  // Version of its format, such as "go 1.26".
		Bytes       int64          `json:"size_bytes" range:"-1.."` // Size as stored, in bytes; -1 if not known.
		Compression string         `json:"compression,omitempty"`   // gzip or zstd; left out if there is none.
		Generations int            `json:"generations"`             // Number of its self-contained parts; 0 before Go 1.22.
		Start       model.Time     `json:"start_ns"`                // Beginning of the window that was analysed.
		Span        model.Duration `json:"span_ns"`                 // Length of what was analysed, in nanoseconds.
		Windowed    bool           `json:"windowed,omitempty"`      // Only a part was asked for; left out if not.
		Complete    bool           `json:"complete"`                // Nothing was lost.
		// The file was written to while it was read, and kept its size; left out if not.
		Written      bool   `json:"written_meanwhile,omitempty"`
		Loss         *Loss  `json:"loss,omitempty"`        // What could not be read; left out if nothing.
		EndedEarly   string `json:"ended_early,omitempty"` // Why the recording ended before its time; left out if it did not.
		Inconsistent int64  `json:"inconsistent_events"`   // Number of events that contradict those before them.
		// The first of those events, in words.
		FirstInconsistency string `json:"first_inconsistency,omitempty"`
		// Which times do not add up: a bug of schedscope.
		Violation string `json:"violation,omitempty"`
		// Why the program kept the trace, as it noted in it; left out if it did not.
		Captured *Capture `json:"captured,omitempty"`
		// Taken is of another trace: the last that the program captured while this one went on.
		Taken *Capture `json:"captured_meanwhile,omitempty"`
		// What the record next to the trace says of the machine; left out if there is none.
		Machine *Machine `json:"machine,omitempty"`
	}

	// Machine is the state of the machine while a trace was recorded.
	Machine struct {
		Others float64 `json:"others"` // Part of its CPU time that other programs used; 0 if not known, or if something else disturbed it.
		// What disturbed the program, by the gate's default guards; left out if nothing did.
		Disturbed string `json:"disturbed,omitempty"`
	}

	// Loss is the part of a trace that could not be read.
	Loss struct {
		Bytes int64 `json:"lost_bytes"` // Bytes that were not read; 0 if the trace refers to what it lacks, or its size changed.
		Size  int64 `json:"size_bytes"` // Bytes in all.
		// The generation in which reading broke off; left out if not known.
		Generation uint64     `json:"generation,omitempty"`
		After      model.Time `json:"after_ns"` // Up to where it was read.
		// Some threads were read less far: their times towards the end are wrong.
		Patchy bool   `json:"patchy"`
		Cause  string `json:"cause"` // What is wrong, in words.
	}

	// Skipped is an input that could not be read at all.
	Skipped struct {
		Name  string `json:"name"`  // Its name.
		Cause string `json:"cause"` // Why it could not be read, in words.
	}

	// Totals counts the contents of the traces.
	Totals struct {
		// Sum of the spans of all traces, in nanoseconds.
		Span model.Duration `json:"span_ns" figure:"span: length of what was analysed"`
		// Number of events.
		Events int64 `json:"events" figure:"events: events"`
		// Number of goroutines seen.
		Goroutines       int64 `json:"goroutines" figure:"goroutines: goroutines seen"`
		SystemGoroutines int64 `json:"system_goroutines"` // Those of the runtime among them.
		// Number of threads seen.
		Threads    int64  `json:"threads" figure:"threads: threads seen"`
		Procs      int    `json:"procs" merge:"max"` // The greatest number of procs seen at a time.
		GOMAXPROCS []Step `json:"gomaxprocs"`        // Values of GOMAXPROCS: one for each change, the first 1024.
		// Changes of GOMAXPROCS beyond those; left out if there are none.
		DroppedSteps int64 `json:"gomaxprocs_dropped,omitempty"`
	}

	// Step is a new value of GOMAXPROCS.
	Step struct {
		Trace int        `json:"trace"` // The trace, a place in "traces".
		At    model.Time `json:"at_ns"` // When it changed.
		Procs uint64     `json:"procs"` // The new number of procs.
	}

	// Verdict is the answer to whether something is to be changed.
	Verdict struct {
		// HEALTHY; SLOW TAIL (some requests, or waits), SLOW (all alike), STARVED (for procs),
		// DISTURBED (by the machine); UNKNOWN: the trace does not show enough to judge.
		Word string `json:"word"`
		Text string `json:"text"` // The reason, in words.
		// What disturbed the program from outside, in words; left out if nothing did.
		Machine    string      `json:"machine,omitempty"`
		RuledOut   []string    `json:"ruled_out"`            // What was checked and is fine, in words.
		Unchecked  string      `json:"unchecked,omitempty"`  // What could not be checked; left out if all was.
		Objectives []Objective `json:"objectives,omitempty"` // Those that were set; left out if none was.
	}

	// Objective is a limit for a percentile of requests.
	Objective struct {
		Group    string         `json:"group,omitempty"` // The group that it is for; left out: all requests.
		Quantile float64        `json:"quantile"`        // 0.99 of p99.
		Limit    model.Duration `json:"limit_ns"`        // What was asked for, in nanoseconds.
		Value    model.Duration `json:"value_ns"`        // What was measured: of several groups in the one where it is worst.
		// The most that it may be, as the handler of some requests is not known: value_ns is then the
		// least. Left out where it is known.
		Most  model.Duration `json:"most_ns,omitempty"`
		State string         `json:"state"`          // met, missed, or unknown: too few requests of which the handler is known.
		Open  int64          `json:"open,omitempty"` // Those that did not end, for up to most_ns, if they decide; left out if they do not.
	}

	// Finding is one statement about the traces.
	Finding struct {
		Kind     string   `json:"kind"`     // Its kind, for programs.
		Severity Severity `json:"severity"` // How much it matters.
		// certain: the trace shows it; inferred: it follows from the trace under assumptions.
		Grade    Grade      `json:"grade"`
		Text     string     `json:"text"`     // The statement in words.
		Evidence []Evidence `json:"evidence"` // The numbers that it rests on.
		// Of a diagnosis, a finding that says who, where and what to do: who does what, in a few
		// words. Left out of other findings, as is what follows.
		Title  string    `json:"title,omitempty"`
		Sum    float64   `json:"sum_share,omitempty"`  // Its part of all the time that was lost.
		Tail   float64   `json:"tail_share,omitempty"` // Its part of the waits beyond the p99.
		Where  []Culprit `json:"where,omitempty"`      // The code that it is due to, most first.
		Advice string    `json:"advice,omitempty"`     // What can be done, in words.
		Group  string    `json:"group,omitempty"`      // The group of requests that it slows down.
		Gain   string    `json:"gain,omitempty"`       // How long requests take now and about without it, in words.
		In     string    `json:"in,omitempty"`         // Of several traces: in how many it is and which have most of it, in words.
		Look   *Moment   `json:"look,omitempty"`       // A place in the trace that shows it.
	}

	// Culprit is code that a diagnosis names.
	Culprit struct {
		Role     string   `json:"role"`               // What it does, in words.
		Function string   `json:"function"`           // The program's innermost function.
		File     string   `json:"file"`               // Its source file.
		Line     uint64   `json:"line"`               // Line in it, from 1; 0 if not known.
		Share    float64  `json:"share" range:"0..1"` // Of what the diagnosis is about.
		Basis    string   `json:"basis"`              // How that is known, in words.
		Callers  []string `json:"callers"`            // The program's functions that called it, innermost first, at most 3; of requests with their lines.
		// Of a chain of waits: how many steps it is from who waits, from 0.
		Depth  int            `json:"depth,omitempty"`
		Length model.Duration `json:"length_ns,omitempty"` // Its time in each request on average, in nanoseconds.
		// Source is the line's text, which a caller may set; it is in no file.
		Source string `json:"-"`
	}

	// Moment is a place in a trace.
	Moment struct {
		Trace     int            `json:"trace"`     // The trace, a place in "traces".
		At        model.Time     `json:"at_ns"`     // When, from the beginning of the trace.
		Length    model.Duration `json:"length_ns"` // How long it lasts, in nanoseconds.
		Goroutine model.GoID     `json:"goroutine"` // The goroutine to look at.
	}

	// Named is a distribution under a name.
	Named struct {
		Name string `json:"name" key:"name"` // What it is the distribution of.
		Dist
	}

	// Tally is a sum without its distribution.
	Tally struct {
		Count int64          `json:"count"`     // Number of them.
		Total model.Duration `json:"total_ns"`  // Sum of their lengths, in nanoseconds.
		Max   model.Duration `json:"max_ns"`    // The longest, in nanoseconds.
		MaxAt model.Time     `json:"max_at_ns"` // When the longest was.
	}

	// Censored are intervals that the trace shows only in part; they are in no
	// distribution.
	Censored struct {
		AtStart Tally `json:"at_start"` // Those that had begun before the window.
		AtEnd   Tally `json:"at_end"`   // Those that had not ended when the window did.
	}

	// Latency is scheduling latency: runnable until running.
	Latency struct {
		// All waits of goroutines of the program.
		All Dist `json:"all" figure:"latency lower: scheduling latency, runnable until running"`
		// By how the goroutine became runnable, in a fixed order.
		ByOrigin []Named `json:"by_origin" sort:"origin" figure:"latency lower by=origin: scheduling latency, runnable until running"`
		// By start function of the goroutine.
		ByFunction  []Named     `json:"by_function" sort:"total" figure:"latency lower by=function: scheduling latency, runnable until running"`
		Spectra     []Spectrum  `json:"spectra" sort:"origin"` // By percentile: all, then by origin.
		ByGoroutine []Goroutine `json:"by_goroutine"`          // Goroutines that waited longest in all, the first 20.
		// All waits by length, 12 buckets for each factor of ten; empty ones are left out.
		Histogram []Bucket `json:"histogram"`
		System    Dist     `json:"system"` // Waits of the runtime's own goroutines.
		// Intervals that the window shows only in part; they are in no distribution.
		Censored Censored `json:"censored"`
		// Those of them that had not ended when the window did, by how the goroutine became runnable.
		AtEnd []Count `json:"at_end,omitempty" sort:"origin"`
		// Number of intervals that are runnable by name only and no waits; they are not
		// counted elsewhere.
		Pseudo int64 `json:"pseudo"`
		// Waits of all, of goroutines that turned out later to be the runtime's own.
		LateSystem Tally `json:"late_system,omitzero"`
	}

	// Bucket counts lengths of at least From and less than To; the first and
	// the last take what is beyond as well.
	Bucket struct {
		// The least length in it, in nanoseconds; the first bucket takes shorter ones, too.
		From model.Duration `json:"from_ns" key:""`
		// Lengths in it are less, in nanoseconds; the last bucket takes longer ones, too.
		To    model.Duration `json:"to_ns" key:""`
		Count int64          `json:"count"` // Number of waits in it.
	}

	// Goroutine is the scheduling latency of one goroutine.
	Goroutine struct {
		Trace     int        `json:"trace"`     // The trace, a place in "traces".
		Goroutine model.GoID `json:"goroutine"` // Number of the goroutine.
		Function  string     `json:"function"`  // Start function of the goroutine.
		Tally
	}

	// Wait is one of the longest waits. What is not known is -1 or left out.
	Wait struct {
		Trace     int            `json:"trace"`       // The trace, a place in "traces".
		Goroutine model.GoID     `json:"goroutine"`   // Number of the goroutine.
		Function  string         `json:"function"`    // Start function of the goroutine.
		Origin    string         `json:"origin"`      // How the goroutine became runnable.
		Start     model.Time     `json:"start_ns"`    // When it became runnable.
		End       model.Time     `json:"end_ns"`      // When it ran.
		Duration  model.Duration `json:"duration_ns"` // Length, in nanoseconds: end less start.
		// The longest wait of the same incident, a place in "worst_waits": waits that overlap it
		// and were lost mostly to the same cause, behind the same function.
		Incident int     `json:"incident"`
		Stack    []Frame `json:"stack"` // Where the goroutine had stopped, innermost frame first.
		// The goroutine that made it runnable; -1 if none did or it is not known.
		Waker         model.GoID   `json:"waker" range:"-1.."`
		WakerFunction string       `json:"waker_function,omitempty"`     // Start function of the waker; left out if there is none.
		WakerStack    []Frame      `json:"waker_stack"`                  // Where the waker was.
		ReadiedOn     model.ProcID `json:"readied_on_proc" range:"-1.."` // The proc on which it became runnable; -1 if there was none.
		RanOn         model.ProcID `json:"ran_on_proc" range:"-1.."`     // The proc on which it ran; -1 if not known.
		Causes        []CauseTotal `json:"causes"`                       // What the wait was lost to; adds up to its length.
		Blockers      []Blocker    `json:"blockers"`                     // Whom it was behind in its queue, at most 10.
	}

	// Frame is a frame of a stack, innermost first.
	Frame struct {
		Function string `json:"function"` // The function.
		File     string `json:"file"`     // Source file.
		Line     uint64 `json:"line"`     // Line in it, from 1; 0 if not known.
	}
)

// String returns the loss in one line.
func (l *Loss) String() string {
	if l.Bytes == 0 {
		return "not complete, although all that was there was read: " + l.Cause
	}
	upTo, where := "", ""
	if l.Generation != 0 { // its first events were used
		upTo, where = "up to ", fmt.Sprintf(" in generation %d", l.Generation)
	}
	s := fmt.Sprintf("lost %sthe last %s of %s (%s)%s: %s; analysed the first %s",
		upTo, textui.Bytes(l.Bytes), textui.Bytes(l.Size), textui.Ratio(l.Bytes, l.Size), where, l.Cause, textui.Duration(l.After))
	return s + textui.If(l.Patchy, ", towards whose end some threads are missing")
}

// Early describes the length of a recording that ended early. Its last part is incomplete,
// which is not damage.
func (t *Trace) Early() string {
	s := "the recording ended early: " + t.EndedEarly
	if t.Loss != nil {
		s += fmt.Sprintf("; analysed the first %s, up to the last complete part", textui.Duration(t.Loss.After))
	}
	return s
}

// Version returns n of the format Go 1.n, 0 if it is not known.
func (t *Trace) Version() int {
	n, _ := strconv.Atoi(strings.TrimPrefix(t.Format, "go 1."))
	return n
}

// Add counts a length that ended at the given time.
func (t *Tally) Add(d model.Duration, at model.Time) {
	t.longest(d, at)
	t.Count++
	t.Total += d
}

// longest keeps the longest, and of equal ones the earliest.
func (t *Tally) longest(d model.Duration, at model.Time) {
	if t.Count == 0 {
		t.Max, t.MaxAt = d, at
	}
	keepMost(&t.Max, &t.MaxAt, d, at)
}

// Total returns the sum of their lengths.
func (c *Censored) Total() model.Duration { return c.AtStart.Total + c.AtEnd.Total }

// Merge adds o.
func (c *Censored) Merge(o *Censored) {
	c.AtStart.Merge(&o.AtStart)
	c.AtEnd.Merge(&o.AtEnd)
}
