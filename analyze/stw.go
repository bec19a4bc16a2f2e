package analyze

import (
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// STWs measures stop-the-world phases by reason.
type STWs struct {
	traceClock
	Count int64 // all, censored ones included
	// Effective is the time from the beginning until the world was seen running
	// again; Traced the time until the traced end, which the runtime stamps only
	// after the restart; ToStop the time from the beginning until no other proc
	// was active.
	Effective, Traced, ToStop Dist
	Censored                  Tally
	reasons                   byName[stwDists]
}

type stwDists struct{ effective, traced, toStop Dist }

// NewSTWs returns an empty STWs.
func NewSTWs(t *model.Tables) *STWs { return &STWs{reasons: newByName[stwDists](t)} }

// STW implements [model.STWObserver].
func (w *STWs) STW(s *model.STW) {
	w.Count++
	at := w.at(s.Start)
	if s.OpenStart || s.OpenEnd {
		w.Censored.Add(s.Effective.Sub(s.Start), at)
		return
	}
	effective, traced, toStop := s.Effective.Sub(s.Start), s.End.Sub(s.Start), s.Stopped.Sub(s.Start)
	w.Effective.Add(effective, at)
	w.Traced.Add(traced, at)
	w.ToStop.Add(toStop, at)
	r := w.reasons.named(s.Reason)
	r.effective.Add(effective, at)
	r.traced.Add(traced, at)
	r.toStop.Add(toStop, at)
}

// ByReason returns the phases by reason, greatest effective total first. Points
// in time of these distributions are beginnings.
func (w *STWs) ByReason() []result.STWReason {
	return rowsOf(&w.reasons, func(d *stwDists) model.Duration { return d.effective.Total() }, func(name string, d *stwDists) result.STWReason {
		return result.STWReason{Reason: name, Effective: result.NewDist(&d.effective), Traced: result.NewDist(&d.traced), ToStop: result.NewDist(&d.toStop)}
	})
}

// Result adds what was found to v.
func (w *STWs) Result(v *result.Report) {
	v.STW = result.STW{Count: w.Count, Effective: result.NewDist(&w.Effective), Traced: result.NewDist(&w.Traced), ToStop: result.NewDist(&w.ToStop),
		Censored: w.Censored, ByReason: w.ByReason()}
}
