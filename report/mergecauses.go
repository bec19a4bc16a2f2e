package report

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// The most stacks of an antagonist.
const maxStacks = 10

func (c *V1Causes) merge(o *V1Causes) {
	c.Refused = cmp.Or(c.Refused, o.Refused)
	c.Waits += o.Waits
	c.Total += o.Total
	c.Unknown += o.Unknown
	c.UnknownTime += o.UnknownTime
	mergeList(&c.Rows, o.Rows, func(r *V1Cause) string { return r.Cause }, nil, func(into, from *V1Cause) {
		into.Total += from.Total
		into.Waits += from.Waits
		into.Dominated.merge(&from.Dominated)
	})
	mergeList(&c.ByOrigin, o.ByOrigin, func(r *V1CauseOrigin) string { return r.Origin }, nil, func(into, from *V1CauseOrigin) {
		into.Total += from.Total
		mergeCauseTotals(&into.Causes, from.Causes)
	})
	mergeList(&c.ByFunction, o.ByFunction, func(r *V1CauseFunc) string { return r.Function }, func(r *V1CauseFunc) { r.Function = analyze.OtherNames },
		func(into, from *V1CauseFunc) {
			into.Waits += from.Waits
			into.Total += from.Total
			mergeCauseTotals(&into.Causes, from.Causes)
		})
	type who struct {
		fn, work string
		syscall  bool
	}
	mergeList(&c.Antagonists, o.Antagonists, func(a *V1Antagonist) who { return who{a.Function, a.Work, a.Syscall} },
		func(a *V1Antagonist) { a.Function, a.Stacks = analyze.OtherNames, nil }, (*V1Antagonist).merge)
	c.Series.merge(&o.Series)
	c.Thresholds = append(c.Thresholds, o.Thresholds...)
}

func mergeCauseTotals(into *[]V1CauseTotal, from []V1CauseTotal) {
	mergeList(into, from, func(c *V1CauseTotal) string { return c.Cause }, nil, func(into, from *V1CauseTotal) { into.Total += from.Total })
}

// merge loses what is not among the greatest stacks of either, but for the totals.
func (a *V1Antagonist) merge(o *V1Antagonist) {
	a.Total += o.Total
	a.Turns += o.Turns
	mergeList(&a.Stacks, o.Stacks, func(s *V1AntagonistStack) string { return framesText(s.Stack) }, nil,
		func(into, from *V1AntagonistStack) {
			into.Total += from.Total
			into.Turns += from.Turns
		})
	slices.SortStableFunc(a.Stacks, func(x, y V1AntagonistStack) int {
		if c := cmp.Compare(y.Total, x.Total); c != 0 {
			return c
		}
		return cmp.Compare(framesText(x.Stack), framesText(y.Stack))
	})
	a.Stacks = a.Stacks[:min(len(a.Stacks), maxStacks)]
}

// framesText tells stacks apart.
func framesText(frames []V1Frame) string {
	var b strings.Builder
	for _, f := range frames {
		b.WriteString(f.Function + "\n" + f.File + ":" + strconv.FormatUint(f.Line, 10) + "\n")
	}
	return b.String()
}

func (q *V1Queues) merge(o *V1Queues) {
	q.Refused = cmp.Or(q.Refused, o.Refused)
	q.Starts += o.Starts
	mergeCounts(&q.BySource, o.BySource)
	mergeCounts(&q.ByVia, o.ByVia)
	mergeCounts(&q.ByGrade, o.ByGrade)
	mergeCounts(&q.Contradicted, o.Contradicted)
	q.Steals += o.Steals
	q.RunnextSteals += o.RunnextSteals
	q.StealSizes.merge(&o.StealSizes)
	q.Overflows += o.Overflows
	q.FairPicks += o.FairPicks
	q.Injections += o.Injections
	q.Injected += o.Injected
	q.InjectedLocal += o.InjectedLocal
	mergeNamed(&q.Wakeups, o.Wakeups)
	q.Uncaused += o.Uncaused
	q.Fruitless += o.Fruitless
	q.Span += o.Span
	q.Global.merge(&o.Global)
	mergeList(&q.Local, o.Local, func(l *V1Length) int64 { return l.Proc }, nil, (*V1Length).merge)
}

func mergeCounts(into *[]V1Count, from []V1Count) {
	mergeList(into, from, func(c *V1Count) string { return c.Name }, nil, func(into, from *V1Count) { into.Count += from.Count })
}

// merge leaves the mean to [Merger.setMeans].
func (l *V1Length) merge(o *V1Length) {
	l.Sum += o.Sum
	if o.Max > l.Max {
		l.Max, l.MaxAt = o.Max, o.MaxAt
	}
}

func (l *V1Lateness) merge(o *V1Lateness) {
	l.Network.merge(&o.Network)
	mergeList(&l.ByPoller, o.ByPoller, func(p *V1PollerBound) string { return p.Poller }, nil,
		func(into, from *V1PollerBound) { into.V1Bounds.merge(&from.V1Bounds) })
	l.Asleep += o.Asleep
	l.Timers.merge(&o.Timers)
	l.UnboundedTimers += o.UnboundedTimers
}

func sortCauses(c *V1Causes) {
	places := func(i int) string { return analyze.Cause(i).String() }
	sortByName(c.Rows, func(r *V1Cause) string { return r.Cause }, int(analyze.NumCauses), places)
	slices.SortStableFunc(c.Rows, func(a, b V1Cause) int { return cmp.Compare(b.Total, a.Total) })
	totals := func(list []V1CauseTotal) {
		sortByName(list, func(t *V1CauseTotal) string { return t.Cause }, int(analyze.NumCauses), places)
		slices.SortStableFunc(list, func(a, b V1CauseTotal) int { return cmp.Compare(b.Total, a.Total) })
	}
	sortOrigins(c.ByOrigin, func(r *V1CauseOrigin) string { return r.Origin })
	for i := range c.ByOrigin {
		totals(c.ByOrigin[i].Causes)
	}
	slices.SortFunc(c.ByFunction, func(a, b V1CauseFunc) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Function, b.Function))
	})
	for i := range c.ByFunction {
		totals(c.ByFunction[i].Causes)
	}
	sortByName(c.Antagonists, func(a *V1Antagonist) string { return a.Work }, int(model.NumWorkKinds), func(i int) string { return model.WorkKind(i).String() })
	slices.SortStableFunc(c.Antagonists, func(a, b V1Antagonist) int {
		if c := cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Function, b.Function)); c != 0 || a.Work != b.Work {
			return c
		}
		return cmp.Compare(strconv.FormatBool(a.Syscall), strconv.FormatBool(b.Syscall))
	})
	sortByName(c.Series.Causes, func(x *V1CauseCurve) string { return x.Cause }, int(analyze.NumCauses), places)
}

func sortContradicted(list []V1Count) {
	slices.SortFunc(list, func(a, b V1Count) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name)) })
}

func sortQueues(q *V1Queues) {
	name := func(c *V1Count) string { return c.Name }
	sortByName(q.BySource, name, int(runqueue.NumSources), func(i int) string { return runqueue.Source(i).String() })
	sortByName(q.ByVia, name, int(runqueue.NumVias), func(i int) string { return runqueue.Via(i).String() })
	sortByName(q.ByGrade, name, int(runqueue.NumGrades), func(i int) string { return runqueue.Grade(i).String() })
	sortContradicted(q.Contradicted)
	sortOrigins(q.Wakeups, func(n *V1Named) string { return n.Name })
	slices.SortFunc(q.Local, func(a, b V1Length) int { return cmp.Compare(a.Proc, b.Proc) })
}
