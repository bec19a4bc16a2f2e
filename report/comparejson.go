package report

import (
	"encoding/json"
	"io"
	"math"

	"github.com/schedscope/schedscope/analyze/result"

	"github.com/schedscope/schedscope/analyze/experiment"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/internal/stat"
)

// CompareSchema names the format of [CompareV1]. Within it fields are only ever added.
const CompareSchema = "schedscope.compare/v1"

// The types below are the JSON report of a comparison. Values of unit "ns" are integers:
// nanoseconds, of quantities per op or second in each of these. Shares ("fraction") and
// counts ("number") need not be whole.
type (
	// CompareV1 is the whole report.
	CompareV1 struct {
		Schema   string               `json:"schema"`
		Headline string               `json:"headline"`
		Why      string               `json:"why,omitempty"`   // what else differs beyond chance
		Scope    string               `json:"scope,omitempty"` // what the number of traces does not allow to say
		Op       string               `json:"op,omitempty"`
		Per      string               `json:"per"` // op or second
		Base     CompareV1Side        `json:"base"`
		Cand     CompareV1Side        `json:"cand"`
		Warnings []experiment.Warning `json:"warnings"`
		Hints    []string             `json:"hints"`
		Skipped  []result.Skipped     `json:"skipped"`
		Alpha    float64              `json:"alpha"` // below which p is a row said to differ
		Tested   int                  `json:"rows_tested"`
		Differ   int                  `json:"rows_that_differ"`
		Rows     []CompareV1Row       `json:"rows"`
		// Parts of totals per op or second, means over traces.
		Waits   CompareV1Parts `json:"waits"`
		Causes  CompareV1Parts `json:"causes"`
		Behind  CompareV1Parts `json:"behind"`
		Blocked CompareV1Parts `json:"blocked"`
	}

	// CompareV1Side are the traces of a side.
	CompareV1Side struct {
		Name   string           `json:"name"`
		Traces []CompareV1Trace `json:"traces"`
	}

	// CompareV1Trace is a trace.
	CompareV1Trace struct {
		Name     string        `json:"name"`
		Go       string        `json:"go"`
		MinProcs int           `json:"min_procs"`
		MaxProcs int           `json:"max_procs"`
		Whole    bool          `json:"whole"`
		Loss     string        `json:"loss,omitempty"`
		From     int64         `json:"from_ns"` // of the window, from the trace's start
		To       int64         `json:"to_ns"`
		Ops      int64         `json:"ops,omitempty"`
		Events   int64         `json:"events"`
		Running  int64         `json:"running_ns"`
		CPU      int64         `json:"cpu_ns,omitempty"`
		Capacity int64         `json:"capacity_ns"`
		Noise    *sample.Noise `json:"noise,omitempty"`
	}

	// CompareV1Row is a quantity of both sides.
	CompareV1Row struct {
		Section  string          `json:"section"`
		Quantity string          `json:"quantity"` // in the language of rules
		Unit     string          `json:"unit"`     // ns, number, fraction
		Base     CompareV1Values `json:"base"`
		Cand     CompareV1Values `json:"cand"`
		// Ratio of cand to base; Difference where there is none because of a zero. Their
		// confidence is 0 if there is one trace per side.
		Ratio      *stat.Interval `json:"ratio,omitempty"`
		Difference *stat.Interval `json:"difference,omitempty"`
		P          *float64       `json:"p,omitempty"` // two-sided; absent with one trace on a side
		Differs    bool           `json:"differs"`
		FewBeyond  int            `json:"traces_with_few_beyond,omitempty"`
		Chosen     bool           `json:"chosen,omitempty"` // shown because it changed much
	}

	// CompareV1Values are a quantity's values on one side, a value per trace.
	CompareV1Values struct {
		N          int       `json:"n"`
		Median     *float64  `json:"median,omitempty"`
		Low        *float64  `json:"low,omitempty"` // interval of the median
		High       *float64  `json:"high,omitempty"`
		Confidence float64   `json:"confidence,omitempty"`
		Values     []float64 `json:"values"`
		Missing    string    `json:"missing,omitempty"`
	}

	// CompareV1Parts are the parts of a total, greatest change first.
	CompareV1Parts struct {
		Base  int64           `json:"base_ns"`
		Cand  int64           `json:"cand_ns"`
		Parts []CompareV1Part `json:"parts"`
	}

	// CompareV1Part is a part of a total.
	CompareV1Part struct {
		Func       string        `json:"func,omitempty"`
		Detail     string        `json:"detail,omitempty"`
		At         *sample.Frame `json:"at,omitempty"`
		By         *sample.Frame `json:"by,omitempty"`
		Base       int64         `json:"base_ns"`
		Cand       int64         `json:"cand_ns"`
		Change     int64         `json:"change_ns"`
		Share      *float64      `json:"share_of_change,omitempty"`
		BaseTraces int           `json:"base_traces"`
		CandTraces int           `json:"cand_traces"`
	}
)

