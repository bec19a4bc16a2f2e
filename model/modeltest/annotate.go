package modeltest

import "github.com/schedscope/schedscope/model"

// STWBegin begins a stop-the-world by the running goroutine.
func (m *Thread) STWBegin(reason string) *Thread {
	return m.Range(model.EventRangeBegin, model.ScopeGoroutine, stwName(reason))
}

// STWEnd ends it.
func (m *Thread) STWEnd(reason string) *Thread {
	return m.Range(model.EventRangeEnd, model.ScopeGoroutine, stwName(reason))
}

// STWSized sets the number of procs to n, which the runtime does last before the world
// goes on.
func (m *Thread) STWSized(n int64) *Thread {
	e := m.event(model.EventMetric)
	e.Str, e.ID = m.b.str("/sched/gomaxprocs:threads"), n
	m.b.Raw(e)
	return m
}

func stwName(reason string) string { return "stop-the-world (" + reason + ")" }

// Range emits EventRangeBegin, EventRangeActive or EventRangeEnd for the range
// of this name that belongs to the thread's own goroutine or proc, or to the
// whole program.
func (m *Thread) Range(k model.EventKind, scope model.Scope, name string) *Thread {
	e := m.event(k)
	e.From, e.Str, e.Stack = uint8(scope), m.b.str(name), m.stack()
	switch scope {
	case model.ScopeGoroutine:
		e.ID = int64(m.g)
	case model.ScopeProc:
		e.ID = int64(m.p)
	case model.ScopeThread:
		e.ID = int64(m.id)
	}
	m.b.Raw(e)
	return m
}

// Label labels the running goroutine, such as "GC (dedicated)".
func (m *Thread) Label(text string) *Thread {
	e := m.event(model.EventLabel)
	e.ID, e.Str = int64(m.g), m.b.str(text)
	m.b.Raw(e)
	return m
}

// Sample is a CPU profile sample of the running goroutine.
func (m *Thread) Sample() *Thread {
	e := m.event(model.EventStackSample)
	e.Stack = m.stack()
	m.b.Raw(e)
	return m
}

// TaskBegin begins a user task.
func (m *Thread) TaskBegin(id, parent model.TaskID, name string) *Thread {
	return m.task(model.EventTaskBegin, id, parent, name)
}

// TaskEnd ends it.
func (m *Thread) TaskEnd(id, parent model.TaskID, name string) *Thread {
	return m.task(model.EventTaskEnd, id, parent, name)
}

func (m *Thread) task(k model.EventKind, id, parent model.TaskID, name string) *Thread {
	e := m.event(k)
	e.ID, e.Arg, e.Str, e.Stack = int64(id), int64(parent), m.b.str(name), m.stack()
	m.b.Raw(e)
	return m
}

// RegionBegin begins a region of the running goroutine.
func (m *Thread) RegionBegin(task model.TaskID, name string) *Thread {
	return m.task(model.EventRegionBegin, task, 0, name)
}

// RegionEnd ends it.
func (m *Thread) RegionEnd(task model.TaskID, name string) *Thread {
	return m.task(model.EventRegionEnd, task, 0, name)
}

// Log is a user message.
func (m *Thread) Log(task model.TaskID, category, message string) *Thread {
	e := m.event(model.EventLog)
	e.ID, e.Str, e.Str2, e.Stack = int64(task), m.b.str(category), m.b.str(message), m.stack()
	m.b.Raw(e)
	return m
}

// Experimental is an event of an experiment.
func (m *Thread) Experimental(name string) *Thread {
	e := m.event(model.EventExperimental)
	e.Str = m.b.str(name)
	m.b.Raw(e)
	return m
}
