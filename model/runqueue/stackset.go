package runqueue

import (
	"strings"

	"github.com/schedscope/schedscope/model"
)

// stackSet is the stacks that a rule asks for. It looks at each stack once.
type stackSet struct {
	tables *model.Tables
	is     func([]model.Frame) bool
	seen   []uint8 // by id: 0 not looked at yet, 1 no, 2 yes
}

// has reports whether a stack is in the set.
func (s *stackSet) has(id model.StackID) bool {
	if int(id) >= len(s.seen) {
		s.seen = append(s.seen, make([]uint8, max(int(id)+1, s.tables.NumStacks())-len(s.seen))...)
	}
	if s.seen[id] == 0 {
		s.seen[id] = 1
		if s.is(s.tables.Stack(id)) {
			s.seen[id] = 2
		}
	}
	return s.seen[id] == 2
}

// throughCallback recognises stacks inside a callback from C.
func throughCallback(frames []model.Frame) bool {
	for _, f := range frames {
		if strings.HasPrefix(f.Func, "runtime.cgocallback") {
			return true
		}
	}
	return false
}

// pollOps tells by their stacks for which operation on a file descriptor a
// goroutine waits for the network poller, or makes a system call.
type pollOps struct {
	tables *model.Tables
	names  map[string]pollOp
	seen   []pollOp // by id of the stack
}

// pollOp names an operation.
type pollOp uint16

const (
	opUnseen pollOp = iota
	opOther         // none that the poller is waited for, such as closing
)

// of returns the operation of a stack.
func (o *pollOps) of(id model.StackID) pollOp {
	if int(id) >= len(o.seen) {
		o.seen = append(o.seen, make([]pollOp, max(int(id)+1, o.tables.NumStacks())-len(o.seen))...)
	}
	if o.seen[id] == opUnseen {
		o.seen[id] = o.find(o.tables.Stack(id))
	}
	return o.seen[id]
}

// find looks for the method of internal/poll.FD that the stack goes through, such
// as Read or Accept; a connection is made in package net.
func (o *pollOps) find(frames []model.Frame) pollOp {
	name := ""
	for _, f := range frames {
		switch {
		case f.Func == "internal/poll.(*FD).decref", f.Func == "internal/poll.(*FD).destroy":
			return opOther
		case f.Func == "net.(*netFD).connect":
			name = f.Func
		case name == "" && strings.HasPrefix(f.Func, "internal/poll.(*FD)."):
			name = f.Func
		}
	}
	if name == "" {
		return opOther
	}
	if o.names[name] == opUnseen {
		o.names[name] = opOther + pollOp(min(len(o.names), maxPollOps)) + 1
	}
	return o.names[name]
}

// maxPollOps bounds the operations told apart; package internal/poll has some forty.
const maxPollOps = 1000
