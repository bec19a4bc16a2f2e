package causes

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/sums"
	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/model"
)

// Analysis breaks down the time that goroutines of the program were runnable. The
// waits are those that latency is about. Each is cut into cells, and each cell has one
// [Cause]: cells add up to their wait, and all of them to Total, exactly.
//
// While all procs are taken, a wait depends on one of them: that in whose queue
// the goroutine last stood, the victim if it was stolen from there to run at once;
// of one taken from the global queue that which took it. If it moved between
// queues, the last one stands for the whole wait. How many processors the
// operating system gave the program is not in the trace, so an idle proc counts
// as one on which the goroutine could have run: where the processors are fewer,
// the time is found in causes that are [Cause.Suspected].
type Analysis struct {
	sums.Clock

	// Refused says why a trace was not analysed, "" if none was refused. Traces of
	// Go 1.21 and older do not record enough.
	Refused string

	Waits   int64
	Total   model.Duration
	ByCause [result.NumCauses]Sum
	// ByOrigin are the totals by how the goroutines became runnable.
	ByOrigin [model.NumOrigins]Totals
	// Thresholds are the limits of what counts as usual.
	Thresholds []result.Threshold

	funcs       sums.ByName[funcTotals]
	bins        *series
	antagonists antagonists
}

type funcTotals struct {
	waits  int64
	causes Totals
}

// New returns an empty Analysis.
func New(t *model.Tables) *Analysis {
	return &Analysis{funcs: sums.NewByName[funcTotals](t), bins: newSeries(), antagonists: newAntagonists(t)}
}

// count adds a wait with what it was cut into, which it empties.
func (c *Analysis) count(w *wait, x *cut) {
	d := w.end.Sub(w.start)
	c.Waits++
	c.Total += d
	f, byOrigin, most, greatest := c.funcs.Get(w.fn), &c.ByOrigin[w.origin], Cause(0), x.cells[0]
	f.waits++
	// A wait has few of all the causes.
	for set := x.causes; set != 0; set &= set - 1 {
		cause := Cause(bits.TrailingZeros32(set))
		part := x.cells[cause]
		if part > greatest {
			most, greatest = cause, part
		}
		sum := &c.ByCause[cause]
		sum.Total += part
		if part != 0 {
			sum.Waits++
		}
		byOrigin[cause] += part
		f.causes[cause] += part
		x.cells[cause] = 0
	}
	x.causes, x.blockers = 0, nil
	c.ByCause[most].Dominated.Add(d, c.Offset(w.end))
}

// Sum is the time lost to one cause.
type Sum struct {
	Total model.Duration
	Waits int64 // that lost any time to it
	// Dominated are the lengths of the waits that lost most of all to it.
	Dominated dist.Dist
}

// Cause is a cause of waiting.
type Cause = result.Cause

// Totals are times lost by cause.
type Totals [result.NumCauses]model.Duration

// Total returns the sum over all causes.
func (t *Totals) Total() model.Duration {
	var sum model.Duration
	for _, d := range t {
		sum += d
	}
	return sum
}

// ByFunc returns the totals by start function of the goroutine that waited,
// greatest first.
func (c *Analysis) ByFunc() []result.CauseFunc {
	return sums.Rows(&c.funcs, func(f *funcTotals) model.Duration { return f.causes.Total() }, func(name string, f *funcTotals) result.CauseFunc {
		return result.CauseFunc{Function: name, Waits: f.waits, Total: f.causes.Total(), Causes: f.causes.Cells()}
	})
}

// Series returns the totals over time.
func (c *Analysis) Series() result.CauseSeries {
	used := c.bins.Used()
	per := result.JoinedBins(len(used), result.CauseBins)
	v := result.CauseSeries{Start: c.Offset(c.bins.First()), Width: c.bins.Width() * model.Duration(per), Causes: []result.CauseCurve{}}
	for cause := range result.NumCauses {
		curve, occurs := result.CauseCurve{Cause: cause.String(), Bins: make([]int64, result.CeilDiv(len(used), per))}, false
		for i := range used {
			curve.Bins[i/per] += int64(used[i][cause])
			occurs = occurs || used[i][cause] > 0
		}
		if occurs {
			v.Causes = append(v.Causes, curve)
		}
	}
	return v
}

// Cell is the part of one wait that was lost to one cause.
type Cell struct {
	Cause Cause
	Total model.Duration
}

// BeginAt sets when accounting begins.
func (c *Analysis) BeginAt(t model.Time) { c.bins.BeginAt(t) }

