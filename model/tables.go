package model

import (
	"encoding/binary"
	"strings"
	"sync"
)

// Frame is one frame of a stack.
type Frame struct {
	PC   uint64
	Func string
	File string
	Line uint64
}

// Tables interns the strings and stacks of one trace by content, so that equal
// IDs mean equal content and the other way round. It grows with the number of
// distinct strings and stacks, not with the number of events.
//
// A Tables is safe for concurrent use: the reader adds to it while it returns
// events, and analyses that run at the same time look names up.
type Tables struct {
	mu        sync.RWMutex
	strings   []string
	stringIDs map[string]StringID
	stacks    [][]Frame
	stackIDs  map[string]StackID
	frames    map[uint64]*ownFrame // those that were added last with a program counter
	key       []byte               // scratch of AddStack
	names     map[GoID]StringID
}

// NewTables returns tables that hold just the empty string and the absent stack.
func NewTables() *Tables {
	return &Tables{
		strings:   []string{""},
		stringIDs: map[string]StringID{"": 0},
		stacks:    [][]Frame{nil},
		stackIDs:  map[string]StackID{},
		frames:    map[uint64]*ownFrame{},
	}
}

// ownFrame is a frame whose strings are interned.
type ownFrame struct {
	Frame
	fn, file StringID
}

// frame interns the strings of a frame. Stacks share most of their frames, with others and with
// those of other generations, and the names are long.
func (t *Tables) frame(f *Frame) *ownFrame {
	own := t.frames[f.PC]
	if own == nil || own.Frame != *f {
		fn, file := t.addString(f.Func), t.addString(f.File)
		own = &ownFrame{Frame{f.PC, t.strings[fn], t.strings[file], f.Line}, fn, file}
		t.frames[f.PC] = own
	}
	return own
}

// AddString returns the ID of s, interning it (a private copy) at first sight.
func (t *Tables) AddString(s string) StringID {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.addString(s)
}

func (t *Tables) addString(s string) StringID {
	if id, ok := t.stringIDs[s]; ok {
		return id
	}
	s = strings.Clone(s)
	id := StringID(len(t.strings))
	t.strings = append(t.strings, s)
	t.stringIDs[s] = id
	return id
}

// AddStack returns the ID of the stack with these frames, innermost first,
// interning a private copy at first sight. No frames is the absent stack, 0.
func (t *Tables) AddStack(frames []Frame) StackID {
	if len(frames) == 0 {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.key = t.key[:0]
	for i := range frames {
		f := t.frame(&frames[i])
		t.key = binary.AppendUvarint(t.key, f.PC)
		t.key = binary.AppendUvarint(t.key, uint64(f.fn))
		t.key = binary.AppendUvarint(t.key, uint64(f.file))
		t.key = binary.AppendUvarint(t.key, f.Line)
	}
	if id, ok := t.stackIDs[string(t.key)]; ok {
		return id
	}
	own := make([]Frame, len(frames))
	for i := range frames {
		own[i] = t.frame(&frames[i]).Frame
	}
	id := StackID(len(t.stacks))
	t.stacks = append(t.stacks, own)
	t.stackIDs[string(t.key)] = id
	return id
}

// String returns the string with this ID, or "" for an ID never handed out.
func (t *Tables) String(id StringID) string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if uint64(id) < uint64(len(t.strings)) {
		return t.strings[id]
	}
	return ""
}

// Stack returns the frames of a stack, innermost first, or nil for the absent
// stack. The caller must not change them.
func (t *Tables) Stack(id StackID) []Frame {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if uint64(id) < uint64(len(t.stacks)) {
		return t.stacks[id]
	}
	return nil
}

// SetNames sets the names of goroutines that the coming events do not show at once. They
// replace those of the generation before. The map must not be changed afterwards.
func (t *Tables) SetNames(names map[GoID]StringID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.names = names
}

// Name returns the name of a goroutine by [Tables.SetNames], 0 if it has none.
func (t *Tables) Name(g GoID) StringID {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.names[g]
}

// NumStacks returns one more than the largest StackID handed out.
func (t *Tables) NumStacks() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.stacks)
}
