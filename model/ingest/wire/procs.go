package wire

import "github.com/schedscope/schedscope/model"

// procStart: advanceProcStart. Args: proc, its sequence number.
func (d *Decoder) procStart(t *thread) outcome {
	p := d.proc(t.args[1])
	if p == nil || p.status != procIdle || t.args[2] != p.seq+1 || t.p != model.NoProc {
		return tooEarly
	}
	if t.id == model.NoThread {
		return invalid
	}
	p.status, p.seq = procRunning, t.args[2]
	id := model.ProcID(t.args[1])
	d.emitProc(t, id, model.ProcStatusIdle, model.ProcStatusRunning)
	t.p = id
	return advanced
}

// procStop: advanceProcStop.
func (d *Decoder) procStop(t *thread) outcome {
	p := d.procOf(t)
	if p == nil || p.status != procRunning && p.status != procSyscall {
		return invalid
	}
	p.status = procIdle
	d.emitProc(t, t.p, model.ProcStatusRunning, model.ProcStatusIdle)
	t.p = model.NoProc
	return advanced
}

// procSteal: advanceProcSteal. Args: proc, its sequence number, the thread that
// loses it.
func (d *Decoder) procSteal(t *thread) outcome {
	p := d.proc(t.args[1])
	if p == nil || p.status != procSyscall && p.status != procSyscallAbandoned || t.args[2] != p.seq+1 {
		return tooEarly
	}
	id := model.ProcID(t.args[1])
	var loser *thread
	from := model.ProcStatusIdle // nobody knows who had an abandoned proc
	if p.status == procSyscall {
		from = model.ProcStatusRunning
		loser = d.threads.byID[model.ThreadID(t.args[3])]
		if loser == nil || !loser.seen || loser.p != id {
			return invalid
		}
	}
	if t.id == model.NoThread {
		return invalid
	}
	d.emitProc(t, id, from, model.ProcStatusIdle)
	p.status, p.seq = procIdle, t.args[2]
	if loser != nil {
		loser.p = model.NoProc
	}
	return advanced
}

// procStatus: advanceProcStatus. Args: proc, status.
func (d *Decoder) procStatus(t *thread) outcome {
	id, status := model.ProcID(t.args[1]), t.args[2]
	if status < procRunning || status > procSyscallAbandoned {
		return invalid
	}
	p, to := d.proc(t.args[1]), procStatuses[status]
	from, holder := to, t
	switch {
	case p == nil:
		from = model.ProcStatusUndetermined
		if p = d.addProc(t.args[1]); p == nil {
			return invalid
		}
		p.status = uint8(status)
	case status == procSyscallAbandoned && p.status == procSyscall:
		// What is known is better than what the status says: the proc is Running
		// on the thread that has it, and about to be stolen.
		from, to = model.ProcStatusRunning, model.ProcStatusRunning
		if holder = d.holder(id); holder == nil {
			return invalid
		}
	case p.status != uint8(status):
		return invalid
	}
	p.seq = 0
	e := d.emitProc(t, id, from, to)
	e.M, e.P, e.G = holder.id, holder.p, holder.g
	if (status == procRunning || status == procSyscall) && t.id != model.NoThread {
		t.p = id
	}
	return advanced
}

// holder returns the thread that has a proc, nil if there is none or more than
// one.
func (d *Decoder) holder(id model.ProcID) *thread {
	var holder *thread
	for _, t := range d.threads.list {
		if t.p != id {
			continue
		}
		if holder != nil {
			return nil
		}
		holder = t
	}
	return holder
}
