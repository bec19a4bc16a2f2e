package perfetto

import (
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
	wire
	origin   model.Time
	sequence uint64
	running  bool // the sequence has begun
	flows    uint64
	named    []bool                // names that were described, by number
	keys     []bool                // the same of the keys of annotations
	known    [numTrackKinds][]bool // tracks that were described, by id
	// The same of goroutines: the uuid of the latest one by id modulo numRecent. To describe
	// one again is allowed.
	recent [numRecent]uint64
}

func newEncoder(origin model.Time, sequence uint64) *encoder {
	// Two encoders write one file: their flows must differ.
	return &encoder{origin: origin, sequence: sequence, flows: sequence << 48}
}

// at returns a time as packets have it.
func (e *encoder) at(t model.Time) uint64 { return uint64(max(0, t-e.origin)) }

// begin describes the process.
func (e *encoder) begin() {
	packet := e.open(tracePacket)
	e.uint(packetTimestamp, 0)
	tree := e.open(packetProcessTree)
	process := e.open(treeProcess)
	e.uint(processPid, pid)
	e.text(processCmdline, programName)
	e.close(process)
	e.close(tree)
	e.close(packet)
	e.describe(track{kind: trackProgram}, "")
}

// programName stands for the program: traces do not record its name. Perfetto takes
// what is before a space.
const programName = "goroutines"

// goroutine names a goroutine, before its first interval or when the name becomes known.
func (e *encoder) goroutine(g *goroutine, at model.Time) {
	packet := e.open(tracePacket)
	e.uint(packetTimestamp, e.at(at))
	tree := e.open(packetProcessTree)
	thread := e.open(treeThread)
	e.uint(threadTid, g.tid())
	e.uint(threadPid, pid)
	e.text(threadComm, g.name)
	if g.tid() == pid {
		e.uint(threadMain, 1)
	}
	e.close(thread)
	e.close(tree)
	e.close(packet)
}

// taskStates are the states of threads that stand for those of goroutines.
var taskStates = [model.NumGoStates]uint64{
	model.GoRunnable: taskRunnable, model.GoRunning: taskRunning, model.GoWaiting: taskSleep,
	model.GoSyscall: taskSyscall, model.GoSyscallBlocked: taskStopped,
}

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
	b := appendOpen(e.buf, tracePacket)
	packet := len(b)
	b = appendUint(b, packetTimestamp, e.at(at))
	b = appendOpen(b, packetTaskState)
	task := len(b)
	if cpu >= 0 {
		b = appendUint(b, stateCPU, uint64(cpu))
	}
	b = appendUint(b, stateTid, g.tid())
	b = appendUint(b, stateState, state)
	b[task-1], b[packet-1] = byte(len(b)-task), byte(len(b)-packet) // it is short
	e.buf = b
}

func (e *encoder) exit(g *goroutine, at model.Time) { e.state(g, at, taskGone, g.cpu) }

// event begins the packet of an event on a track, and end ends it.
func (e *encoder) event(at model.Time, t track, kind uint64, name label, args []arg) (packet, event int) {
	b := appendOpen(e.buf, tracePacket)
	packet = len(b)
	b = appendUint(b, packetTimestamp, e.at(at))
	b = appendUint(b, packetSequence, e.sequence)
	switch {
	case !e.running:
		e.running = true
		b = appendUint(b, packetFirst, 1)
		b = appendUint(b, packetFlags, flagCleared|flagNeeds)
	case name.n != 0 || len(args) > 0:
		b = appendUint(b, packetFlags, flagNeeds)
	}
	e.buf = b
	e.intern(name, args)
	b = appendOpen(e.buf, packetTrackEvent)
	event = len(b)
	b = appendUint(b, eventType, kind)
	b = appendUint(b, eventTrack, t.uuid())
	if name.n != 0 {
		b = appendUint(b, eventNameID, uint64(name.n))
	}
	e.buf = b
	for i := range args {
		a := e.open(eventAnnotation)
		e.uint(annotationKey, uint64(args[i].key.n))
		if args[i].text != "" {
			e.text(annotationText, args[i].text)
		} else {
			e.uint(annotationNumber, uint64(args[i].number))
		}
		e.close(a)
	}
	return packet, event
}

func (e *encoder) end(packet, event int) {
	e.close(event)
	e.close(packet)
}

// intern writes the names that the packet is the first to use.
func (e *encoder) intern(name label, args []arg) {
	name.n = news(&e.named, name.n)
	fresh := name.n != 0
	var keys []arg
	for i := range args {
		if news(&e.keys, args[i].key.n) != 0 {
			keys = append(keys, args[i])
		}
	}
	if !fresh && len(keys) == 0 {
		return
	}
	data := e.open(packetInterned)
	if fresh {
		e.internOne(internedName, name)
	}
	for i := range keys {
		e.internOne(internedKey, keys[i].key)
	}
	e.close(data)
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

func (e *encoder) internOne(field protowire.Number, l label) {
	m := e.open(field)
	e.uint(internedID, uint64(l.n))
	e.text(internedText, l.text)
	e.close(m)
}

func (e *encoder) slice(s *slice) {
	e.need(s.track, s.of)
	e.end(e.event(s.start, s.track, eventBegin, s.name, s.args))
	e.end(e.event(s.end, s.track, eventEnd, label{}, nil))
}

func (e *encoder) moment(m *moment) {
	e.need(m.track, "")
	e.end(e.event(m.at, m.track, eventInstant, m.name, m.args))
}

// flow draws an arrow from one moment to another.
func (e *encoder) flow(from, to *moment) {
	e.flows++
	e.need(from.track, "")
	packet, event := e.event(from.at, from.track, eventInstant, from.name, from.args)
	e.fixed(eventFlow, e.flows)
	e.end(packet, event)
	e.need(to.track, "")
	packet, event = e.event(to.at, to.track, eventInstant, to.name, to.args)
	e.fixed(eventFlowEnd, e.flows)
	e.end(packet, event)
}

func (e *encoder) counter(t track, at model.Time, v int64) {
	e.need(t, "")
	packet, event := e.event(at, t, eventCounterValue, label{}, nil)
	e.uint(eventCounter, uint64(v))
	e.end(packet, event)
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
	packet := e.open(tracePacket)
	descriptor := e.open(packetTrack)
	e.uint(trackUUID, t.uuid())
	switch t.kind {
	case trackProgram:
		m := e.open(trackProcess)
		e.uint(processDescriptorPid, pid)
		e.text(processDescriptorName, programName)
		e.close(m)
	case trackGoroutine:
		e.uint(trackParent, track{kind: trackProgram}.uuid())
		m := e.open(trackThread)
		e.uint(threadDescriptorPid, pid)
		e.uint(threadDescriptorTid, tidOf(model.GoID(t.id)))
		e.close(m)
	default:
		e.uint(trackParent, track{kind: trackProgram}.uuid())
		e.text(trackName, t.title(of))
		if t.kind >= firstCounter {
			e.describeCounter(t)
		}
	}
	e.close(descriptor)
	e.close(packet)
}

func (e *encoder) describeCounter(t track) {
	unit := uint64(unitCount)
	if t.kind == trackHeap || t.kind == trackGoal {
		unit = unitBytes
	}
	m := e.open(trackCounter)
	e.uint(counterUnit, unit)
	e.close(m)
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
