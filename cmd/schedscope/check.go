package main

import (
	"errors"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
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

// add adds the counts of another trace.
func (c *checker) add(o *checker) {
	c.goroutines += o.goroutines
	c.threads += o.threads
	c.intervals += o.intervals
}

// checked reports on stderr how --check of traces went, and sets the exit code.
func (a *app) checked(sum *checker, traces []result.Trace) error {
	var contradictions int64
	for i := range traces {
		t := &traces[i]
		contradictions += t.Inconsistent
		if t.Violation != "" {
			a.say("check: %s: %s", t.Name, t.Violation)
			a.hint("this is a bug of schedscope: please report it with the trace")
			return &exitError{code: exitViolated, err: errors.New(t.Violation), silent: true}
		}
	}
	if contradictions > 0 {
		a.say("check: cannot judge: %s of the trace contradict what was before", countOf(contradictions, "event"))
		return &exitError{code: exitUndecided, silent: true}
	}
	a.say("check: ok: %s of %s, %s and all procs add up exactly to their lifetimes",
		countOf(sum.intervals, "interval"), countOf(sum.goroutines, "goroutine"), textui.Plural(sum.threads, "thread"))
	return nil
}
