package analyze

import (
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/sums"
	"github.com/schedscope/schedscope/model"
)

// Idle measures procs that were idle although goroutines were runnable, in the
// terms of SchedViz (google/schedviz, analysis: UtilizationMetrics).
//
// Two things blur it. A trace does not show run queues, so "overloaded" procs
// are a stand-in ([model.Counts]): procs not idle on which a goroutine became
// runnable that still waits, wherever it is queued now. And short violations are
// normal: from a wakeup until an idle proc has a thread and that has found the
// goroutine takes some microseconds. Judge by Episodes, how long they lasted.
type Idle struct {
	sums.Clock
	line *Timeline

	Span model.Duration // time measured; set by Finish

	// Wall is the time in which a proc was idle while another was overloaded.
	// PerProc is min(idle, overloaded procs) integrated over that time, in
	// proc-nanoseconds. PerGoroutine (SchedViz: per thread) is min(idle procs,
	// runnable goroutines) integrated over all time, in proc-nanoseconds: it
	// includes goroutines readied by no proc, such as by the network poller.
	Wall, PerProc, PerGoroutine model.Duration

	// Episodes are the longest intervals in which at least one proc was idle and
	// at least one goroutine runnable, whole ones in the trace or not. Their
	// times are their beginnings.
	Episodes Dist

	// Integrals over time, in proc-nanoseconds. Busy procs run a goroutine or are in a system call.
	Procs, Busy model.Duration // set by Finish
	// Runnable is in goroutine-nanoseconds, set by Finish. Saturated is the time in which no
	// proc was idle and a goroutine was runnable.
	Runnable, Saturated model.Duration
	MaxRunnable         int
	MaxRunnableAt       model.Time
	MostProcs           int // seen at a time

	open  bool // an episode is open; it began at since and lasts until last
	since model.Time
	last  model.Time
	atEnd model.Duration // length of the episode that was open at the end
}

// NewIdle returns an Idle that gives t the counts, too, and takes from it what both sum up.
func NewIdle(t *Timeline) *Idle { return &Idle{line: t} }

// OnlyLoad implements [model.LoadObserver].
func (x *Idle) OnlyLoad() {}

// Counts implements [model.LoadObserver].
func (x *Idle) Counts(c *model.Counts) {
	x.line.Counts(c)
	d := c.End.Sub(c.Start)
	if c.Procs > x.MostProcs {
		x.MostProcs = c.Procs
	}
	if c.Runnable >= x.MaxRunnable && (c.Runnable > x.MaxRunnable || x.Offset(c.Start) < x.MaxRunnableAt) {
		x.MaxRunnable, x.MaxRunnableAt = c.Runnable, x.Offset(c.Start)
	}
	if c.Idle > 0 {
		if c.Overloaded > 0 {
			x.Wall += d
			x.PerProc += d * model.Duration(min(c.Idle, c.Overloaded))
		}
		if c.Runnable > 0 {
			x.PerGoroutine += d * model.Duration(min(c.Idle, c.Runnable))
			if !x.open || c.Start != x.last {
				x.close()
				x.open, x.since = true, c.Start
			}
			x.last = c.End
			return
		}
	} else if c.Runnable > 0 {
		x.Saturated += d
	}
	if x.open {
		x.close()
	}
}

// close ends the open episode, if there is one.
func (x *Idle) close() {
	if x.open {
		x.Episodes.Add(x.last.Sub(x.since), x.Offset(x.since))
		x.open = false
	}
}

// Finish ends an episode that is still open. Call it after the last interval.
func (x *Idle) Finish() {
	if d := x.last.Sub(x.since); x.open && d >= longAtEnd {
		x.atEnd = d
	}
	x.close()
	for i := range x.line.Used() {
		b := x.line.Cell(i)
		x.Span, x.Procs, x.Runnable = x.Span+b.Covered, x.Procs+b.Procs, x.Runnable+b.Runnable
	}
	u := x.line.Uses(0, len(x.line.Used()))
	x.Busy = u[result.UseUser] + u[result.UseAssist] + u[result.UseGC] + u[result.UseRuntime] + u[result.UseSyscall]
	x.line = nil
}

// longAtEnd is far more than it takes the runtime to find a goroutine for an idle proc.
const longAtEnd = 1_000_000

// Result adds the results to v.
func (x *Idle) Result(v *result.Report) {
	v.Totals.Procs = x.MostProcs
	p := &v.Procs
	// SchedViz calls the first UtilizationFraction.
	p.Utilisation, p.Mean, p.MeanRunnable = result.Ratio(x.Busy, x.Procs), result.Ratio(x.Procs, x.Span), result.Ratio(x.Runnable, x.Span)
	p.MaxRunnable, p.MaxRunnableAt, p.Saturated = x.MaxRunnable, x.MaxRunnableAt, x.Saturated
	p.IdleRunnable = result.Idle{Episodes: result.NewDist(&x.Episodes), Wall: x.Wall, PerProc: x.PerProc, PerGoroutine: x.PerGoroutine, AtEnd: x.atEnd}
}
