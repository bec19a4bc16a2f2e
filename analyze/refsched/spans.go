package refsched

import (
	"github.com/schedscope/schedscope/analyze/workload"
	"github.com/schedscope/schedscope/model"
)

// newSpan returns what the events show of a goroutine of which there are none yet.
func newSpan(g *workload.Goroutine) model.GoSpan {
	return model.GoSpan{G: g.ID, Func: g.Func, System: g.System, P: model.NoProc, M: model.NoThread, Waker: model.NoGoroutine,
		WakerProc: model.NoProc, WakerThread: model.NoThread}
}

// endSpan ends the interval that a goroutine is in at the latest event, and begins another one.
func (s *sim) endSpan(g *goroutine, openEnd bool) {
	x := &g.span
	if s.cfg.Span != nil {
		x.End = s.last
		if openEnd {
			x.OpenEnd, x.Pseudo = true, model.NotPseudo // it did not go on at once
		}
		s.cfg.Span.GoSpan(x)
	}
	x.Start, x.OpenStart, x.Pseudo = s.last, false, model.NotPseudo
}

// finishSpans ends the intervals of the goroutines that are there at the end.
func (s *sim) finishSpans() {
	for i := range s.gs {
		if g := &s.gs[i]; g.span.State > model.GoNotExist {
			s.endSpan(g, true)
		}
	}
}
