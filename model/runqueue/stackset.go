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

// waitedForPoll recognises system calls that a goroutine waits for the network
// poller to make: on a file descriptor of package internal/poll or net, but not
// those that close it.
func waitedForPoll(frames []model.Frame) bool {
	polled := false
	for _, f := range frames {
		switch {
		case f.Func == "internal/poll.(*FD).decref", f.Func == "internal/poll.(*FD).destroy":
			return false
		case strings.HasPrefix(f.Func, "internal/poll."), strings.HasPrefix(f.Func, "net.(*netFD)."):
			polled = true
		}
	}
	return polled
}