// Result adds the results to v.
func (c *Analysis) Result(v *result.Report) {
	all := &v.Latency.All
	x := result.Causes{
		Refused: c.Refused, Waits: c.Waits, Total: c.Total,
		Unknown: all.Count - c.Waits, UnknownTime: all.Total - c.Total, Rows: []result.CauseRow{}, ByOrigin: []result.CauseOrigin{},
		ByFunction: c.ByFunc(),
		Series:     c.Series(),
		Thresholds: append([]result.Threshold{}, c.Thresholds...),
	}
	for cause := range result.NumCauses {
		if sum := &c.ByCause[cause]; sum.Waits > 0 {
			x.Rows = append(x.Rows, result.CauseRow{Cause: cause.String(), Meaning: cause.Meaning(), Suspected: cause.Suspected(), IdleProc: cause.IdleProc(),
				Total: sum.Total, Share: result.Ratio(sum.Total, c.Total), Waits: sum.Waits, Dominated: result.NewDist(&sum.Dominated)})
		}
	}
	slices.SortStableFunc(x.Rows, func(a, b result.CauseRow) int { return cmp.Compare(b.Total, a.Total) })
	for o := range c.ByOrigin {
		if total := c.ByOrigin[o].Total(); total > 0 {
			x.ByOrigin = append(x.ByOrigin, result.CauseOrigin{Origin: model.Origin(o).String(), Total: total, Causes: c.ByOrigin[o].Cells()})
		}
	}
	v.Causes = x
}

// Cells returns the causes of a total, greatest first.
func (t *Totals) Cells() []result.CauseTotal {
	return result.Each(t.cells(), func(c *Cell) result.CauseTotal { return result.CauseTotal{Cause: c.Cause.String(), Total: c.Total} })
}

// cells returns the causes of a total that it has, greatest first.
func (t *Totals) cells() (out []Cell) {
	for c, d := range t {
		if d != 0 {
			out = inOrder(out, Cell{Cause(c), d})
		}
	}
	return out
}

// inOrder adds a cell behind those that are as great.
func inOrder(out []Cell, c Cell) []Cell {
	i := len(out)
	for out = append(out, c); i > 0 && out[i-1].Total < c.Total; i-- {
		out[i] = out[i-1]
	}
	out[i] = c
	return out
}

func (t *Totals) merge(o *Totals) {
	for c, d := range o {
		t[c] += d
	}
}

// series collects time lost over time, in bins of equal width. An interval that covers several of them whole is counted in
// the first of those, and out behind the last: what they come to is added up for many intervals at once.
type series struct {
	sums.Bins[Totals]
	covers []Totals // by bin, how many more intervals cover it whole than the one before; nil: none does
}

func newSeries() *series {
	c := &series{Bins: sums.NewBins(sums.MostBins, (*Totals).merge)}
	c.Settle = c.settle
	return c
}

// add adds the time between start and end, weight times.
func (c *series) add(cause Cause, start, end model.Time, weight int64) {
	length := end.Sub(start)
	if length == 0 || weight == 0 {
		return
	}
	if x := c.In(start, end); x != nil { // nearly always
		x[cause] += length * model.Duration(weight)
		return
	}
	from, to := c.Reach(start, end)
	n, width := model.Duration(weight), c.Width()
	first, last := int(from/width), int(to/width)
	if first == last {
		c.Cell(first)[cause] += length * n
		return
	}
	after := to % width
	c.Cell(first)[cause] += (length - after - model.Duration(last-first-1)*width) * n // with what is before the first bin
	c.Cell(last)[cause] += after * n
	if first+1 < last {
		if c.covers == nil {
			c.covers = make([]Totals, sums.MostBins)
		}
		c.covers[first+1][cause] += n
		c.covers[last][cause] -= n
	}
}

// settle adds the time of the bins that are covered whole.
func (c *series) settle() {
	var covers Totals
	for i := range c.covers {
		if x := &c.covers[i]; *x != (Totals{}) {
			covers.merge(x)
			*x = Totals{}
		}
		if covers != (Totals{}) {
			for cause, n := range covers {
				c.Cell(i)[cause] += n * c.Width()
			}
		}
	}
}

// addClock adds length, weight times, which passed between start and end on a
// clock of its own: clockAt returns how much of it had passed at a time.
func (c *series) addClock(cause Cause, start, end model.Time, length model.Duration, weight int64, clockAt func(model.Time) model.Duration) {
	if length == 0 || weight == 0 {
		return
	}
	if x := c.In(start, end); x != nil {
		x[cause] += length * model.Duration(weight)
		return
	}
	passed := model.Duration(0)
	c.Over(start, end, func(x *Totals, _, to model.Time) {
		until := length
		if to < end {
			until = clockAt(to)
		}
		x[cause] += (until - passed) * model.Duration(weight)
		passed = until
	})
}

// spread adds lengths of which is only known that they passed between start and
// end, evenly.
func (c *series) spread(cause Cause, start, end model.Time, length model.Duration) {
	c.addClock(cause, start, end, length, 1, func(t model.Time) model.Duration {
		return share(length, int64(t.Sub(start)), int64(end.Sub(start)))
	})
}
