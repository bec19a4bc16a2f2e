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
