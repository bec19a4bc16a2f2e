package analyze

import (
	"cmp"
	"slices"

	"github.com/schedscope/schedscope/analyze/lockstep"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/sums"
	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// Queues measures the run queues as [runqueue.Resolver] reconstructs them. Goroutines of the
// runtime are included.
type Queues struct {
	sums.Clock
	result.Queues

	sources [runqueue.NumSources]int64
	vias    [runqueue.NumVias]int64 // of those taken from an own local queue
	grades  [runqueue.NumGrades]int64
	// contradicted counts the starts that no explanation fits by what was assumed of them.
	contradicted map[Assumption]int64
	stealSizes   Dist // goroutines per steal, not nanoseconds; runnext aside
	wakeups      [model.NumOrigins]Dist

	from  model.Time // what is earlier does not count
	local []*queueLength
	all   queueLength // the global queue

	judge *lockstep.Queues // of the decisions, by the rules
}

// newQueues returns empty Queues.
func newQueues() *Queues { return &Queues{judge: lockstep.NewQueues(lockstep.Options{})} }

// Assumption is the basis for placing a goroutine in a queue: its origin, and after a network
// poll the function that it waited in.
type Assumption struct {
	Origin    model.Origin
	Operation string
}

// String returns the assumption as reports print it.
func (a Assumption) String() string {
	return a.Origin.String() + textui.If(a.Operation != "", " in "+a.Operation)
}

// queueLength follows the length of a queue, the goroutine in runnext not counted.
type queueLength struct {
	result.Length
	length int
	since  model.Time
}

// change sets the length at a time.
func (q *queueLength) change(t model.Time, length int) {
	if t > q.since {
		q.Sum += model.Duration(q.length) * t.Sub(q.since)
		q.since = t
	}
	q.length = length
}

// beginAt sets the time before which nothing counts, though it may have been
// reported already.
func (q *Queues) beginAt(t model.Time) {
	*q = Queues{Clock: q.Clock, from: t, local: q.local, all: q.all, judge: q.judge}
	q.judge.Reset()
	for _, l := range q.lengths() {
		// Before the first event the Machine's time is 0, which is before the origin.
		l.Length = result.Length{Proc: l.Proc, Max: l.length, MaxAt: max(q.Offset(t), 0)}
		l.since = t
	}
}

// lengths returns all queues.
func (q *Queues) lengths() []*queueLength {
	all := []*queueLength{&q.all}
	for _, l := range q.local {
		if l != nil {
			all = append(all, l)
		}
	}
	return all
}

// Start implements [runqueue.StartObserver].
func (q *Queues) Start(s *runqueue.Start) {
	if s.Time < q.from {
		return
	}
	q.judge.Start(s)
	q.Starts++
	q.sources[s.Source]++
	q.vias[s.Via]++
	q.grades[s.Grade]++
	if s.Grade == runqueue.GradeContradicted {
		if q.contradicted == nil {
			q.contradicted = map[Assumption]int64{}
		}
		q.contradicted[Assumption{s.Origin, s.Operation}]++
	}
}

// Decision implements [runqueue.DecisionObserver].
func (q *Queues) Decision(d *runqueue.Decision) {
	if d.Time >= q.from {
		q.judge.Decision(d)
	}
}

// Steal implements [runqueue.StealObserver].
func (q *Queues) Steal(s *runqueue.Steal) {
	if s.Time < q.from {
		return
	}
	q.Steals++
	if s.Runnext {
		q.RunnextSteals++
		return
	}
	q.stealSizes.Add(model.Duration(s.Size), q.Offset(s.Time))
}

// Overflow implements [runqueue.OverflowObserver].
func (q *Queues) Overflow(x *runqueue.Overflow) {
	if x.Time >= q.from {
		q.Overflows++
	}
}

// Fairness implements [runqueue.FairnessObserver].
func (q *Queues) Fairness(x *runqueue.Fairness) {
	if x.Time >= q.from {
		q.FairPicks++
	}
}

// Injection implements [runqueue.InjectionObserver].
func (q *Queues) Injection(x *runqueue.Injection) {
	if x.Time >= q.from {
		q.Injections++
		q.Injected += int64(x.Global + x.Local)
		q.InjectedLocal += int64(x.Local)
	}
}

// Wakeup implements [runqueue.WakeupObserver].
func (q *Queues) Wakeup(w *runqueue.Wakeup) {
	if w.Got < q.from || w.Handoff {
		return // [Handoffs] counts procs that were handed off
	}
	if w.Caused {
		q.wakeups[w.Origin].Add(w.Got.Sub(w.Trigger), q.Offset(w.Got))
	} else {
		q.Uncaused++
	}
	if !w.Found {
		q.Fruitless++
	}
}

// Queue implements [runqueue.QueueObserver].
func (q *Queues) Queue(x *runqueue.Lengths) {
	l, at := q.queue(x.P), max(x.Time, q.from)
	l.change(at, x.Len)
	if x.Len > l.Max || x.Time < q.from { // reported late: so long was it when time began to count
		l.Max, l.MaxAt = x.Len, q.Offset(at)
	}
}

// queue returns a queue, from now on known.
func (q *Queues) queue(p model.ProcID) *queueLength {
	if p < 0 {
		return &q.all
	}
	l := result.Slot(&q.local, int(p))
	if *l == nil {
		*l = &queueLength{Length: result.Length{Proc: p}, since: q.from}
	}
	return *l
}

// Finish completes the lengths, between start and end of the accounted time.
func (q *Queues) Finish(start, end model.Time) {
	q.Span = end.Sub(start)
	q.all.Proc = model.NoProc
	q.Local = []result.Length{}
	for i, l := range q.lengths() {
		l.change(end, l.length)
		l.Mean = result.Ratio(l.Sum, q.Span)
		if i > 0 {
			q.Local = append(q.Local, l.Length)
		}
	}
	q.Global = q.all.Length
	q.StealSizes = result.NewSizes(&q.stealSizes)
}

// Result adds the results to v.
func (q *Queues) Result(v *result.Report) {
	v.Queues = q.Queues
	x := &v.Queues
	x.BySource = resultCounts[runqueue.Source](q.sources[:], 0)
	x.ByVia = resultCounts[runqueue.Via](q.vias[:], runqueue.ViaOwn) // those without a way are not of an own queue any more
	x.ByGrade = resultCounts[runqueue.Grade](q.grades[:], 0)
	for a, n := range q.contradicted {
		x.Contradicted = append(x.Contradicted, result.Count{Name: a.String(), Count: n})
	}
	slices.SortFunc(x.Contradicted, func(a, b result.Count) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name)) })
	kinds := &q.judge.Result().Kinds
	for _, k := range [...]lockstep.Kind{lockstep.Place, lockstep.Pick, lockstep.Steal} {
		if t := &kinds[k]; t.Judged > 0 {
			unexplained := t.Diverged[lockstep.Unexplained]
			x.Decisions = append(x.Decisions, result.Decisions{Name: k.String(), Judged: t.Judged, Agreed: t.Agreed,
				Explained: t.Judged - t.Agreed - unexplained, Unexplained: unexplained, Waited: t.Waited, Unjudged: t.Excluded})
		}
	}
	x.Wakeups = sums.NamedDists[model.Origin](q.wakeups[:])
	var woken dist.Dist
	for o := range q.wakeups {
		woken.Merge(&q.wakeups[o])
	}
	x.Woken = result.NewDist(&woken)
}

// resultCounts lists the numbers from first on that are not 0.
func resultCounts[E interface {
	~uint8
	String() string
}](counts []int64, first E) []result.Count {
	out := []result.Count{}
	for i, n := range counts {
		if E(i) >= first && n > 0 {
			out = append(out, result.Count{Name: E(i).String(), Count: n})
		}
	}
	return out
}
