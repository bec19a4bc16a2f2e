package wire

import "github.com/schedscope/schedscope/model"

// goStart: advanceGoStart. Args: goroutine, its sequence number.
func (d *Decoder) goStart(t *thread) outcome {
	g, i := d.gos.find(t.args[1])
	if g == nil || g.status != goRunnable || t.args[2] != g.seq+1 {
		return tooEarly
	}
	if t.p == model.NoProc || t.g != model.NoGoroutine {
		return invalid
	}
	d.emitGo(t, g.id, model.GoRunnable, model.GoRunning)
	g.status, g.seq = goRunning, t.args[2]
	t.g, t.gi = g.id, i
	return advanced
}

// goStop: advanceGoStopExec, for a goroutine that goes on to live. Args: reason,
// stack.
func (d *Decoder) goStop(t *thread) outcome {
	g := d.current(t)
	if g == nil || g.status != goRunning {
		return invalid
	}
	to := model.GoWaiting
	g.status = goWaiting
	if t.typ == evGoStop {
		to = model.GoRunnable
		g.status = goRunnable
	}
	e := d.emitGo(t, t.g, model.GoRunning, to)
	e.Str, e.Stack = d.str(t.args[1]), d.stack(t.args[2])
	e.SubjectStack = e.Stack
	t.g = model.NoGoroutine
	return advanced
}

// goDestroy: advanceGoStopExec, for a goroutine that ends.
func (d *Decoder) goDestroy(t *thread) outcome {
	g := d.current(t)
	if g == nil || g.status != goRunning {
		return invalid
	}
	d.emitGo(t, t.g, model.GoRunning, model.GoNotExist)
	g.status = 0
	t.g = model.NoGoroutine
	return advanced
}

// goUnblock: advanceGoUnblock. Args: goroutine, its sequence number, stack of the
// one that unblocks it, if any.
func (d *Decoder) goUnblock(t *thread) outcome {
	g, _ := d.gos.find(t.args[1])
	if g == nil || g.status != goWaiting || t.args[2] != g.seq+1 {
		return tooEarly
	}
	g.status, g.seq = goRunnable, t.args[2]
	e := d.emitGo(t, g.id, model.GoWaiting, model.GoRunnable)
	e.Stack = d.stack(t.args[3])
	return advanced
}

// goCreate: advanceGoCreate. Args: new goroutine, its stack, the creator's.
func (d *Decoder) goCreate(t *thread) outcome {
	if t.p == model.NoProc {
		return invalid
	}
	if t.g != model.NoGoroutine {
		if s := d.gos.list[t.gi].status; s != 0 && s != goRunning {
			return invalid
		}
	}
	status := uint8(goRunnable)
	if t.typ == evGoCreateBlocked {
		status = goWaiting
	}
	if !d.create(t.args[1], status) {
		return invalid
	}
	e := d.emitGo(t, model.GoID(t.args[1]), model.GoNotExist, goStates[status])
	e.SubjectStack = d.anyStack(t.args[2])
	e.Stack = d.stack(t.args[3])
	return advanced
}

// create makes a goroutine that must not exist yet.
func (d *Decoder) create(id uint64, status uint8) bool {
	if g, _ := d.gos.find(id); g != nil {
		return false
	}
	_, ok := d.gos.add(id, status)
	return ok
}

// goSwitch: advanceGoSwitch. The thread unblocks a goroutine, blocks or ends its
// own, and starts the first: three events. Args: goroutine, its sequence number.
func (d *Decoder) goSwitch(t *thread) outcome {
	g := d.current(t)
	if g == nil || g.status != goRunning {
		return invalid
	}
	next, i := d.gos.find(t.args[1])
	if next == nil || next.status != goWaiting || t.args[2] != next.seq+1 {
		return tooEarly
	}
	d.emitGo(t, next.id, model.GoWaiting, model.GoRunnable)
	if t.typ == evGoSwitch {
		d.emitGo(t, t.g, model.GoRunning, model.GoWaiting)
		g.status = goWaiting
	} else {
		d.emitGo(t, t.g, model.GoRunning, model.GoNotExist)
		g.status = 0
	}
	t.g = model.NoGoroutine
	d.emitGo(t, next.id, model.GoRunnable, model.GoRunning)
	next.status, next.seq = goRunning, t.args[2]
	t.g, t.gi = next.id, i
	return advanced
}

