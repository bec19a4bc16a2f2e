package model

import (
	"maps"
	"slices"
)

// openRegion is a region that has not ended.
type openRegion struct {
	task      TaskID
	name      StringID
	start     Time
	openStart bool
	times     [NumGoStates]Duration // of the goroutine when it began
}

func (m *Machine) label(ev *Event) {
	g := m.gs.Get(GoID(ev.ID))
	if g == nil {
		return
	}
	g.Label = ev.Str
	m.learnWork(g)
	// The label of a mark worker says how its proc has been used since it started.
	if p := m.procOrNil(g.span.P); p != nil && p.g == g && m.workerMode(g) != WorkUser {
		m.countProc(p, -1, p.span.Start)
		p.span.Work = g.work
		m.countProc(p, +1, p.span.Start)
		m.updateEach(p, nil, m.now) // it is not simple now
		if m.log != nil {
			m.reportProc(&p.span, p.span.State, m.now)
		}
	}
}

func (m *Machine) metric(ev *Event, at Time) {
	if ev.Str == m.words.gomaxprocs && ev.ID >= 0 && ev.ID <= maxProcID {
		m.resizeProcs(int(ev.ID), at)
		if w := m.stw; w != nil && w.G == ev.G {
			w.resized = true
		}
	}
	m.metricSample = MetricSample{Time: at, Name: m.tables.String(ev.Str), Value: uint64(ev.ID)}
	Report(m.obs.metric, MetricObserver.Metric, &m.metricSample)
}

func (m *Machine) taskBegin(ev *Event, at Time) {
	id := TaskID(ev.ID)
	var task *Task
	if n := len(m.endedTasks) - 1; n < 0 {
		task = new(Task)
	} else {
		task, m.endedTasks = m.endedTasks[n], m.endedTasks[:n]
	}
	*task = Task{ID: id, Parent: TaskID(ev.Arg), Name: ev.Str, G: ev.G, Start: at}
	m.tasks[id] = task
}

func (m *Machine) taskEnd(ev *Event, at Time) {
	id := TaskID(ev.ID)
	task := m.tasks[id]
	if task == nil {
		task = &Task{ID: id, Parent: TaskID(ev.Arg), Name: ev.Str, G: NoGoroutine, Start: m.start, OpenStart: true}
	}
	delete(m.tasks, id)
	task.End = at
	Report(m.obs.task, TaskObserver.Task, task)
	m.endedTasks = append(m.endedTasks, task)
}

func (m *Machine) finishTasks(t Time) {
	for _, id := range slices.Sorted(maps.Keys(m.tasks)) {
		task := m.tasks[id]
		task.End, task.OpenEnd = t, true
		Report(m.obs.task, TaskObserver.Task, task)
	}
}

func (m *Machine) regionBegin(ev *Event, at Time) {
	if g := m.gs.Get(ev.G); g != nil {
		g.mark().regions = append(g.regions, openRegion{task: TaskID(ev.ID), name: ev.Str, start: at, times: g.timesAt(at)})
	}
}

// regionEnd closes the innermost region, which must be the one named; one that
// the trace never showed to begin is open since its goroutine's account began.
func (m *Machine) regionEnd(ev *Event, at Time) {
	g := m.gs.Get(ev.G)
	if g == nil {
		return
	}
	r := openRegion{task: TaskID(ev.ID), name: ev.Str, start: g.From, openStart: true}
	if n := len(g.regions); n > 0 && g.regions[n-1].name == r.name && g.regions[n-1].task == r.task {
		r = g.regions[n-1]
		g.regions = g.regions[:n-1]
	}
	m.reportRegion(g, &r, at, false)
}

// reportRegion reports a region that was just taken off its goroutine's list.
func (m *Machine) reportRegion(g *Goroutine, r *openRegion, at Time, open bool) {
	s := &m.region
	*s = Region{Task: r.task, Name: r.name, G: g.ID, Func: g.Func, Start: r.start, End: at,
		OpenStart: r.openStart, OpenEnd: open, Depth: len(g.regions), Times: g.timesAt(at)}
	for i := range s.Times {
		s.Times[i] -= r.times[i]
	}
	if task := m.tasks[r.task]; task != nil && !g.inRegionOf(r.task) {
		task.Regions++
		for i, d := range s.Times {
			task.Times[i] += d
		}
	}
	Report(m.obs.region, RegionObserver.Region, s)
}

// maxNesting is how many regions around another one are looked at. No program
// nests as deep, but a hostile trace may, and each of its regions looks.
const maxNesting = 1 << 7

// inRegionOf reports whether the goroutine is in a region of the task.
func (g *Goroutine) inRegionOf(task TaskID) bool {
	return slices.ContainsFunc(g.regions[:min(len(g.regions), maxNesting)], func(r openRegion) bool { return r.task == task })
}

// timesAt returns the goroutine's totals up to a time in its current interval.
func (g *Goroutine) timesAt(at Time) [NumGoStates]Duration {
	times := g.Times
	times[g.span.State] += at.Sub(g.span.Start)
	return times
}

// closeAnnotations ends the regions and ranges of a goroutine, innermost first,
// with the goroutine or with the trace.
func (m *Machine) closeAnnotations(g *Goroutine, at Time, open bool) {
	for n := len(g.regions); n > 0; n-- {
		r := g.regions[n-1]
		g.regions = g.regions[:n-1]
		m.reportRegion(g, &r, at, open)
	}
	for n := len(g.ranges); n > 0; n-- {
		r := g.ranges[n-1]
		g.ranges = g.ranges[:n-1]
		g.Ranges = addReason(g.Ranges, r.name, at.Sub(r.start))
		Report(m.obs.ranges, RangeObserver.Range, &RangeSpan{Name: r.name, Scope: ScopeGoroutine, G: g.ID, P: NoProc,
			Start: r.start, End: at, OpenStart: r.openStart, OpenEnd: open})
	}
}
