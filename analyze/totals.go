package analyze

import (
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

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

// Result adds what was found to v.
func (t *Totals) Result(v *result.Report) {
	v.Totals = result.Totals{
		Span: t.Span, Events: t.Events, Goroutines: t.Goroutines, SystemGoroutines: t.SystemGoroutines, Threads: t.Threads, DroppedSteps: t.DroppedSteps,
		GOMAXPROCS: result.Each(t.MaxProcs, func(s *ProcsStep) result.Step { return result.Step{Trace: s.Trace, At: s.Time, Procs: s.Procs} }),
	}
}

// EventCounts returns how many events there are of each kind, in a fixed order.
func (t *Totals) EventCounts() []result.EventCount {
	out := []result.EventCount{}
	for k, n := range t.EventsByKind {
		if n > 0 {
			out = append(out, result.EventCount{Kind: model.EventKind(k).String(), Count: n})
		}
	}
	return out
}
