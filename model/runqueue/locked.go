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
// runs elsewhere later was not locked; see [runnable.lockedTo].
func (f *lookahead) handed(x *runnable, s *model.Step, t *thread, g *goroutine, p *proc) bool {
	if x.Origin == model.OriginCreated {
		return false // it has not run yet, so it cannot have locked itself
	}
	if t.got >= 0 && (s.Func == f.words.callback || f.callStacks.has(g.stoppedIn)) {
		return true
	}
	if g.home != nil && g.home.m != s.M {
		g.home.left, g.home = true, nil
	}
	if t.got < 0 || t.gotFrom == model.NoThread || t.gotFrom == s.M || t.ran != s.G || x.Since > p.lost.at {
		return false
	}
	if g.home == nil {
		g.home = &home{m: s.M}
	}
	g.home.handed++
	x.home = g.home
	// Out of a system call the thread takes an idle proc, too, if only it is slow.
	return x.Origin != model.OriginSyscall || g.home.handed > 1
}

// lockedTo reports whether the runnable ended on the thread to which its goroutine is
// locked, which was given a proc for it, and how sure that is.
func (s *runnable) lockedTo() (bool, Grade) {
	switch {
	case !s.handed || s.how != SourceUnknown || s.home != nil && s.home.left:
		return false, GradeCertain
	case s.home == nil || s.home.handed > 2:
		return true, GradeCertain
	}
	return true, GradeUnique
}
