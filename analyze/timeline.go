package analyze

import (
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/sums"
	"github.com/schedscope/schedscope/model"
)

// Timeline shows a trace over time, in at most [sums.MostBins] bins. They are
// 1.024 us wide at first; the width doubles whenever the trace outgrows them,
// so it is a power of two of nanoseconds and between half of the bins and all
// are in use. All sums are exact: an interval is divided among the bins that
// it touches.
type Timeline struct {
	sums.Clock
	sums.Bins[TimeBin]
}

// TimeBin is one bin of a [Timeline].
type TimeBin struct {
	// Uses are the procs' times. Idle ones are only those that GOMAXPROCS allows:
	// a proc keeps existing when GOMAXPROCS shrinks.
	Uses Uses
	// Covered is the time that counts below refer to: the bin's width, less at
	// the end of the trace.
	Covered model.Duration
	// Runnable is the number of runnable goroutines integrated over time, in
	// goroutine-nanoseconds; MaxRunnable its greatest value.
	Runnable    model.Duration
	MaxRunnable int
	// Procs is GOMAXPROCS integrated over time, in proc-nanoseconds.
	Procs model.Duration
	// Heap and Goal are the greatest values in bytes that live heap objects and
	// the collector's goal had; 0 if not sampled in the bin.
	Heap, Goal uint64
}

func (b *TimeBin) join(o *TimeBin) {
	b.Uses.Add(&o.Uses)
	b.Covered += o.Covered
	b.Runnable += o.Runnable
	b.Procs += o.Procs
	b.MaxRunnable = max(b.MaxRunnable, o.MaxRunnable)
	b.Heap, b.Goal = max(b.Heap, o.Heap), max(b.Goal, o.Goal)
}

// NewTimeline returns an empty Timeline.
func NewTimeline() *Timeline { return &Timeline{Bins: sums.NewBins(sums.MostBins, (*TimeBin).join)} }

// Start returns when the first bin starts, as an offset from the origin.
func (t *Timeline) Start() model.Time { return t.Offset(t.First()) }

// Uses returns the use of the procs in the bins [from, to).
func (t *Timeline) Uses(from, to int) Uses {
	var sum Uses
	for i := range t.Used()[from:to] {
		sum.Add(&t.Used()[from+i].Uses)
	}
	return sum
}

// ProcSpan implements [model.ProcSpanObserver].
func (t *Timeline) ProcSpan(s *model.ProcSpan) {
	use := result.UseOf(s.State, s.Work)
	if use == result.UseIdle {
		return // from Counts
	}
	if b := t.In(s.Start, s.End); b != nil {
		b.Uses[use] += s.Duration()
	} else {
		t.split(s.Start, s.End, func(b *TimeBin, d model.Duration) { b.Uses[use] += d })
	}
}

// Counts implements [model.CountsObserver].
func (t *Timeline) Counts(c *model.Counts) {
	if b := t.In(c.Start, c.End); b != nil {
		b.count(c, c.End.Sub(c.Start))
	} else {
		t.split(c.Start, c.End, func(b *TimeBin, d model.Duration) { b.count(c, d) })
	}
}

func (b *TimeBin) count(c *model.Counts, d model.Duration) {
	b.Covered += d
	b.Uses[result.UseIdle] += d * model.Duration(c.Idle)
	b.Runnable += d * model.Duration(c.Runnable)
	b.Procs += d * model.Duration(c.Procs)
	if c.Runnable > b.MaxRunnable {
		b.MaxRunnable = c.Runnable
	}
}

// Metric implements [model.MetricObserver].
func (t *Timeline) Metric(s *model.MetricSample) {
	switch s.Name {
	case metricHeap:
		b := t.Bin(s.Time)
		b.Heap = max(b.Heap, s.Value)
	case metricGoal:
		b := t.Bin(s.Time)
		b.Goal = max(b.Goal, s.Value)
	}
}

// Names of the metrics in traces (internal/trace/base.go, Go 1.26).
const (
	metricHeap  = "/memory/classes/heap/objects:bytes"
	metricGoal  = "/gc/heap/goal:bytes"
	metricProcs = "/sched/gomaxprocs:threads"
)

// split calls f for each bin with its part of an interval.
func (t *Timeline) split(start, end model.Time, f func(*TimeBin, model.Duration)) {
	t.Over(start, end, func(b *TimeBin, from, to model.Time) {
		if from < to {
			f(b, to.Sub(from))
		}
	})
}

// Result adds the results to v.
func (t *Timeline) Result(v *result.Report) {
	used := t.Used()
	joined := result.JoinedBins(len(used), result.SeriesBins)
	n := result.CeilDiv(len(used), joined)
	x := result.Series{
		Start: t.Start(), Width: t.Width() * model.Duration(joined),
		Covered: make([]int64, n), Procs: make([]int64, n), Runnable: make([]int64, n),
		MaxRunnable: make([]int, n), Heap: make([]uint64, n), Goal: make([]uint64, n),
	}
	for use := range x.Uses {
		x.Uses[use] = make([]int64, n)
	}
	for i := range used {
		b, k := &used[i], i/joined
		x.Covered[k] += int64(b.Covered)
		x.Procs[k] += int64(b.Procs)
		x.Runnable[k] += int64(b.Runnable)
		x.MaxRunnable[k] = max(x.MaxRunnable[k], b.MaxRunnable)
		x.Heap[k] = max(x.Heap[k], b.Heap)
		x.Goal[k] = max(x.Goal[k], b.Goal)
		for use, list := range x.Uses {
			list[k] += int64(b.Uses[use])
		}
	}
	v.Series, v.Procs.Uses = x, t.Uses(0, len(used))
}
