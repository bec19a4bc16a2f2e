package main

import (
	"errors"

	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/report"
)

// checker counts what conservation is checked for.
type checker struct {
	goroutines, threads int64
	intervals           int64
}

// GoEnd implements [model.GoEndObserver].
func (c *checker) GoEnd(*model.Goroutine) { c.goroutines++ }

// Thread implements [model.ThreadObserver].
func (c *checker) Thread(*model.Thread) { c.threads++ }

// GoSpan implements [model.GoSpanObserver].
func (c *checker) GoSpan(*model.GoSpan) { c.intervals++ }

// ThreadSpan implements [model.ThreadSpanObserver].
func (c *checker) ThreadSpan(*model.ThreadSpan) { c.intervals++ }

// ProcSpan implements [model.ProcSpanObserver].
func (c *checker) ProcSpan(s *model.ProcSpan) { c.intervals++ }

// result says how the check of a trace went.
func (c *checker) result(rd *reading) report.Check {
	r := report.Check{Goroutines: c.goroutines, Threads: c.threads, Intervals: c.intervals}
	if err := rd.Machine.Check(); err != nil {
		r.Violation = err.Error()
	}
	return r
}

// checked reports on stderr how --check went, and sets the exit code.
func (a *app) checked(doc *report.Document) error {
	var sum report.Check
	var contradictions int64
	for _, t := range doc.Traces {
		sum.Goroutines += t.Check.Goroutines
		sum.Threads += t.Check.Threads
		sum.Intervals += t.Check.Intervals
		contradictions += t.Inconsistent
		if t.Check.Violation != "" {
			a.say("check: %s: %s", t.Name, t.Check.Violation)
			a.hint("this is a bug of schedscope: please report it with the trace")
			return &exitError{code: exitViolated, err: errors.New(t.Check.Violation), silent: true}
		}
	}
	if contradictions > 0 {
		a.say("check: cannot judge: %s of the trace contradict what was before", countOf(contradictions, "event"))
		return &exitError{code: exitUndecided, silent: true}
	}
	a.say("check: ok: %s of %s, %s and all procs add up exactly to their lifetimes",
		countOf(sum.Intervals, "interval"), countOf(sum.Goroutines, "goroutine"), textui.Plural(sum.Threads, "thread"))
	return nil
}
