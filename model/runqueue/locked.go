package runqueue

import (
	"github.com/schedscope/schedscope/model"
)

// handed reports whether the thread was given its proc to run x, which is locked
// to it (runtime/proc.go: startlockedm): another thread gave up the proc although
// x was runnable already, which it does for no other reason. It may take the
// locked thread long to wake up.
func (f *front) handed(x *stay, s *model.Step, t *thread) bool {
	if x.origin == model.OriginCreated {
		return false // it has not run yet, so it cannot have locked itself
	}
	if t.got >= 0 && f.inCallback(s.G, s.Func) {
		return true
	}
	is := t.got >= 0 && t.gotFrom != model.NoThread && t.gotFrom != s.M && t.ran == s.G &&
		x.ready <= f.lostOf(s.P).at
	switch {
	case is:
		f.locked[s.G] = s.M
	case f.locked[s.G] != s.M:
		delete(f.locked, s.G)
	}
	return is
}

// noteCallback notes whether a goroutine that stops is inside a callback from C,
// in which it is locked to its thread (runtime/cgocall.go: cgocallbackg).
func (f *front) noteCallback(s *model.Step) {
	if model.GoState(s.From) != model.GoRunning || len(f.callbacks) == 0 && !f.callStacks.has(s.Stack) {
		return
	}
	if f.callStacks.has(s.Stack) {
		f.callbacks[s.G] = true
	} else {
		delete(f.callbacks, s.G)
	}
}

func (f *front) inCallback(g model.GoID, fn model.StringID) bool {
	return f.callbacks[g] || fn == f.words.callback
}
