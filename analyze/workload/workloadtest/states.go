package workloadtest

import (
	"errors"
	"fmt"

	"github.com/schedscope/schedscope/model"
)

// Checker judges a stream of events by itself, without a [model.Machine]: whether each
// goroutine runs in one place at a time, each proc belongs to one thread, and nobody does what
// its state does not allow. What it checks holds for real traces as well as for
// simulated ones.
type Checker struct {
	gs      map[model.GoID]*goState
	procs   map[model.ProcID]*procState
	threads map[model.ThreadID]*threadState
	last    model.Time
	began   bool
	errs    []error
	// Runnable and Running count goroutines, Held procs that a thread has.
	Runnable, Running, Held int
}

type goState struct {
	state model.GoState
	m     model.ThreadID
	p     model.ProcID
}

type procState struct {
	known, held bool
	m           model.ThreadID
}

type threadState struct {
	p model.ProcID
	g model.GoID
}

// NewChecker returns a Checker that has seen nothing.
func NewChecker() *Checker {
	return &Checker{gs: map[model.GoID]*goState{}, procs: map[model.ProcID]*procState{}, threads: map[model.ThreadID]*threadState{}}
}

// Err returns what was found wrong, at most ten errors.
func (c *Checker) Err() error { return errors.Join(c.errs...) }

func (c *Checker) errorf(format string, args ...any) {
	if len(c.errs) < 10 {
		c.errs = append(c.errs, fmt.Errorf(format, args...))
	}
}

func (c *Checker) thread(id model.ThreadID) *threadState {
	t := c.threads[id]
	if t == nil {
		t = &threadState{p: model.NoProc, g: model.NoGoroutine}
		c.threads[id] = t
	}
	return t
}

// Event takes the next event.
func (c *Checker) Event(ev *model.Event) {
	if c.began && ev.Time < c.last {
		c.errorf("%v at %d: time goes back from %d", ev.Kind, ev.Time, c.last)
	}
	c.began, c.last = true, ev.Time
	switch ev.Kind {
	case model.EventGoTransition:
		if ev.From != ev.To {
			c.transition(ev)
		}
	case model.EventProcTransition:
		if ev.From != ev.To {
			c.proc(ev)
		}
	}
}

// context checks that an event was emitted by the goroutine and on the proc that
// its thread has.
func (c *Checker) context(ev *model.Event) {
	if ev.M == model.NoThread {
		return
	}
	t := c.thread(ev.M)
	if ev.G != model.NoGoroutine && t.g != ev.G {
		c.errorf("%s: emitted by goroutine %d, but thread %d has %d", describe(ev), ev.G, ev.M, t.g)
	}
	if ev.P != model.NoProc && t.p != ev.P {
		c.errorf("%s: emitted on proc %d, but thread %d has %d", describe(ev), ev.P, ev.M, t.p)
	}
}

func describe(ev *model.Event) string {
	return fmt.Sprintf("%d to %d of %d at %d", ev.From, ev.To, ev.ID, ev.Time)
}

func (c *Checker) transition(ev *model.Event) {
	id, from, to := model.GoID(ev.ID), model.GoState(ev.From), model.GoState(ev.To)
	g := c.gs[id]
	if g == nil || g.state == model.GoUndetermined {
		c.first(id, g, ev, from, to)
		return
	}
	if from != model.GoSyscall || to != model.GoNotExist {
		c.context(ev) // a C thread that ends may have lost its proc unseen
	}
	if g.state != from {
		c.errorf("%s: it is in state %d", describe(ev), g.state)
	}
	was := g.state
	c.count(was, -1)
	c.count(to, +1)
	g.state = to
	switch {
	case to == model.GoRunning && was == model.GoSyscall:
		if c.thread(ev.M).p == model.NoProc {
			c.errorf("%s: thread %d runs without a proc", describe(ev), ev.M)
		}
	case to == model.GoRunning:
		c.run(id, g, ev)
	case was == model.GoRunning && to == model.GoSyscall:
	case was == model.GoRunning || was == model.GoSyscall:
		if t := c.thread(g.m); t.g == id {
			t.g = model.NoGoroutine
		}
		if was == model.GoRunning && ev.G != id {
			c.errorf("%s: stopped by goroutine %d", describe(ev), ev.G)
		}
		if g.m != ev.M {
			c.errorf("%s: on thread %d, but it is on %d", describe(ev), ev.M, g.m)
		}
	}
	if to == model.GoNotExist {
		delete(c.gs, id)
	}
}

func (c *Checker) count(s model.GoState, n int) {
	switch s {
	case model.GoRunnable:
		c.Runnable += n
	case model.GoRunning:
		c.Running += n
	}
}

// first takes the state of a goroutine of which nothing was known.
func (c *Checker) first(id model.GoID, g *goState, ev *model.Event, from, to model.GoState) {
	if from != model.GoUndetermined && from != model.GoNotExist {
		c.errorf("%s: it was never heard of", describe(ev))
	}
	if g == nil {
		g = &goState{m: model.NoThread, p: model.NoProc}
		c.gs[id] = g
	}
	g.state = to
	c.count(to, +1)
	switch to {
	case model.GoRunning, model.GoSyscall:
		g.m = ev.M
		t := c.thread(ev.M)
		if t.g != model.NoGoroutine && t.g != id {
			c.errorf("%s: thread %d has goroutine %d", describe(ev), ev.M, t.g)
		}
		t.g = id
	}
}

// run checks the start of a goroutine.
func (c *Checker) run(id model.GoID, g *goState, ev *model.Event) {
	t := c.thread(ev.M)
	if t.g != model.NoGoroutine {
		c.errorf("%s: thread %d already has goroutine %d", describe(ev), ev.M, t.g)
	}
	if t.p == model.NoProc {
		c.errorf("%s: thread %d has no proc", describe(ev), ev.M)
	}
	t.g, g.m, g.p = id, ev.M, ev.P
}

func (c *Checker) proc(ev *model.Event) {
	id, to := model.ProcID(ev.ID), model.ProcStatus(ev.To)
	p := c.procs[id]
	if p == nil {
		p = &procState{m: model.NoThread}
		c.procs[id] = p
	}
	switch {
	case to == model.ProcStatusRunning:
		t := c.thread(ev.M)
		if p.held && p.m != ev.M {
			c.errorf("%s: proc belongs to thread %d", describe(ev), p.m)
		}
		if t.p != model.NoProc && t.p != id {
			c.errorf("%s: thread %d already has proc %d", describe(ev), ev.M, t.p)
		}
		if !p.held {
			c.Held++
		}
		p.held, p.m, t.p = true, ev.M, id
	case p.held:
		t := c.thread(p.m)
		if g := c.gs[t.g]; g != nil && g.state == model.GoRunning && p.m != ev.M {
			c.errorf("%s: taken from thread %d, which runs goroutine %d", describe(ev), p.m, t.g)
		}
		t.p = model.NoProc
		p.held, p.m = false, model.NoThread
		c.Held--
	case p.known:
		c.errorf("%s: it is idle", describe(ev))
	}
	p.known = true
}

// State returns the state of a goroutine, GoNotExist if it does not exist.
func (c *Checker) State(id model.GoID) model.GoState {
	if g := c.gs[id]; g != nil {
		return g.state
	}
	return model.GoNotExist
}
