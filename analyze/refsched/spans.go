package refsched

import "github.com/schedscope/schedscope/model"

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
