package modeltest

import (
	"errors"
	"fmt"
	"iter"

	"github.com/schedscope/schedscope/model"
)

// maxErrors bounds what a Validator reports: one mistake often causes hundreds.
const maxErrors = 20

// A Validator observes all that a Machine reports and checks whether it is
// consistent in itself and, if the events are given to it as well, whether it
// agrees with them:
//
//	v := modeltest.NewValidator(tables)
//	m.Observe(v)
//	for each event { v.Event(&ev); m.Apply(&ev) }
//	m.Finish(end)
//	err := v.Err()
//
// It implements every observer interface of package model.
type Validator struct {
	tables  *model.Tables
	lives   map[model.GoID][]*life // an id of a C thread's goroutine may live again
	gids    []model.GoID
	procs   timelines[model.ProcID, model.ProcSpan]
	threads timelines[model.ThreadID, model.ThreadSpan]
	ends    map[model.ThreadID]model.Thread
	counts  []model.Counts

	handoffs []model.Handoff
	exits    []model.SyscallExit
	polls    []model.NetpollWake
	stws     []model.STW
	ranges   []model.RangeSpan
	tasks    []model.Task
	regions  []model.Region
	starts   []model.ThreadStart
	resizes  []model.MetricSample // of GOMAXPROCS

	events     eventLog
	lastMetric model.Time
	lastThread model.ThreadID
	end        model.Time
	errs       []error
	dropped    int
}

// life is one goroutine from its creation (or the trace's start) to its end.
type life struct {
	id    model.GoID
	from  model.Time
	at    model.Time // end of the latest span
	spans []model.GoSpan
	times [model.NumGoStates]model.Duration
	ended bool // GoEnd was called
	exit  bool // it exited
	final model.Goroutine
}

// timelines are the spans of each resource, in order of first appearance.
type timelines[K comparable, S any] struct {
	spans map[K][]S
	keys  []K
}

func (t *timelines[K, S]) add(k K, s S) {
	if t.spans == nil {
		t.spans = map[K][]S{}
	}
	if _, ok := t.spans[k]; !ok {
		t.keys = append(t.keys, k)
	}
	t.spans[k] = append(t.spans[k], s)
}

// last returns the latest span of k.
func (t *timelines[K, S]) last(k K) (S, bool) {
	var none S
	list := t.spans[k]
	if len(list) == 0 {
		return none, false
	}
	return list[len(list)-1], true
}

// allLives yields the lives of all goroutines, in order of first appearance.
func (v *Validator) allLives() iter.Seq[*life] {
	return func(yield func(*life) bool) {
		for _, id := range v.gids {
			for _, l := range v.lives[id] {
				if !yield(l) {
					return
				}
			}
		}
	}
}

// NewValidator returns a Validator that has seen nothing, for events whose strings and
// stacks are in the tables.
func NewValidator(t *model.Tables) *Validator {
	return &Validator{
		tables: t,
		lives:  map[model.GoID][]*life{},
		ends:   map[model.ThreadID]model.Thread{},
	}
}

// Err runs the checks that need the whole trace and returns the violations since NewValidator,
// or nil. Call it once, after Machine.Finish.
func (v *Validator) Err() error {
	for l := range v.allLives() {
		v.checkLife(l)
	}
	v.checkProcs()
	v.checkThreads()
	v.checkOccupation()
	v.checkCounts()
	v.checkSyscalls()
	v.checkHandoffs()
	v.checkNetpoll()
	v.checkSTWs()
	v.checkRanges()
	v.checkUser()
	v.checkEvents()
	if v.dropped > 0 {
		v.errs = append(v.errs, fmt.Errorf("and %d more", v.dropped))
	}
	return errors.Join(v.errs...)
}

func (v *Validator) errorf(format string, args ...any) {
	if len(v.errs) >= maxErrors {
		v.dropped++
		return
	}
	v.errs = append(v.errs, fmt.Errorf(format, args...))
}

// checkInterval checks what holds for an interval of any kind.
func (v *Validator) checkInterval(what string, start, end model.Time, mayBeEmpty bool) {
	if end < start || end == start && !mayBeEmpty {
		v.errorf("%s: ends at %d, begins at %d", what, end, start)
	}
	v.end = max(v.end, end)
}

// checkOpenEnd checks that what is open at its end reaches the trace's end.
func (v *Validator) checkOpenEnd(what string, end model.Time, open bool) {
	if open && end != v.end {
		v.errorf("%s: open at %d, trace ends at %d", what, end, v.end)
	}
}

// Counts implements [model.CountsObserver].
func (v *Validator) Counts(c *model.Counts) {
	v.checkInterval("counts", c.Start, c.End, false)
	v.counts = append(v.counts, *c)
}

// Handoff implements [model.HandoffObserver].
func (v *Validator) Handoff(h *model.Handoff) { v.handoffs = append(v.handoffs, *h) }

// SyscallExit implements [model.SyscallExitObserver].
func (v *Validator) SyscallExit(s *model.SyscallExit) { v.exits = append(v.exits, *s) }

// Netpoll implements [model.NetpollObserver].
func (v *Validator) Netpoll(w *model.NetpollWake) { v.polls = append(v.polls, *w) }

// STW implements [model.STWObserver].
func (v *Validator) STW(s *model.STW) { v.stws = append(v.stws, *s) }

// Range implements [model.RangeObserver].
func (v *Validator) Range(r *model.RangeSpan) { v.ranges = append(v.ranges, *r) }

// Task implements [model.TaskObserver].
func (v *Validator) Task(t *model.Task) { v.tasks = append(v.tasks, *t) }

// Region implements [model.RegionObserver].
func (v *Validator) Region(r *model.Region) { v.regions = append(v.regions, *r) }

// ThreadStart implements [model.ThreadStartObserver].
func (v *Validator) ThreadStart(s *model.ThreadStart) { v.starts = append(v.starts, *s) }

// Metric implements [model.MetricObserver].
func (v *Validator) Metric(s *model.MetricSample) {
	if s.Time < v.lastMetric {
		v.errorf("metric %s: time %d after %d", s.Name, s.Time, v.lastMetric)
	}
	v.lastMetric = s.Time
	if s.Name == "/sched/gomaxprocs:threads" {
		v.resizes = append(v.resizes, *s)
	}
}
