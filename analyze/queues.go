package analyze

import (
	"cmp"
	"slices"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// Queues tells what the run queues did, as [runqueue.Resolver] reconstructs
// them. Goroutines of the runtime are included.
type Queues struct {
	traceClock

	// Refused says why a trace was not analysed, "" if none was refused.
	Refused string

	Starts   int64
	BySource [runqueue.NumSources]int64
	ByVia    [runqueue.NumVias]int64 // of those taken from an own local queue
	ByGrade  [runqueue.NumGrades]int64
	// Contradicted counts the starts that no explanation fits by what was assumed of
	// them.
	Contradicted map[Assumption]int64

	Steals        int64
	RunnextSteals int64 // of those, of a single goroutine from a runnext
	StealSizes    Dist  // goroutines per steal, not nanoseconds; runnext aside
	Overflows     int64 // of full local queues
	FairPicks     int64 // picks from the global queue by the 61st tick
	Injections    int64 // lists of goroutines made runnable at once
	Injected      int64 // goroutines on them
	InjectedLocal int64 // of those, put into a local queue

	// Wakeups of idle procs, from their cause until the thread had the proc, by
	// how the goroutine that caused it became runnable.
	Wakeups        [model.NumOrigins]Dist
	Uncaused       int64 // wakeups without a known cause
	FruitlessWakes int64 // the thread found nothing to run

	Span   model.Duration // time over which lengths were followed
	Global QueueLength

	from  model.Time // what is earlier does not count
	local []*queueLength
	all   queueLength // the global queue
}

// Assumption is what the way of a goroutine through the queues rests on: how it
// became runnable, and after a poll of the network the function that it waited in.
type Assumption struct {
	Origin    model.Origin
	Operation string
}

// String returns the assumption as reports print it.
func (a Assumption) String() string {
	if a.Operation == "" {
		return a.Origin.String()
	}
	return a.Origin.String() + " in " + a.Operation
}

// QueueLength is how long a queue was, the goroutine in runnext not counted.
type QueueLength struct {
	P     model.ProcID   // NoProc: the global queue
	Sum   model.Duration // length integrated over time, in goroutine-nanoseconds
	Max   int
	MaxAt model.Time
}

// Mean returns the mean length over a span.
func (q *QueueLength) Mean(span model.Duration) float64 { return ratio(q.Sum, span) }

// queueLength follows the length of a queue.
type queueLength struct {
	QueueLength
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
// told already.
func (q *Queues) beginAt(t model.Time) {
	*q = Queues{traceClock: q.traceClock, from: t, local: q.local, all: q.all}
	for _, l := range q.lengths() {
		// Before the first event the Machine's time is 0, which is before the origin.
		l.QueueLength = QueueLength{P: l.P, Max: l.length, MaxAt: max(q.at(t), 0)}
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
	q.Starts++
	q.BySource[s.Source]++
	q.ByVia[s.Via]++
	q.ByGrade[s.Grade]++
	if s.Grade == runqueue.GradeContradicted {
		q.contradicted(Assumption{s.Origin, s.Operation}, 1)
	}
}

func (q *Queues) contradicted(a Assumption, n int64) {
	if q.Contradicted == nil {
		q.Contradicted = map[Assumption]int64{}
	}
	q.Contradicted[a] += n
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
	q.StealSizes.Add(model.Duration(s.Size), q.at(s.Time))
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
		return // a proc that was handed off is told by [Handoffs]
	}
	if w.Caused {
		q.Wakeups[w.Origin].Add(w.Got.Sub(w.Trigger), q.at(w.Got))
	} else {
		q.Uncaused++
	}
	if !w.Found {
		q.FruitlessWakes++
	}
}

// Lengths implements [runqueue.LengthsObserver].
func (q *Queues) Lengths(x *runqueue.Lengths) {
	l, at := q.queue(x.P), max(x.Time, q.from)
	l.change(at, x.Len)
	if x.Len > l.Max || x.Time < q.from { // told late: so long was it when time began to count
		l.Max, l.MaxAt = x.Len, q.at(at)
	}
}

// queue returns a queue, from now on known.
func (q *Queues) queue(p model.ProcID) *queueLength {
	if p < 0 {
		return &q.all
	}
	if n := int(p) + 1; n > len(q.local) {
		q.local = append(q.local, make([]*queueLength, n-len(q.local))...)
	}
	if q.local[p] == nil {
		q.local[p] = &queueLength{QueueLength: QueueLength{P: p}, since: q.from}
	}
	return q.local[p]
}

// Finish completes the lengths, between start and end of the accounted time.
func (q *Queues) Finish(start, end model.Time) {
	q.Span = end.Sub(start)
	for _, l := range q.lengths() {
		l.change(end, l.length)
	}
	q.all.P = model.NoProc
	q.Global = q.all.QueueLength
}

// Local returns the lengths of the local queues that were ever used, sorted by
// proc.
func (q *Queues) Local() []QueueLength {
	var out []QueueLength
	for _, l := range q.lengths()[1:] {
		out = append(out, l.QueueLength)
	}
	return out
}

// Result adds what was found to v.
func (q *Queues) Result(v *result.Report) {
	x := result.Queues{
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
		x.Contradicted = append(x.Contradicted, result.Count{Name: a.String(), Count: n})
	}
	slices.SortFunc(x.Contradicted, func(a, b result.Count) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name)) })
	var woken dist.Dist
	for o := range q.Wakeups {
		woken.Merge(&q.Wakeups[o])
		if q.Wakeups[o].Count() > 0 {
			x.Wakeups = append(x.Wakeups, resultNamed(model.Origin(o).String(), &q.Wakeups[o]))
		}
	}
	x.Woken = result.NewDist(&woken)
	v.Queues = x
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