// CompareJSON writes a comparison as a [CompareV1], indented.
func CompareJSON(w io.Writer, c *Comparison) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(NewCompareV1(c))
}

// NewCompareV1 returns a comparison in the form of its JSON.
func NewCompareV1(c *Comparison) *CompareV1 {
	tested, differ := c.Tested()
	return &CompareV1{
		Schema: CompareSchema, Headline: c.Headline, Why: c.Why, Scope: c.scopeText(), Op: c.Op, Per: c.Unit(),
		Base: compareSide(&c.Base), Cand: compareSide(&c.Cand),
		Warnings: append([]experiment.Warning{}, c.Warnings...),
		Hints:    append([]string{}, c.Hints...),
		Skipped:  append([]result.Skipped{}, c.Skipped...),
		Alpha:    experiment.Alpha, Tested: tested, Differ: differ,
		Rows: result.Each(c.Rows, func(r *experiment.Row) CompareV1Row {
			return CompareV1Row{
				Section: r.Section, Quantity: r.Quantity, Unit: r.Unit.String(),
				Base: compareValues(&r.Base, r.Unit), Cand: compareValues(&r.Cand, r.Unit), Ratio: r.Ratio, Difference: wholeInterval(r.Difference, r.Unit),
				P: r.P, Differs: r.Differs, FewBeyond: r.Few, Chosen: r.Chosen,
			}
		}),
		Waits: compareParts(&c.Waits), Causes: compareParts(&c.Causes), Behind: compareParts(&c.Behind), Blocked: compareParts(&c.Blocked),
	}
}

func compareSide(s *experiment.Side) CompareV1Side {
	return CompareV1Side{s.Name, result.Each(s.Traces, func(t **experiment.Trace) CompareV1Trace {
		x := (*t).Sample
		return CompareV1Trace{(*t).Name, x.Identity.Go, x.Identity.MinProcs, x.Identity.MaxProcs, x.Whole, x.Loss, int64(x.From), int64(x.To),
			x.Ops, x.Events, int64(x.Running), int64(x.CPU), int64(x.Capacity), x.Noise}
	})}
}

// inUnit rounds times to whole nanoseconds.
func inUnit(x float64, u rule.Unit) float64 {
	if u == rule.Nanoseconds {
		return math.Round(x)
	}
	return x
}

func compareValues(v *experiment.Values, u rule.Unit) CompareV1Values {
	out := CompareV1Values{N: len(v.X), Confidence: v.Confidence, Missing: v.Missing, Values: result.Each(v.X, func(x *float64) float64 { return inUnit(*x, u) })}
	if len(v.X) > 0 {
		out.Median = new(inUnit(v.Median, u))
	}
	if v.Confidence > 0 {
		out.Low, out.High = new(inUnit(v.Low, u)), new(inUnit(v.High, u))
	}
	return out
}

func wholeInterval(i *stat.Interval, u rule.Unit) *stat.Interval {
	if i == nil {
		return nil
	}
	return &stat.Interval{Est: inUnit(i.Est, u), Low: inUnit(i.Low, u), High: inUnit(i.High, u), Confidence: i.Confidence}
}

func compareParts(ps *experiment.Parts) CompareV1Parts {
	rounded := func(x float64) int64 { return int64(math.Round(x)) }
	return CompareV1Parts{rounded(ps.Base), rounded(ps.Cand), result.Each(ps.Parts, func(p *experiment.Part) CompareV1Part {
		out := CompareV1Part{Func: p.Func, Detail: p.Detail, At: p.At, By: p.By, Base: rounded(p.Base), Cand: rounded(p.Cand), Change: rounded(p.Change()),
			BaseTraces: p.BaseTraces, CandTraces: p.CandTraces}
		if share := ps.ShareOf(p); share != 0 && !math.IsNaN(share) && !math.IsInf(share, 0) {
			out.Share = &share
		}
		return out
	})}
}
