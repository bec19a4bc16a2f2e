package analyze

import (
	"reflect"
	"slices"

	"github.com/schedscope/schedscope/analyze/causes"
	"github.com/schedscope/schedscope/analyze/pathologies"
	"github.com/schedscope/schedscope/analyze/requests"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/model"
)

// Report is the registry of analyses: each exported field is one. Feed it with
// [Report.Observe] (and events, which some count, with [Report.Event]), call Finish once
// the Machine has finished, and take the results with [Report.Result].
//
// What an analysis does is known by its methods. It gets the records for which it
// implements an observer interface of package model. A [feed] calls those that observe
// intervals or counts. Before the first record, Begin(origin)
// and BeginAt(start of accounting) are called, after the last one Finish() or Finish(start,
// end), and then Result(*result.Report), which adds what was found. All in the order of the
// fields: a Result may look at those before.
type Report struct {
	Totals      *Totals
	Latency     *Latency
	Worst       *Worst
	Bursts      *Bursts
	Waits       *Waits
	Syscalls    *Syscalls
	STWs        *STWs
	Netpoll     *Netpoll
	Handoffs    *Handoffs
	Threads     *Threads
	GC          *GC
	Timeline    *Timeline
	Heat        *Heat
	Idle        *Idle
	Peak        *Peak
	Tasks       *Tasks
	Regions     *Regions
	Goroutines  *Goroutines
	Requests    *Requests
	Causes      *causes.Analysis // this, Queues and Pathologies: fed by steps
	Blame       *causes.Blame
	Queues      *Queues
	Pathologies *pathologies.Analysis

	specs     []requests.Spec
	origin    model.Time
	hasOrigin bool
	steps     *causes.Feed // nil without causes
}

// New returns an empty Report for a trace with these tables.
func New(t *model.Tables, o Options) *Report {
	if o.Worst <= 0 {
		o.Worst = verdictWaits
	}
	r := &Report{
		Totals:      NewTotals(),
		Latency:     NewLatency(t, longestShown),
		Worst:       NewWorst(t, o.Worst),
		Bursts:      NewBursts(t, longestShown),
		Waits:       NewWaits(t),
		Syscalls:    NewSyscalls(t),
		STWs:        NewSTWs(t),
		Netpoll:     &Netpoll{},
		Handoffs:    &Handoffs{},
		Threads:     &Threads{},
		Timeline:    NewTimeline(),
		Heat:        NewHeat(),
		Peak:        NewPeak(t),
		Tasks:       NewTasks(t),
		Regions:     NewRegions(t),
		Goroutines:  NewGoroutines(t),
		Requests:    newRequests(t, o),
		Causes:      causes.New(t),
		Queues:      newQueues(),
		Pathologies: pathologies.New(t),
	}
	r.Idle, r.Blame = NewIdle(r.Timeline), causes.NewBlame(t, r.Causes)
	r.GC = NewGC(t, r.Idle)
	r.specs = o.Requests
	r.newSteps(t, o)
	return r
}

// analyses returns the fields, in their order.
func (r *Report) analyses() []any {
	var list []any
	v := reflect.ValueOf(r).Elem()
	for i := range v.NumField() {
		if v.Type().Field(i).IsExported() {
			list = append(list, v.Field(i).Interface())
		}
	}
	return list
}

// newSteps prepares for queues and causes, or says why there will be none.
func (r *Report) newSteps(t *model.Tables, o Options) {
	refused := "not asked for"
	if !o.NoCauses {
		f, err := causes.NewFeed(t, o.Version, r.Causes, o.Worst)
		if err == nil {
			f.Explained, f.Least, f.Judge, f.Also = o.Explained, o.Least, r.Queues.judge, r.Pathologies
			for _, q := range append([]any{r.Queues, r.Pathologies}, o.Queues...) {
				f.Observe(q)
			}
			r.steps = f
			return
		}
		refused = err.Error()
	}
	r.Causes.Refused, r.Queues.Refused = refused, refused
}

// Begin sets the origin of points in time: that of the whole trace, when only a
// window of it is analysed. Without, the origin is where accounting starts.
// Call it before [Report.ObserveSteps].
func (r *Report) Begin(origin model.Time) { r.origin, r.hasOrigin = origin, true }

