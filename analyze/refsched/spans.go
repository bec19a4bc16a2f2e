package refsched

import (
	"cmp"
	"fmt"

	"github.com/schedscope/schedscope/model"
)

// shown is what the events so far show of a goroutine: its state, and how it came into it. The zero value is that of one
// without events.
type shown struct {
	since  model.Time
	reason model.StringID
	stack  model.StackID // where it last stopped
	state  model.GoState
	origin model.Origin // of Runnable
	pseudo model.Pseudo // the same
	open   bool         // in this state since before the window
}

// show has the latest event change the state of a goroutine, whose stack is subject, 0 if it is not in the event.
func (s *sim) show(g *goroutine, from, to model.GoState, reason model.StringID, subject model.StackID) {
	x := &g.shown
	switch was := x.state; {
	case was != model.GoUndetermined:
		if was != from {
			s.res.Contradictions++
			s.res.Contradiction = cmp.Or(s.res.Contradiction, fmt.Errorf("goroutine %d: %v to %v at %d: got state %v, want %v", g.id, from, to, s.out.last, was, from))
		}
		s.endSpan(g, subject, false)
		if was == model.GoRunning && subject != 0 {
			x.stack = subject
		}
	case from == model.GoUndetermined:
		x.since, x.open, x.stack = s.out.start, true, subject
	default:
		x.since = s.out.last
	}
	x.state, x.reason = to, reason
}

// endSpan ends the interval that a goroutine is in at the latest event, and begins another one. stack is where it stopped
// running.
func (s *sim) endSpan(g *goroutine, stack model.StackID, openEnd bool) {
	x := &g.shown
	if s.cfg.Span != nil {
		i := &s.span
		i.G, i.Func, i.System = g.id, g.prog.Func, g.prog.System
		i.State, i.Reason, i.Stack, i.Start, i.End, i.OpenStart, i.OpenEnd = x.state, x.reason, x.stack, x.since, s.out.last, x.open, openEnd
		i.Origin, i.Pseudo = model.OriginUnknown, model.NotPseudo
		switch {
		case x.state == model.GoRunning:
			i.Stack = stack
		case x.state == model.GoRunnable && !openEnd:
			i.Origin, i.Pseudo = x.origin, x.pseudo
		case x.state == model.GoRunnable:
			i.Origin = x.origin // it did not go on at once
		}
		s.cfg.Span(i)
	}
	x.since, x.open = s.out.last, false
}

// finishSpans ends the intervals of the goroutines that are there at the end.
func (s *sim) finishSpans() {
	for i := range s.gs {
		if g := &s.gs[i]; g.shown.state > model.GoNotExist {
			s.endSpan(g, 0, true)
		}
	}
}

// originOf says how a goroutine that waits becomes runnable, as far as the trace would show it (model/origin.go). injected:
// the runtime puts it there on its own account.
func (s *sim) originOf(c where, g *goroutine, injected bool) model.Origin {
	words, reason := &s.out.words, g.shown.reason
	network := reason == words.network
	switch {
	case network && (c.g < 0 || s.gs[c.g].worker || s.stw.on && s.stw.g == c.g):
		return model.OriginNetpoll
	case c.g < 0 && g.worker, c.g >= 0 && reason == words.assistWait:
		return model.OriginGC
	case c.g < 0 && (g.prog.System || reason == words.workerIdle), c.g >= 0 && injected:
		return model.OriginInjected
	case c.g < 0:
		return model.OriginTimer
	}
	return model.OriginGoroutine
}
