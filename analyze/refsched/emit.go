package refsched

import (
	"cmp"
	"fmt"
	"math"

	"github.com/schedscope/schedscope/analyze/workload"
	"github.com/schedscope/schedscope/model"
)

// emitter turns what happens into the events that the tracer would write.
type emitter struct {
	emit   func(*model.Event)
	start  model.Time
	last   model.Time
	n      int64
	ev     model.Event
	words  words
	tables *model.Tables
	// async are stacks of goroutines that were preempted, roots those of start functions, by
	// start function.
	async map[model.StringID]model.StackID
	roots map[model.StringID]model.StackID
}

// words are the strings that events name.
type words struct {
	preempted, gosched, worker, workerIdle, forceGC, beyond, markPhase, sweepStop, markStop, procs model.StringID
	modes                                                                                          [3]model.StringID
}

func newEmitter(w *workload.Workload, emit func(*model.Event)) emitter {
	t := w.Tables
	o := emitter{emit: emit, start: w.Start, last: math.MinInt64, tables: t,
		async: map[model.StringID]model.StackID{}, roots: map[model.StringID]model.StackID{}}
	o.words = words{
		preempted:  t.AddString("preempted"),
		gosched:    t.AddString("runtime.Gosched"),
		worker:     t.AddString("runtime.gcBgMarkWorker"),
		workerIdle: t.AddString("system goroutine wait"),
		forceGC:    t.AddString("runtime.forcegchelper"),
		beyond:     t.AddString("beyond the window"),
		markPhase:  t.AddString("GC concurrent mark phase"),
		sweepStop:  t.AddString("stop-the-world (GC sweep termination)"),
		markStop:   t.AddString("stop-the-world (GC mark termination)"),
		procs:      t.AddString("/sched/gomaxprocs:threads"),
		modes:      [3]model.StringID{t.AddString("GC (dedicated)"), t.AddString("GC (fractional)"), t.AddString("GC (idle)")},
	}
	return o
}

// send emits the event in o.ev, if anybody takes events, at time now. Times increase
// strictly, as those of a decoder do.
func (o *emitter) send(now int64) {
	at := o.start + model.Time(now)
	tie := at <= o.last
	if tie {
		at = o.last + 1
	}
	o.last = at
	o.n++
	if o.emit == nil {
		return
	}
	o.ev.Time = at
	if tie {
		o.ev.Flags |= model.EventSyntheticTime
	}
	o.emit(&o.ev)
}

// asyncStack is the stack of a goroutine with this start function where a signal stopped it.
func (o *emitter) asyncStack(fn model.StringID) model.StackID {
	id, ok := o.async[fn]
	if !ok {
		id = o.tables.AddStack([]model.Frame{{Func: "runtime.asyncPreempt2"}, {Func: "runtime.asyncPreempt"}, {Func: o.tables.String(fn)}})
		o.async[fn] = id
	}
	return id
}

func (o *emitter) root(fn model.StringID) model.StackID {
	if fn == 0 {
		return 0
	}
	id, ok := o.roots[fn]
	if !ok {
		id = o.tables.AddStack([]model.Frame{{Func: o.tables.String(fn)}})
		o.roots[fn] = id
	}
	return id
}

// where is who emits an event: indexes, -1 for none.
type where struct{ g, m, p int32 }

var nobody = where{-1, -1, -1}

// onProc is the scheduler's context on a proc: no goroutine.
func (s *sim) onProc(p int32) where { return where{-1, s.ps[p].m, p} }

// of is the context of a running goroutine.
func (s *sim) of(g int32) where { return where{g, s.gs[g].m, s.gs[g].p} }

func (s *sim) goID(g int32) model.GoID {
	if g < 0 {
		return model.NoGoroutine
	}
	return s.gs[g].span.G
}

// threadID numbers threads from 2; sysmon's is 1.
func threadID(m int32) model.ThreadID {
	switch m {
	case -1:
		return model.NoThread
	case sysmonThread:
		return 1
	}
	return model.ThreadID(m) + 2
}

const sysmonThread int32 = -2

func (s *sim) event(k model.EventKind, c where) *model.Event {
	e := &s.out.ev
	*e = model.Event{Kind: k, G: s.goID(c.g), M: threadID(c.m), P: model.ProcID(c.p)}
	return e
}

// goEvent reports that a goroutine changes its state. Its stack is subject, 0 if it is not in the event.
func (s *sim) goEvent(c where, g int32, from, to model.GoState, reason model.StringID, stack, subject model.StackID) {
	x := &s.gs[g]
	if s.out.emit != nil {
		e := s.event(model.EventGoTransition, c)
		e.ID, e.From, e.To, e.Str, e.Stack, e.SubjectStack = int64(x.span.G), uint8(from), uint8(to), reason, stack, subject
	}
	s.out.send(s.now)
	switch was := x.span.State; {
	case was != model.GoUndetermined:
		if was != from {
			s.res.Contradictions++
			s.res.Contradiction = cmp.Or(s.res.Contradiction, fmt.Errorf("goroutine %d: %v to %v at %d: got state %v, want %v", x.span.G, from, to, s.out.last, was, from))
		}
		s.endSpan(x, false)
	case from == model.GoUndetermined:
		x.span.Start, x.span.OpenStart = s.out.start, true
	default:
		x.span.Start = s.out.last
	}
	x.span.State = to
}

// procEvent reports that a proc changes its status. One that is taken from a goroutine in a system call divides the call in two.
func (s *sim) procEvent(c where, p int32, from, to model.ProcStatus) {
	e := s.event(model.EventProcTransition, c)
	e.ID, e.From, e.To = int64(p), uint8(from), uint8(to)
	s.out.send(s.now)
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

func (s *sim) rangeEvent(k model.EventKind, c where, scope model.Scope, id int64, name model.StringID) {
	e := s.event(k, c)
	e.ID, e.From, e.Str = id, uint8(scope), name
	s.out.send(s.now)
}

func (o *emitter) sync(now int64) {
	o.ev = model.Event{Kind: model.EventSync, G: model.NoGoroutine, M: model.NoThread, P: model.NoProc}
	o.send(now)
}
