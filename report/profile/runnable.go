package profile

import (
	"github.com/schedscope/schedscope/analyze/causes"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// runnable counts waits to run. One wait is a sample for each of its causes, of
// which the first, the greatest, has the count.
type runnable struct {
	c                       *Collector
	causes, origins, source []model.StringID
	waited                  model.GoTable[blocked]
	recent                  [256]samples // the latest by part of their key: it saves looking up most
}

// blocked is what a goroutine waited for last, and until when.
type blocked struct {
	reason model.StringID
	end    model.Time
}

// samples are those of waits that differ in the cause alone.
type samples struct {
	key    key
	places [result.NumCauses]int32 // in the profile, from 1; 0: not looked up yet
}

// GoSpan implements [model.GoSpanObserver].
func (r *runnable) GoSpan(s *model.GoSpan) {
	switch {
	case s.State == model.GoWaiting && !s.System && !s.OpenEnd:
		w := r.waited.Get(s.G)
		if w == nil {
			w = new(blocked)
			r.waited.Put(s.G, w)
		}
		*w = blocked{s.Reason, s.End}
	case r.c.x == nil && s.State == model.GoRunnable && s.Pseudo == model.NotPseudo && !s.System && !s.OpenStart && !s.OpenEnd:
		r.c.add(r.c.either(s.Stack, s.WakerStack, s.Origin, s.Func), values{1, int64(s.Duration())},
			0, r.origins[s.Origin], r.reason(r.stopped(s), s.Origin), 0, r.c.proc(s.P), r.c.name(s.Func))
	}
}

// stopped returns why a goroutine had stopped before a wait: why it was stopped, or what it
// waited for until then.
func (r *runnable) stopped(s *model.GoSpan) model.StringID {
	if w := r.waited.Get(s.G); w != nil && s.Reason == 0 && w.end == s.Start {
		return w.reason
	}
	return s.Reason
}

// GoEnd implements [model.GoEndObserver].
func (r *runnable) GoEnd(g *model.Goroutine) {
	if r.waited.Get(g.ID) != nil {
		r.waited.Remove(g.ID)
	}
}

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

// explained counts a wait.
func (r *runnable) explained(w *causes.ExplainedWait) {
	s := &w.Span
	k := key{stack: r.c.either(s.Stack, s.WakerStack, s.Origin, s.Func), labels: [maxLabels]model.StringID{
		0, r.origins[s.Origin], r.reason(s.Reason, s.Origin), r.source[w.Source], r.c.proc(w.LastP), r.c.name(s.Func)}}
	part := uint32(k.stack)
	for _, id := range k.labels {
		part = part*31 + uint32(id)
	}
	recent := &r.recent[part%uint32(len(r.recent))]
	if recent.key != k {
		*recent = samples{key: k}
	}
	count := int64(1)
	for _, cell := range w.Cells {
		place := &recent.places[cell.Cause]
		if *place == 0 {
			k.labels[0] = r.causes[cell.Cause]
			*place = r.c.p.place(k) + 1
		}
		r.c.p.cells[*place-1].add(values{count, int64(cell.Total)})
		count = 0
	}
}
