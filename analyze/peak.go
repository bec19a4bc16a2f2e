package analyze

import (
	"cmp"
	"slices"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// minPeak is the number of runnable goroutines from which on it is noted who
// readied them.
const minPeak = 100

// Peak is the moment with the most runnable goroutines, of the runtime too, and
// who readied them.
type Peak struct {
	traceClock
	Trace    int
	Runnable int
	At       model.Time
	Wakers   []PeakWaker // set by Finish, greatest count first

	tables *model.Tables
	time   model.Time // At by the trace's clock
	wakers map[model.GoID]*PeakWaker
}

// PeakWaker is a goroutine that readied others.
type PeakWaker struct {
	G     model.GoID
	Func  string // start function; NoName if not known
	Count int    // of those runnable at the peak, as far as intervals tell
}

// NewPeak returns an empty Peak.
func NewPeak(t *model.Tables) *Peak { return &Peak{tables: t, wakers: map[model.GoID]*PeakWaker{}} }

// Counts implements [model.CountsObserver].
func (p *Peak) Counts(c *model.Counts) {
	if c.Runnable <= p.Runnable {
		return
	}
	p.Runnable, p.time, p.At = c.Runnable, c.Start, p.at(c.Start)
	if len(p.wakers) > 0 {
		clear(p.wakers)
	}
}

// GoSpan implements [model.GoSpanObserver]. Intervals must not come before the
// counts of the time in which they lie.
func (p *Peak) GoSpan(s *model.GoSpan) {
	if s.Start > p.time || s.End <= p.time || p.Runnable < minPeak || s.State != model.GoRunnable || s.Waker == model.NoGoroutine {
		return
	}
	w := p.wakers[s.Waker]
	if w == nil {
		w = &PeakWaker{G: s.Waker, Func: NoName}
		if stack := p.tables.Stack(s.WakerStack); len(stack) > 0 {
			w.Func = stack[len(stack)-1].Func
		}
		p.wakers[s.Waker] = w
	}
	w.Count++
}

// Finish sets Wakers. Call it after the last interval.
func (p *Peak) Finish() {
	for _, w := range p.wakers {
		p.Wakers = append(p.Wakers, *w)
	}
	slices.SortFunc(p.Wakers, func(a, b PeakWaker) int { return cmp.Or(b.Count-a.Count, cmp.Compare(a.G, b.G)) })
	p.wakers = nil
}

// Result adds what was found to v.
func (p *Peak) Result(v *result.Report) {
	v.Procs.Peak = result.Peak{Trace: p.Trace, Runnable: p.Runnable, At: p.At, Wakers: result.Each(p.Wakers, func(w *PeakWaker) result.PeakWaker {
		return result.PeakWaker{Goroutine: w.G, Function: w.Func, Count: w.Count}
	})}
}
