package analyze

import (
	"cmp"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/sums"
	"github.com/schedscope/schedscope/model"
)

// Worst finds the longest waits of the program's goroutines, the same that [Latency]
// measures, ties by start and goroutine.
type Worst struct {
	sums.Clock
	tables  *model.Tables
	shown   int // of those kept
	top     sums.Top[*model.GoSpan]
	floor   model.Duration // shorter ones need not apply
	results []result.Wait  // set by Finish
}

// verdictWaits is on how many of the worst waits a verdict rests, however many are shown.
const verdictWaits = 10

// NewWorst returns a Worst that finds the limit longest waits.
func NewWorst(t *model.Tables, limit int) *Worst {
	return &Worst{tables: t, shown: limit,
		top: sums.Top[*model.GoSpan]{Limit: max(limit, verdictWaits), Compare: func(a, b *model.GoSpan) int {
			return cmp.Or(cmp.Compare(b.Duration(), a.Duration()), cmp.Compare(a.Start, b.Start), cmp.Compare(a.G, b.G))
		}}}
}

// GoSpan implements [model.GoSpanObserver].
func (w *Worst) GoSpan(s *model.GoSpan) {
	if s.Duration() < w.floor || !s.Waits() {
		return
	}
	if last, ok := w.top.Full(); ok && w.top.Compare(s, last) >= 0 {
		return
	}
	c := *s
	w.top.Add(&c)
	if last, ok := w.top.Full(); ok {
		w.floor = last.Duration()
	}
}

// Finish completes the waits. Call it after the last interval.
func (w *Worst) Finish() { w.results = result.Each(w.top.Items, w.result) }

// result describes a wait.
func (w *Worst) result(c **model.GoSpan) result.Wait {
	s := *c
	x := result.Wait{
		Goroutine: s.G, Function: sums.NameOf(w.tables, s.Func), Origin: s.Origin.String(),
		Start: w.Offset(s.Start), End: w.Offset(s.End), Duration: s.Duration(), Stack: result.Frames(w.tables.Stack(s.Stack)),
		Waker: s.Waker, WakerStack: result.Frames(w.tables.Stack(s.WakerStack)), ReadiedOn: s.WakerProc, RanOn: s.P,
		Causes: []result.CauseTotal{}, Blockers: []result.Blocker{},
	}
	if n := len(x.WakerStack); n > 0 && s.Waker != model.NoGoroutine {
		x.WakerFunction = x.WakerStack[n-1].Function
	}
	return x
}

// Waits returns the longest waits, longest first, once Finish was called.
func (w *Worst) Waits() []result.Wait { return w.results[:min(len(w.results), w.shown)] }

// Result adds the results to v.
func (w *Worst) Result(v *result.Report) { v.WorstWaits = w.results }
