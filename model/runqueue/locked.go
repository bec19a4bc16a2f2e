package runqueue

import (
	"github.com/schedscope/schedscope/model"
)

// home is the thread to which a goroutine is locked, as it seems.
type home struct {
	m      model.ThreadID
	handed int  // how often the thread was given a proc to run it
	left   bool // it has run on another thread since: it is not locked
}

// handed reports whether the thread was given its proc to run x, which is locked
// to it (runtime/proc.go: startlockedm): another thread gave up the proc although
// x was runnable already. It may take the locked thread long to wake up. A thread that
// gives up its proc for other reasons may look the same, so that a goroutine that
// runs elsewhere later was not locked; see [stay.lockedTo].
func (f *front) handed(x *stay, s *model.Step, t *thread) bool {
	if x.origin == model.OriginCreated {
		return false // it has not run yet, so it cannot have locked itself
	}
	if t.got >= 0 && f.inCallback(s.G, s.Func) {
		return true
	}
	h := f.locked[s.G]
	if h != nil && h.m != s.M {
		h.left, h = true, nil
		delete(f.locked, s.G)
	}
	if t.got < 0 || t.gotFrom == model.NoThread || t.gotFrom == s.M || t.ran != s.G || x.ready > f.lostOf(s.P).at {
		return false
	}
	if h == nil {
		h = &home{m: s.M}
		f.locked[s.G] = h
	}
	h.handed++
	x.home = h
	// Out of a system call the thread takes an idle proc, too, if only it is slow.
	return x.origin != model.OriginSyscall || h.handed > 1
}

// lockedTo reports whether the stay ended on the thread to which its goroutine is
// locked, which was given a proc for it, and how sure that is.
func (s *stay) lockedTo() (bool, Grade) {
	switch {
	case !s.handed || s.how != SourceUnknown || s.home != nil && s.home.left:
		return false, GradeCertain
	case s.home == nil || s.home.handed > 2:
		return true, GradeCertain
	}
	return true, GradeUnique
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
