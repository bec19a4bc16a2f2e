package analyze

import (
	"cmp"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// instances measures user tasks or regions by type.
type instances struct {
	traceClock
	tables *model.Tables
	names  byName[instanceSums]
	top    top[result.Instance]
}

type instanceSums struct {
	whole    Dist // begun and ended in the trace
	censored Tally
	regions  int64         // in tasks
	states   result.States // of the goroutines inside, censored ones included
}

func newInstances(t *model.Tables, limit int) instances {
	return instances{tables: t, names: newByName[instanceSums](t), top: top[result.Instance]{limit: limit, compare: func(a, b result.Instance) int {
		return cmp.Or(cmp.Compare(b.Duration, a.Duration), cmp.Compare(a.Start, b.Start), cmp.Compare(a.Task, b.Task),
			cmp.Compare(a.Goroutine, b.Goroutine), cmp.Compare(a.Name, b.Name))
	}}}
}

// add counts an instance that lasted from start to end, with what goroutines did inside.
func (k *instances) add(x result.Instance, name model.StringID, start, end model.Time, regions int64, times *[model.NumGoStates]model.Duration) {
	x.Start, x.Duration = k.at(start), end.Sub(start)
	sums := k.names.get(name)
	if x.Censored {
		sums.censored.Add(x.Duration, k.at(end))
	} else {
		sums.whole.Add(x.Duration, k.at(end))
	}
	sums.regions += regions
	for i, d := range times {
		sums.states[i] += d
	}
	if last, ok := k.top.full(); !ok || x.Duration >= last.Duration {
		x.Name = nameOf(k.tables, name)
		k.top.add(x)
	}
}

// Longest returns the longest ones, censored ones included.
func (k *instances) Longest() []result.Instance { return append([]result.Instance{}, k.top.items...) }

// ByName returns the tasks or regions by type, greatest total first.
func (k *instances) ByName() []result.Task {
	return rowsOf(&k.names, func(s *instanceSums) model.Duration { return s.whole.Total() + s.censored.Total },
		func(name string, s *instanceSums) result.Task {
			return result.Task{Named: resultNamed(name, &s.whole), Censored: s.censored, Regions: s.regions, States: s.states}
		})
}

// Tasks measures user tasks (runtime/trace.NewTask) by type. The goroutines inside run side
// by side, so their times may add up to more than the tasks' own; see [model.Task].
type Tasks struct{ instances }

// NewTasks returns a Tasks that reports the limit longest tasks.
func NewTasks(t *model.Tables, limit int) *Tasks { return &Tasks{newInstances(t, limit)} }

// Task implements [model.TaskObserver].
func (k *Tasks) Task(x *model.Task) {
	k.add(result.Instance{Task: x.ID, Goroutine: x.G, Censored: x.OpenStart || x.OpenEnd}, x.Name, x.Start, x.End, x.Regions, &x.Times)
}

// Result adds what was found to v.
func (k *Tasks) Result(v *result.Report) { v.Tasks, v.LongestTasks = k.ByName(), k.Longest() }

// Regions measures user regions (runtime/trace.StartRegion) by type. Regions
// within others count as well.
type Regions struct{ instances }

// NewRegions returns a Regions that reports the limit longest regions.
func NewRegions(t *model.Tables, limit int) *Regions { return &Regions{newInstances(t, limit)} }

// Region implements [model.RegionObserver].
func (k *Regions) Region(x *model.Region) {
	k.add(result.Instance{Task: x.Task, Goroutine: x.G, Censored: x.OpenStart || x.OpenEnd}, x.Name, x.Start, x.End, 0, &x.Times)
}

// Result adds what was found to v.
func (k *Regions) Result(v *result.Report) {
	v.Regions = result.Each(k.ByName(), func(t *result.Task) result.Region {
		return result.Region{Named: t.Named, Censored: t.Censored, States: t.States}
	})
	v.LongestRegions = k.Longest()
}
