package analyze

import (
	"cmp"
	"slices"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// Tasks measures user tasks (runtime/trace.NewTask) by type.
type Tasks struct {
	traceClock
	tables *model.Tables
	names  byName[taskSums]
	top    top[Instance]
}

type taskSums struct {
	whole    Dist
	censored Tally
	inside   TaskRegions
}

// TaskRow are the tasks of one type.
type TaskRow struct {
	Name     string
	Whole    *Dist // begun and ended in the trace
	Censored Tally
	Inside   TaskRegions
}

// TaskRegions is what goroutines did inside the regions of tasks; see
// [model.Task]. They run side by side, so Times may add up to more than the
// tasks' own time.
type TaskRegions struct {
	Count int64
	Times [model.NumGoStates]model.Duration
}

func (r *TaskRegions) add(count int64, times *[model.NumGoStates]model.Duration) {
	r.Count += count
	for i, d := range times {
		r.Times[i] += d
	}
}

// Instance is one task or region.
type Instance struct {
	Trace      int
	Name       string
	Task       model.TaskID
	G          model.GoID // that began it
	Start, End model.Time
	Censored   bool
}

// Duration returns the instance's length.
func (x Instance) Duration() model.Duration { return x.End.Sub(x.Start) }

func longestInstances(limit int) top[Instance] {
	return top[Instance]{limit: limit, compare: func(a, b Instance) int {
		return cmp.Or(cmp.Compare(b.Duration(), a.Duration()), cmp.Compare(a.Trace, b.Trace),
			cmp.Compare(a.Start, b.Start), cmp.Compare(a.Task, b.Task), cmp.Compare(a.G, b.G), cmp.Compare(a.Name, b.Name))
	}}
}

// NewTasks returns a Tasks that tells the limit longest tasks.
func NewTasks(t *model.Tables, limit int) *Tasks {
	return &Tasks{tables: t, names: newByName[taskSums](t), top: longestInstances(limit)}
}

// Task implements [model.TaskObserver].
func (k *Tasks) Task(x *model.Task) {
	in := Instance{Name: nameOf(k.tables, x.Name), Task: x.ID, G: x.G, Start: k.at(x.Start), End: k.at(x.End),
		Censored: x.OpenStart || x.OpenEnd}
	sums := k.names.get(x.Name)
	sums.inside.add(x.Regions, &x.Times)
	if in.Censored {
		sums.censored.Add(in.Duration(), in.End)
	} else {
		sums.whole.Add(in.Duration(), in.End)
	}
	k.top.add(in)
}

// ByName returns the tasks by type, greatest total first.
func (k *Tasks) ByName() []TaskRow {
	sorted := k.names.sorted(func(s *taskSums) int64 { return int64(s.whole.Total() + s.censored.Total) })
	rows := make([]TaskRow, len(sorted))
	for i, e := range sorted {
		rows[i] = TaskRow{e.name, &e.value.whole, e.value.censored, e.value.inside}
	}
	return rows
}

// Longest returns the longest tasks, censored ones included.
func (k *Tasks) Longest() []Instance { return slices.Clone(k.top.items) }

// Result adds what was found to v.
func (s *Tasks) Result(v *result.Report) {
	v.Tasks = result.Each(s.ByName(), func(t *TaskRow) result.Task {
		return result.Task{Named: resultNamed(t.Name, t.Whole), Censored: t.Censored, Regions: t.Inside.Count, States: t.Inside.Times}
	})
	v.LongestTasks = result.Each(s.Longest(), resultInstance)
}
