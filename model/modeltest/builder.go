package modeltest

import (
	"fmt"
	"hash/fnv"

	"github.com/schedscope/schedscope/model"
)

// Tick is the grain of the runtime's trace clock on most platforms
// (runtime/tracetime.go: traceTimeDiv), in nanoseconds.
const Tick = 64

// origin is the time of tick 0: not zero, because the zero of a trace's clock
// means nothing and code that takes it for "never" should fail.
const origin model.Time = 1000 * Tick

// Ticks returns the length of n ticks.
func Ticks(n int) model.Duration { return model.Duration(n) * Tick }

// At returns the time of tick n of every Builder.
func At(n int) model.Time { return origin + model.Time(Ticks(n)) }

// A Builder writes an event stream as the decoder would deliver it. It keeps
// account of which goroutine and proc each thread has, so that a test only
// says what happens:
//
//	b := modeltest.NewBuilder()
//	m := b.M(1).Proc(0).Running(1, "main.main")
//	b.At(10)
//	m.Create(2, "main.worker").Block("chan receive")
//	b.At(15)
//	m.Start(2)
//	b.At(20)
//	events := b.Events()
//
// Time stands still until [Builder.At] moves it. Like the decoder, the Builder
// gives an event that would share its time with the one before 1 ns more, and
// flags it [model.EventSyntheticTime].
//
// The methods panic if the stream would be impossible, such as starting a
// goroutine that is not Runnable; [Builder.Raw] adds anything.
type Builder struct {
	Tables *model.Tables
	events []model.Event
	now    model.Time
	syncs  int64
	gs     map[model.GoID]*goroutine
	gids   []model.GoID // in order of appearance
	ms     map[model.ThreadID]*Thread
	ps     map[model.ProcID]model.ProcStatus
	pids   []model.ProcID
}

type goroutine struct {
	state model.GoState
	fn    string
	m     model.ThreadID // while it has one
}

// NewBuilder returns a Builder at tick 0 whose stream holds the first Sync.
func NewBuilder() *Builder {
	b := &Builder{
		Tables: model.NewTables(),
		now:    origin,
		gs:     map[model.GoID]*goroutine{},
		ms:     map[model.ThreadID]*Thread{},
		ps:     map[model.ProcID]model.ProcStatus{},
	}
	b.sync()
	return b
}

// At moves time to tick n.
func (b *Builder) At(n int) *Builder {
	t := At(n)
	if t < b.now {
		panic(fmt.Sprintf("modeltest.Builder.At: tick %d is past", n))
	}
	b.now = t
	return b
}

// M returns thread id, which has neither a proc nor a goroutine at first.
func (b *Builder) M(id model.ThreadID) *Thread {
	m := b.ms[id]
	if m == nil {
		m = &Thread{b: b, id: id, p: model.NoProc, g: model.NoGoroutine}
		b.ms[id] = m
	}
	return m
}

// Metric sets a runtime metric.
func (b *Builder) Metric(name string, value int64) *Builder {
	b.Raw(model.Event{Kind: model.EventMetric, Str: b.str(name), ID: value,
		G: model.NoGoroutine, P: model.NoProc, M: model.NoThread})
	return b
}

// Generation begins a generation: a Sync, then the status of every proc and
// goroutine that exists, from thread m.
func (b *Builder) Generation(m *Thread) *Builder {
	b.sync()
	for _, p := range b.pids {
		s := uint8(b.ps[p])
		m.emit(model.Event{Kind: model.EventProcTransition, ID: int64(p), From: s, To: s, Flags: model.EventStatus})
	}
	for _, id := range b.gids {
		g := b.gs[id]
		if g.state == model.GoNotExist {
			continue
		}
		by, s := m, uint8(g.state)
		if g.m != model.NoThread {
			by = b.M(g.m)
		}
		by.emit(model.Event{Kind: model.EventGoTransition, ID: int64(id), From: s, To: s, Flags: model.EventStatus})
	}
	return b
}

// Raw appends an event as it is, except for its time (now, or 1 ns after the event
// before). The Builder's account does not follow it.
func (b *Builder) Raw(e model.Event) *Builder {
	e.Time = b.now
	if n := len(b.events); n > 0 && e.Time <= b.events[n-1].Time {
		e.Time = b.events[n-1].Time + 1
		e.Flags |= model.EventSyntheticTime
	}
	b.events = append(b.events, e)
	return b
}

// Events ends the stream with a Sync and returns it. The Builder is used up.
func (b *Builder) Events() []model.Event {
	b.sync()
	return b.events
}

func (b *Builder) sync() {
	b.syncs++
	b.Raw(model.Event{Kind: model.EventSync, ID: b.syncs,
		G: model.NoGoroutine, P: model.NoProc, M: model.NoThread})
}

func (b *Builder) str(s string) model.StringID { return b.Tables.AddString(s) }

// stack interns a stack of these functions, innermost first.
func (b *Builder) stack(funcs []string) model.StackID {
	var frames []model.Frame
	for _, f := range funcs {
		h := fnv.New32a()
		h.Write([]byte(f))
		frames = append(frames, model.Frame{PC: uint64(h.Sum32()), Func: f, File: "/src/prog.go", Line: 1})
	}
	return b.Tables.AddStack(frames)
}

// goroutine returns a goroutine that must be in the wanted state.
func (b *Builder) goroutine(method string, id model.GoID, want model.GoState) *goroutine {
	g := b.gs[id]
	if g == nil {
		g = &goroutine{state: model.GoNotExist, m: model.NoThread}
		if want != model.GoNotExist && want != model.GoUndetermined {
			panic(fmt.Sprintf("modeltest.Thread.%s: no goroutine %d", method, id))
		}
		b.gs[id] = g
		b.gids = append(b.gids, id)
		return g
	}
	if g.state != want {
		panic(fmt.Sprintf("modeltest.Thread.%s: goroutine %d: state %v, want %v", method, id, g.state, want))
	}
	return g
}

// setProc records a proc's status.
func (b *Builder) setProc(p model.ProcID, s model.ProcStatus) {
	if _, ok := b.ps[p]; !ok {
		b.pids = append(b.pids, p)
	}
	b.ps[p] = s
}
