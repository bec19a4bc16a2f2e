package analyze

import (
	"cmp"
	"math/bits"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// Causes tells to what the time was lost that goroutines of the program waited
// to run. The waits are those of [Latency]. Each is cut into cells, and each cell
// has one [Cause]: cells add up to their wait, and all of them to Total, exactly.
//
// While all procs are taken, a wait depends on one of them: that in whose queue
// the goroutine last stood, the victim if it was stolen from there to run at once;
// of one taken from the global queue that which took it. If it moved between
// queues, the last one stands for the whole wait. How many processors the
// operating system gave the program is not in the trace, so an idle proc counts
// as one on which the goroutine could have run: where the processors are fewer,
// the time is found in causes that are [Cause.Suspected].
type Causes struct {
	traceClock

	// Refused says why a trace was not analysed, "" if none was refused. Traces of
	// Go 1.21 and older do not tell enough. Of merged traces the others are here.
	Refused string

	Waits   int64
	Total   model.Duration
	ByCause [result.NumCauses]CauseSum
	// ByOrigin are the totals by how the goroutines became runnable.
	ByOrigin [model.NumOrigins]CauseTotals
	// Thresholds are the limits that told apart what is usual from what is not.
	Thresholds []Threshold

	funcs       byName[causeFunc]
	bins        causeBins
	antagonists antagonists
}

type causeFunc struct {
	waits  int64
	causes CauseTotals
}

func newCauses(t *model.Tables) *Causes {
	return &Causes{funcs: newByName[causeFunc](t), bins: newCauseBins(), antagonists: newAntagonists(t)}
}

// count adds a wait that was cut into cells.
func (c *Causes) count(w *wait) {
	d := w.end.Sub(w.start)
	c.Waits++
	c.Total += d
	f, byOrigin, most := c.funcs.get(w.fn), &c.ByOrigin[w.origin], Cause(0)
	f.waits++
	// A wait has few of all the causes.
	for set := w.causes; set != 0; set &= set - 1 {
		cause := Cause(bits.TrailingZeros32(set))
		part := w.cells[cause]
		if part > w.cells[most] {
			most = cause
		}
		c.ByCause[cause].Total += part
		c.ByCause[cause].Waits++
		byOrigin[cause] += part
		f.causes[cause] += part
	}
	c.ByCause[most].Dominated.Add(d, c.at(w.end))
}

// CauseSum is what was lost to one cause.
type CauseSum struct {
	Total model.Duration
	Waits int64 // that lost any time to it
	// Dominated are the lengths of the waits that lost most of all to it.
	Dominated Dist
}

// CauseTotals are times lost by cause.
type CauseTotals [result.NumCauses]model.Duration

// Total returns the sum over all causes.
func (t *CauseTotals) Total() model.Duration {
	var sum model.Duration
	for _, d := range t {
		sum += d
	}
	return sum
}

// Most returns the cause to which most was lost, the first of equals.
func (t *CauseTotals) Most() Cause {
	most := Cause(0)
	for c, d := range t {
		if d > t[most] {
			most = Cause(c)
		}
	}
	return most
}

func (t *CauseTotals) merge(o *CauseTotals) {
	for c, d := range o {
		t[c] += d
	}
}

// CauseRow are the waits of the goroutines of one start function.
type CauseRow struct {
	Name   string
	Waits  int64
	Causes CauseTotals
}

// Threshold is a limit that was estimated from the trace itself.
type Threshold struct {
	Trace   int
	Name    string
	Value   model.Duration
	Samples int64
	Default bool // there were too few samples: it is the value documented
}

// Share returns the cause's part of the total, 0 if there is none.
func (c *Causes) Share(x Cause) float64 { return ratio(c.ByCause[x].Total, c.Total) }

// ByFunc returns the totals by start function of the goroutine that waited,
// greatest first.
func (c *Causes) ByFunc() []CauseRow {
	var rows []CauseRow
	for _, e := range c.funcs.sorted(func(f *causeFunc) int64 { return int64(f.causes.Total()) }) {
		rows = append(rows, CauseRow{e.name, e.value.waits, e.value.causes})
	}
	return rows
}

// Antagonists returns what the waits were behind, greatest total first: only
// cells of causes that are [Cause.Behind].
func (c *Causes) Antagonists() []AntagonistRow { return c.antagonists.rows() }

// Series returns the totals over time.
func (c *Causes) Series() CauseSeries {
	return CauseSeries{Start: c.at(c.bins.b.start), Width: c.bins.b.width(), Bins: c.bins.bins[:c.bins.b.used]}
}

// Merge adds what o measured in another trace.
func (c *Causes) Merge(o *Causes) {
	c.Refused = cmp.Or(c.Refused, o.Refused)
	c.Waits += o.Waits
	c.Total += o.Total
	for i := range c.ByCause {
		mine, theirs := &c.ByCause[i], &o.ByCause[i]
		mine.Total += theirs.Total
		mine.Waits += theirs.Waits
		mine.Dominated.Merge(&theirs.Dominated)
	}
	for i := range c.ByOrigin {
		c.ByOrigin[i].merge(&o.ByOrigin[i])
	}
	shift := c.joined(&o.traceClock)
	for _, t := range o.Thresholds {
		t.Trace += shift
		c.Thresholds = append(c.Thresholds, t)
	}
	c.funcs.merge(&o.funcs, func(mine, theirs *causeFunc) {
		mine.waits += theirs.waits
		mine.causes.merge(&theirs.causes)
	})
	c.bins.merge(&o.bins, c.origin-o.origin)
	c.antagonists.merge(&o.antagonists)
}

// CauseSeries is time lost over time, in bins of equal width, at most
// [TimelineBins]. Merged series lie on top of each other.
type CauseSeries struct {
	Start model.Time // of the first bin, as an offset from the origin
	Width model.Duration
	Bins  []CauseTotals // goroutine-nanoseconds
}

// Cell is the part of one wait that was lost to one cause.
type Cell struct {
	Cause Cause
	Total model.Duration
}

// Blocker is a goroutine that one wait was behind.
type Blocker struct {
	G       model.GoID // NoGoroutine: several, no longer known by name
	Func    string
	Work    model.WorkKind
	Syscall bool // it was in a system call and kept the proc
	Total   model.Duration
}
