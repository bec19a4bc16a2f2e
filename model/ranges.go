package model

import (
	"slices"
	"strings"
)

// openRange is a range that has not ended.
type openRange struct {
	name      StringID
	g         GoID // in context when it began
	start     Time
	openStart bool
}

// stwState is a stop-the-world in progress.
type stwState struct {
	STW
	thread    *thread // of the goroutine that stops the world
	allIdle   bool    // every other proc was seen inactive
	resized   bool    // the runtime has set the number of procs, to go on
	restarted bool
}

const stwPrefix = "stop-the-world"

func (m *Machine) rangeBegin(ev *Event, t *thread, at Time) {
	r := openRange{name: ev.Str, g: ev.G, start: at}
	if ev.Kind == EventRangeActive {
		r.start, r.openStart = m.start, true
	}
	switch Scope(ev.From) {
	case ScopeGoroutine:
		g := m.gs.Get(GoID(ev.ID))
		if g == nil {
			g = m.newGoroutine(GoID(ev.ID), m.start)
		}
		if r.openStart {
			r.start = max(r.start, g.From)
		}
		if ev.Kind == EventRangeActive && hasRange(g.ranges, ev.Str) {
			return
		}
		g.mark().ranges = append(g.ranges, r)
		m.workChanged(g, ev.Str, at)
		if name := m.tables.String(ev.Str); strings.HasPrefix(name, stwPrefix) {
			m.stwBegin(name, g, t, r, ev.Stack)
		}
	case ScopeProc:
		if p := m.proc(ProcID(ev.ID)); p != nil && !(r.openStart && hasRange(p.ranges, ev.Str)) {
			p.ranges = append(p.ranges, r)
		}
	default:
		if !(r.openStart && hasRange(m.phases, ev.Str)) {
			m.phases = append(m.phases, r)
		}
	}
}

func (m *Machine) rangeEnd(ev *Event, at Time) {
	s := RangeSpan{Name: ev.Str, Scope: Scope(ev.From), G: NoGoroutine, P: NoProc, End: at}
	var r openRange
	switch s.Scope {
	case ScopeGoroutine:
		g := m.gs.Get(GoID(ev.ID))
		if g == nil {
			return
		}
		g.mark().ranges, r = takeRange(g.ranges, ev.Str, g.From)
		s.G = g.ID
		g.Ranges = addReason(g.Ranges, ev.Str, at.Sub(r.start))
		m.workChanged(g, ev.Str, at)
		if m.stw != nil && m.stw.G == g.ID && strings.HasPrefix(m.tables.String(ev.Str), stwPrefix) {
			m.stwEnd(at, false)
		}
	case ScopeProc:
		p := m.procOrNil(ProcID(ev.ID))
		if p == nil {
			return
		}
		p.ranges, r = takeRange(p.ranges, ev.Str, p.from)
		s.P = p.span.P
		// A sweep is the work of the goroutine that began it, if that ends it too.
		if g := m.gs.Get(ev.G); g != nil && r.g == ev.G {
			g.mark().Ranges = addReason(g.Ranges, ev.Str, at.Sub(r.start))
		}
	default:
		m.phases, r = takeRange(m.phases, ev.Str, m.start)
	}
	s.Start, s.OpenStart = r.start, r.openStart
	Report(m.obs.ranges, RangeObserver.Range, &s)
}

// workChanged cuts the interval of the proc that g runs on where a mark assist
// begins or ends.
func (m *Machine) workChanged(g *Goroutine, name StringID, at Time) {
	if name != m.words.markAssist {
		return
	}
	m.learnWork(g)
	if p := m.procOrNil(g.span.P); p != nil && g.span.State == GoRunning {
		m.updateEach(p, nil, at)
	}
}

func hasRange(list []openRange, name StringID) bool {
	return slices.ContainsFunc(list, func(r openRange) bool { return r.name == name })
}

