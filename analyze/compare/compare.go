// Package compare compares two sets of traces: what each has of what, and by how much
// they differ. It describes. Package gate judges, by the figures and parts of this one.
// This package promises nothing to other modules.
//
// A trace of one process is one sample. Medians, intervals and p are over traces; waits of
// several traces are never thrown together. What is said of parts (classes of waiting,
// causes, reasons) are means over traces, so that parts add up to their total.
package compare

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// Trace is one trace of a comparison.
type Trace struct {
	Name   string // for people: printable, and unlike those of other traces
	Sample *sample.Sample
	// Reasons are the intervals of blocking by reason, of the program's goroutines, whole ones.
	Reasons []sample.Class
	// Ops are what could be counted as ops, the commonest first, at most maxOps.
	Ops []OpName

	pooled bool // what it did is in a report of several, see [Side.AddSaved]
	of     int  // how many traces it is; 0: one
}

// OpName is something that can be counted as ops.
type OpName struct {
	Op    string // such as "region:request"
	Count int64
}

const maxOps = 20

// NewTrace returns the Trace of a sample and of the analyses of its window. It does not retain
// them.
func NewTrace(name string, s *sample.Sample, r *analyze.Report) *Trace {
	reasons := r.Waits.ByReason()
	return &Trace{Name: name, Sample: s, Ops: opsOf(r), Reasons: result.Each(reasons, func(x *result.Named) sample.Class {
		return sample.Class{Detail: x.Name, Total: x.Total, Count: x.Count}
	})}
}

// traceJSON is what identifies a trace, and the sizes of its window.
type traceJSON struct {
	Name     string         `json:"name"`
	Go       string         `json:"go"`
	MinProcs int            `json:"min_procs"`
	MaxProcs int            `json:"max_procs"`
	Whole    bool           `json:"whole"`
	Loss     string         `json:"loss,omitempty"`
	From     model.Duration `json:"from_ns"`
	To       model.Duration `json:"to_ns"`
	Ops      int64          `json:"ops,omitempty"`
	Events   int64          `json:"events"`
	Running  model.Duration `json:"running_ns"`
	CPU      model.Duration `json:"cpu_ns,omitempty"`
	Capacity model.Duration `json:"capacity_ns"`
	Noise    *sample.Noise  `json:"noise,omitempty"`
}

// MarshalJSON writes a [traceJSON].
func (t *Trace) MarshalJSON() ([]byte, error) {
	x := t.Sample
	return json.Marshal(traceJSON{t.Name, x.Identity.Go, x.Identity.MinProcs, x.Identity.MaxProcs, x.Whole, x.Loss, x.From, x.To, x.Ops, x.Events, x.Running, x.CPU, x.Capacity, x.Noise})
}

// Side are the traces of one side.
type Side struct {
	Name   string   `json:"name"`
	Traces []*Trace `json:"traces"`

	saved []*Trace // what reports have of their traces together
}

// Schema is the format of the JSON of a [Result]. Within it fields are only ever added.
const Schema = "schedscope.compare/v1"

// Result is a comparison. Its JSON is the report for programs, in which values of unit "ns"
// are integers: nanoseconds, of quantities per op or second in each of these. Shares
// ("fraction") and counts ("number") need not be whole.
type Result struct {
	Schema string `json:"schema"`
	// Verdict is WORSE, BETTER, SAME or UNKNOWN: of requests, or else of ops, of batches, or of waiting to run. Headline
	// says what changed most, and Part which part of it.
	Verdict  string `json:"verdict"`
	Headline string `json:"headline"`
	Part     string `json:"part,omitempty"`
	// Why names what else differs beyond chance and may explain it, "" if nothing does.
	Why string `json:"why,omitempty"`
	// Only names the requests that one side has and the other does not, or too few to compare; and a batch likewise.
	Only []string `json:"only,omitempty"`
	// Scope says what the number of traces does not allow to say.
	Scope string `json:"scope,omitempty"`
	// Op is what counts as an op, "" if totals are per second.
	Op   string `json:"op,omitempty"`
	Per  string `json:"per"` // op or second
	Base Side   `json:"base"`
	Cand Side   `json:"cand"`
	// Warnings say what makes the sides hard to compare, the worst first.
	Warnings []Warning `json:"warnings"`
	// Hints say how to learn more.
	Hints []string `json:"hints"`
	// Skipped are traces that could not be read.
	Skipped []result.Skipped `json:"skipped"` // set by the caller
	// Window is what was asked for, see [sample.Spec].
	Window string `json:"-"` // set by the caller

	Alpha  float64 `json:"alpha"`            // below which p is a row said to differ
	Tested int     `json:"rows_tested"`      // those that have a p
	Differ int     `json:"rows_that_differ"` // of these
	Rows   []Row   `json:"rows"`             // by section

	// Where the difference is: per op or second, the greatest change first.
	Waits   Parts `json:"waits"`   // classes of waiting to run
	Causes  Parts `json:"causes"`  // what waiting was lost to
	Behind  Parts `json:"behind"`  // the code that others waited behind
	Blocked Parts `json:"blocked"` // by reason

	// Requests of the kind with the most time, if there are any: what a request did, by kinds of
	// time on its critical path. Of those that the headline is about, what the slowest 1 % did, or
	// the slowest five of few, and those of about median length.
	RequestKind string `json:"request_kind,omitempty"`
	Requests    Parts  `json:"requests"`
	Slowest     Parts  `json:"slowest_requests"`
	Usual       Parts  `json:"usual_requests"`

	lead    *Row   // that the headline is about
	weighed []*Row // of which it is one
	doubt   string // what speaks against it; "": nothing
	unlike  string // why Behind is not compared, see [SampledUnlike]
	// unjudged are requests that there are too few of, and that seem to have changed by much.
	unjudged []string
	apart    []string // groups of requests that both sides have, which the others are without
	foreign  string   // why the requests of the sides may be of different programs; "": some are of both
}

