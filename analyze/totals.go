package analyze

import (
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/sums"
	"github.com/schedscope/schedscope/model"
)

// maxProcsSteps bounds the history of GOMAXPROCS. The runtime changes it at
// most once a second by itself.
const maxProcsSteps = 1024

// Totals counts what a trace contains.
type Totals struct {
	sums.Clock
	result.Totals
}

// NewTotals returns an empty Totals.
func NewTotals() *Totals { return &Totals{Totals: result.Totals{GOMAXPROCS: []result.Step{}}} }

// Event counts an event. The Machine does not call it.
func (t *Totals) Event(*model.Event) { t.Events++ }

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
	n := len(t.GOMAXPROCS)
	switch {
	case n > 0 && t.GOMAXPROCS[n-1].Procs == s.Value:
	case n >= maxProcsSteps:
		t.DroppedSteps++
	default:
		t.GOMAXPROCS = append(t.GOMAXPROCS, result.Step{At: t.Offset(s.Time), Procs: s.Value})
	}
}

// Finish sets the span.
func (t *Totals) Finish(start, end model.Time) {
	t.Span = end.Sub(start)
}

// Result adds the results to v.
func (t *Totals) Result(v *result.Report) { v.Totals = t.Totals }

// Threads sums up the states of threads.
type Threads struct{ result.Threads }

// Thread implements [model.ThreadObserver].
func (t *Threads) Thread(x *model.Thread) {
	t.Count++
	if x.Created {
		t.Created++
	}
	t.Starts += x.Starts
	t.Acquired += x.Acquired
	t.Unknown += x.Times[model.ThreadUnknown]
	t.Running += x.Times[model.ThreadRunning]
	t.Searching += x.Times[model.ThreadSearching]
	t.Syscall += x.Times[model.ThreadSyscall]
	t.SyscallBlocked += x.Times[model.ThreadSyscallBlocked]
	t.NoProc += x.Times[model.ThreadNoProc]
}

// ThreadStart implements [model.ThreadStartObserver].
func (t *Threads) ThreadStart(*model.ThreadStart) { t.SeenCreated++ }

// Result adds the results to v.
func (t *Threads) Result(v *result.Report) { v.Threads = t.Threads }
