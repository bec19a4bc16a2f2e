package wire

import "github.com/schedscope/schedscope/model"

// maxPerStep is the largest number of events that one of the trace becomes
// (GoSwitch).
const maxPerStep = 3

// manyFrames is how many frames of new stacks end a chunk: some 400 kB.
const manyFrames = 1 << 13

// take begins a chunk.
func (d *Decoder) take() {
	d.chunk = d.sink.Chunk()
	d.events, d.n = d.chunk.Events[:cap(d.chunk.Events)], 0
	d.most = len(d.events) - maxPerStep
}

// pass hands the chunk on. It returns false if the sink wants no more.
func (d *Decoder) pass() bool {
	c := d.chunk
	d.chunk, c.Events = nil, d.events[:d.n]
	d.sent.Events += len(c.Events)
	d.sent.Strings += len(c.Strings)
	d.sent.Stacks += len(c.Stacks)
	return d.sink.Emit(c)
}

// event adds an event without context to the chunk, for its caller to complete.
func (d *Decoder) event(t model.Time, kind model.EventKind) *model.Event {
	return d.emit(&thread{time: t, g: model.NoGoroutine, id: model.NoThread, p: model.NoProc}, kind)
}

// emit adds an event in the context of a thread, at the time of its next event. N.B. the event is cleared and then
// filled in place, as a composite literal would be built elsewhere and copied.
func (d *Decoder) emit(t *thread, kind model.EventKind) *model.Event {
	e := &d.events[d.n]
	d.n++
	*e = model.Event{}
	e.Time, e.Flags = d.clock.step(t.time)
	e.G, e.M, e.P, e.Kind = t.g, t.id, t.p, kind
	return e
}

// emitGo adds the transition of a goroutine.
func (d *Decoder) emitGo(t *thread, id model.GoID, from, to model.GoState) *model.Event {
	e := d.emit(t, model.EventGoTransition)
	e.ID, e.From, e.To = int64(id), uint8(from), uint8(to)
	return e
}

// emitProc adds the transition of a proc.
func (d *Decoder) emitProc(t *thread, id model.ProcID, from, to model.ProcStatus) *model.Event {
	e := d.emit(t, model.EventProcTransition)
	e.ID, e.From, e.To = int64(id), uint8(from), uint8(to)
	return e
}

// emitRange adds the beginning or end of a range of resource id.
func (d *Decoder) emitRange(t *thread, kind model.EventKind, scope model.Scope, id int64) *model.Event {
	e := d.emit(t, kind)
	e.From, e.ID = uint8(scope), id
	return e
}