// takeRange removes the innermost range of this name; one that the trace never
// showed to begin is open since start.
func takeRange(list []openRange, name StringID, start Time) ([]openRange, openRange) {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].name == name {
			r := list[i]
			return append(list[:i], list[i+1:]...), r
		}
	}
	return list, openRange{name: name, g: NoGoroutine, start: start, openStart: true}
}

// reopen moves the beginnings of open ranges to t.
func reopen(list []openRange, t Time) {
	for i := range list {
		list[i].start, list[i].openStart = t, true
	}
}

// finishRanges reports the ranges of procs and of the whole program that are
// still open; those of goroutines were reported with the goroutine.
func (m *Machine) finishRanges(t Time) {
	if m.stw != nil {
		m.stwEnd(t, true)
	}
	for _, p := range m.procs {
		if p == nil {
			continue
		}
		for _, r := range p.ranges {
			Report(m.obs.ranges, RangeObserver.Range, &RangeSpan{Name: r.name, Scope: ScopeProc, G: NoGoroutine, P: p.span.P, Start: r.start, End: t, OpenStart: r.openStart, OpenEnd: true})
		}
	}
	for _, r := range m.phases {
		Report(m.obs.ranges, RangeObserver.Range, &RangeSpan{Name: r.name, Scope: ScopeGlobal, G: NoGoroutine, P: NoProc, Start: r.start, End: t, OpenStart: r.openStart, OpenEnd: true})
	}
}

// stwBegin starts the account of a stop-the-world. The event comes before the
// runtime asks anybody to stop, the end event after it woke everybody again
// (runtime/proc.go: stopTheWorld, startTheWorld), so both phases are measured
// by what the procs did.
func (m *Machine) stwBegin(name string, g *Goroutine, t *thread, r openRange, stack StackID) {
	reason := strings.Trim(strings.TrimPrefix(name, stwPrefix), " ()")
	m.stw = &stwState{thread: t}
	m.stw.STW = STW{Reason: reason, G: g.ID, Start: r.start, Stopped: r.start, OpenStart: r.openStart}
	m.stepPhase(StepStopping, g.ID, t, r.name, stack, 0)
	m.worldStops(m.now)
	if reason == startReason {
		m.settle()
	}
}

// worldStops looks whether the last proc other than the stopper's own has stopped.
func (m *Machine) worldStops(at Time) {
	w := m.stw
	if w == nil || w.allIdle {
		return
	}
	for _, p := range m.procs {
		if p != nil && p.alive && (p.thread != nil || p.g != nil) && p.thread != w.thread {
			return
		}
	}
	w.allIdle, w.Stopped = true, max(at, w.Start)
	m.stepPhase(StepStopped, w.G, w.thread, 0, 0, 0)
}

// worldRestarts notes the effective end of a stop-the-world: the first proc that
// another thread gets after all had stopped and the runtime has set the number of
// procs (runtime/proc.go: startTheWorldWithSema, procresize). A thread that was woken
// for a proc before gets it too, and gives it up at once.
func (m *Machine) worldRestarts(t *thread, at Time) {
	w := m.stw
	if w == nil || !w.allIdle || w.restarted || t == w.thread {
		return
	}
	if !w.resized {
		w.allIdle = false
		return
	}
	w.restarted, w.Effective = true, at
	m.stepPhase(StepRestarted, w.G, w.thread, 0, 0, 0)
	m.unstop(at)
}

// unstop makes the procs that nobody took yet idle again.
func (m *Machine) unstop(at Time) {
	for _, p := range m.procs {
		if p != nil && p.alive && p.stopped {
			p.stopped = false
			m.updateEach(p, nil, at)
		}
	}
}

func (m *Machine) stwEnd(at Time, open bool) {
	w := m.stw
	m.stw = nil
	w.End, w.OpenEnd = at, open
	if !w.restarted {
		w.Effective = at
		m.stepPhase(StepRestarted, w.G, w.thread, 0, 0, 0)
		m.unstop(at)
	}
	if !w.allIdle {
		w.Stopped = w.Start
	}
	Report(m.obs.stw, STWObserver.STW, &w.STW)
}
