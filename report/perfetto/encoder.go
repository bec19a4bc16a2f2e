package perfetto

import (
	"cmp"
	"slices"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/schedscope/schedscope/model"
)

// pid is the id of the one process. It is also that of its main thread: goroutine 1
// runs main.
const pid = 1

// encoder turns what a Writer reports into packets of Perfetto's format, in buf. Whatever
// refers to names is on one sequence of packets; states of goroutines need none.
type encoder struct {
	buf      []byte
	origin   model.Time
	sequence uint32
	running  bool                  // the sequence has begun
	flows    [1]uint64             // the last that was drawn
	named    []bool                // names that were described, by number
	keys     []bool                // the same of the keys of annotations
	known    [numTrackKinds][]bool // tracks that were described, by id
	// The same of goroutines: the uuid of the latest one by id modulo numRecent. To describe
	// one again is allowed.
	recent [numRecent]uint64

	// The packet that is being made, and what most have, which is used again and again.
	packet TracePacket
	time   uint64
	task   GenericKernelTaskStateEvent
	cpu    int32
	track  TrackEvent
}

func newEncoder(origin model.Time, sequence uint32) *encoder {
	// Two encoders write one file: their flows must differ.
	return &encoder{origin: origin, sequence: sequence, flows: [1]uint64{uint64(sequence) << 48}}
}

// begun returns the packet, which has its time alone.
func (e *encoder) begun(at model.Time) *TracePacket {
	e.packet.Reset()
	e.time = uint64(max(0, at-e.origin))
	e.packet.Timestamp = &e.time
	return &e.packet
}

// put adds the packet.
func (e *encoder) put() {
	n := e.packet.SizeVT()
	e.buf = protowire.AppendVarint(protowire.AppendTag(e.buf, 1, protowire.BytesType), uint64(n)) // a field of Trace
	e.buf = slices.Grow(e.buf, n)[:len(e.buf)+n]
	if _, err := e.packet.MarshalToSizedBufferVT(e.buf[len(e.buf)-n:]); err != nil {
		panic("perfetto: " + err.Error()) // nothing can be wrong with it
	}
}

// begin describes the process.
func (e *encoder) begin() {
	p := &GenericKernelProcessTree_Process{Pid: pid, Cmdline: programName}
	e.begun(e.origin).GenericKernelProcessTree = &GenericKernelProcessTree{Processes: []*GenericKernelProcessTree_Process{p}}
	e.put()
	e.describe(track{kind: trackProgram}, "")
}

// programName stands for the program: traces do not record its name. Perfetto takes
// what is before a space.
const programName = "goroutines"

// goroutine names a goroutine, before its first interval or when the name becomes known.
func (e *encoder) goroutine(g *goroutine, at model.Time) {
	t := &GenericKernelProcessTree_Thread{Tid: g.tid(), Pid: pid, Comm: g.name, IsMainThread: g.tid() == pid}
	e.begun(at).GenericKernelProcessTree = &GenericKernelProcessTree{Threads: []*GenericKernelProcessTree_Thread{t}}
	e.put()
}

// taskStates are the states of threads that stand for those of goroutines.
var taskStates = [model.NumGoStates]GenericKernelTaskStateEvent_TaskStateEnum{
	model.GoRunnable: taskRunnable, model.GoRunning: GenericKernelTaskStateEvent_TASK_STATE_RUNNING,
	model.GoWaiting:        GenericKernelTaskStateEvent_TASK_STATE_INTERRUPTIBLE_SLEEP,
	model.GoSyscall:        GenericKernelTaskStateEvent_TASK_STATE_UNINTERRUPTIBLE_SLEEP,
	model.GoSyscallBlocked: GenericKernelTaskStateEvent_TASK_STATE_STOPPED,
}

const taskRunnable = GenericKernelTaskStateEvent_TASK_STATE_RUNNABLE

// span writes an interval of a goroutine, of which g still has the one before; cpu is
// where it ran, or noCPU.
func (e *encoder) span(g *goroutine, s *model.GoSpan, cpu int64) {
	state := taskStates[s.State]
	if state == 0 {
		return // not known
	}
	if s.State == model.GoRunning {
		if g.state == model.GoRunning {
			if g.cpu == cpu {
				return // it stopped for no time at all: the interval goes on
			}
			e.state(g, s.Start, taskRunnable, g.cpu) // one of no length between two procs
		}
		e.state(g, s.Start, state, cpu)
		return
	}
	e.state(g, s.Start, state, g.cpu)
}

// state writes that a goroutine is in a state from now on. The cpu is the one that it
// runs on or leaves, noCPU if neither: the importer closes the interval of the cpu that
// is written, whatever the documentation says.
func (e *encoder) state(g *goroutine, at model.Time, state GenericKernelTaskStateEvent_TaskStateEnum, cpu int64) {
	e.task.Tid, e.task.State, e.task.Cpu = g.tid(), state, nil
	if e.cpu = int32(cpu); cpu >= 0 {
		e.task.Cpu = &e.cpu
	}
	e.begun(at).GenericKernelTaskStateEvent = &e.task
	e.put()
}

