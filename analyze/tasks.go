package analyze

import (
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/sums"
	"github.com/schedscope/schedscope/model"
)

// instances measures user tasks or regions by type.
type instances struct {
	sums.Clock
	names sums.ByName[instanceSums]
}

type instanceSums struct {
	whole    Dist // begun and ended in the trace
	censored Tally
	regions  int64         // in tasks
	states   result.States // of the goroutines inside, censored ones included
}

// add counts an instance that lasted from start to end, with what goroutines did inside.
func (k *instances) add(name model.StringID, start, end model.Time, censored bool, regions int64, times *[model.NumGoStates]model.Duration) {
	of := k.names.Get(name)
	if censored {
		of.censored.Add(end.Sub(start), k.Offset(end))
	} else {
		of.whole.Add(end.Sub(start), k.Offset(end))
	}
	of.regions += regions
	for i, d := range times {
		of.states[i] += d
	}
}

// ByName returns the tasks or regions by type, greatest total first.
func (k *instances) ByName() []result.Task {
	return sums.Rows(&k.names, func(s *instanceSums) model.Duration { return s.whole.Total() + s.censored.Total },
		func(name string, s *instanceSums) result.Task {
			return result.Task{Named: sums.NamedDist(name, &s.whole), Censored: s.censored, Regions: s.regions, States: s.states}
		})
}

// Tasks measures user tasks (runtime/trace.NewTask) by type. The goroutines inside run side
// by side, so their times may add up to more than the tasks' own; see [model.Task].
type Tasks struct{ instances }

// NewTasks returns a Tasks.
func NewTasks(t *model.Tables) *Tasks {
	return &Tasks{instances{names: sums.NewByName[instanceSums](t)}}
}

// Task implements [model.TaskObserver].
func (k *Tasks) Task(x *model.Task) {
	k.add(x.Name, x.Start, x.End, x.OpenStart || x.OpenEnd, x.Regions, &x.Times)
}

// Result adds the results to v.
func (k *Tasks) Result(v *result.Report) { v.Tasks = k.ByName() }

// Regions measures user regions (runtime/trace.StartRegion) by type. Regions
// within others count as well.
type Regions struct{ instances }

// NewRegions returns a Regions.
func NewRegions(t *model.Tables) *Regions {
	return &Regions{instances{names: sums.NewByName[instanceSums](t)}}
}

// Region implements [model.RegionObserver].
func (k *Regions) Region(x *model.Region) {
	k.add(x.Name, x.Start, x.End, x.OpenStart || x.OpenEnd, 0, &x.Times)
}

// Result adds the results to v.
func (k *Regions) Result(v *result.Report) {
	v.Regions = result.Each(k.ByName(), func(t *result.Task) result.Region {
		return result.Region{Named: t.Named, Censored: t.Censored, States: t.States}
	})
}
