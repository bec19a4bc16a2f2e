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
		x.End = s.out.last
		if openEnd {
			x.OpenEnd, x.Pseudo = true, model.NotPseudo // it did not go on at once
			if x.State == model.GoRunning {
				x.Stack = 0
			}
		}
		s.cfg.Span.GoSpan(x)
	}
	x.Start, x.OpenStart, x.Origin, x.Pseudo = s.out.last, false, model.OriginUnknown, model.NotPseudo
}

// finishSpans ends the intervals of the goroutines that are there at the end.
func (s *sim) finishSpans() {
	for i := range s.gs {
		if g := &s.gs[i]; g.span.State > model.GoNotExist {
			s.endSpan(g, true)
		}
	}
}

// originOf says how a goroutine that waits becomes runnable, as far as the trace would show it (model/origin.go). injected:
// the runtime puts it there on its own account.
func (s *sim) originOf(c where, g *goroutine, injected bool) model.Origin {
	words, reason := &s.out.words, g.span.Reason
	network := reason == words.network
	switch {
	case network && (c.g < 0 || s.gs[c.g].worker || s.stw.on && s.stw.g == c.g):
		return model.OriginNetpoll
	case c.g < 0 && g.worker, c.g >= 0 && reason == words.assistWait:
		return model.OriginGC
	case c.g < 0 && (g.prog.System || reason == words.workerIdle), c.g >= 0 && injected:
		return model.OriginInjected
	case c.g < 0 && reason == 0 && g.span.OpenStart:
		return model.OriginExternal
	case c.g < 0:
		return model.OriginTimer
	}
	return model.OriginGoroutine
}
