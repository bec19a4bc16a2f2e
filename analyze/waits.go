package analyze

import (
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// Waits measures Waiting intervals by reason. Waiting is not a fault of the
// scheduler: it is what goroutines do between events. Results are about the
// program's own goroutines but for System.
type Waits struct {
	traceClock
	All      Dist // set by Finish
	System   Dist
	Censored Censored
	reasons  distsByName
}

// NewWaits returns an empty Waits.
func NewWaits(t *model.Tables) *Waits { return &Waits{reasons: newDistsByName(t)} }

// GoSpan implements [model.GoSpanObserver].
func (w *Waits) GoSpan(s *model.GoSpan) {
	if s.State != model.GoWaiting {
		return
	}
	at := w.at(s.End)
	if s.System {
		if !s.OpenStart && !s.OpenEnd {
			w.System.Add(s.Duration(), at)
		}
		return
	}
	if !addCensored(&w.Censored, s, at) {
		w.reasons.get(s.Reason).Add(s.Duration(), at)
	}
}

// Finish sets All. Call it after the last interval.
func (w *Waits) Finish() { w.All = w.reasons.sum() }

// ByReason returns the distributions by reason, greatest total first.
func (w *Waits) ByReason() []result.Named { return w.reasons.rows() }

// Result adds what was found to v.
func (w *Waits) Result(v *result.Report) {
	v.Waiting = result.Waiting{All: result.NewDist(&w.All), ByReason: w.ByReason(), Censored: w.Censored}
}
