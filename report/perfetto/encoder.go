package perfetto

import (
	"encoding/binary"
	"slices"
	"strconv"

	"github.com/schedscope/schedscope/analyze/result"
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
	flow     uint64                // the last that was drawn
	named    []bool                // names that were described, by number
	keys     []bool                // the same of the keys of annotations
	known    [numTrackKinds][]bool // tracks that were described, by id
	// The same of goroutines: the uuid of the latest one by id modulo numRecent. To describe
	// one again is allowed.
	recent [numRecent]uint64
}

func newEncoder(origin model.Time, sequence uint32) *encoder {
	// Two encoders write one file: their flows must differ.
	return &encoder{origin: origin, sequence: sequence, flow: uint64(sequence) << 48}
}

// Messages are written field by field. A field without a value is left out, as proto3 has it, unless
// it is optional in perfetto_subset.proto.

// Fields, by message, as perfetto_subset.proto has them.
const (
	tracePacket = 1

	packetTime     = 8
	packetSequence = 10
	packetEvent    = 11
	packetInterned = 12
	packetFlags    = 13
	packetTrack    = 60
	packetFirst    = 87
	packetState    = 117
	packetTree     = 122

	eventArg    = 4
	eventType   = 9
	eventName   = 10
	eventTrack  = 11
	eventValue  = 30 // of a counter
	eventFlow   = 47 // one that begins
	eventFlowTo = 48 // one that ends
	noField     = 0

	argName, argInt, argString = 1, 4, 6

	internedEvent, internedArg = 2, 3
	entryID, entryName         = 1, 2

	stateCPU, stateTid, stateState = 1, 3, 4

	treeProcess, treeThread                        = 1, 2
	processPid, processCmdline                     = 1, 3
	threadTid, threadPid, threadComm, threadIsMain = 1, 2, 3, 4

	descUUID, descName, descProcess, descThread, descParent, descCounter = 1, 2, 3, 4, 5, 8

	descProcessPid, descProcessName = 1, 6
	descThreadPid, descThreadTid    = 1, 2
	descCounterUnit                 = 3
)

// Wire types of fields. That of varints is 0.
const typeFixed64, typeBytes = 1, 2

func (e *encoder) number(field, v uint64) {
	if field<<3 < 0x80 && v < 0x80 { // as most are
		e.buf = append(e.buf, byte(field<<3), byte(v))
		return
	}
	e.buf = binary.AppendUvarint(binary.AppendUvarint(e.buf, field<<3), v)
}

func (e *encoder) text(field uint64, s string) {
	e.buf = append(binary.AppendUvarint(binary.AppendUvarint(e.buf, field<<3|typeBytes), uint64(len(s))), s...)
}

// open begins a message that is a field of the one around it. It ends with close.
func (e *encoder) open(field uint64) int {
	if field<<3 < 0x80 {
		e.buf = append(e.buf, byte(field<<3|typeBytes), 0)
		return len(e.buf)
	}
	e.buf = append(binary.AppendUvarint(e.buf, field<<3|typeBytes), 0)
	return len(e.buf)
}

// close writes the length of a message in front of it: most take one byte.
func (e *encoder) close(from int) {
	n := len(e.buf) - from
	e.buf[from-1] = byte(n)
	if n >= 0x80 {
		e.buf = slices.Replace(e.buf, from-1, from, binary.AppendUvarint(nil, uint64(n))...)
	}
}

// packet begins a packet with a time.
func (e *encoder) packet(at model.Time) int {
	p := e.open(tracePacket)
	e.number(packetTime, uint64(max(0, at-e.origin)))
	return p
}

// begin describes the process.
func (e *encoder) begin() {
	p := e.packet(e.origin)
	tree := e.open(packetTree)
	process := e.open(treeProcess)
	e.number(processPid, pid)
	e.text(processCmdline, programName)
	e.close(process)
	e.close(tree)
	e.close(p)
	e.describe(track{kind: trackProgram}, "")
}

// programName stands for the program: traces do not record its name. Perfetto takes
// what is before a space.
const programName = "goroutines"

// goroutine names a goroutine, before its first interval or when the name becomes known.
func (e *encoder) goroutine(g *goroutine, at model.Time) {
	p := e.packet(at)
	tree := e.open(packetTree)
	thread := e.open(treeThread)
	e.number(threadTid, uint64(g.tid()))
	e.number(threadPid, pid)
	e.text(threadComm, g.name)
	if g.tid() == pid {
		e.number(threadIsMain, 1)
	}
	e.close(thread)
	e.close(tree)
	e.close(p)
}

// taskStates are the states of threads that stand for those of goroutines.
var taskStates = [model.NumGoStates]uint64{
	model.GoRunnable: taskRunnable, model.GoRunning: taskRunning, model.GoWaiting: taskInterruptible,
	model.GoSyscall: taskUninterruptible, model.GoSyscallBlocked: taskStopped,
}

