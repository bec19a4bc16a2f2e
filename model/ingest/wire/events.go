package wire

import "github.com/schedscope/schedscope/model"

// Types of timed events (internal/trace/tracev2/events.go, Go 1.26).
const (
	evProcsChange         = 9
	evProcStart           = 10
	evProcStop            = 11
	evProcSteal           = 12
	evProcStatus          = 13
	evGoCreate            = 14
	evGoCreateSyscall     = 15
	evGoStart             = 16
	evGoDestroy           = 17
	evGoDestroySyscall    = 18
	evGoStop              = 19
	evGoBlock             = 20
	evGoUnblock           = 21
	evGoSyscallBegin      = 22
	evGoSyscallEnd        = 23
	evGoSyscallEndBlocked = 24
	evGoStatus            = 25
	evSTWBegin            = 26
	evSTWEnd              = 27
	evGCActive            = 28
	evGCBegin             = 29
	evGCEnd               = 30
	evGCSweepActive       = 31
	evGCSweepBegin        = 32
	evGCSweepEnd          = 33
	evGCMarkAssistActive  = 34
	evGCMarkAssistBegin   = 35
	evGCMarkAssistEnd     = 36
	evHeapAlloc           = 37
	evHeapGoal            = 38
	evGoLabel             = 39
	evUserTaskBegin       = 40
	evUserTaskEnd         = 41
	evUserRegionBegin     = 42
	evUserRegionEnd       = 43
	evUserLog             = 44
	evGoSwitch            = 45
	evGoSwitchDestroy     = 46
	evGoCreateBlocked     = 47
	evGoStatusStack       = 48
)

// argCounts says how many numbers follow the type of an event, the first of
// which is the time since the event before it; 0 for types that do not occur
// (internal/trace/tracev2/events.go: Specs).
var argCounts = [256]uint8{
	evProcsChange:         3, // time, GOMAXPROCS, stack
	evProcStart:           3, // time, P, sequence number of P
	evProcStop:            1, // time
	evProcSteal:           4, // time, P, sequence number of P, M
	evProcStatus:          3, // time, P, status
	evGoCreate:            4, // time, new G, its stack, stack
	evGoCreateSyscall:     2, // time, new G
	evGoStart:             3, // time, G, sequence number of G
	evGoDestroy:           1, // time
	evGoDestroySyscall:    1, // time
	evGoStop:              3, // time, reason, stack
	evGoBlock:             3, // time, reason, stack
	evGoUnblock:           4, // time, G, sequence number of G, stack
	evGoSyscallBegin:      3, // time, sequence number of P, stack
	evGoSyscallEnd:        1, // time
	evGoSyscallEndBlocked: 1, // time
	evGoStatus:            4, // time, G, M, status
	evSTWBegin:            3, // time, reason, stack
	evSTWEnd:              1, // time
	evGCActive:            2, // time, sequence number
	evGCBegin:             3, // time, sequence number, stack
	evGCEnd:               2, // time, sequence number
	evGCSweepActive:       2, // time, P
	evGCSweepBegin:        2, // time, stack
	evGCSweepEnd:          3, // time, bytes swept, bytes reclaimed
	evGCMarkAssistActive:  2, // time, G
	evGCMarkAssistBegin:   2, // time, stack
	evGCMarkAssistEnd:     1, // time
	evHeapAlloc:           2, // time, bytes
	evHeapGoal:            2, // time, bytes
	evGoLabel:             2, // time, label
	evUserTaskBegin:       5, // time, task, parent, name, stack
	evUserTaskEnd:         3, // time, task, stack
	evUserRegionBegin:     4, // time, task, name, stack
	evUserRegionEnd:       4, // time, task, name, stack
	evUserLog:             5, // time, task, category, message, stack
	evGoSwitch:            3, // time, G, sequence number of G
	evGoSwitchDestroy:     3, // time, G, sequence number of G
	evGoCreateBlocked:     4, // time, new G, its stack, stack
	evGoStatusStack:       5, // time, G, M, status, stack
}

// outcome says whether an event can have happened by now.
type outcome uint8

const (
	invalid  outcome = iota // the trace is broken, or too unusual for this decoder
	tooEarly                // an event of another thread must come first
	advanced                // it has: state is changed, and the event emitted
)

// advance takes the next event of a thread, if it can have happened by now. It
// emits nothing otherwise (internal/trace/order.go: Advance and the functions it
// calls, Go 1.26; each of those here names its own).
func (d *Decoder) advance(t *thread) outcome {
	t.seen = true
	switch t.typ {
	case evGoStart:
		return d.goStart(t)
	case evGoBlock, evGoStop:
		return d.goStop(t)
	case evGoUnblock:
		return d.goUnblock(t)
	case evGoSyscallBegin:
		return d.goSyscallBegin(t)
	case evGoSyscallEnd:
		return d.goSyscallEnd(t)
	case evGoSyscallEndBlocked:
		return d.goSyscallEndBlocked(t)
	case evGoCreate, evGoCreateBlocked:
		return d.goCreate(t)
	case evGoDestroy:
		return d.goDestroy(t)
	case evGoStatus, evGoStatusStack:
		return d.goStatus(t)
	case evGoSwitch, evGoSwitchDestroy:
		return d.goSwitch(t)
	case evGoCreateSyscall:
		return d.goCreateSyscall(t)
	case evGoDestroySyscall:
		return d.goDestroySyscall(t)
	case evProcStart:
		return d.procStart(t)
	case evProcStop:
		return d.procStop(t)
	case evProcSteal:
		return d.procSteal(t)
	case evProcStatus:
		return d.procStatus(t)
	case evProcsChange, evHeapAlloc, evHeapGoal:
		return d.metric(t)
	case evSTWBegin, evSTWEnd:
		return d.stwRange(t)
	case evGCActive, evGCBegin, evGCEnd:
		return d.gcRange(t)
	case evGCSweepActive, evGCSweepBegin, evGCSweepEnd:
		return d.sweepRange(t)
	case evGCMarkAssistActive, evGCMarkAssistBegin, evGCMarkAssistEnd:
		return d.assistRange(t)
	case evGoLabel:
		return d.label(t)
	case evUserTaskBegin:
		return d.taskBegin(t)
	case evUserTaskEnd:
		return d.taskEnd(t)
	case evUserRegionBegin:
		return d.regionBegin(t)
	case evUserRegionEnd:
		return d.regionEnd(t)
	case evUserLog:
		return d.log(t)
	}
	return invalid
}

// user reports whether a thread is running a goroutine on a proc, as it must be
// for events of user code (internal/trace/order.go: userGoReqs).
func (t *thread) user() bool { return t.g != model.NoGoroutine && t.p != model.NoProc }

// current returns the state of the goroutine that a thread runs on a proc, nil
// if it does not. N.B. the goroutine may have ended, by another thread's doing.
func (d *Decoder) current(t *thread) *goroutine {
	if t.g == model.NoGoroutine || t.p == model.NoProc {
		return nil
	}
	return &d.gos.list[t.gi]
}
