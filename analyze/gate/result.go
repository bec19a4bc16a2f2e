// Package gate decides whether scheduling latency keeps its budget. This package promises
// nothing to other modules.
//
// The unit of every test is a trace of its own process. Guards come first: traces that
// are not comparable, not whole or recorded on a disturbed machine decide nothing.
package gate

import (
	"github.com/schedscope/schedscope/analyze/compare"
	"github.com/schedscope/schedscope/analyze/gate/budget"
	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/internal/stat"
)

// Schema of a Result as JSON.
const Schema = "schedscope.gate/v1"

// Verdict is the outcome of a rule, or of all rules.
type Verdict string

// Verdicts. Unseen is a pass, too: no violation was shown, one of the size that the rule
// wants to detect would have been with a probability of 80 %, and the interval excludes it.
const (
	Fail         Verdict = "fail"
	Pass         Verdict = "pass"   // proved: the interval lies within the bound
	Unseen       Verdict = "unseen" // no violation shown where it would have been
	Inconclusive Verdict = "inconclusive"
	Waived       Verdict = "waived"   // fail, with a waiver
	Unusable     Verdict = "unusable" // of all: input or budget cannot be used
)

// Exit codes by verdict.
const (
	ExitOK        = 0
	ExitViolated  = 1
	ExitUnusable  = 2
	ExitUndecided = 3
)

// Design is the way the traces of the two sides were recorded.
type Design string

// Designs.
const (
	Interleaved Design = "interleaved" // both sides in turns, on one machine
	Separate    Design = "separate"    // two sets, of which that is not known
	Absolute    Design = "absolute"    // one side, no baseline
)

// Result is the outcome of a check. It holds all that any report shows. Names are as traces
// and budgets have them: untrusted text.
type Result struct {
	Schema     string `json:"schema"`
	MetricDefs string `json:"metric_defs"`
	Workload   string `json:"workload,omitempty"`
	BudgetHash string `json:"budget_sha,omitempty"`

	Verdict  Verdict `json:"verdict"`
	Exit     int     `json:"exit"`     // 0 passed, 1 budget violated, 2 unusable, 3 cannot judge
	Headline string  `json:"headline"` // one sentence
	Design   Design  `json:"design"`
	Alpha    float64 `json:"alpha"` // probability of a false alarm over all rules of level error

	Base *Side `json:"base,omitempty"` // nil: absolute
	Cand Side  `json:"cand"`

	Guards   []Guard      `json:"guards"`
	Rules    []RuleResult `json:"rules"`
	Warnings []string     `json:"warnings,omitempty"`
	// Next are suggestions that concern the whole check.
	Next []string `json:"next,omitempty"`
}

// Side is the set of traces of one side.
type Side struct {
	Name     string          `json:"name"`
	Traces   []string        `json:"traces"`
	Dropped  []Dropped       `json:"dropped,omitempty"`
	Identity sample.Identity `json:"identity"` // of the first
	Commit   string          `json:"commit,omitempty"`
	// Medians over traces; nil: not known.
	OpRate *float64   `json:"op_rate,omitempty"` // ops per second
	Events *float64   `json:"events_per_op,omitempty"`
	Noise  *env.Noise `json:"noise,omitempty"`
	Busy   *float64   `json:"busy,omitempty"` // running time by capacity
}

// Dropped is a trace that was left out.
type Dropped struct {
	Trace string `json:"trace"`
	Why   string `json:"why"`
}

// GuardStatus is the outcome of a guard.
type GuardStatus string

// Outcomes of guards.
const (
	GuardOK      GuardStatus = "ok"
	GuardFailed  GuardStatus = "failed"
	GuardUnknown GuardStatus = "unknown" // what it looks at is not recorded
	GuardFlag    GuardStatus = "flag"    // is reported, blocks nothing
)

