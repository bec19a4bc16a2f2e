package runqueue

import (
	"slices"
	"strings"

	"github.com/schedscope/schedscope/model"
)

// callbackStacks are the stacks inside a callback from C. It looks at each stack once.
type callbackStacks struct {
	tables *model.Tables
	seen   []uint8 // by id: 0 not looked at yet, 1 no, 2 yes
}

// has reports whether a stack is in the set.
func (s *callbackStacks) has(id model.StackID) bool {
	if int(id) >= len(s.seen) {
		s.seen = append(s.seen, make([]uint8, max(int(id)+1, s.tables.NumStacks())-len(s.seen))...)
	}
	if s.seen[id] == 0 {
		s.seen[id] = 1
		if throughCallback(s.tables.Stack(id)) {
			s.seen[id] = 2
		}
	}
	return s.seen[id] == 2
}

// throughCallback recognises stacks inside a callback from C.
func throughCallback(frames []model.Frame) bool {
	return slices.ContainsFunc(frames, func(f model.Frame) bool { return strings.HasPrefix(f.Func, "runtime.cgocallback") })
}
