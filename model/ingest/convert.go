package ingest

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"golang.org/x/exp/trace"

	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest/wire"
)

// converter turns the library's events into the model's. It asks for a stack only
// where the kind of event can have one, and keeps what it has converted before in
// maps that live as long as the generation.
type converter struct {
	out     wire.Sink
	chunk   *wire.Chunk
	stopped bool // the sink wants no more

	unit    model.Time // of the clock, 0 if unknown
	v1      bool       // format before Go 1.22
	strings map[string]model.StringID
	stacks  map[trace.Stack]model.StackID
	held    []model.Event // see hold
}

// newConverter returns a converter of one generation; g is nil for a trace
// before Go 1.22.
func newConverter(g *Generation, out wire.Sink) *converter {
	c := &converter{
		out:     out,
		chunk:   out.Chunk(),
		v1:      g == nil,
		strings: map[string]model.StringID{},
		stacks:  map[trace.Stack]model.StackID{},
	}
	if g != nil {
		c.unit = model.Time(g.Unit())
	}
	return c
}

// add converts one event. An error means that the event cannot be valid.
func (c *converter) add(e *trace.Event) error {
	if len(c.chunk.Events) == cap(c.chunk.Events) {
		c.pass()
	}
	p := e.Proc()
	if c.v1 && p >= firstFakeProc {
		p = trace.NoProc
	}
	if p < trace.NoProc || p > math.MaxInt32 {
		return decodeError(fmt.Sprintf("invalid proc %d", p))
	}
	// The chunk is made longer only when the event is whole, for the decoder may
	// panic.
	i := len(c.chunk.Events)
	ev := &c.chunk.Events[:i+1][i]
	*ev = model.Event{
		Time: model.Time(e.Time()),
		G:    model.GoID(e.Goroutine()),
		M:    model.ThreadID(e.Thread()),
		P:    model.ProcID(p),
	}
	if c.unit != 0 && ev.Time%c.unit != 0 {
		ev.Flags = model.EventSyntheticTime
	}
	keep, err := c.details(ev, e)
	switch {
	case !keep || err != nil:
		return err
	case c.v1:
		c.hold(*ev)
	default:
		c.chunk.Events = c.chunk.Events[:i+1]
	}
	return nil
}

// firstFakeProc is the first of the numbers by which traces before Go 1.22 say
// where an event without a proc came from (internal/trace/tracev1: FakeP).
const firstFakeProc = 1000000

// details fills in what depends on the kind of the event. It returns false for
// an event that is not to be passed on.
func (c *converter) details(ev *model.Event, e *trace.Event) (keep bool, err error) {
	switch e.Kind() {
	case trace.EventStateTransition:
		return true, c.transition(ev, e)
	case trace.EventSync:
		return c.sync(ev, e), nil
	case trace.EventMetric:
		m := e.Metric()
		ev.Kind, ev.Str, ev.Stack = model.EventMetric, c.str(m.Name), c.stack(e.Stack())
		if m.Value.Kind() == trace.ValueUint64 {
			ev.ID = int64(m.Value.Uint64())
		}
	case trace.EventLabel:
		l := e.Label()
		ev.Kind, ev.Str, ev.ID = model.EventLabel, c.str(l.Label), int64(l.Resource.Goroutine())
	case trace.EventStackSample:
		ev.Kind, ev.Stack = model.EventStackSample, c.stack(e.Stack())
	case trace.EventRangeBegin, trace.EventRangeActive, trace.EventRangeEnd:
		return true, c.rangeEvent(ev, e)
	case trace.EventTaskBegin, trace.EventTaskEnd:
		c.task(ev, e)
	case trace.EventRegionBegin, trace.EventRegionEnd:
		r := e.Region()
		if ev.Kind = model.EventRegionBegin; e.Kind() == trace.EventRegionEnd {
			ev.Kind = model.EventRegionEnd
		}
		ev.ID, ev.Str, ev.Stack = int64(r.Task), c.str(r.Type), c.stack(e.Stack())
	case trace.EventLog:
		l := e.Log()
		ev.Kind, ev.ID, ev.Stack = model.EventLog, int64(l.Task), c.stack(e.Stack())
		ev.Str, ev.Str2 = c.str(l.Category), c.str(l.Message)
	case trace.EventExperimental:
		x := e.Experimental()
		ev.Kind, ev.Stack = model.EventExperimental, c.stack(e.Stack())
		ev.Str, ev.Str2 = c.str(x.Experiment), c.str(x.Name)
	default:
		return false, decodeError(fmt.Sprintf("unknown kind of event %d", e.Kind()))
	}
	return true, nil
}

