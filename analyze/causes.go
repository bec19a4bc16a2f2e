package analyze

import (
	"github.com/schedscope/schedscope/model"
)

// Causes tells to what the time was lost that goroutines of the program waited
// to run. The waits are those of [Latency]. Each is cut into cells, and each cell
// has one [Cause]: cells add up to their wait, and all of them to Total, exactly.
type Causes struct {
	traceClock

	// Refused says why a trace was not analysed, "" if none was refused. Traces of
	// Go 1.21 and older do not tell enough.
	Refused string

	Waits   int64
	Total   model.Duration
	ByCause [NumCauses]CauseSum
	// ByOrigin are the totals by how the goroutines became runnable.
	ByOrigin [model.NumOrigins]CauseTotals
	// Thresholds are the limits that told apart what is usual from what is not.
	Thresholds []Threshold
}

// CauseSum is what was lost to one cause.
type CauseSum struct {
	Total model.Duration
	Waits int64 // that lost any time to it
	// Dominated are the lengths of the waits that lost most of all to it.
	Dominated Dist
}

// CauseTotals are times lost by cause.
type CauseTotals [NumCauses]model.Duration

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
func (c *Causes) ByFunc() []CauseRow { return nil }

// Antagonists returns what the waits were behind, greatest total first: only
// cells of causes that are [Cause.Behind].
func (c *Causes) Antagonists() []AntagonistRow { return nil }

// Series returns the totals over time.
func (c *Causes) Series() CauseSeries { return CauseSeries{} }

// AntagonistRow are the goroutines of one start function that others waited
// behind, doing one kind of work.
type AntagonistRow struct {
	Func string // start function; EarlierName for what is no longer known by name
	Work model.WorkKind
	// Syscall: it was in a system call and kept the proc.
	Syscall bool
	Total   model.Duration // of waiting behind it
	// Turns is how often a wait stood behind one of its turns on a proc.
	Turns  int64
	Stacks []AntagonistStack // where those turns ended, greatest total first, at most 10
}

// AntagonistStack is the part of an antagonist's turns that ended in one place.
type AntagonistStack struct {
	Stack []model.Frame // innermost first; empty if unknown
	Total model.Duration
	Turns int64
}

// EarlierName stands for the antagonists of a wait so long that those at its
// beginning are no longer known by name.
const EarlierName = "(earlier)"

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
