package runqueue

import (
	"strings"

	"github.com/schedscope/schedscope/model"
)

// direct finds the source if the events around the start show it.
func (f *lookahead) direct(x *runnable, s *model.Step, t *thread) (Source, Grade) {
	switch {
	case s.Pseudo == model.PseudoCoroutine:
		return SourceCoroutine, GradeCertain
	case s.Pseudo == model.PseudoSyscall:
		return SourceSyscall, GradeCertain
	case s.Flags&model.StepWorker != 0 && x.entry == entryNone:
		return SourceSystem, GradeCertain
	case x.entry == entryNone && t.got >= 0:
		return SourceDirect, GradeCertain // moved to another proc by procresize
	case t.exit.get() == x && t.got >= 0:
		return f.afterExit(x, s.P, t.got)
	case t.woke.get() != x:
		return SourceUnknown, GradeCertain
	case x.entry == entryPoll && t.brief:
		return SourceDirect, GradeUnique
	case x.entry == entryPoll:
		return SourceNetpoll, GradeCertain
	case f.isReader(s):
		return SourceSystem, GradeCertain
	}
	return SourceUnknown, GradeCertain
}

// blind reports whether a goroutine is woken on a scheduler stack and the trace
// does not show what it had waited for, because it has since before the trace.
func (f *lookahead) blind(s *model.Step) bool {
	return model.GoState(s.From) == model.GoWaiting && s.Reason == 0 && s.By == model.NoGoroutine && s.Flags&model.StepWorker == 0
}

// failedPark is more than passes between a park that fails because the network
// was ready already (runtime/netpoll.go: netpollblockcommit) and the wake that
// takes it back, and less than a poll takes.
const failedPark model.Duration = 700

// isReader reports whether G reads the trace that is being recorded; the
// runtime hands it to a thread that looks for work (traceReader).
func (f *lookahead) isReader(s *model.Step) bool {
	return s.Flags&model.StepSystem != 0 && s.Origin == model.OriginInjected && strings.HasPrefix(f.tables.String(s.Func), "runtime/trace.")
}

// afterExit: a goroutine came out of a system call without a proc, and its
// thread then got one and ran it. The runtime looks twice for an idle proc
// (runtime/proc.go: exitsyscall, exitsyscallNoP); only if there is none it puts the
// goroutine into the global queue, and its thread has to be woken to find it there,
// which takes longer. So what counts is whether the proc was idle when the thread
// looked: one that another thread gave up just then was, if only the thread itself was
// held up between; one that was taken from another system call goes to a thread that
// is woken for it.
func (f *lookahead) afterExit(x *runnable, p model.ProcID, got model.Time) (Source, Grade) {
	l := &f.proc(p).lost
	switch gap := got.Sub(x.Since); {
	case x.handed:
		return SourceUnknown, GradeCertain
	case l.at <= x.Since && gap < wakeAtLeast:
		return SourceSyscall, GradeUnique
	case l.at > x.Since && l.bare:
		return SourceSyscall, GradeChosen
	}
	x.choices = max(x.choices, 2)
	return SourceUnknown, GradeCertain
}
