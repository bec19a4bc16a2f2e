package analyze

import (
	"cmp"
	"strings"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/sums"
	"github.com/schedscope/schedscope/model"
)

// GC sums up the garbage collector's work.
type GC struct {
	sums.Clock
	// Work is the procs' time by kind of work, except the user's.
	Work [model.NumWorkKinds]model.Duration
	// Marks are the concurrent mark phases, one per cycle; CensoredMarks those
	// that the trace shows in part.
	Marks         Dist
	CensoredMarks Tally
	Cycles        int64 // mark phases that began
	// Assists are the mark assists of goroutines, by the clock: a goroutine may
	// wait during one. Sweeps are the incremental sweeps on procs.
	Assists, Sweeps Tally
	Stops           Tally // stop-the-world phases whose reason names the GC, effective

	procs  *Idle // their time in all
	tables *model.Tables
	kinds  []rangeKind // by StringID
}

// rangeKind says which of the collector's ranges a name is of.
type rangeKind uint8

const (
	rangeUnseen rangeKind = iota
	rangeMark
	rangeAssist
	rangeSweep
	rangeOther
)

// rangeKinds are by the names that the runtime gives them: runtime/traceevent.go, Go 1.26.
var rangeKinds = map[string]rangeKind{"GC concurrent mark phase": rangeMark, "GC mark assist": rangeAssist, "GC incremental sweep": rangeSweep}

// NewGC returns an empty GC. It takes the procs' time from x.
func NewGC(t *model.Tables, x *Idle) *GC { return &GC{tables: t, procs: x} }

// ProcSpan implements [model.ProcSpanObserver].
func (c *GC) ProcSpan(s *model.ProcSpan) {
	if s.Work != model.WorkUser && s.State == model.ProcRunning && s.Work < model.NumWorkKinds {
		c.Work[s.Work] += s.Duration()
	}
}

// Range implements [model.RangeObserver].
func (c *GC) Range(s *model.RangeSpan) {
	d, at := s.End.Sub(s.Start), c.Offset(s.Start)
	switch c.kind(s.Name) {
	case rangeMark:
		if !s.OpenStart {
			c.Cycles++
		}
		if s.OpenStart || s.OpenEnd {
			c.CensoredMarks.Add(d, at)
		} else {
			c.Marks.Add(d, at)
		}
	case rangeAssist:
		c.Assists.Add(d, at)
	case rangeSweep:
		c.Sweeps.Add(d, at)
	}
}

func (c *GC) kind(name model.StringID) rangeKind {
	kind := result.Slot(&c.kinds, int(name))
	if *kind == rangeUnseen {
		*kind = cmp.Or(rangeKinds[c.tables.String(name)], rangeOther)
	}
	return *kind
}

// STW implements [model.STWObserver].
func (c *GC) STW(s *model.STW) {
	if strings.HasPrefix(s.Reason, "GC ") {
		c.Stops.Add(s.Effective.Sub(s.Start), c.Offset(s.Start))
	}
}

// Total returns the procs' time spent in garbage collection: workers of every
// mode and assists. Sweeping is part of the goroutine that does it.
func (c *GC) Total() model.Duration {
	var sum model.Duration
	for k, d := range c.Work {
		if model.WorkKind(k).IsGC() {
			sum += d
		}
	}
	return sum
}

// Share returns Total as a part of the procs' time.
func (c *GC) Share() float64 { return result.Ratio(c.Total(), c.procs.Procs) }

// Result adds the results to v.
func (c *GC) Result(v *result.Report) {
	v.GC = result.GC{
		Share: c.Share(), Dedicated: c.Work[model.WorkGCDedicated], Fractional: c.Work[model.WorkGCFractional],
		Idle: c.Work[model.WorkGCIdle], Assist: c.Work[model.WorkGCAssist],
		Marks: result.NewDist(&c.Marks), CensoredMarks: c.CensoredMarks, Cycles: c.Cycles, Assists: c.Assists,
		Sweeps: c.Sweeps, Stops: c.Stops,
	}
}

// STWs measures stop-the-world phases by reason.
type STWs struct {
	sums.Clock
	Count int64 // all, censored ones included
	// Effective is the time from the beginning until the world was seen running
	// again; Traced the time until the traced end, which the runtime stamps only
	// after the restart; ToStop the time from the beginning until no other proc
	// was active.
	Effective, Traced, ToStop Dist
	Censored                  Tally
	reasons                   sums.ByName[stwDists]
}

type stwDists struct{ effective, traced, toStop Dist }

// NewSTWs returns an empty STWs.
func NewSTWs(t *model.Tables) *STWs { return &STWs{reasons: sums.NewByName[stwDists](t)} }

// STW implements [model.STWObserver].
func (w *STWs) STW(s *model.STW) {
	w.Count++
	at := w.Offset(s.Start)
	if s.OpenStart || s.OpenEnd {
		w.Censored.Add(s.Effective.Sub(s.Start), at)
		return
	}
	effective, traced, toStop := s.Effective.Sub(s.Start), s.End.Sub(s.Start), s.Stopped.Sub(s.Start)
	w.Effective.Add(effective, at)
	w.Traced.Add(traced, at)
	w.ToStop.Add(toStop, at)
	r := w.reasons.Named(s.Reason)
	r.effective.Add(effective, at)
	r.traced.Add(traced, at)
	r.toStop.Add(toStop, at)
}

// ByReason returns the phases by reason, greatest effective total first. Points
// in time of these distributions are beginnings.
func (w *STWs) ByReason() []result.STWReason {
	return sums.Rows(&w.reasons, func(d *stwDists) model.Duration { return d.effective.Total() }, func(name string, d *stwDists) result.STWReason {
		return result.STWReason{Reason: name, Effective: result.NewDist(&d.effective), Traced: result.NewDist(&d.traced), ToStop: result.NewDist(&d.toStop)}
	})
}

// Result adds the results to v.
func (w *STWs) Result(v *result.Report) {
	v.STW = result.STW{Count: w.Count, Effective: result.NewDist(&w.Effective), Traced: result.NewDist(&w.Traced), ToStop: result.NewDist(&w.ToStop),
		Censored: w.Censored, ByReason: w.ByReason()}
}