// Event counts an event; see [Totals.Event].
func (r *Report) Event(ev *model.Event) {
	r.Totals.Event(ev)
	if ev.Kind == model.EventStackSample {
		r.sample(ev)
	}
	if r.steps != nil && ev.Kind != model.EventGoTransition && ev.Kind != model.EventProcTransition {
		r.steps.Event(ev)
	}
	if r.Requests.active || ev.Kind != model.EventGoTransition || ev.SubjectStack != 0 || ev.From == uint8(model.GoNotExist) {
		r.Requests.event(ev)
	}
}

func (r *Report) sample(ev *model.Event) {
	r.Pathologies.Sample(ev.Time)
	r.Blame.Sample(ev)
}

// ObserveSteps subscribes the analyses of run queues and causes to the steps of m before
// [Report.Observe]: the queues at the start of a window are known only from earlier events.
// Waits that end before the window do not count.
func (r *Report) ObserveSteps(m *model.Machine) {
	if r.steps != nil {
		r.steps.Follow(m)
	}
}

// Observe registers all analyses with m. Those of run queues and causes run on a goroutine
// of their own, so nothing but Event may be called until Finish.
func (r *Report) Observe(m *model.Machine) {
	r.ObserveSteps(m)
	if r.steps != nil {
		r.steps.Count()
		r.Queues.Begin(r.origin)
		r.Queues.beginAt(m.Start())
	}
	r.Requests.follow(m, r.specs)
	r.Pathologies.Follow(m)
	m.Observe(starter{r})
	fed := r.fed()
	for _, a := range r.analyses() {
		switch a.(type) {
		case model.StepObserver, *causes.Analysis, *Queues:
		default:
			if !slices.Contains(fed, a) {
				m.Observe(a)
			}
		}
	}
	m.Observe(r.Blame.Calls())
	m.Observe(&feed{r})
}

// starter begins the analyses when accounting starts.
type starter struct{ *Report }

// Started implements [model.StartObserver].
func (r starter) Started(begin model.Time) {
	if !r.hasOrigin {
		r.Begin(begin)
	}
	if r.steps != nil {
		r.steps.Pause() // what it fills now changes
	}
	for _, a := range r.analyses() {
		if x, ok := a.(interface{ Begin(model.Time) }); ok {
			x.Begin(r.origin)
		}
		if x, ok := a.(interface{ BeginAt(model.Time) }); ok {
			x.BeginAt(begin)
		}
	}
}

// Finish completes the analyses. Call it once, after [model.Machine.Finish],
// with the accounted time's start and end.
func (r *Report) Finish(start, end model.Time) {
	if r.steps != nil {
		r.steps.Finish()
	}
	for _, a := range r.analyses() {
		switch x := a.(type) {
		case interface{ Finish() }:
			x.Finish()
		case interface{ Finish(start, end model.Time) }:
			x.Finish(start, end)
		}
	}
	if r.steps != nil {
		r.steps.Explain(r.Worst.Waits())
	}
}

// Result returns the results of the analyses. The caller sets traces, findings and notes. The
// result owns the distributions: the report must not be used afterwards.
func (r *Report) Result() *result.Report {
	v := &result.Report{Schema: result.Schema, Skipped: []result.Skipped{}}
	for _, a := range r.analyses() {
		a.(interface{ Result(*result.Report) }).Result(v)
	}
	return v
}

// longestShown is how many goroutines with the greatest latency in all, longest bursts, tasks
// and regions a [Report] lists.
const longestShown = 20

// Options configures a [Report]. The zero value of a field means its default.
type Options struct {
	Worst int // worst waits shown in full; default 10. Verdicts rest on 10 in any case
	// Version is the minor Go version of the trace. The run queues, and with them
	// the causes of waits, are reconstructed by that version's rules.
	Version int
	// NoCauses leaves that out, and with it the pathologies, which need most of it.
	NoCauses bool
	// Requests are those to look for, all kinds if there are none. Slow, if not 0, takes all
	// that last as long for the slowest.
	Requests []requests.Spec
	Slow     model.Duration
	// Request, if not nil, is called with each request that [Requests] sees, in the order in which their ends are known, on
	// another goroutine than the Machine's.
	Request func(*requests.Request)
	// Explained, if not nil, is called with each wait that Causes counts and that takes Least
	// if there is one, which Explained may change. Of the wait's Span it gets the goroutine, its
	// function, start, end and origin. Each of Queues observes the run queues.
	// [causes.NewExplainer] does only that, and knows all of Span.
	Explained func(*causes.ExplainedWait)
	Least     *model.Duration
	Queues    []any
}

// What analyses are made of.
type (
	Dist     = dist.Dist
	Uses     = result.Uses
	Tally    = result.Tally
	Censored = result.Censored
)
