package report

import (
	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

func v1Causes(c *analyze.Causes, all *analyze.Dist) V1Causes {
	v := V1Causes{
		Refused: c.Refused, Waits: c.Waits, Total: int64(c.Total),
		Unknown: all.Count() - c.Waits, UnknownTime: int64(all.Total() - c.Total), Rows: []V1Cause{}, ByOrigin: []V1CauseOrigin{},
		ByFunction: each(c.ByFunc(), func(f *analyze.CauseRow) V1CauseFunc {
			return V1CauseFunc{f.Name, f.Waits, int64(f.Causes.Total()), v1CauseTotals(&f.Causes)}
		}),
		Antagonists: each(c.Antagonists(), v1Antagonist),
		Series:      v1CauseSeries(c.Series()),
		Thresholds: each(c.Thresholds, func(t *analyze.Threshold) V1Threshold {
			return V1Threshold{t.Trace, t.Name, int64(t.Value), t.Samples, t.Default}
		}),
	}
	for _, x := range causesByTotal(c) {
		sum := &c.ByCause[x]
		v.Rows = append(v.Rows, V1Cause{x.String(), x.Meaning(), x.Suspected(), x.IdleProc(),
			int64(sum.Total), c.Share(x), sum.Waits, v1Dist(&sum.Dominated)})
	}
	for o := range c.ByOrigin {
		if total := c.ByOrigin[o].Total(); total > 0 {
			v.ByOrigin = append(v.ByOrigin, V1CauseOrigin{model.Origin(o).String(), int64(total), v1CauseTotals(&c.ByOrigin[o])})
		}
	}
	return v
}

func v1CauseTotals(t *analyze.CauseTotals) []V1CauseTotal {
	out := []V1CauseTotal{}
	for _, p := range causeParts(t) {
		out = append(out, V1CauseTotal{p.Cause.String(), int64(p.Total)})
	}
	return out
}

func v1Antagonist(a *analyze.AntagonistRow) V1Antagonist {
	return V1Antagonist{a.Func, a.Work.String(), a.Syscall, int64(a.Total), a.Turns,
		each(a.Stacks, func(s *analyze.AntagonistStack) V1AntagonistStack {
			return V1AntagonistStack{each(s.Stack, v1Frame), s.Place(), int64(s.Total), s.Turns}
		})}
}

// maxSeries is how many bins the curves have at most.
const maxSeries = 128

func v1CauseSeries(s analyze.CauseSeries) V1CauseSeries {
	per := joinedBins(len(s.Bins), maxSeries)
	v := V1CauseSeries{Start: int64(s.Start), Width: int64(s.Width) * int64(per), Causes: []V1CauseCurve{}}
	for c := range analyze.NumCauses {
		curve, occurs := V1CauseCurve{Cause: c.String(), Bins: make([]int64, (len(s.Bins)+per-1)/per)}, false
		for i := range s.Bins {
			curve.Bins[i/per] += int64(s.Bins[i][c])
			occurs = occurs || s.Bins[i][c] > 0
		}
		if occurs {
			v.Causes = append(v.Causes, curve)
		}
	}
	return v
}

func v1Blocker(b *analyze.Blocker) V1Blocker {
	return V1Blocker{int64(b.G), b.Func, b.Work.String(), b.Syscall, int64(b.Total)}
}

func v1Queues(q *analyze.Queues) V1Queues {
	v := V1Queues{
		Refused: q.Refused, Starts: q.Starts,
		BySource: v1Counts(q.BySource[:], func(i int) string { return runqueue.Source(i).String() }),
		// Those without a way are no longer of an own queue.
		ByVia:   v1Counts(q.ByVia[runqueue.ViaOwn:], func(i int) string { return (runqueue.ViaOwn + runqueue.Via(i)).String() }),
		ByGrade: v1Counts(q.ByGrade[:], func(i int) string { return runqueue.Grade(i).String() }),
		Steals:  q.Steals, RunnextSteals: q.RunnextSteals, StealSizes: v1Sizes(&q.StealSizes),
		Overflows: q.Overflows, FairPicks: q.FairPicks,
		Injections: q.Injections, Injected: q.Injected, InjectedLocal: q.InjectedLocal,
		Wakeups: []V1Named{}, Uncaused: q.Uncaused, Fruitless: q.FruitlessWakes, Span: int64(q.Span),
		Global: v1Length(q, &q.Global),
		Local:  each(q.Local(), func(l *analyze.QueueLength) V1Length { return v1Length(q, l) }),
	}
	for a, n := range q.Contradicted {
		v.Contradicted = append(v.Contradicted, V1Count{a.String(), n})
	}
	sortContradicted(v.Contradicted)
	for o := range q.Wakeups {
		if q.Wakeups[o].Count() > 0 {
			v.Wakeups = append(v.Wakeups, v1Named(model.Origin(o).String(), &q.Wakeups[o]))
		}
	}
	return v
}

// v1Counts lists the numbers that are not 0.
func v1Counts(counts []int64, name func(int) string) []V1Count {
	out := []V1Count{}
	for i, n := range counts {
		if n > 0 {
			out = append(out, V1Count{name(i), n})
		}
	}
	return out
}

func v1Sizes(d *analyze.Dist) V1Sizes {
	q := d.Quantiles(0.5, 0.99)
	return V1Sizes{d.Count(), int64(d.Total()), int64(q[0]), int64(q[1]), int64(d.Max()), v1Sketch(d)}
}

func v1Length(q *analyze.Queues, l *analyze.QueueLength) V1Length {
	return V1Length{int64(l.P), int64(l.Sum), l.Mean(q.Span), l.Max, int64(l.MaxAt)}
}

func v1Pathology(p *analyze.Pathology) V1Pathology {
	return V1Pathology{p.Name, p.Severity.String(), p.Grade.String(), p.Count, int64(p.Total), int64(p.Worst), int64(p.At), int64(p.Goroutine), p.Trace,
		each(p.Evidence, func(e *analyze.Evidence) V1Evidence { return V1Evidence(*e) }),
		each(p.Who, func(w *analyze.Party) V1Party {
			return V1Party{w.Role, w.Func, w.Place, each(w.Stack, v1Frame), int64(w.Proc), w.Count, int64(w.Total)}
		}), p.Meaning, p.Advice}
}

func v1Lateness(l *analyze.Lateness) V1Lateness {
	v := V1Lateness{Network: v1Bounds(&l.Network), ByPoller: []V1PollerBound{}, Asleep: l.Asleep,
		Timers: v1Bounds(&l.Timers), UnboundedTimers: l.UnboundedTimers}
	for p := range l.ByPoller {
		if l.ByPoller[p].Count() > 0 {
			v.ByPoller = append(v.ByPoller, V1PollerBound{model.Poller(p).String(), v1Bounds(&l.ByPoller[p])})
		}
	}
	return v
}

func v1Bounds(d *analyze.Dist) V1Bounds {
	q := d.Quantiles(0.5, 0.9, 0.99)
	return V1Bounds{d.Count(), int64(q[0]), int64(q[1]), int64(q[2]), int64(d.Max()), int64(d.MaxAt()), v1Sketch(d)}
}
