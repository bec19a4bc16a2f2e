package analyze

import (
	"github.com/schedscope/schedscope/analyze/causes"
	"github.com/schedscope/schedscope/model"
)

// testFeed hands records to the analyses of a report as a Machine does.
type testFeed struct {
	*feed
	direct []any // analyses and parts of them that the Machine calls
}

// newTestFeed returns the feed of r, whose trace begins at 0.
func newTestFeed(r *Report) testFeed {
	f := testFeed{feed: &feed{r}}
	for _, a := range r.analyses() {
		switch a.(type) {
		case model.StepObserver, *causes.Analysis, *Queues:
		case model.GoSpanObserver, model.ProcSpanObserver, model.CountsObserver:
		default:
			f.direct = append(f.direct, a)
		}
	}
	f.direct = append(f.direct, r.Blame.Calls())
	starter{r}.Started(0)
	return f
}

// each calls each analysis that the Machine calls and that is a T.
func each[T any](f testFeed, call func(T)) {
	for _, a := range f.direct {
		if x, ok := a.(T); ok {
			call(x)
		}
	}
}

func (f testFeed) GoEnd(g *model.Goroutine) {
	f.feed.GoEnd(g)
	each(f, func(o model.GoEndObserver) { o.GoEnd(g) })
}

// Counts reports a new peak too, as a Machine does.
func (f testFeed) Counts(c *model.Counts) {
	if c.Runnable > f.Peak.Runnable {
		f.PeakAt(c.Start, c.Runnable)
	}
	f.Idle.Counts(c)
}

func (f testFeed) Metric(s *model.MetricSample) {
	f.feed.Metric(s)
	each(f, func(o model.MetricObserver) { o.Metric(s) })
}

func (f testFeed) STW(s *model.STW) {
	f.feed.STW(s)
	each(f, func(o model.STWObserver) { o.STW(s) })
}

func (f testFeed) SyscallExit(s *model.SyscallExit) {
	each(f, func(o model.SyscallExitObserver) { o.SyscallExit(s) })
}

func (f testFeed) Handoff(h *model.Handoff) {
	each(f, func(o model.HandoffObserver) { o.Handoff(h) })
}

func (f testFeed) Netpoll(w *model.NetpollWake) {
	each(f, func(o model.NetpollObserver) { o.Netpoll(w) })
}

func (f testFeed) Task(x *model.Task) { each(f, func(o model.TaskObserver) { o.Task(x) }) }

func (f testFeed) Region(x *model.Region) { each(f, func(o model.RegionObserver) { o.Region(x) }) }
