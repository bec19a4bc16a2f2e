// Package refschedtest makes of simulations of package refsched what the runtime's tracer would write, for tests. This
// package promises nothing to other modules.
package refschedtest

import (
	"context"
	"fmt"

	"github.com/schedscope/schedscope/analyze/refsched"
	"github.com/schedscope/schedscope/analyze/workload"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// Run is [refsched.Run], and calls emit with each event that the tracer would write, and decide, if it is not nil, with each
// start, as a [runqueue.Resolver] would report it. The arguments are valid during the calls. The error may also be of a
// goroutine that changes from a state in which it is not.
func Run(ctx context.Context, w *workload.Workload, cfg refsched.Config, emit func(*model.Event), decide func(*runqueue.Start)) (*refsched.Result, error) {
	r := recorder{emit: emit, decide: decide, w: w, tables: w.Tables,
		ms: map[model.ThreadID]int64{}, ps: map[model.ProcID]model.ThreadID{}, on: map[int64]model.ProcID{}}
	for i := range w.Goroutines {
		r.grow(w.Goroutines[i].ID, w.Goroutines[i].Func)
	}
	cfg.Recorder = &r
	res, err := refsched.Run(ctx, w, cfg)
	if err == nil {
		err = r.err
	}
	return res, err
}

// recorder implements [refsched.Recorder].
type recorder struct {
	emit   func(*model.Event)
	decide func(*runqueue.Start)
	w      *workload.Workload
	tables *model.Tables
	gs     []goroutine
	lastID model.GoID // the greatest
	start  model.Event
	ms     map[model.ThreadID]int64        // the goroutine that runs on a thread or is in a system call on it, as far as they had a proc
	ps     map[model.ProcID]model.ThreadID // the threads that have procs
	on     map[int64]model.ProcID          // the procs that goroutines got with their threads
	err    error
}

// goroutine is one of the workload's, or a mark worker.
type goroutine struct {
	id    model.GoID
	fn    string
	state model.GoState
	root  model.StackID  // its start function
	stay  runqueue.Start // in queues, so far
}

const worker = "runtime.gcBgMarkWorker"

var (
	freshStart = runqueue.Start{QueueP: model.NoProc, FromP: model.NoProc, LastP: model.NoProc}
	modes      = [...]string{"GC (dedicated)", "GC (fractional)", "GC (idle)"}
)

func (r *recorder) grow(id model.GoID, fn model.StringID) {
	g := goroutine{id: id, fn: r.tables.String(fn), stay: freshStart}
	if fn != 0 {
		g.root = r.tables.AddStack([]model.Frame{{Func: g.fn}})
	}
	g.stay.Func = fn
	r.gs = append(r.gs, g)
	r.lastID = max(r.lastID, id)
}

// isWorker reports whether goroutine i is a mark worker.
func (r *recorder) isWorker(i int64) bool { return int(i) >= len(r.w.Goroutines) }

func (r *recorder) goID(i int64) model.GoID {
	if i < 0 {
		return model.NoGoroutine
	}
	return r.gs[i].id
}

func threadID(m model.ThreadID) model.ThreadID {
	switch m {
	case -1:
		return model.NoThread
	case model.ThreadID(refsched.SysmonThread):
		return 1
	}
	return m + 2
}

// Event implements [refsched.Recorder].
func (r *recorder) Event(e *model.Event) {
	switch e.Kind {
	case model.EventMetric:
		e.Str = r.tables.AddString("/sched/gomaxprocs:threads")
	case model.EventRangeBegin, model.EventRangeEnd:
		if model.Scope(e.From) == model.ScopeGlobal {
			e.Str = r.tables.AddString("GC concurrent mark phase")
		} else {
			e.ID = int64(r.goID(e.ID))
		}
	case model.EventLabel:
		e.ID, e.Str, e.To = int64(r.goID(e.ID)), r.tables.AddString(modes[e.To]), 0
	case model.EventGoTransition:
		r.transition(e)
	case model.EventProcTransition:
		r.move(e)
	}
	e.G, e.M = r.goID(int64(e.G)), threadID(e.M)
	if r.emit != nil {
		r.emit(e)
	}
	if e.Kind == model.EventGoTransition {
		r.start = *e
	}
}

// transition completes the change of a goroutine's state.
func (r *recorder) transition(e *model.Event) {
	i, from, to := e.ID, model.GoState(e.From), model.GoState(e.To)
	if int(i) == len(r.gs) {
		r.grow(r.lastID+1, r.tables.AddString(worker))
	}
	g := &r.gs[i]
	if r.err == nil && g.state != from && g.state != model.GoUndetermined {
		r.err = fmt.Errorf("goroutine %d: %v to %v at %d: got state %v", g.id, from, to, e.Time, g.state)
	}
	g.state, e.ID = to, int64(g.id)
	switch {
	case to == model.GoRunning || to == model.GoSyscall:
		if e.M >= 0 {
			r.ms[e.M] = i
		}
		if to == model.GoRunning {
			r.on[i] = e.P
		}
	case r.ms[e.M] == i && e.M >= 0:
		delete(r.ms, e.M)
	}
	if r.isWorker(i) && to == model.GoWaiting {
		e.Str, e.Stack = r.tables.AddString("system goroutine wait"), g.root
	}
	switch from {
	case model.GoUndetermined:
		e.Stack, e.SubjectStack = g.root, g.root
		return
	case model.GoNotExist:
		e.SubjectStack = g.root
	case model.GoRunning:
		if to == model.GoRunnable {
			switch workload.EndKind(e.Str) {
			case workload.EndYield:
				e.Str = r.tables.AddString("runtime.Gosched")
			case workload.EndGoyield:
				e.Str = r.tables.AddString("preempted")
			default:
				e.Str = r.tables.AddString("preempted")
				e.Stack = r.tables.AddStack([]model.Frame{{Func: "runtime.asyncPreempt2"}, {Func: "runtime.asyncPreempt"}, {Func: g.fn}})
			}
		}
		e.SubjectStack = e.Stack
	}
	if to == model.GoRunnable {
		fn := g.stay.Func
		g.stay = freshStart
		g.stay.Func, g.stay.Since = fn, e.Time
	}
}

// Stands implements [refsched.Recorder].
func (r *recorder) Stands(g int32, where runqueue.Place, p int32, via runqueue.Via) {
	x := &r.gs[g].stay
	if x.Enqueued == runqueue.PlaceUnknown {
		x.Enqueued, x.QueueP = where, model.ProcID(p)
	}
	x.LastP, x.Via = model.ProcID(p), via
}

// Moved implements [refsched.Recorder].
func (r *recorder) Moved(g, from int32, n int) {
	r.gs[g].stay.FromP, r.gs[g].stay.Batch = model.ProcID(from), n
}

// Start implements [refsched.Recorder].
func (r *recorder) Start(i int32, from runqueue.Source, tick uint32) {
	g, e := &r.gs[i], &r.start
	a := g.stay
	a.Time, a.G, a.M, a.P, a.Source, a.Tick = e.Time, g.id, e.M, e.P, from, int(tick%refsched.FairTick)
	if a.Source != runqueue.SourceLocal {
		a.Via = runqueue.ViaNone
	}
	if r.decide != nil {
		r.decide(&a)
	}
	g.stay = freshStart
	g.stay.Func = a.Func
}

// move completes the change of a proc's status. A thread that takes one from a system call does so in its own goroutine, and on
// its own proc if it has one.
func (r *recorder) move(e *model.Event) {
	id := model.ProcID(e.ID)
	if model.ProcStatus(e.To) == model.ProcStatusRunning {
		r.ps[id] = e.M
		return
	}
	if g, ok := r.ms[e.M]; e.M >= 0 && e.P < 0 && model.ProcStatus(e.From) == model.ProcStatusRunning {
		if ok {
			if e.G = model.GoID(g); r.gs[g].state == model.GoRunning {
				e.P = r.on[g]
			}
		}
		if r.ps[id] == e.M {
			e.P = id
		}
	}
	delete(r.ps, id)
}
