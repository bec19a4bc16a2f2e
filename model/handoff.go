package model

// newHandoff records that proc p leaves holder, whose goroutine is in a system
// call, because of by.
func (m *Machine) newHandoff(p *proc, holder, by *thread, at Time) *Handoff {
	g := p.g
	h := &Handoff{P: p.span.P, FromM: NoThread, FromG: g.ID, FromStack: g.sys.stack, Lost: at,
		TakerM: NoThread, TakerG: NoGoroutine, ToM: NoThread}
	if g.sysKnown {
		h.InSyscall = at.Sub(g.sys.start)
	}
	if holder != nil {
		h.FromM = holder.span.M
	}
	if by != nil {
		h.TakerM = by.span.M
		if by.g != nil {
			h.TakerG = by.g.ID
		}
	}
	// Who took the proc shows why (Go 1.22 to 1.26). In older formats the loss is
	// recorded on behalf of the thread that loses it.
	stopping := m.stw != nil && !m.stw.restarted
	switch {
	case by == nil || m.cfg.oldFormat():
		h.Cause = HandoffUnknown
	case by == holder && stopping:
		h.Cause = HandoffSTW // runtime/proc.go: entersyscallHandleGCWait, before Go 1.26 entersyscall_gcwait
	case by == holder:
		h.Cause = HandoffSyscallBlock // runtime/proc.go: entersyscallblock_handoff
	case by.g == nil && by.p == NoProc:
		by.retook = true
		h.Cause = HandoffSysmon // runtime/proc.go: retake; only sysmon works without a proc
	case by.g == nil:
		h.Cause = HandoffUnknown
	case by.g.span.State == GoSyscall || by.g.span.State == GoSyscallBlocked:
		h.Cause = HandoffExit // runtime/proc.go: exitsyscallTryGetP, before Go 1.26 exitsyscallfast
	case stopping && m.stw.G == by.g.ID:
		h.Cause = HandoffSTW // runtime/proc.go: stopTheWorldWithSema
	default:
		h.Cause = HandoffForEachP // runtime/proc.go: forEachPInternal
	}
	return h
}

// markDestroyed corrects the handoff that the decoder inserts just before the
// end of a C thread's goroutine (GoDestroySyscall): nobody took the proc.
func (m *Machine) markDestroyed(g *Goroutine, at Time) {
	if p := m.procOrNil(g.sys.proc); p != nil && p.handoff != nil && p.handoff.FromG == g.ID && at.Sub(p.handoff.Lost) <= 1 {
		p.handoff.Cause = HandoffThreadDestroyed
	}
}
