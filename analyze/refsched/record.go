package refsched

import (
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// Recorder takes what happens in a simulation, in order. Package refschedtest makes of it what a tracer would write.
type Recorder interface {
	// Event takes an event. Goroutines and threads in it are indexes, sysmon's thread is [SysmonThread], and what only
	// the tracer names is left out.
	Event(*model.Event)
	// Stands reports that a goroutine stands in a queue, and Moved that it was one of n taken from that of a proc, -1 for the
	// global one.
	Stands(g int32, where runqueue.Place, p int32, via runqueue.Via)
	Moved(g, from int32, n int)
	// Start reports where a goroutine was taken, which the latest event starts, and the schedtick.
	Start(g int32, from runqueue.Source, tick uint32)
}

// where is who emits an event: indexes, -1 for none.
type where struct{ g, m, p int32 }

var nobody = where{-1, -1, -1}

// SysmonThread stands for sysmon's thread.
const SysmonThread int32 = -2

// onProc is the scheduler's context on a proc: no goroutine.
func (s *sim) onProc(p int32) where { return where{-1, s.ps[p].m, p} }

// of is the context of a running goroutine.
func (s *sim) of(g int32) where { return where{g, s.gs[g].m, s.gs[g].p} }

// tick sets the time of the next event. Times increase strictly, as those of a decoder do.
func (s *sim) tick() { s.last = max(s.w.Start+model.Time(s.now), s.last+1) }

// event emits an event now.
func (s *sim) event(k model.EventKind, c where, id int32, from, to uint8, reason model.StringID, stack model.StackID) {
	if s.tick(); s.cfg.Recorder == nil {
		return
	}
	e := model.Event{Time: s.last, Kind: k, G: model.GoID(c.g), M: model.ThreadID(c.m), P: model.ProcID(c.p), ID: int64(id), From: from, To: to, Str: reason, Stack: stack}
	if s.last > s.w.Start+model.Time(s.now) {
		e.Flags |= model.EventSyntheticTime
	}
	s.cfg.Recorder.Event(&e)
}

// goEvent emits that a goroutine changes its state. Of one that stays runnable the reason is the [workload.EndKind] of its segment.
func (s *sim) goEvent(c where, g int32, from, to model.GoState, reason model.StringID, stack model.StackID) {
	if s.cfg.Recorder == nil { // mostly
		s.tick()
	} else {
		s.event(model.EventGoTransition, c, g, uint8(from), uint8(to), reason, stack)
	}
	x := &s.gs[g]
	switch {
	case x.span.State != model.GoUndetermined:
		s.endSpan(x, false)
	case from == model.GoUndetermined:
		x.span.Start, x.span.OpenStart = s.w.Start, true
	default:
		x.span.Start = s.last
	}
	x.span.State = to
}

// procEvent emits that a proc changes its status. One that is taken from a goroutine in a system call divides the call in two.
func (s *sim) procEvent(c where, p int32, from, to model.ProcStatus) {
	s.event(model.EventProcTransition, c, p, uint8(from), uint8(to), 0, 0)
	if i := s.ps[p].g; to == model.ProcStatusIdle && i >= 0 && s.gs[i].span.State == model.GoSyscall {
		s.endSpan(&s.gs[i], false)
	}
}

// procStart and procStop emit that thread m gets proc p, and gives it up.
func (s *sim) procStart(m, p int32) {
	s.procEvent(where{-1, m, -1}, p, model.ProcStatusIdle, model.ProcStatusRunning)
}

func (s *sim) procStop(c where) {
	s.procEvent(c, c.p, model.ProcStatusRunning, model.ProcStatusIdle)
}

// stands, moved and started report to the Recorder.
func (s *sim) stands(g int32, where runqueue.Place, p int32, via runqueue.Via) {
	if s.cfg.Recorder != nil {
		s.cfg.Recorder.Stands(g, where, p, via)
	}
}

func (s *sim) moved(g, from int32, n int) {
	if s.cfg.Recorder != nil {
		s.cfg.Recorder.Moved(g, from, n)
	}
}

func (s *sim) started(p, g int32, from runqueue.Source) {
	if s.cfg.Recorder != nil {
		s.cfg.Recorder.Start(g, from, s.ps[p].tick)
	}
}
