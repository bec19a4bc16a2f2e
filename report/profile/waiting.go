package profile

import (
	"maps"
	"slices"

	"github.com/schedscope/schedscope/model"
)

// waiting counts blocked intervals. For the waker's stack it holds each until the
// goroutine's next interval shows who that was.
type waiting struct {
	c    *Collector
	open map[model.GoID]model.GoSpan
}

// GoSpan implements [model.GoSpanObserver].
func (w *waiting) GoSpan(s *model.GoSpan) {
	if s.System {
		return
	}
	if held, ok := w.open[s.G]; ok {
		delete(w.open, s.G)
		if s.State == model.GoRunnable && s.Start == held.End {
			held.WakerStack, held.Origin = s.WakerStack, s.Origin
		}
		w.count(&held)
	}
	switch {
	case s.State != model.GoWaiting || s.OpenStart || s.OpenEnd:
	case w.c.p.o.Waker:
		w.open[s.G] = *s
	default:
		w.count(s)
	}
}

func (w *waiting) count(s *model.GoSpan) {
	w.c.add(w.c.either(s.Stack, s.WakerStack, s.Origin, s.Func), values{1, int64(s.Duration())}, w.c.name(s.Reason), w.c.name(s.Func))
}

// finish counts those after which nothing lasted.
func (w *waiting) finish() {
	for _, g := range slices.Sorted(maps.Keys(w.open)) {
		s := w.open[g]
		w.count(&s)
	}
}
