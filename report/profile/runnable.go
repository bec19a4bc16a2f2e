package profile

import (
	"sync"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// runnable counts waits to run. One wait is a sample for each of its causes, of
// which the first, the greatest, has the count.
type runnable struct {
	c                       *Collector
	x                       *analyze.Explainer // nil: causes cannot be told
	causes, origins, source []model.StringID
	waited                  map[model.GoID]blocked // of those that are Runnable now

	// Reasons of the waits that the Explainer has still to tell of, which it does on
	// a goroutine of its own.
	mu      sync.Mutex
	reasons []stopped
	first   int
}

// stopped is why a goroutine had stopped before the wait that ends at end.
type stopped struct {
	g      model.GoID
	end    model.Time
	reason model.StringID
}

// blocked is what a goroutine waited for, and until when.
type blocked struct {
	reason model.StringID
	end    model.Time
}

// newRunnable returns what counts waits, and an error if it cannot tell causes.
func newRunnable(c *Collector, version int) (*runnable, error) {
	r := &runnable{c: c, waited: map[model.GoID]blocked{},
		causes: words(c, result.NumCauses), origins: words(c, model.NumOrigins), source: words(c, runqueue.NumSources)}
	x, err := analyze.NewExplainer(c.tables, version, r.explained)
	if err != nil {
		return r, err
	}
	r.x = x
	return r, nil
}

func (r *runnable) observeSteps(m *model.Machine) {
	if r.x != nil {
		r.x.ObserveSteps(m)
	}
}

func (r *runnable) observe(m *model.Machine) {
	if r.x != nil {
		r.x.Observe(m)
	}
	m.Observe(r)
}

func (r *runnable) event(ev *model.Event) {
	if r.x != nil {
		r.x.Event(ev)
	}
}

func (r *runnable) finish() {
	if r.x != nil {
		r.x.Finish()
	}
}

// GoSpan implements [model.GoSpanObserver].
func (r *runnable) GoSpan(s *model.GoSpan) {
	switch s.State {
	case model.GoWaiting:
		if !s.System && !s.OpenEnd {
			r.waited[s.G] = blocked{s.Reason, s.End}
		}
	case model.GoRunnable:
		w := r.waited[s.G]
		delete(r.waited, s.G)
		if s.Pseudo != model.NotPseudo || s.System || s.OpenStart || s.OpenEnd {
			return
		}
		reason := s.Reason
		if reason == 0 && w.end == s.Start {
			reason = w.reason
		}
		if r.x == nil {
			r.c.add(r.c.either(s.Stack, s.WakerStack, s.Origin, s.Func), values{1, int64(s.Duration())},
				0, r.origins[s.Origin], r.reason(reason, s.Origin), 0, r.c.proc(s.P), r.c.name(s.Func))
			return
		}
		r.mu.Lock()
		r.reasons = append(r.reasons, stopped{s.G, s.End, reason})
		r.mu.Unlock()
	}
}

// GoEnd implements [model.GoEndObserver].
func (r *runnable) GoEnd(g *model.Goroutine) { delete(r.waited, g.ID) }

// reason returns the label for why a goroutine had stopped. One that neither
// waited nor was stopped has its origin for it; whose wait began before the trace
// has none.
func (r *runnable) reason(id model.StringID, o model.Origin) model.StringID {
	switch {
	case id != 0:
		return r.c.name(id)
	case o == model.OriginCreated || o == model.OriginSyscall:
		return r.origins[o]
	}
	return r.c.name(0)
}

// explained is told the waits of GoSpan again, in the same order.
func (r *runnable) explained(w *analyze.ExplainedWait) {
	s := &w.Span
	stack := r.c.either(s.Stack, s.WakerStack, s.Origin, s.Func)
	origin, reason := r.origins[s.Origin], r.reason(r.reasonOf(s), s.Origin)
	count := int64(1)
	for _, cell := range w.Cells {
		r.c.add(stack, values{count, int64(cell.Total)},
			r.causes[cell.Cause], origin, reason, r.source[w.Source], r.c.proc(w.LastP), r.c.name(s.Func))
		count = 0
	}
}

// reasonOf returns the reason of a wait and drops those of earlier ones. Usually it is
// the first.
func (r *runnable) reasonOf(s *model.GoSpan) model.StringID {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := r.first
	for i < len(r.reasons) && (r.reasons[i].g != s.G || r.reasons[i].end != s.End) {
		i++
	}
	if i == len(r.reasons) {
		return 0
	}
	reason := r.reasons[i].reason
	if r.first = i + 1; r.first >= 1024 && 2*r.first >= len(r.reasons) {
		r.reasons = r.reasons[:copy(r.reasons, r.reasons[r.first:])]
		r.first = 0
	}
	return reason
}
