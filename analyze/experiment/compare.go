// Package experiment compares two sets of traces: what each has of what, and by how much
// they differ. It describes. Package gate judges, by the figures and parts of this one.
//
// A trace of one process is one sample. Medians, intervals and p are over traces; waits of
// several traces are never thrown together. What is said of parts (classes of waiting,
// causes, reasons) are means over traces, so that parts add up to their total.
package experiment

import (
	"cmp"
	"slices"

	"github.com/schedscope/schedscope/analyze/result"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/model"
)

// Trace is what a comparison takes from one trace.
type Trace struct {
	Name   string // for people: printable, and unlike those of other traces
	Sample *sample.Sample
	// Funcs are the waits to run by start function, and Reasons the intervals of blocking
	// by reason, of the program's goroutines, whole ones.
	Funcs, Reasons []Waits
	// Ops are what could be counted as ops, the commonest first, at most maxOps.
	Ops []OpName
}

// Waits are intervals of one name.
type Waits struct {
	Name  string
	Total model.Duration
	Count int64
	P99   model.Duration
}

// OpName is something that can be counted as ops.
type OpName struct {
	Op    string // such as "region:request"
	Count int64
}

const maxOps = 20

// NewTrace returns what is needed of a sample and of the analyses of its window, which it
// does not keep.
func NewTrace(name string, s *sample.Sample, r *analyze.Report) *Trace {
	return &Trace{Name: name, Sample: s, Funcs: waitsOf(r.Latency.ByFunc()), Reasons: waitsOf(r.Waits.ByReason()), Ops: opsOf(r)}
}

func waitsOf(rows []analyze.DistRow) []Waits {
	out := make([]Waits, len(rows))
	for i, r := range rows {
		out[i] = Waits{r.Name, r.Dist.Total(), r.Dist.Count(), r.Dist.Quantile(0.99)}
	}
	return out
}

// Side are the traces of one side.
type Side struct {
	Name   string
	Traces []*Trace
}

// Result is a comparison.
type Result struct {
	Base, Cand Side
	// Op is what counts as an op, "" if totals are per second.
	Op string
	// Headline is what to know first, a sentence or two.
	Headline string
	// Why names what else differs beyond chance and often is the cause, "" if nothing is
	// known of chance.
	Why string
	// Warnings say what makes the sides hard to compare, the worst first.
	Warnings []Warning
	// Hints say how to learn more.
	Hints []string

	Rows []Row // by section

	// Where the difference is: per op or second, the greatest change first.
	Waits   Parts // classes of waiting to run
	Causes  Parts // what waiting was lost to
	Blocked Parts // by reason
	Behind  Parts // what others waited behind
}

// PerOp reports whether totals are per op, not per second.
func (r *Result) PerOp() bool { return r.Op != "" }

// Unit returns what totals are told per: "op" or "second".
func (r *Result) Unit() string {
	if r.PerOp() {
		return "op"
	}
	return "second"
}

// Single reports whether a side has but one trace: then nothing is known of chance.
func (r *Result) Single() bool { return len(r.Base.Traces) < 2 || len(r.Cand.Traces) < 2 }

// Tested returns how many rows have a p, and how many of them differ.
func (r *Result) Tested() (all, differ int) {
	for i := range r.Rows {
		if r.Rows[i].P != nil {
			all++
		}
		if r.Rows[i].Differs {
			differ++
		}
	}
	return all, differ
}

// Row returns the row of a quantity, nil if there is none.
func (r *Result) Row(quantity string) *Row {
	for i := range r.Rows {
		if r.Rows[i].Quantity == quantity {
			return &r.Rows[i]
		}
	}
	return nil
}

// per returns the ending of quantities per op or second.
func (r *Result) per() rule.Per {
	if r.PerOp() {
		return rule.PerOp
	}
	return rule.PerSecond
}

// Of compares two sides, which both have at least one trace. op is what counts as an op,
// "" if nothing does.
func Of(base, cand Side, op string) *Result {
	r := &Result{Base: base, Cand: cand, Op: op}
	r.rows()
	r.warn()
	r.parts()
	r.headline()
	return r
}

// units returns how many ops or seconds a trace has, 0 if that is not known.
func (r *Result) units(t *Trace) float64 {
	if r.PerOp() {
		return float64(t.Sample.Ops)
	}
	return Seconds(t.Sample)
}

// opsOf returns the regions and tasks of a trace, the commonest first.
func opsOf(r *analyze.Report) []OpName {
	var ops []OpName
	add := func(kind, name string, n int64) {
		if n > 0 && name != analyze.NoName && name != result.OtherNames && name != sample.WindowRegion {
			ops = append(ops, OpName{kind + ":" + name, n})
		}
	}
	for _, x := range r.Regions.ByName() {
		add("region", x.Name, x.Count)
	}
	for _, x := range r.Tasks.ByName() {
		add("task", x.Name, x.Count)
	}
	slices.SortStableFunc(ops, func(a, b OpName) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Op, b.Op)) })
	return ops[:min(len(ops), maxOps)]
}

// samples returns those of the traces.
func (s *Side) samples() []*sample.Sample {
	list := make([]*sample.Sample, len(s.Traces))
	for i, t := range s.Traces {
		list[i] = t.Sample
	}
	return list
}

// counted returns how many traces of a side have ops, or any time.
func (r *Result) counted(s *Side) int {
	n := 0
	for _, t := range s.Traces {
		if r.units(t) > 0 {
			n++
		}
	}
	return n
}
