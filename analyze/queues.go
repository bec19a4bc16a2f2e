package analyze

import (
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

	Steals        int64
	RunnextSteals int64 // of those, of a single goroutine from a runnext
	StealSizes    Dist  // goroutines per steal, not nanoseconds; runnext aside
	Overflows     int64 // of full local queues
	Fairness      int64 // picks from the global queue by the 61st tick
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

// Local returns the lengths of the local queues, sorted by proc.
func (q *Queues) Local() []QueueLength { return nil }
