package wire

import "github.com/schedscope/schedscope/model"

// stwRange: advanceGoRangeBegin, advanceGoRangeEnd. Args of the begin: reason,
// stack. N.B. STWs on one goroutine cannot overlap in practice.
func (d *Decoder) stwRange(t *thread) outcome {
	g := d.current(t)
	begin := t.typ == evSTWBegin
	if g == nil || g.status == 0 || g.inSTW == begin {
		return invalid
	}
	g.inSTW = begin
	if !begin {
		d.emitRange(t, model.EventRangeEnd, model.ScopeGoroutine, int64(t.g)).Str = g.stw
		return advanced
	}
	g.stw = d.stw(t.args[1])
	e := d.emitRange(t, model.EventRangeBegin, model.ScopeGoroutine, int64(t.g))
	e.Str, e.Stack = g.stw, d.stack(t.args[2])
	return advanced
}

// assistRange: advanceGoRangeBegin, advanceGoRangeEnd, advanceGoRangeActive.
// Args of the begin: stack; of active: goroutine, any one.
func (d *Decoder) assistRange(t *thread) outcome {
	if t.typ == evGCMarkAssistActive {
		g, _ := d.gos.find(t.args[1])
		if g == nil || g.assist {
			return invalid
		}
		g.assist = true
		d.emitRange(t, model.EventRangeActive, model.ScopeGoroutine, int64(g.id)).Str = d.name(nameAssist)
		return advanced
	}
	g := d.current(t)
	begin := t.typ == evGCMarkAssistBegin
	if g == nil || g.status == 0 || g.assist == begin {
		return invalid
	}
	g.assist = begin
	kind := model.EventRangeEnd
	if begin {
		kind = model.EventRangeBegin
	}
	e := d.emitRange(t, kind, model.ScopeGoroutine, int64(t.g))
	e.Str = d.name(nameAssist)
	if begin {
		e.Stack = d.stack(t.args[1])
	}
	return advanced
}

// sweepRange: advanceGCSweepBegin, advanceGCSweepEnd, advanceGCSweepActive. Args
// of the begin: stack; of the end: bytes swept and reclaimed; of active: proc,
// any one.
func (d *Decoder) sweepRange(t *thread) outcome {
	kind, id := model.EventRangeBegin, uint64(t.p)
	switch t.typ {
	case evGCSweepActive:
		kind, id = model.EventRangeActive, t.args[1]
	case evGCSweepEnd:
		kind = model.EventRangeEnd
	}
	p := d.proc(id)
	if p == nil || p.sweeping != (kind == model.EventRangeEnd) {
		return invalid
	}
	p.sweeping = !p.sweeping
	e := d.emitRange(t, kind, model.ScopeProc, int64(id))
	e.Str = d.name(nameSweep)
	switch kind {
	case model.EventRangeBegin:
		e.Stack = d.stack(t.args[1])
	case model.EventRangeEnd:
		e.Arg = int64(t.args[1])
	}
	return advanced
}

// gcRange: advanceGCActive, advanceGCBegin, advanceGCEnd. Args: sequence number
// and, of the begin, stack.
func (d *Decoder) gcRange(t *thread) outcome {
	kind, status := model.EventRangeBegin, gcRunning
	switch first := d.gc.status == gcUndetermined; {
	case t.typ == evGCActive:
		kind = model.EventRangeActive
		if !first {
			return invalid
		}
	case t.typ == evGCBegin && first:
	case t.args[1] != d.gc.seq+1:
		return tooEarly
	case t.typ == evGCBegin:
		if d.gc.status == gcRunning || !t.user() {
			return invalid
		}
	default:
		kind, status = model.EventRangeEnd, gcNotRunning
		if d.gc.status != gcRunning || !t.user() {
			return invalid
		}
	}
	d.gc = gcState{t.args[1], status}
	e := d.emitRange(t, kind, model.ScopeGlobal, 0)
	e.Str = d.name(nameGC)
	if t.typ == evGCBegin {
		e.Stack = d.stack(t.args[2])
	}
	return advanced
}
