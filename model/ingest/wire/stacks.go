package wire

import (
	"math"
	"strings"

	"github.com/schedscope/schedscope/model"
)

// stackTable holds the stacks of a generation by the numbers that the trace
// gives them, which are dense.
type stackTable struct {
	entries []stackEntry
	calls   []uint32 // frames of all stacks one after another, indices of frames
	frames  []frame
	byPC    map[uint64]uint32 // to frames
	count   int               // of numbers given
}

type stackEntry struct {
	from, to uint32 // of calls
	number   model.StackID
	role     int32 // in the roster, if cast
	present  bool
	cast     bool
}

// frame is a frame as the trace describes it.
type frame struct {
	pc, function, file, line uint64
}

func (t *stackTable) reset() {
	if t.byPC == nil {
		t.byPC = map[uint64]uint32{}
	}
	clear(t.byPC)
	clear(t.entries)
	*t = stackTable{entries: append(t.entries[:0], stackEntry{}), calls: t.calls[:0], frames: t.frames[:0], byPC: t.byPC}
}

// add adds the stacks of a batch, whose numbers must not exceed a limit
// (internal/trace/generation.go: addStacks).
func (t *stackTable) add(data []byte, limit uint64) bool {
	for pos := 0; pos < len(data); {
		if data[pos] != evStack {
			return false
		}
		id, next := number(data, pos+1)
		n, next := number(data, next)
		if next > len(data) || n > maxFrames || len(t.calls) > math.MaxInt32 {
			return false
		}
		e := slot(&t.entries, id, limit)
		if e == nil || e.present {
			return false
		}
		e.from, e.present = uint32(len(t.calls)), true
		for range n {
			var f frame
			f.pc, next = number(data, next)
			f.function, next = number(data, next)
			f.file, next = number(data, next)
			f.line, next = number(data, next)
			t.calls = append(t.calls, t.frame(&f))
		}
		e.to = uint32(len(t.calls))
		if next > len(data) {
			return false
		}
		pos = next
	}
	return true
}

// frame returns the index of a frame. A program counter has one frame: what the
// trace says of it first.
func (t *stackTable) frame(f *frame) uint32 {
	i, ok := t.byPC[f.pc]
	if !ok {
		i = uint32(len(t.frames))
		t.frames = append(t.frames, *f)
		t.byPC[f.pc] = i
	}
	return i
}

// link reports whether the strings of all frames exist
// (internal/trace/generation.go: validateStackStrings).
func (t *stackTable) link(s *stringTable) bool {
	for i := range t.frames {
		if f := &t.frames[i]; !s.has(f.function) || !s.has(f.file) {
			return false
		}
	}
	return true
}

// stack returns the number of one of the trace's stacks; 0 is the absent one.
func (d *Decoder) stack(id uint64) model.StackID {
	if id == 0 {
		return 0
	}
	return d.anyStack(id)
}

// anyStack is stack for where the reader treats stack 0 like others, so
// that it is a stack without frames (internal/trace/event.go: StateTransition on
// EvGoCreate, Stack on EvCPUSample).
func (d *Decoder) anyStack(id uint64) model.StackID {
	if id < uint64(len(d.stacks.entries)) {
		if n := d.stacks.entries[id].number; n != 0 {
			return n
		}
	}
	return d.newStack(id)
}

// newStack is anyStack for a stack that has no number yet. If there is no such
// stack, it notes a failure.
func (d *Decoder) newStack(id uint64) model.StackID {
	t := &d.stacks
	if id >= uint64(len(t.entries)) || id != 0 && !t.entries[id].present {
		d.failed, d.most = true, -1
		return 0
	}
	e := &t.entries[id]
	from := len(d.chunk.Frames)
	d.chunk.Frames = d.appendFrames(d.chunk.Frames, e)
	to := len(d.chunk.Frames)
	if to > manyFrames {
		d.most = -1 // the chunk has no more room
	}
	d.chunk.Stacks = append(d.chunk.Stacks, d.chunk.Frames[from:to:to])
	t.count++
	e.number = model.StackID(t.count)
	return e.number
}

// unused counts the stacks that no event refers to: the runtime adds a stack for an event or a CPU
// sample that it writes. Exceptions are goroutines of which it finds, after it has their stack, that
// an event shows their state (runtime/trace.go: traceAdvance, Go 1.22 to 1.26). Those were
// suspended: in the runtime, in a system call, or before their first instruction, which are not
// counted; or where they were preempted, which may be anywhere. So none of them proves a loss.
func (d *Decoder) unused() (n int) {
	for i := range d.stacks.entries {
		e := &d.stacks.entries[i]
		if !e.present || e.number != 0 || e.to-e.from < 2 {
			continue
		}
		inner := d.strings.text(d.stacks.frames[d.stacks.calls[e.from]].function)
		if !strings.HasPrefix(inner, "runtime.") && !strings.Contains(inner, "syscall.") {
			n++
		}
	}
	return n
}

// appendFrames appends the frames of a stack, innermost first.
func (d *Decoder) appendFrames(list []model.Frame, e *stackEntry) []model.Frame {
	for _, i := range d.stacks.calls[e.from:e.to] {
		f := &d.stacks.frames[i]
		list = append(list, model.Frame{
			PC: f.pc, Func: d.strings.text(f.function), File: d.strings.text(f.file), Line: f.line,
		})
	}
	return list
}

// text returns a string that the table has.
func (t *stringTable) text(id uint64) string {
	if id == 0 {
		return ""
	}
	return t.entries[id].text
}
