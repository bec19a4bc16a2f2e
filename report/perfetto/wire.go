package perfetto

import (
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// Numbers of the fields that are written, by message (protos/perfetto/trace of
// Perfetto v58; testdata/perfetto_subset.proto has the same with their types).
const (
	tracePacket = 1 // Trace

	packetTimestamp   = 8 // TracePacket
	packetSequence    = 10
	packetTrackEvent  = 11
	packetInterned    = 12
	packetFlags       = 13
	packetTrack       = 60
	packetFirst       = 87
	packetTaskState   = 117
	packetProcessTree = 122

	stateCPU   = 1 // GenericKernelTaskStateEvent
	stateTid   = 3
	stateState = 4

	treeProcess = 1 // GenericKernelProcessTree
	treeThread  = 2

	processPid     = 1 // GenericKernelProcessTree.Process
	processCmdline = 3

	threadTid  = 1 // GenericKernelProcessTree.Thread
	threadPid  = 2
	threadComm = 3
	threadMain = 4

	trackUUID    = 1 // TrackDescriptor
	trackName    = 2
	trackProcess = 3
	trackThread  = 4
	trackParent  = 5
	trackCounter = 8

	processDescriptorPid  = 1 // ProcessDescriptor
	processDescriptorName = 6

	threadDescriptorPid = 1 // ThreadDescriptor
	threadDescriptorTid = 2

	counterUnit = 3 // CounterDescriptor

	eventAnnotation  = 4 // TrackEvent
	eventType        = 9
	eventNameID      = 10
	eventTrack       = 11
	eventCounter     = 30
	eventFlow        = 47
	eventFlowEnd     = 48
	internedName     = 2 // InternedData
	internedKey      = 3
	internedID       = 1 // EventName, DebugAnnotationName
	internedText     = 2
	annotationKey    = 1 // DebugAnnotation
	annotationNumber = 4
	annotationText   = 6
)

// Values of the enumerations.
const (
	taskRunnable = 2 // GenericKernelTaskStateEvent.TaskStateEnum
	taskRunning  = 3
	taskSleep    = 4 // interruptible
	taskSyscall  = 5 // uninterruptible sleep
	taskStopped  = 6
	taskGone     = 8 // destroyed

	eventBegin        = 1 // TrackEvent.Type
	eventEnd          = 2
	eventInstant      = 3
	eventCounterValue = 4

	flagCleared = 1 // TracePacket.SequenceFlags
	flagNeeds   = 2

	unitCount = 2 // CounterDescriptor.Unit
	unitBytes = 3
)

// wire appends protobuf to a buffer.
type wire struct{ buf []byte }

func (w *wire) uint(field protowire.Number, v uint64) { w.buf = appendUint(w.buf, field, v) }

// appendUint is uint for a buffer that is in hand: what is written millions of times stays in
// registers between its fields.
func appendUint(b []byte, field protowire.Number, v uint64) []byte {
	b = appendTag(b, field, protowire.VarintType)
	for ; v >= 0x80; v >>= 7 {
		b = append(b, byte(v)|0x80)
	}
	return append(b, byte(v))
}

// appendTag begins a field. Their numbers are less than 2,048: one byte or two.
func appendTag(b []byte, field protowire.Number, t protowire.Type) []byte {
	if field < 16 {
		return append(b, byte(field)<<3|byte(t))
	}
	return append(b, byte(field)<<3|byte(t)|0x80, byte(field>>4))
}

func (w *wire) fixed(field protowire.Number, v uint64) {
	w.buf = protowire.AppendFixed64(protowire.AppendTag(w.buf, field, protowire.Fixed64Type), v)
}

func (w *wire) text(field protowire.Number, s string) {
	w.buf = protowire.AppendString(protowire.AppendTag(w.buf, field, protowire.BytesType), s)
}

// open begins a message and returns where, for close.
func (w *wire) open(field protowire.Number) int {
	w.buf = appendOpen(w.buf, field)
	return len(w.buf)
}

func appendOpen(b []byte, field protowire.Number) []byte {
	return append(appendTag(b, field, protowire.BytesType), 0)
}

// close ends the message that began at. Nearly all are shorter than 128 bytes, for
// whose length there is room.
func (w *wire) close(at int) {
	n := len(w.buf) - at
	if n < 0x80 {
		w.buf[at-1] = byte(n)
		return
	}
	var length [10]byte
	w.buf = slices.Replace(w.buf, at-1, at, protowire.AppendVarint(length[:0], uint64(n))...)
}
