package analyze

import (
	"slices"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// Regions measures user regions (runtime/trace.StartRegion) by type. Regions
// within others count as well.
type Regions struct {
	traceClock
	tables *model.Tables
	names  byName[regionSums]
	top    top[Instance]
}

type regionSums struct {
	whole    Dist
	censored Tally
	times    [model.NumGoStates]model.Duration
}

// RegionRow are the regions of one type.
type RegionRow struct {
	Name     string
	Whole    *Dist // begun and ended in the trace
	Censored Tally
	// Times are the totals of what the goroutines did in all regions of the type,
	// censored ones included.
	Times [model.NumGoStates]model.Duration
}

// NewRegions returns a Regions that tells the limit longest regions.
func NewRegions(t *model.Tables, limit int) *Regions {
	return &Regions{tables: t, names: newByName[regionSums](t), top: longestInstances(limit)}
}

// Region implements [model.RegionObserver].
func (r *Regions) Region(x *model.Region) {
	d, end := x.End.Sub(x.Start), r.at(x.End)
	censored := x.OpenStart || x.OpenEnd
	sums := r.names.get(x.Name)
	if censored {
		sums.censored.Add(d, end)
	} else {
		sums.whole.Add(d, end)
	}
	for i, t := range x.Times {
		sums.times[i] += t
	}
	if last, ok := r.top.full(); ok && d < last.Duration() {
		return
	}
	r.top.add(Instance{Name: nameOf(r.tables, x.Name), Task: x.Task, G: x.G, Start: r.at(x.Start), End: end, Censored: censored})
}

// ByName returns the regions by type, greatest total first.
func (r *Regions) ByName() []RegionRow {
	sorted := r.names.sorted(func(s *regionSums) int64 { return int64(s.whole.Total() + s.censored.Total) })
	rows := make([]RegionRow, len(sorted))
	for i, e := range sorted {
		rows[i] = RegionRow{e.name, &e.value.whole, e.value.censored, e.value.times}
	}
	return rows
}

// Longest returns the longest regions, censored ones included.
func (r *Regions) Longest() []Instance { return slices.Clone(r.top.items) }

// Result adds what was found to v.
func (s *Regions) Result(v *result.Report) {
	v.Regions = result.Each(s.ByName(), func(r *RegionRow) result.Region {
		return result.Region{Named: resultNamed(r.Name, r.Whole), Censored: r.Censored, States: r.Times}
	})
	v.LongestRegions = result.Each(s.Longest(), resultInstance)
}

func resultInstance(x *Instance) result.Instance {
	return result.Instance{Trace: x.Trace, Name: x.Name, Task: x.Task, Goroutine: x.G, Start: x.Start, Duration: x.Duration(), Censored: x.Censored}
}