// transition converts changes and statuses of goroutines and procs.
func (c *converter) transition(ev *model.Event, e *trace.Event) error {
	st := e.StateTransition()
	if st.Resource.Kind == trace.ResourceProc {
		id := st.Resource.Proc()
		if id < 0 || id > math.MaxInt32 {
			return decodeError(fmt.Sprintf("invalid proc %d", id))
		}
		from, to := st.Proc()
		ev.Kind, ev.ID, ev.From, ev.To = model.EventProcTransition, int64(id), uint8(from), uint8(to)
		return nil
	}
	if st.Resource.Kind != trace.ResourceGoroutine {
		return decodeError("transition of something that is neither goroutine nor proc")
	}
	id := st.Resource.Goroutine()
	if id < 0 {
		return decodeError(fmt.Sprintf("invalid goroutine %d", id))
	}
	from, to := st.Goroutine()
	ev.Kind, ev.ID, ev.From, ev.To = model.EventGoTransition, int64(id), uint8(from), uint8(to)
	ev.Str, ev.SubjectStack = c.str(st.Reason), c.stack(st.Stack)
	switch {
	case from == trace.GoUndetermined || from == to:
		// A status has no stack but the subject's.
	case from == trace.GoRunning:
		// The context's goroutine is the one that moves.
		ev.Stack = ev.SubjectStack
	case from == trace.GoWaiting || from == trace.GoNotExist:
		ev.Stack = c.stack(e.Stack())
	}
	return nil
}

// sync converts a Sync event. The decoder ends each generation with one as well,
// which has nothing to say and is left out.
func (c *converter) sync(ev *model.Event, e *trace.Event) bool {
	s := e.Sync()
	if s.ExperimentalBatches == nil {
		return false // no table: not the beginning of a generation
	}
	ev.Kind = model.EventSync
	if s.ClockSnapshot != nil {
		ev.Arg = s.ClockSnapshot.Wall.UnixNano()
	}
	return true
}

func (c *converter) rangeEvent(ev *model.Event, e *trace.Event) error {
	r := e.Range()
	ev.Str = c.str(r.Name)
	switch r.Scope.Kind {
	case trace.ResourceNone:
		ev.From = uint8(model.ScopeGlobal)
	case trace.ResourceGoroutine:
		ev.From, ev.ID = uint8(model.ScopeGoroutine), int64(r.Scope.Goroutine())
	case trace.ResourceProc:
		ev.From, ev.ID = uint8(model.ScopeProc), int64(r.Scope.Proc())
		if ev.ID < 0 || ev.ID > math.MaxInt32 {
			return decodeError(fmt.Sprintf("invalid proc %d", ev.ID))
		}
	case trace.ResourceThread:
		ev.From, ev.ID = uint8(model.ScopeThread), int64(r.Scope.Thread())
	}
	switch e.Kind() {
	case trace.EventRangeBegin:
		ev.Kind, ev.Stack = model.EventRangeBegin, c.stack(e.Stack())
	case trace.EventRangeActive:
		ev.Kind = model.EventRangeActive
	default:
		ev.Kind = model.EventRangeEnd
		if r.Scope.Kind != trace.ResourceProc {
			break // only sweeping has attributes
		}
		if attrs := e.RangeAttributes(); len(attrs) > 0 && attrs[0].Value.Kind() == trace.ValueUint64 {
			ev.Arg = int64(attrs[0].Value.Uint64())
		}
	}
	return nil
}