// goStatus: advanceGoStatus. Args: goroutine, the thread that it is on, status,
// and its stack if the type is evGoStatusStack.
func (d *Decoder) goStatus(t *thread) outcome {
	id, on, status := t.args[1], model.ThreadID(t.args[2]), t.args[3]
	if status < goRunnable || status > goWaiting || status == goSyscall && on == model.NoThread {
		return invalid
	}
	to := goStates[status]
	from := to
	g, i := d.gos.find(id)
	switch {
	case g == nil:
		from = model.GoUndetermined
		var ok bool
		if i, ok = d.gos.add(id, uint8(status)); !ok {
			return invalid
		}
	case g.status != uint8(status):
		return invalid
	default:
		g.seq = 0
	}
	var other *thread
	if status == goSyscall && on != t.id {
		if other = d.inSyscall(on, model.GoID(id), i); other == nil {
			return invalid
		}
	}
	e := d.emitGo(t, model.GoID(id), from, to)
	if t.typ == evGoStatusStack {
		e.SubjectStack = d.stack(t.args[4])
	}
	switch {
	case other != nil:
		e.M = other.id
		if other.seen {
			e.G = model.GoID(id)
		}
		other.seen = true
	case (status == goRunning || status == goSyscall) && t.id != model.NoThread:
		t.g, t.gi = model.GoID(id), i
	}
	return advanced
}

// inSyscall finds the thread on which a goroutine is in a system call, not the
// one that says so. A thread that was not seen before gets the goroutine. It
// returns nil if the thread has another one.
func (d *Decoder) inSyscall(on model.ThreadID, id model.GoID, index uint32) *thread {
	other := d.threads.getOrAdd(int64(on))
	switch {
	case other == nil || other.seen && other.g != id:
		return nil
	case !other.seen:
		other.g, other.gi = id, index
	}
	return other
}

// goSyscallBegin: advanceGoSyscallBegin. Args: sequence number of the proc,
// stack.
func (d *Decoder) goSyscallBegin(t *thread) outcome {
	g, p := d.current(t), d.procOf(t)
	if g == nil || g.status != goRunning || p == nil || t.args[1] != p.seq+1 {
		return invalid
	}
	g.status = goSyscall
	p.status, p.seq = procSyscall, t.args[1]
	e := d.emitGo(t, t.g, model.GoRunning, model.GoSyscall)
	e.Stack = d.stack(t.args[2])
	e.SubjectStack = e.Stack
	return advanced
}

// goSyscallEnd: advanceGoSyscallEnd.
func (d *Decoder) goSyscallEnd(t *thread) outcome {
	g, p := d.current(t), d.procOf(t)
	if g == nil || g.status != goSyscall || p == nil || p.status != procSyscall {
		return invalid
	}
	g.status, p.status = goRunning, procRunning
	d.emitGo(t, t.g, model.GoSyscall, model.GoRunning)
	return advanced
}

// goSyscallEndBlocked: advanceGoSyscallEndBlocked. The thread must have lost the
// proc of the system call; it may have another one by now.
func (d *Decoder) goSyscallEndBlocked(t *thread) outcome {
	if p := d.procOf(t); p != nil && p.status == procSyscall {
		return tooEarly
	}
	if t.g == model.NoGoroutine || d.gos.list[t.gi].status != goSyscall {
		return invalid
	}
	d.gos.list[t.gi].status = goRunnable
	d.emitGo(t, t.g, model.GoSyscall, model.GoRunnable)
	t.g = model.NoGoroutine
	return advanced
}

// goCreateSyscall: advanceGoCreateSyscall. A thread of C code calls Go. Args: new
// goroutine.
func (d *Decoder) goCreateSyscall(t *thread) outcome {
	if t.id == model.NoThread || t.g != model.NoGoroutine || !d.create(t.args[1], goSyscall) {
		return invalid
	}
	d.emitGo(t, model.GoID(t.args[1]), model.GoNotExist, model.GoSyscall)
	g, i := d.gos.find(t.args[1])
	t.g, t.gi = g.id, i
	return advanced
}

// goDestroySyscall: advanceGoDestroySyscall. The call from C returns, and the
// thread is as good as gone: it loses its proc, too, if it has one.
func (d *Decoder) goDestroySyscall(t *thread) outcome {
	if t.g == model.NoGoroutine || d.gos.list[t.gi].status != goSyscall {
		return invalid
	}
	if t.p != model.NoProc {
		p := d.procOf(t)
		if p == nil || p.status != procSyscall {
			return invalid
		}
		p.status = procSyscallAbandoned
		d.emitProc(t, t.p, model.ProcStatusRunning, model.ProcStatusIdle)
	}
	d.emitGo(t, t.g, model.GoSyscall, model.GoNotExist)
	d.gos.list[t.gi].status = 0
	t.g, t.p = model.NoGoroutine, model.NoProc
	return advanced
}
