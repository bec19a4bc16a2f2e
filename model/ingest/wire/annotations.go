package wire

import "github.com/schedscope/schedscope/model"

// task is a task that has begun.
type task struct {
	name   model.StringID
	parent int64 // as events give it
}

// region is an open region of a goroutine.
type region struct {
	task  uint64
	name  model.StringID
	outer int32 // the region around it, an index; 0 if there is none
}

// noTask is what stands for the parent of a task without one.
const noTask = ^uint64(0)

// metric: advanceAnnotation, advanceHeapMetric. Args: value and, of
// evProcsChange, stack.
func (d *Decoder) metric(t *thread) outcome {
	if t.p == model.NoProc || t.typ == evProcsChange && t.g == model.NoGoroutine {
		return invalid
	}
	e := d.emit(t, model.EventMetric)
	e.ID = int64(t.args[1])
	switch t.typ {
	case evProcsChange:
		e.Str, e.Stack = d.name(nameProcs), d.stack(t.args[2])
	case evHeapAlloc:
		e.Str = d.name(nameHeapAlloc)
	default:
		e.Str = d.name(nameHeapGoal)
	}
	return advanced
}

// label: advanceAnnotation. Args: label.
func (d *Decoder) label(t *thread) outcome {
	if !t.user() {
		return invalid
	}
	e := d.emit(t, model.EventLabel)
	e.ID, e.Str = int64(t.g), d.str(t.args[1])
	return advanced
}

// taskBegin: advanceUserTaskBegin. Args: task, parent, name, stack.
func (d *Decoder) taskBegin(t *thread) outcome {
	id, parent := t.args[1], t.args[2]
	if _, ok := d.tasks[id]; ok || !t.user() {
		return invalid
	}
	if parent == noTask {
		parent = 0
	}
	e := d.emit(t, model.EventTaskBegin)
	e.ID, e.Arg, e.Str, e.Stack = int64(id), int64(parent), d.str(t.args[3]), d.stack(t.args[4])
	if d.tasks == nil {
		d.tasks = map[uint64]task{}
	}
	d.tasks[id] = task{e.Str, e.Arg}
	return advanced
}

// taskEnd: advanceUserTaskEnd. The name and parent of a task that began before
// the generation are not known. Args: task, stack.
func (d *Decoder) taskEnd(t *thread) outcome {
	if !t.user() {
		return invalid
	}
	id := t.args[1]
	begun := d.tasks[id]
	delete(d.tasks, id)
	e := d.emit(t, model.EventTaskEnd)
	e.ID, e.Arg, e.Str, e.Stack = int64(id), begun.parent, begun.name, d.stack(t.args[2])
	return advanced
}

// regionBegin: advanceUserRegionBegin. Args: task, name, stack.
func (d *Decoder) regionBegin(t *thread) outcome {
	g := d.current(t)
	if g == nil || g.status == 0 {
		return invalid
	}
	if len(d.regions) == 0 {
		d.regions = append(d.regions, region{}) // index 0 means none
	}
	e := d.emit(t, model.EventRegionBegin)
	e.ID, e.Str, e.Stack = int64(t.args[1]), d.str(t.args[2]), d.stack(t.args[3])
	d.regions = append(d.regions, region{t.args[1], e.Str, g.region})
	g.region = int32(len(d.regions) - 1)
	return advanced
}

// regionEnd: advanceUserRegionEnd. It must fit the innermost region, but none is
// known of those that began before the generation. Args: task, name, stack.
func (d *Decoder) regionEnd(t *thread) outcome {
	g := d.current(t)
	if g == nil || g.status == 0 {
		return invalid
	}
	name := d.str(t.args[2])
	if i := g.region; i != 0 {
		r := d.regions[i]
		if r.task != t.args[1] || r.name != name {
			return invalid
		}
		g.region = r.outer
		if int(i) == len(d.regions)-1 {
			d.regions = d.regions[:i]
		}
	}
	e := d.emit(t, model.EventRegionEnd)
	e.ID, e.Str, e.Stack = int64(t.args[1]), name, d.stack(t.args[3])
	return advanced
}

// log: advanceAnnotation. Args: task, category, message, stack.
func (d *Decoder) log(t *thread) outcome {
	if !t.user() {
		return invalid
	}
	e := d.emit(t, model.EventLog)
	e.ID, e.Str = int64(t.args[1]), d.str(t.args[2])
	e.Str2, e.Stack = d.str(t.args[3]), d.stack(t.args[4])
	return advanced
}
