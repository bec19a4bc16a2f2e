package wire

import (
	"math/bits"

	"github.com/schedscope/schedscope/model"
)

// Statuses of a goroutine in the trace (internal/trace/tracev2/events.go); 0
// means that it does not exist.
const (
	goRunnable = 1 + iota
	goRunning
	goSyscall
	goWaiting
)

// goStates says what the model calls them.
var goStates = [...]model.GoState{
	goRunnable: model.GoRunnable,
	goRunning:  model.GoRunning,
	goSyscall:  model.GoSyscall,
	goWaiting:  model.GoWaiting,
}

// goroutine is the state of a goroutine (internal/trace/order.go: gState).
type goroutine struct {
	id     model.GoID
	seq    uint64
	region int32          // the innermost open one, an index; 0 if there is none
	stw    model.StringID // of the STW in progress
	status uint8
	inSTW  bool
	assist bool // in a GC mark assist
}

// goroutines holds the goroutines of a generation, including those that have
// ended: the list keeps them in order of appearance, the slots find them by
// number. Slots are an open hash table in which 16 consecutive numbers fall into
// the same cache line.
type goroutines struct {
	list   []goroutine
	slots  []uint32    // 1 + index into list
	shift  uint        // of the hash, so that it selects a block of 16 slots
	latest [256]uint32 // of slots, those found latest, by the number's end
}

const (
	minSlots = 1 << 10
	// maxProbes bounds the work that numbers chosen to collide can cause.
	maxProbes = 1 << 10
	golden    = 0x9e3779b97f4a7c15 // 2^64 / golden ratio
	// maxGoID bounds numbers of goroutines, which must not be negative.
	maxGoID = 1 << 62
)

func (s *goroutines) reset() {
	s.list, s.latest = s.list[:0], [256]uint32{}
	if s.slots == nil {
		s.resize(minSlots)
		return
	}
	clear(s.slots)
}

// resize makes a table of n slots, a power of two.
func (s *goroutines) resize(n int) bool {
	s.slots = make([]uint32, n)
	s.shift = uint(64 - bits.TrailingZeros(uint(n)/16))
	for i := range s.list {
		slot, probes := s.home(s.list[i].id), 0
		for ; s.slots[slot] != 0; slot = (slot + 1) % uint64(n) {
			if probes++; probes == maxProbes {
				return false
			}
		}
		s.slots[slot] = uint32(i + 1)
	}
	return true
}

// home returns the slot where the search for a goroutine begins.
func (s *goroutines) home(id model.GoID) uint64 {
	return (uint64(id)>>4*golden)>>s.shift<<4 | uint64(id)&15
}

// find returns the state of a goroutine and its index, nil if the goroutine does
// not exist.
func (s *goroutines) find(id uint64) (*goroutine, uint32) {
	if i := s.latest[uint8(id)] - 1; uint(i) < uint(len(s.list)) {
		if g := &s.list[i]; g.id == model.GoID(id) && g.status != 0 {
			return g, i
		}
	}
	return s.search(id)
}

// search is find for one that was not found lately.
func (s *goroutines) search(id uint64) (*goroutine, uint32) {
	mask := uint64(len(s.slots) - 1)
	slot := s.home(model.GoID(id))
	for range maxProbes {
		i := s.slots[slot&mask]
		if i == 0 {
			break
		}
		if g := &s.list[i-1]; g.id == model.GoID(id) {
			if g.status == 0 {
				break
			}
			s.latest[uint8(id)] = i
			return g, i - 1
		}
		slot++
	}
	return nil, 0
}

// add makes a goroutine that does not exist. It returns false if its number is
// not usable.
func (s *goroutines) add(id uint64, status uint8) (index uint32, ok bool) {
	if id >= maxGoID {
		return 0, false
	}
	mask := uint64(len(s.slots) - 1)
	slot, probes := s.home(model.GoID(id)), 0
	for ; s.slots[slot] != 0; slot = (slot + 1) & mask {
		i := s.slots[slot] - 1
		if s.list[i].id == model.GoID(id) { // existed before
			s.list[i] = goroutine{id: model.GoID(id), status: status}
			return i, true
		}
		if probes++; probes == maxProbes {
			return 0, false
		}
	}
	index = uint32(len(s.list))
	s.list = append(s.list, goroutine{id: model.GoID(id), status: status})
	s.slots[slot] = index + 1
	if 2*len(s.list) > len(s.slots) && !s.resize(2*len(s.slots)) {
		return 0, false
	}
	return index, true
}

// Statuses of a proc in the trace (internal/trace/tracev2/events.go); 0 means
// that it has not been mentioned.
const (
	procRunning = 1 + iota
	procIdle
	procSyscall
	procSyscallAbandoned
)

// procStatuses says what the model calls them.
var procStatuses = [...]model.ProcStatus{
	procRunning:          model.ProcStatusRunning,
	procIdle:             model.ProcStatusIdle,
	procSyscall:          model.ProcStatusRunning,
	procSyscallAbandoned: model.ProcStatusIdle,
}

// proc is the state of a proc (internal/trace/order.go: pState).
type proc struct {
	seq      uint64
	status   uint8
	sweeping bool
}

// maxProcs bounds numbers of procs.
const maxProcs = 1 << 14

// proc returns the state of a proc, nil if it has not been mentioned.
func (d *Decoder) proc(id uint64) *proc {
	if id < uint64(len(d.procs)) && d.procs[id].status != 0 {
		return &d.procs[id]
	}
	return nil
}

// procOf returns the state of the proc that a thread has, nil if it has none.
func (d *Decoder) procOf(t *thread) *proc { return d.proc(uint64(t.p)) }

// addProc makes a proc that has not been mentioned yet, nil if its number is too
// large.
func (d *Decoder) addProc(id uint64) *proc {
	if id >= maxProcs {
		return nil
	}
	for uint64(len(d.procs)) <= id {
		d.procs = append(d.procs, proc{})
	}
	return &d.procs[id]
}

// gcState is the state of the GC's mark phase.
type gcState struct {
	seq    uint64
	status gcStatus
}

type gcStatus uint8

const (
	gcUndetermined gcStatus = iota
	gcNotRunning
	gcRunning
)