const taskRunnable, taskRunning, taskInterruptible, taskUninterruptible, taskStopped, taskDestroyed = 2, 3, 4, 5, 6, 8

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
func (e *encoder) state(g *goroutine, at model.Time, state uint64, cpu int64) {
	p := e.packet(at)
	task := e.open(packetState)
	if cpu >= 0 {
		e.number(stateCPU, uint64(cpu))
	}
	e.number(stateTid, uint64(g.tid()))
	e.number(stateState, state)
	e.close(task)
	e.close(p)
}

// Types of events.
const (
	sliceBegin = iota + 1
	sliceEnd
	instant
	counter
)

// event writes an event on a track. Field has the value, unless it is noField.
func (e *encoder) event(at model.Time, t track, kind uint64, name label, args []arg, field, value uint64) {
	p := e.packet(at)
	e.number(packetSequence, uint64(e.sequence))
	x := e.open(packetEvent)
	for i := range args {
		a := e.open(eventArg)
		e.number(argName, uint64(args[i].key.n))
		if args[i].text != "" {
			e.text(argString, args[i].text)
		} else {
			e.number(argInt, uint64(args[i].number))
		}
		e.close(a)
	}
	e.number(eventType, kind)
	if name.n != 0 {
		e.number(eventName, uint64(name.n))
	}
	e.number(eventTrack, t.uuid())
	switch field {
	case eventValue:
		e.number(field, value)
	case eventFlow, eventFlowTo:
		e.buf = binary.LittleEndian.AppendUint64(binary.AppendUvarint(e.buf, field<<3|typeFixed64), value)
	}
	e.close(x)
	e.intern(name, args)
	switch {
	case !e.running:
		e.running = true
		e.number(packetFlags, flagCleared|flagNeeds)
		e.number(packetFirst, 1)
	case name.n != 0 || len(args) > 0:
		e.number(packetFlags, flagNeeds)
	}
	e.close(p)
}

// Values of TracePacket.SequenceFlags.
const (
	flagCleared = 1
	flagNeeds   = 2
)

// intern writes the names that the packet is the first to use.
func (e *encoder) intern(name label, args []arg) {
	if len(args) == 0 && (name.n == 0 || int(name.n) < len(e.named) && e.named[name.n]) {
		return
	}
	from := len(e.buf)
	names := e.open(packetInterned)
	e.entry(internedEvent, &e.named, name)
	for i := range args {
		e.entry(internedArg, &e.keys, args[i].key)
	}
	if len(e.buf) > names {
		e.close(names)
	} else {
		e.buf = e.buf[:from]
	}
}

// entry writes a name unless it is among those that were written.
func (e *encoder) entry(field uint64, written *[]bool, name label) {
	known := result.Slot(written, int(name.n))
	if name.n == 0 || *known {
		return
	}
	*known = true
	x := e.open(field)
	e.number(entryID, uint64(name.n))
	e.text(entryName, name.text)
	e.close(x)
}

func (e *encoder) slice(s *slice) {
	e.need(s.track, s.of)
	e.event(s.start, s.track, sliceBegin, s.name, s.args, noField, 0)
	e.event(s.end, s.track, sliceEnd, label{}, nil, noField, 0)
}

// moment writes a moment, with a flow that begins or ends there unless field is noField.
func (e *encoder) moment(m *moment, field uint64) {
	e.need(m.track, "")
	e.event(m.at, m.track, instant, m.name, m.args, field, e.flow)
}

// arrow draws an arrow from one moment to another.
func (e *encoder) arrow(from, to *moment) {
	e.flow++
	e.moment(from, eventFlow)
	e.moment(to, eventFlowTo)
}

func (e *encoder) counter(t track, at model.Time, v int64) {
	e.need(t, "")
	e.event(at, t, counter, label{}, nil, eventValue, uint64(v))
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
	default:
		described := result.Slot(known, int(t.id))
		if *described {
			return
		}
		*described = true
	}
	e.describe(t, of)
}

// numRecent bounds the goroutines whose tracks are known to be described.
const numRecent = 1 << 16

// uuid returns the number of a track, different for all.
func (t track) uuid() uint64 { return uint64(t.id)<<maxTrackKindBit | uint64(t.kind) }

func (e *encoder) describe(t track, of string) {
	p := e.open(tracePacket)
	d := e.open(packetTrack)
	e.number(descUUID, t.uuid())
	switch t.kind {
	case trackProgram:
		process := e.open(descProcess)
		e.number(descProcessPid, pid)
		e.text(descProcessName, programName)
		e.close(process)
	case trackGoroutine:
		thread := e.open(descThread)
		e.number(descThreadPid, pid)
		e.number(descThreadTid, uint64(tidOf(model.GoID(t.id))))
		e.close(thread)
	default:
		e.text(descName, t.title(of))
	}
	if t.kind != trackProgram {
		e.number(descParent, track{kind: trackProgram}.uuid())
	}
	if t.kind >= firstCounter {
		c, unit := e.open(descCounter), uint64(unitCount)
		if t.kind == trackHeap || t.kind == trackGoal {
			unit = unitBytes
		}
		e.number(descCounterUnit, unit)
		e.close(c)
	}
	e.close(d)
	e.close(p)
}

// Units of counters.
const unitCount, unitBytes = 2, 3

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
