package analyze

import "github.com/schedscope/schedscope/model"

// feed calls the analyses of intervals directly: there are millions of them.
type feed struct{ *Report }

// fed returns the analyses that get their records from a feed. All others follow the
// Machine themselves.
func (r *Report) fed() []any {
	return []any{r.GC, r.Timeline, r.Peak, r.Latency, r.Heat, r.Worst, r.Bursts, r.Waits, r.Blame}
}

// GoSpan implements [model.GoSpanObserver].
func (f *feed) GoSpan(s *model.GoSpan) {
	switch s.State {
	case model.GoRunnable:
		f.Latency.GoSpan(s)
		f.Heat.GoSpan(s)
		if s.Duration() >= f.Worst.floor {
			f.Worst.GoSpan(s)
		}
		if f.Peak.spans(s) {
			f.Peak.GoSpan(s)
		}
		f.Blame.GoSpan(s)
	case model.GoRunning:
		f.Bursts.GoSpan(s)
	case model.GoWaiting:
		f.Waits.GoSpan(s)
		f.Blame.GoSpan(s)
	}
}

// GoEnd implements [model.GoEndObserver].
func (f *feed) GoEnd(g *model.Goroutine) {
	f.Latency.GoEnd(g)
	f.Blame.GoEnd(g)
}

// ProcSpan implements [model.ProcSpanObserver].
func (f *feed) ProcSpan(s *model.ProcSpan) {
	f.GC.ProcSpan(s)
	f.Timeline.ProcSpan(s)
}

// PartEnd implements [model.UseObserver].
func (f *feed) PartEnd(t model.Time) model.Time { return f.Timeline.End(t) }

// PeakAt implements [model.PeakObserver].
func (f *feed) PeakAt(from model.Time, runnable int) {
	f.Peak.PeakAt(from, runnable)
}

// Metric implements [model.MetricObserver].
func (f *feed) Metric(s *model.MetricSample) { f.Timeline.Metric(s) }

// STW implements [model.STWObserver].
func (f *feed) STW(s *model.STW) { f.GC.STW(s) }

// Range implements [model.RangeObserver].
func (f *feed) Range(s *model.RangeSpan) { f.GC.Range(s) }