// task converts beginnings and ends of tasks. The decoder says NoTask where the
// program named no parent; the model says 0.
func (c *converter) task(ev *model.Event, e *trace.Event) {
	t := e.Task()
	if ev.Kind = model.EventTaskBegin; e.Kind() == trace.EventTaskEnd {
		ev.Kind = model.EventTaskEnd
	}
	ev.ID, ev.Str, ev.Stack = int64(t.ID), c.str(t.Type), c.stack(e.Stack())
	if t.Parent != trace.NoTask {
		ev.Arg = int64(t.Parent)
	}
}

// str returns the number of s in the generation, a new one at first sight.
func (c *converter) str(s string) model.StringID {
	if id, ok := c.strings[s]; ok || s == "" {
		return id
	}
	id := model.StringID(len(c.strings) + 1)
	c.strings[s] = id
	c.chunk.Strings = append(c.chunk.Strings, s)
	return id
}

// stack returns the number of s in the generation.
func (c *converter) stack(s trace.Stack) model.StackID {
	if s == trace.NoStack {
		return 0
	}
	if id, ok := c.stacks[s]; ok {
		return id
	}
	from := len(c.chunk.Frames)
	c.appendFrames(s)
	to := len(c.chunk.Frames)
	id := model.StackID(len(c.stacks) + 1)
	c.stacks[s] = id
	c.chunk.Stacks = append(c.chunk.Stacks, c.chunk.Frames[from:to:to])
	return id
}

// appendFrames adds the frames of s to the chunk. Traces before Go 1.22 can
// name stacks that they do not hold, for which the decoder panics; those are
// stacks without frames.
func (c *converter) appendFrames(s trace.Stack) {
	if c.v1 {
		from := len(c.chunk.Frames)
		defer func() {
			if recover() != nil {
				c.chunk.Frames = c.chunk.Frames[:from]
			}
		}()
	}
	for f := range s.Frames() {
		c.chunk.Frames = append(c.chunk.Frames, model.Frame{PC: f.PC, Func: f.Func, File: f.File, Line: f.Line})
	}
}

// pass hands the full chunk on and takes an empty one.
func (c *converter) pass() {
	if !c.out.Emit(c.chunk) {
		c.stopped = true
	}
	c.chunk = c.out.Chunk()
}

// flush hands on what is left.
func (c *converter) flush() {
	c.release()
	c.pass()
}

// hold adds an event after putting the order right in which the decoder lists
// the goroutines that a trace before Go 1.22 found Runnable at its start, which
// is that of a Go map (internal/trace/tracev1.go: createdPreInit). It keeps
// those back until another event comes.
func (c *converter) hold(ev model.Event) {
	if ev.Kind == model.EventGoTransition && ev.From == uint8(model.GoUndetermined) &&
		ev.To == uint8(model.GoRunnable) && ev.M == model.NoThread && ev.G == model.NoGoroutine {
		c.held = append(c.held, ev)
		return
	}
	c.release()
	c.put(ev)
}

// release puts the events that hold kept back into the chunk, by goroutine.
func (c *converter) release() {
	times := make([]model.Time, len(c.held))
	for i := range c.held {
		times[i] = c.held[i].Time
	}
	slices.SortFunc(c.held, func(a, b model.Event) int { return cmp.Compare(a.ID, b.ID) })
	for i := range c.held {
		c.held[i].Time = times[i]
		c.put(c.held[i])
	}
	c.held = c.held[:0]
}

// put adds a converted event to the chunk.
func (c *converter) put(ev model.Event) {
	if len(c.chunk.Events) == cap(c.chunk.Events) {
		c.pass()
	}
	c.chunk.Events = append(c.chunk.Events, ev)
}
