package analyze

import (
	"cmp"
	"slices"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

func resultCauses(c *Causes, all *dist.Dist) result.Causes {
	v := result.Causes{
		Refused: c.Refused, Waits: c.Waits, Total: c.Total,
		Unknown: all.Count() - c.Waits, UnknownTime: all.Total() - c.Total, Rows: []result.CauseRow{}, ByOrigin: []result.CauseOrigin{},
		ByFunction: result.Each(c.ByFunc(), func(f *CauseRow) result.CauseFunc {
			return result.CauseFunc{Function: f.Name, Waits: f.Waits, Total: f.Causes.Total(), Causes: resultCauseTotals(&f.Causes)}
		}),
		Antagonists: result.Each(c.Antagonists(), resultAntagonist),
		Series:      resultCauseSeries(c.Series()),
		Thresholds: result.Each(c.Thresholds, func(t *Threshold) result.Threshold {
			return result.Threshold{Trace: t.Trace, Name: t.Name, Value: t.Value, Samples: t.Samples, Default: t.Default}
		}),
	}
	for _, x := range causesByTotal(c) {
		sum := &c.ByCause[x]
		v.Rows = append(v.Rows, result.CauseRow{Cause: x.String(), Meaning: x.Meaning(), Suspected: x.Suspected(), IdleProc: x.IdleProc(),
			Total: sum.Total, Share: c.Share(x), Waits: sum.Waits, Dominated: result.NewDist(&sum.Dominated)})
	}
	for o := range c.ByOrigin {
		if total := c.ByOrigin[o].Total(); total > 0 {
			v.ByOrigin = append(v.ByOrigin, result.CauseOrigin{Origin: model.Origin(o).String(), Total: total, Causes: resultCauseTotals(&c.ByOrigin[o])})
		}
	}
	return v
}

func resultCauseTotals(t *CauseTotals) []result.CauseTotal {
	out := []result.CauseTotal{}
	for _, p := range causeParts(t) {
		out = append(out, result.CauseTotal{Cause: p.Cause.String(), Total: p.Total})
	}
	return out
}

func resultAntagonist(a *AntagonistRow) result.Antagonist {
	return result.Antagonist{Function: a.Func, Work: a.Work.String(), Syscall: a.Syscall, Total: a.Total, Turns: a.Turns,
		Stacks: result.Each(a.Stacks, func(s *AntagonistStack) result.AntagonistStack {
			return result.AntagonistStack{Stack: result.Each(s.Stack, resultFrame), Place: s.Place(), Total: s.Total, Turns: s.Turns}
		})}
}

func resultCauseSeries(s CauseSeries) result.CauseSeries {
	per := result.JoinedBins(len(s.Bins), result.CauseBins)
	v := result.CauseSeries{Start: s.Start, Width: s.Width * model.Duration(per), Causes: []result.CauseCurve{}}
	for c := range result.NumCauses {
		curve, occurs := result.CauseCurve{Cause: c.String(), Bins: make([]int64, (len(s.Bins)+per-1)/per)}, false
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

func resultBlocker(b *Blocker) result.Blocker {
	return result.Blocker{Goroutine: b.G, Function: b.Func, Work: b.Work.String(), Syscall: b.Syscall, Total: b.Total}
}

func resultQueues(q *Queues) result.Queues {
	v := result.Queues{
		Refused: q.Refused, Starts: q.Starts,
		BySource: resultCounts(q.BySource[:], func(i int) string { return runqueue.Source(i).String() }),
		// Those without a way are no longer of an own queue.
		ByVia:   resultCounts(q.ByVia[runqueue.ViaOwn:], func(i int) string { return (runqueue.ViaOwn + runqueue.Via(i)).String() }),
		ByGrade: resultCounts(q.ByGrade[:], func(i int) string { return runqueue.Grade(i).String() }),
		Steals:  q.Steals, RunnextSteals: q.RunnextSteals, StealSizes: result.NewSizes(&q.StealSizes),
		Overflows: q.Overflows, FairPicks: q.FairPicks,
		Injections: q.Injections, Injected: q.Injected, InjectedLocal: q.InjectedLocal,
		Wakeups: []result.Named{}, Uncaused: q.Uncaused, Fruitless: q.FruitlessWakes, Span: q.Span,
		Global: resultLength(q, &q.Global),
		Local:  result.Each(q.Local(), func(l *QueueLength) result.Length { return resultLength(q, l) }),
	}
	for a, n := range q.Contradicted {
		v.Contradicted = append(v.Contradicted, result.Count{Name: a.String(), Count: n})
	}
	slices.SortFunc(v.Contradicted, func(a, b result.Count) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name)) })
	var woken dist.Dist
	for o := range q.Wakeups {
		woken.Merge(&q.Wakeups[o])
		if q.Wakeups[o].Count() > 0 {
			v.Wakeups = append(v.Wakeups, resultNamed(model.Origin(o).String(), &q.Wakeups[o]))
		}
	}
	v.Woken = result.NewDist(&woken)
	return v
}

// resultCounts lists the numbers that are not 0.
func resultCounts(counts []int64, name func(int) string) []result.Count {
	out := []result.Count{}
	for i, n := range counts {
		if n > 0 {
			out = append(out, result.Count{Name: name(i), Count: n})
		}
	}
	return out
}

func resultLength(q *Queues, l *QueueLength) result.Length {
	return result.Length{Proc: l.P, Sum: l.Sum, Mean: l.Mean(q.Span), Max: l.Max, MaxAt: l.MaxAt}
}

func resultPathology(p *Pathology) result.Pathology {
	return result.Pathology{Name: p.Name, Severity: p.Severity, Grade: p.Grade, Count: p.Count, Total: p.Total, Worst: p.Worst, At: p.At, G: p.Goroutine, Trace: p.Trace,
		Evidence: result.Each(p.Evidence, func(e *result.Evidence) result.Evidence { return result.Evidence(*e) }),
		Who: result.Each(p.Who, func(w *Party) result.Party {
			return result.Party{Role: w.Role, Function: w.Func, Place: w.Place, Stack: result.Each(w.Stack, resultFrame), Proc: w.Proc, Count: w.Count, Total: w.Total}
		}), Meaning: p.Meaning, Advice: p.Advice}
}

func resultLateness(l *Lateness) result.Lateness {
	v := result.Lateness{Network: result.NewBounds(&l.Network), ByPoller: []result.PollerBound{}, Asleep: l.Asleep,
		Timers: result.NewBounds(&l.Timers), UnboundedTimers: l.UnboundedTimers}
	for p := range l.ByPoller {
		if l.ByPoller[p].Count() > 0 {
			v.ByPoller = append(v.ByPoller, result.PollerBound{Poller: model.Poller(p).String(), Bounds: result.NewBounds(&l.ByPoller[p])})
		}
	}
	return v
}

// causesByTotal returns the causes that occur, greatest total first.
func causesByTotal(c *Causes) []result.Cause {
	var out []result.Cause
	for x := range result.NumCauses {
		if c.ByCause[x].Waits > 0 {
			out = append(out, x)
		}
	}
	slices.SortStableFunc(out, func(a, b result.Cause) int {
		return cmp.Compare(c.ByCause[b].Total, c.ByCause[a].Total)
	})
	return out
}

// causeParts returns the causes of a total, greatest first.
func causeParts(t *CauseTotals) []Cell {
	var out []Cell
	for c, d := range t {
		if d > 0 {
			out = append(out, Cell{Cause: result.Cause(c), Total: d})
		}
	}
	slices.SortStableFunc(out, func(a, b Cell) int { return cmp.Compare(b.Total, a.Total) })
	return out
}