// Guard is a condition on the traces.
type Guard struct {
	Name   string      `json:"name"` // such as "gomaxprocs", "load", "machine", "whole", "mix"
	Status GuardStatus `json:"status"`
	// Blocks says which rules it keeps from being judged: "all", "latency" (all but
	// counters per op), "relative", "loaded" (relative ones but processor time per op), or "".
	Blocks string `json:"blocks,omitempty"`
	Text   string `json:"text"` // what was seen, a sentence
}

// RuleResult is the outcome of a rule.
type RuleResult struct {
	Rule  string       `json:"rule"` // its text
	Slug  string       `json:"slug"` // stable, of a-z, 0-9 and -
	Level budget.Level `json:"level"`
	Owner string       `json:"owner,omitempty"`
	Unit  rule.Unit    `json:"unit"`

	Verdict Verdict `json:"verdict"`
	// Why it is inconclusive, or what limits the verdict.
	Why string `json:"why,omitempty"`
	// Point: compared without statistics.
	Point bool `json:"point,omitempty"`
	// Relative: Bound depends on the baseline.
	Relative bool `json:"relative,omitempty"`
	// LowerIsWorse: values below Bound violate the rule, not those above.
	LowerIsWorse bool `json:"lower_is_worse,omitempty"`

	Base *Values `json:"base,omitempty"`
	Cand *Values `json:"cand,omitempty"`
	// Bound is the limit in the quantity's unit: of a relative rule at the baseline's median.
	Bound float64 `json:"bound"`
	// Ratio of the candidate to the baseline: Hodges-Lehmann, nil if there is none.
	Ratio *stat.Interval `json:"ratio,omitempty"`
	// Test names what gave P: "permutation" or "sign".
	Test string `json:"test,omitempty"`
	// P of "within the budget", one-sided; PAdj after Holm's correction over the rules of
	// level error. nil: not tested.
	P    *float64 `json:"p,omitempty"`
	PAdj *float64 `json:"p_adj,omitempty"`
	// MDE is the smallest ratio to the baseline that would have been seen with 80 %
	// probability; 0 if not known. Detect is what the rule wants to see, Needed how many
	// traces per side that takes.
	MDE    float64 `json:"mde,omitempty"`
	Detect float64 `json:"detect,omitempty"`
	Needed int     `json:"needed,omitempty"`

	Waiver  *Waiver  `json:"waiver,omitempty"`
	Explain *Explain `json:"explain,omitempty"` // of a violated rule
}

// Values are a quantity's values on one side.
type Values struct {
	N      int       `json:"n"`
	Median float64   `json:"median"`
	Values []float64 `json:"values"` // in the order of the traces
	// Bounds of the median, of an absolute rule: each by itself at the rule's confidence.
	Bounds *stat.Interval `json:"bounds,omitempty"`
}

// Waiver is a waiver that applied.
type Waiver struct {
	Until   string `json:"until"` // a day, YYYY-MM-DD
	Issue   string `json:"issue,omitempty"`
	Ceiling string `json:"ceiling,omitempty"`
}

// Explain is the explanation of a violated rule.
type Explain struct {
	// Alone: the parts are of the candidate alone, and their share is of the whole: there is
	// nothing to compare with, or the base violates the rule, too.
	Alone bool `json:"alone,omitempty"`
	// Where are the parts with the greatest increase, worst first.
	Where []Part `json:"where,omitempty"`
	// Behind are those that the waits stood behind, greatest increase first.
	Behind []Part `json:"behind,omitempty"`
	// Origin is "program", "machine", "timing" or "unknown",
	// Why the reasons in words.
	Origin string   `json:"origin"`
	Why    []string `json:"why"`
	// See are stretches of traces to look at, worst first, and a twin of the baseline.
	See  []Look   `json:"see,omitempty"`
	Next []string `json:"next,omitempty"`
}

// Part is a class of waiting with its share of the increase.
type Part = compare.Growth

// Look is a stretch of a trace.
type Look struct {
	Trace string `json:"trace"`
	Base  bool   `json:"base,omitempty"`
	sample.Stretch
}
