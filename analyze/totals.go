package analyze

import "github.com/schedscope/schedscope/model"

// maxProcsSteps bounds the history of GOMAXPROCS. The runtime changes it at
// most once a second by itself.
const maxProcsSteps = 1024

// Totals counts what a trace holds. Of several traces, sums.
type Totals struct {
	traceClock
	Traces int
	// Span is the accounted time; Start its beginning (of the first trace).
	Span  model.Duration
	Start model.Time
	// Events and EventsByKind count what was fed to Event.
	Events       int64
	EventsByKind [model.NumEventKinds]int64
	// Goroutines and Threads count those seen; Procs is the greatest number of
	// procs seen in one trace. SystemGoroutines are part of Goroutines.
	Goroutines, SystemGoroutines, Threads int64
	Procs                                 int
	// MaxProcs is GOMAXPROCS over time: one step for each change. DroppedSteps
	// counts changes beyond the first 1024.
	MaxProcs     []ProcsStep
	DroppedSteps int64
}

// ProcsStep is a new value of GOMAXPROCS.
type ProcsStep struct {
	Trace int
	Time  model.Time
	Procs uint64
}

// NewTotals returns an empty Totals.
func NewTotals() *Totals { return &Totals{Traces: 1} }

// Event counts an event. The Machine does not call it: feed it beside.
func (t *Totals) Event(ev *model.Event) {
	t.Events++
	if ev.Kind < model.NumEventKinds {
		t.EventsByKind[ev.Kind]++
	}
}

// GoEnd implements [model.GoEndObserver].
func (t *Totals) GoEnd(g *model.Goroutine) {
	t.Goroutines++
	if g.System {
		t.SystemGoroutines++
	}
}

// Thread implements [model.ThreadObserver].
func (t *Totals) Thread(*model.Thread) { t.Threads++ }

// Counts implements [model.CountsObserver].
func (t *Totals) Counts(c *model.Counts) { t.Procs = max(t.Procs, c.Procs) }

// Metric implements [model.MetricObserver].
func (t *Totals) Metric(s *model.MetricSample) {
	if s.Name != metricProcs {
		return
	}
	if n := len(t.MaxProcs); n > 0 && t.MaxProcs[n-1].Procs == s.Value {
		return
	}
	t.step(ProcsStep{Time: t.at(s.Time), Procs: s.Value})
}

func (t *Totals) step(s ProcsStep) {
	if len(t.MaxProcs) >= maxProcsSteps {
		t.DroppedSteps++
		return
	}
	t.MaxProcs = append(t.MaxProcs, s)
}

// Finish sets the span.
func (t *Totals) Finish(start, end model.Time) {
	t.Start, t.Span = t.at(start), end.Sub(start)
}

// Merge adds what o counted in another trace.
func (t *Totals) Merge(o *Totals) {
	t.Span += o.Span
	t.Events += o.Events
	for k, n := range o.EventsByKind {
		t.EventsByKind[k] += n
	}
	t.Goroutines += o.Goroutines
	t.SystemGoroutines += o.SystemGoroutines
	t.Threads += o.Threads
	t.Procs = max(t.Procs, o.Procs)
	t.DroppedSteps += o.DroppedSteps
	for _, s := range o.MaxProcs {
		s.Trace += t.Traces
		t.step(s)
	}
	t.Traces += o.Traces
}
