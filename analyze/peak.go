package analyze

import (
	"cmp"
	"slices"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/sums"
	"github.com/schedscope/schedscope/model"
)

// minPeak is the number of runnable goroutines from which on it is noted who
// readied them.
const minPeak = 100

// Peak is the moment with the most runnable goroutines, of the runtime too, and
// who readied them.
type Peak struct {
	sums.Clock
	result.Peak // wakers are set by Finish

	tables *model.Tables
	time   model.Time // At by the trace's clock
	wakers map[model.GoID]*result.PeakWaker
}

// NewPeak returns an empty Peak.
func NewPeak(t *model.Tables) *Peak {
	return &Peak{tables: t, wakers: map[model.GoID]*result.PeakWaker{}}
}

// PeakAt implements [model.PeakObserver].
func (p *Peak) PeakAt(from model.Time, runnable int) {
	p.Runnable, p.time, p.At = runnable, from, p.Offset(from)
	if len(p.wakers) > 0 {
		clear(p.wakers)
	}
}

// spans reports whether the interval is part of the moment.
func (p *Peak) spans(s *model.GoSpan) bool { return s.Start <= p.time && s.End > p.time }

// GoSpan implements [model.GoSpanObserver].
func (p *Peak) GoSpan(s *model.GoSpan) {
	if !p.spans(s) || p.Runnable < minPeak || s.State != model.GoRunnable || s.Waker == model.NoGoroutine {
		return
	}
	w := p.wakers[s.Waker]
	if w == nil {
		w = &result.PeakWaker{Goroutine: s.Waker, Function: result.NoName}
		if stack := p.tables.Stack(s.WakerStack); len(stack) > 0 {
			w.Function = stack[len(stack)-1].Func
		}
		p.wakers[s.Waker] = w
	}
	w.Count++
}

// Finish sets Wakers. Call it after the last interval.
func (p *Peak) Finish() {
	p.Wakers = make([]result.PeakWaker, 0, len(p.wakers))
	for _, w := range p.wakers {
		p.Wakers = append(p.Wakers, *w)
	}
	slices.SortFunc(p.Wakers, func(a, b result.PeakWaker) int { return cmp.Or(b.Count-a.Count, cmp.Compare(a.Goroutine, b.Goroutine)) })
	p.wakers = nil
}

// Result adds the results to v.
func (p *Peak) Result(v *result.Report) { v.Procs.Peak = p.Peak }
