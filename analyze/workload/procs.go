package workload

import "github.com/schedscope/schedscope/model"

// maxProcID bounds the ids of procs, as package model does.
const maxProcID = 1 << 16

// procState is what is known of a proc.
type procState struct {
	seen     bool
	active   int64     // 1 if it is
	calling  int64     // 1 if it is held for a goroutine in a system call
	g        *follower // that runs on it or holds it in a system call
	released model.Time
	by       model.ThreadID // that released it on its own account
	acquired model.Time
	fresh    bool // nothing has started on it since it was acquired
	started  model.Time
	next     model.GoID // what it made runnable last, which goes into its runnext
	slice    model.Time // since when it has the same schedtick: what comes from runnext inherits the time slice
}

// stop is a stop-the-world in progress.
type stop struct {
	active, stopped bool
	g               model.GoID
	reason          model.StringID
	at              model.Time // since when the world stands still; when the stop began, before
	cycle           int        // index of the GC cycle that it begins or ends, -1: none
	index           int        // in Workload.Stops, -1: none
}

func (e *Extractor) proc(id model.ProcID) *procState {
	if id < 0 || id >= maxProcID {
		return nil
	}
	if int(id) >= len(e.procs) {
		e.procs = append(e.procs, make([]procState, int(id)+1-len(e.procs))...)
	}
	p := &e.procs[id]
	if !p.seen {
		p.seen, p.by = true, model.NoThread
		e.seen++
	}
	return p
}

// moveStep follows a proc from thread to thread.
func (e *Extractor) moveStep(s *model.Step) {
	p := e.proc(s.P)
	if p == nil || s.Flags&model.StepStatus != 0 {
		return
	}
	if s.ToM != model.NoThread {
		p.acquired, p.fresh = e.clock.now, true
	}
	if s.FromM == model.NoThread && s.M == s.ToM && e.w != nil && !e.stop.active {
		e.w.wokenUp(p.released, e.clock.now)
	}
	if s.FromM == model.NoThread || s.FromM == s.ToM {
		return
	}
	p.released, p.by = e.clock.now, model.NoThread
	if s.M == s.FromM && !e.stop.active {
		p.by = s.M
	}
	if f := p.g; f != nil && f.state == model.GoSyscall {
		// The thread itself lets go: runtime/proc.go: entersyscallblock. While the world
		// stops, entersyscall does so as well.
		f.blocking = f.blocking || s.M == s.FromM && s.ToM == model.NoThread && !e.stop.active
		if x := e.last(f); x != nil && x.End == EndSyscall && !e.stop.active {
			if x.Blocking = f.blocking; !f.blocking {
				x.Held = e.held(f)
			}
		}
		p.g, f.proc = nil, model.NoProc
	}
}

// procStep counts active procs.
func (e *Extractor) procStep(s *model.Step) {
	p := e.proc(s.P)
	if p == nil {
		return
	}
	e.clock.active, e.clock.calling = e.clock.active-p.active, e.clock.calling-p.calling
	p.active, p.calling = 0, 0
	switch model.ProcState(s.To) {
	case model.ProcRunning, model.ProcSearching:
		p.active = 1
	case model.ProcSyscall:
		p.calling = 1
	}
	e.clock.active, e.clock.calling = e.clock.active+p.active, e.clock.calling+p.calling
}

// stopping begins a stop-the-world. From here until the world runs again the
// goroutine that stops it computes nothing of its own.
func (e *Extractor) stopping(s *model.Step) {
	if e.stop.active {
		e.restarted()
	}
	x := stop{active: true, g: s.G, reason: s.Reason, at: e.clock.now, cycle: -1, index: -1}
	f := e.gs.Get(s.G)
	switch s.Reason {
	case e.words.sweepStop:
		e.marking = true
		if e.w != nil {
			x.cycle = e.beginCycle(f)
		}
	case e.words.markStop:
		e.marking, e.termBy = false, s.G
		if e.w != nil {
			x.cycle = e.cycle()
		}
	default:
		if e.w != nil && e.running(f) {
			x.index = len(e.w.Stops)
			e.op(f, Op{Kind: OpStop, G: int32(x.index)})
			e.w.Stops = append(e.w.Stops, Stop{Reason: s.Reason})
		}
	}
	e.stop = x
	if f != nil {
		e.settle(f)
		f.frozen = true
	}
}

func (e *Extractor) stopped() {
	if e.stop.active && !e.stop.stopped {
		e.stop.stopped, e.stop.at = true, e.clock.now
		e.clock.stopped = true
	}
}

func (e *Extractor) restarted() {
	x := e.stop
	if !x.active {
		return
	}
	if f := e.gs.Get(x.g); f != nil {
		e.settle(f)
		f.frozen = false
	}
	e.clock.stopped = false
	e.endStop(&x)
	e.stop = stop{g: model.NoGoroutine}
}

// endStop notes how long the world stood still.
func (e *Extractor) endStop(x *stop) {
	if e.w == nil {
		return
	}
	hold := e.clock.now.Sub(max(x.at, e.w.Start))
	switch {
	case x.index >= 0 && x.index < len(e.w.Stops):
		e.w.Stops[x.index].Hold = hold
	case x.cycle < 0 || x.cycle >= len(e.w.Cycles):
	case x.reason == e.words.sweepStop:
		e.w.Cycles[x.cycle].Sweep = hold
	default:
		e.w.Cycles[x.cycle].Mark = hold
	}
}

// beginCycle begins a GC cycle, by f if that computes, and returns its index.
func (e *Extractor) beginCycle(f *follower) int {
	w := e.w
	w.cycle = len(w.Cycles)
	c := Cycle{At: w.since(e.clock.now), Periodic: true}
	if e.running(f) {
		e.op(f, Op{Kind: OpCycle, G: int32(w.cycle)})
		c.Periodic = false
	}
	w.Cycles = append(w.Cycles, c)
	return w.cycle
}

// mark adds to the work of the latest cycle. What new workers do before the first begins, to say that they are ready
// (runtime/mgc.go: gcBgMarkStartWorkers), is nobody's.
func (w *window) mark(cpu model.Duration) {
	if w.marking += cpu; w.cycle >= 0 {
		w.Cycles[w.cycle].Work += cpu
	}
}

// cycle returns the index of the latest GC cycle, which began before the window if
// that has not seen any begin.
func (e *Extractor) cycle() int {
	if e.w.cycle < 0 {
		e.w.cycle = 0
		e.w.Cycles = append(e.w.Cycles, Cycle{Periodic: true})
	}
	return e.w.cycle
}