// PerOp reports whether totals are per op, not per second.
func (r *Result) PerOp() bool { return r.Op != "" }

// Single reports whether a side has but one trace: then nothing is known of chance.
func (r *Result) Single() bool { return len(r.Base.Traces) < 2 || len(r.Cand.Traces) < 2 }

// Saved reports whether the side has a saved report. The parts of its traces are known only
// together.
func (r *Result) Saved() bool { return len(r.Base.saved)+len(r.Cand.saved) > 0 }

// Row returns the row of a quantity, nil if there is none.
func (r *Result) Row(quantity string) *Row {
	return result.Find(r.Rows, func(row *Row) bool { return row.Quantity == quantity })
}

// Of compares two sides with at least one trace each. Op is the unit of counting, "" for none.
func Of(base, cand Side, op string) *Result {
	r := &Result{Schema: Schema, Base: base, Cand: cand, Op: op, Per: "second", Alpha: Alpha, Rows: []Row{}, Warnings: []Warning{}, Hints: []string{}, Skipped: []result.Skipped{}}
	if r.PerOp() {
		r.Per = "op"
	}
	r.scope()
	all := slices.Concat(r.Base.samples(), r.Cand.samples())
	r.unlike, r.RequestKind = SampledUnlike(all), requestKind(all)
	r.rows()
	r.warn()
	r.judge()
	r.parts()
	if r.headline(); r.foreign == "" {
		r.hung()
		r.leaked()
		r.held()
	}
	return r
}

// scope says that there are too few traces for a test.
func (r *Result) scope() {
	n, m := len(r.Base.Traces), len(r.Cand.Traces)
	switch {
	case n == 1 && m == 1:
		r.Scope = "one trace a side: not tested"
	case r.Single():
		r.Scope = "one trace on a side: not tested"
	case r.TooFew():
		r.Scope = fmt.Sprintf("%d and %d traces: too few for a test, which takes %s (10 per side are good)", n, m, EnoughText())
	}
}

// TooFew reports whether there are several traces per side but not enough for any row to
// differ.
func (r *Result) TooFew() bool {
	return !r.Single() && !CanDiffer(len(r.Base.Traces), len(r.Cand.Traces))
}

// units returns how many ops or seconds a trace has, 0 if that is not known.
func (r *Result) units(t *Trace) float64 {
	return textui.Either(r.PerOp(), float64(t.Sample.Ops), Seconds(t.Sample))
}

// opsOf returns the regions and tasks of a trace, the commonest first.
func opsOf(r *analyze.Report) []OpName {
	var ops []OpName
	add := func(kind, name string, n int64) {
		if n > 0 && name != result.NoName && name != result.OtherNames && name != sample.WindowRegion {
			ops = append(ops, OpName{kind + ":" + name, n})
		}
	}
	for _, x := range r.Regions.ByName() {
		add("region", x.Name, x.Count)
	}
	for _, x := range r.Tasks.ByName() {
		add("task", x.Name, x.Count)
	}
	return result.First(ops, maxOps, func(a, b OpName) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Op, b.Op)) })
}

// samples returns those of the traces.
func (s *Side) samples() []*sample.Sample {
	return result.Each(s.Traces, func(t **Trace) *sample.Sample { return (*t).Sample })
}

// counted reports whether a trace of a side has ops, or any time.
func (r *Result) counted(s *Side) bool {
	return slices.ContainsFunc(s.Traces, func(t *Trace) bool { return r.units(t) > 0 })
}

// requestKind returns the kind of requests that most traces have most of.
func requestKind(all []*sample.Sample) (most string) {
	traces := map[string]int{}
	for _, s := range all {
		if s.Requests != nil {
			kind := s.Requests.Kind
			if traces[kind]++; traces[kind] > traces[most] {
				most = kind
			}
		}
	}
	return most
}
