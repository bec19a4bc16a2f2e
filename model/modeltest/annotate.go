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
	return m.emit(model.Event{Kind: model.EventMetric, Str: m.b.str("/sched/gomaxprocs:threads"), ID: n})
}

func stwName(reason string) string { return "stop-the-world (" + reason + ")" }

// Range emits EventRangeBegin, EventRangeActive or EventRangeEnd for the range
// of this name that belongs to the thread's own goroutine or proc, or to the
// whole program.
func (m *Thread) Range(k model.EventKind, scope model.Scope, name string) *Thread {
	e := model.Event{Kind: k, From: uint8(scope), Str: m.b.str(name), Stack: m.stack()}
	switch scope {
	case model.ScopeGoroutine:
		e.ID = int64(m.g)
	case model.ScopeProc:
		e.ID = int64(m.p)
	case model.ScopeThread:
		e.ID = int64(m.id)
	}
	return m.emit(e)
}

// Label labels the running goroutine, such as "GC (dedicated)".
func (m *Thread) Label(text string) *Thread {
	return m.emit(model.Event{Kind: model.EventLabel, ID: int64(m.g), Str: m.b.str(text)})
}

// Sample is a CPU profile sample of the running goroutine.
func (m *Thread) Sample() *Thread {
	return m.emit(model.Event{Kind: model.EventStackSample, Stack: m.stack()})
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
	return m.emit(model.Event{Kind: k, ID: int64(id), Arg: int64(parent), Str: m.b.str(name), Stack: m.stack()})
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
	return m.emit(model.Event{Kind: model.EventLog, ID: int64(task), Str: m.b.str(category), Str2: m.b.str(message), Stack: m.stack()})
}

// Experimental is an event of an experiment.
func (m *Thread) Experimental(name string) *Thread {
	return m.emit(model.Event{Kind: model.EventExperimental, Str: m.b.str(name)})
}
