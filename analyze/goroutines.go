package analyze

import (
	"cmp"
	"slices"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/sums"
	"github.com/schedscope/schedscope/model"
)

// Goroutines sums up goroutines by start function.
type Goroutines struct {
	Truly model.Duration // Runnable of all, without pseudo intervals

	begin   model.Time
	funcs   sums.ByName[groupSums]
	reasons sums.ByName[reasonIndex]
}

// reasonIndex numbers the reasons for Waiting, so that each function's sums
// are a short slice; 0 means not yet numbered.
type reasonIndex int

type groupSums struct {
	result.Group
	blocks []result.Reason // by reasonIndex - 1
}

// NewGoroutines returns an empty Goroutines.
func NewGoroutines(t *model.Tables) *Goroutines {
	return &Goroutines{funcs: sums.NewByName[groupSums](t), reasons: sums.NewByName[reasonIndex](t)}
}

// BeginAt sets the beginning of what is counted.
func (gs *Goroutines) BeginAt(t model.Time) { gs.begin = t }

// GoEnd implements [model.GoEndObserver].
func (gs *Goroutines) GoEnd(g *model.Goroutine) {
	f := gs.funcs.Get(g.Func)
	f.Count++
	if g.SeenCreation {
		f.Created++
	}
	if g.HasEnded {
		f.Ended++
	} else if since, all := g.From.Sub(gs.begin), g.Ended.Sub(gs.begin); g.SeenCreation {
		if 4*since < all {
			f.LeftEarly++
		} else if 2*since >= all {
			f.LeftLate++
		}
	}
	f.System = g.System
	for i, d := range g.Times {
		f.States[i] += d
		f.Lifetime += d
	}
	gs.Truly += g.RunnableTruly
	for _, b := range g.Block {
		x := result.Slot(&f.blocks, int(gs.number(gs.reasons.Get(b.Reason)))-1)
		x.Count += b.Count
		x.Total += b.Total
	}
}

// number returns a reason's number, giving it one at first sight.
func (gs *Goroutines) number(r *reasonIndex) reasonIndex {
	if *r == 0 {
		*r = reasonIndex(len(gs.reasons.List))
	}
	return *r
}

// ByFunc returns the sums by start function, greatest lifetime first.
func (gs *Goroutines) ByFunc() []result.Group {
	names := make([]string, len(gs.reasons.List))
	for _, e := range gs.reasons.List {
		names[e.Value-1] = e.Name
	}
	return sums.Rows(&gs.funcs, func(f *groupSums) model.Duration { return f.Lifetime }, func(name string, f *groupSums) result.Group {
		g := f.Group
		g.Function, g.Waiting = name, []result.Reason{}
		for r, b := range f.blocks {
			if b.Count > 0 || b.Total > 0 {
				b.Reason = names[r]
				g.Waiting = append(g.Waiting, b)
			}
		}
		slices.SortFunc(g.Waiting, func(a, b result.Reason) int {
			return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Reason, b.Reason))
		})
		return g
	})
}

// Result adds the results to v.
func (gs *Goroutines) Result(v *result.Report) { v.Goroutines = gs.ByFunc() }

// Waits measures Waiting intervals by reason. Waiting is not a fault of the scheduler. Results
// are about the program's own goroutines, except System.
type Waits struct {
	sums.Clock
	All      Dist // set by Finish
	System   Dist
	Censored Censored
	reasons  sums.Dists
}

// NewWaits returns an empty Waits.
func NewWaits(t *model.Tables) *Waits { return &Waits{reasons: sums.NewDists(t)} }

// GoSpan implements [model.GoSpanObserver].
func (w *Waits) GoSpan(s *model.GoSpan) {
	if s.State != model.GoWaiting {
		return
	}
	at := w.Offset(s.End)
	if s.System {
		if !s.OpenStart && !s.OpenEnd {
			w.System.Add(s.Duration(), at)
		}
		return
	}
	if !sums.AddCensored(&w.Censored, s, at) {
		w.reasons.Get(s.Reason).Add(s.Duration(), at)
	}
}

// Finish sets All. Call it after the last interval.
func (w *Waits) Finish() { w.All = w.reasons.Sum() }

// ByReason returns the distributions by reason, greatest total first.
func (w *Waits) ByReason() []result.Named { return w.reasons.Rows() }

// Result adds the results to v.
func (w *Waits) Result(v *result.Report) {
	v.Waiting = result.Waiting{All: result.NewDist(&w.All), ByReason: w.ByReason(), Censored: w.Censored}
}