// event begins an event on a track, to which the caller may add.
func (e *encoder) event(at model.Time, t track, kind TrackEvent_Type, name label, args []arg) *TrackEvent {
	p, x := e.begun(at), &e.track
	x.Reset()
	x.Type, x.TrackUuid, x.NameIid = kind, t.uuid(), uint64(name.n)
	for i := range args {
		a := &DebugAnnotation{NameIid: uint64(args[i].key.n), StringValue: args[i].text}
		if a.StringValue == "" {
			a.IntValue = &args[i].number
		}
		x.DebugAnnotations = append(x.DebugAnnotations, a)
	}
	p.TrustedPacketSequenceId, p.InternedData, p.TrackEvent = e.sequence, e.intern(name, args), x
	switch {
	case !e.running:
		e.running, p.FirstPacketOnSequence = true, true
		p.SequenceFlags = flagCleared | flagNeeds
	case name.n != 0 || len(args) > 0:
		p.SequenceFlags = flagNeeds
	}
	return x
}

// Values of TracePacket.SequenceFlags.
const (
	flagCleared = 1
	flagNeeds   = 2
)

// intern returns the names that the packet is the first to use, nil if there are none.
func (e *encoder) intern(name label, args []arg) (d *InternedData) {
	if news(&e.named, name.n) != 0 {
		d = &InternedData{EventNames: []*EventName{{Iid: uint64(name.n), Name: name.text}}}
	}
	for i := range args {
		if k := args[i].key; news(&e.keys, k.n) != 0 {
			d = cmp.Or(d, &InternedData{})
			d.DebugAnnotationNames = append(d.DebugAnnotationNames, &DebugAnnotationName{Iid: uint64(k.n), Name: k.text})
		}
	}
	return d
}

// news returns n if it was not written yet, else 0.
func news(written *[]bool, n uint32) uint32 {
	if int(n) >= len(*written) {
		*written = append(*written, make([]bool, int(n)+1-len(*written))...)
	}
	if n == 0 || (*written)[n] {
		return 0
	}
	(*written)[n] = true
	return n
}

func (e *encoder) slice(s *slice) {
	e.need(s.track, s.of)
	e.event(s.start, s.track, TrackEvent_TYPE_SLICE_BEGIN, s.name, s.args)
	e.put()
	e.event(s.end, s.track, TrackEvent_TYPE_SLICE_END, label{}, nil)
	e.put()
}

// instant begins the event of a moment.
func (e *encoder) instant(m *moment) *TrackEvent {
	e.need(m.track, "")
	return e.event(m.at, m.track, TrackEvent_TYPE_INSTANT, m.name, m.args)
}

func (e *encoder) moment(m *moment) {
	e.instant(m)
	e.put()
}

// flow draws an arrow from one moment to another.
func (e *encoder) flow(from, to *moment) {
	e.flows[0]++
	e.instant(from).FlowIds = e.flows[:]
	e.put()
	e.instant(to).TerminatingFlowIds = e.flows[:]
	e.put()
}

func (e *encoder) counter(t track, at model.Time, v int64) {
	e.need(t, "")
	e.event(at, t, TrackEvent_TYPE_COUNTER, label{}, nil).CounterValue = &v
	e.put()
}

// need describes a track before its first event. Those of tasks and open ones are
// used once.
func (e *encoder) need(t track, of string) {
	switch known := &e.known[t.kind]; {
	case t.kind == trackTask || t.kind == trackOpen:
	case t.kind == trackGoroutine:
		last := &e.recent[uint64(t.id)%numRecent]
		if *last == t.uuid() {
			return
		}
		*last = t.uuid()
	case int(t.id) < len(*known) && (*known)[t.id]:
		return
	default:
		if n := int(t.id) + 1; n > len(*known) {
			*known = append(*known, make([]bool, n-len(*known))...)
		}
		(*known)[t.id] = true
	}
	e.describe(t, of)
}

// numRecent bounds the goroutines whose tracks are known to be described.
const numRecent = 1 << 16

// uuid returns the number of a track, different for all.
func (t track) uuid() uint64 { return uint64(t.id)<<maxTrackKindBit | uint64(t.kind) }

func (e *encoder) describe(t track, of string) {
	d := &TrackDescriptor{Uuid: t.uuid()}
	if t.kind != trackProgram {
		d.ParentUuid = track{kind: trackProgram}.uuid()
	}
	switch t.kind {
	case trackProgram:
		d.Process = &ProcessDescriptor{Pid: pid, ProcessName: programName}
	case trackGoroutine:
		d.Thread = &ThreadDescriptor{Pid: pid, Tid: tidOf(model.GoID(t.id))}
	case trackHeap, trackGoal:
		d.Name, d.Counter = t.title(of), &CounterDescriptor{Unit: CounterDescriptor_UNIT_SIZE_BYTES}
	default:
		d.Name = t.title(of)
		if t.kind >= firstCounter {
			d.Counter = &CounterDescriptor{Unit: CounterDescriptor_UNIT_COUNT}
		}
	}
	e.packet.Reset()
	e.packet.TrackDescriptor = d
	e.put()
}

// title names a track; of is the name of what stands on it.
func (t track) title(of string) string {
	switch {
	case of != "":
		return of
	case t.kind == trackProc && t.id >= firstStray:
		return "unknown proc"
	case t.kind.perProc():
		return trackNames[t.kind] + " " + strconv.FormatInt(t.id, 10)
	}
	return trackNames[t.kind]
}
