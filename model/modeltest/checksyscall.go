package modeltest

import (
	"fmt"

	"github.com/schedscope/schedscope/model"
)

// within returns how long goroutine id was in a state during [start, end).
func (v *Validator) within(id model.GoID, start, end model.Time) (times [model.NumGoStates]model.Duration) {
	for _, l := range v.lives[id] {
		for i := range l.spans {
			s := &l.spans[i]
			if d := min(s.End, end).Sub(max(s.Start, start)); d > 0 {
				times[s.State] += d
			}
		}
	}
	return times
}

// checkSyscalls compares the ends of system calls with goroutines' intervals.
func (v *Validator) checkSyscalls() {
	for i := range v.exits {
		s := &v.exits[i]
		what := fmt.Sprintf("goroutine %d: system call that ends at %d", s.G, s.End)
		v.checkInterval(what, s.Start, s.End, true)
		times := v.within(s.G, s.Start, s.End)
		if times[model.GoSyscallBlocked] != s.Blocked {
			v.errorf("%s: blocked for %d, sum of its intervals %d", what, s.Blocked, times[model.GoSyscallBlocked])
		}
		if sum := times[model.GoSyscall] + times[model.GoSyscallBlocked]; sum != s.End.Sub(s.Start) {
			v.errorf("%s: lasted %d, sum of its intervals %d", what, s.End.Sub(s.Start), sum)
		}
		v.checkExitPath(what, s)
	}
}

func (v *Validator) checkExitPath(what string, s *model.SyscallExit) {
	bad := false
	switch s.Path {
	case model.ExitKeptProc:
		bad = s.Blocked != 0 || s.NewProc != s.OldProc || s.NewProc == model.NoProc
	case model.ExitOldProc:
		bad = s.NewProc != s.OldProc || s.NewProc == model.NoProc
	case model.ExitOtherProc:
		bad = s.NewProc == s.OldProc || s.NewProc == model.NoProc
	case model.ExitQueued:
		bad = s.NewProc != model.NoProc
	case model.ExitDestroyed, model.ExitUnknown:
	default:
		bad = true
	}
	if bad {
		v.errorf("%s: %v with procs %d and %d, blocked for %d", what, s.Path, s.OldProc, s.NewProc, s.Blocked)
	}
}

// checkHandoffs compares handoffs with procs' intervals: the proc has no thread
// from Lost to Got, and then it has ToM.
func (v *Validator) checkHandoffs() {
	for i := range v.handoffs {
		h := &v.handoffs[i]
		what := fmt.Sprintf("handoff of proc %d at %d", h.P, h.Lost)
		if h.Cause >= model.NumHandoffCauses || h.InSyscall < 0 {
			v.errorf("%s: cause %d after %d in the system call", what, h.Cause, h.InSyscall)
		}
		if h.Open {
			h.Got = v.end
		}
		v.checkInterval(what, h.Lost, h.Got, true)
		met := h.Open
		for _, s := range v.procs.spans[h.P] {
			switch {
			case s.Start < h.Got && s.End > h.Lost && s.M != model.NoThread:
				v.errorf("%s: thread %d has it at %d, before it was got at %d", what, s.M, s.Start, h.Got)
			case s.Start == h.Got && s.M == h.ToM:
				met = true
			}
		}
		if !met {
			v.errorf("%s: thread %d does not have it at %d", what, h.ToM, h.Got)
		}
	}
}

// checkNetpoll compares network wakeups with goroutines' intervals.
func (v *Validator) checkNetpoll() {
	for i := range v.polls {
		w := &v.polls[i]
		what := fmt.Sprintf("network wakeup of goroutine %d at %d", w.G, w.Time)
		if w.Poller >= model.NumPollers {
			v.errorf("%s: unknown poller %d", what, w.Poller)
		}
		var before, after *model.GoSpan
		for _, l := range v.lives[w.G] {
			for j := range l.spans {
				switch s := &l.spans[j]; {
				case s.State == model.GoWaiting && s.End == w.Time:
					before = s
				case s.State == model.GoRunning && s.Start >= w.Time && after == nil:
					after = s
				}
			}
		}
		switch {
		case before == nil && w.Waited != 0:
			v.errorf("%s: it did not wait until then", what)
		case before != nil && before.Duration() != w.Waited:
			v.errorf("%s: waited for %d, interval of %d", what, w.Waited, before.Duration())
		}
		switch {
		case w.Open && after != nil:
			v.errorf("%s: never started, but runs at %d", what, after.Start)
		case !w.Open && w.Started < w.Time, !w.Open && after != nil && after.Start < w.Started:
			v.errorf("%s: started at %d", what, w.Started)
		}
	}
}

// checkSTWs checks the order of each stop-the-world's phases.
func (v *Validator) checkSTWs() {
	for i := range v.stws {
		s := &v.stws[i]
		if s.Start > s.Stopped || s.Stopped > s.Effective || s.Effective > s.End {
			v.errorf("stop-the-world (%s): begins at %d, stopped at %d, effective until %d, ends at %d: must be in order",
				s.Reason, s.Start, s.Stopped, s.Effective, s.End)
		}
		v.checkOpenEnd("stop-the-world ("+s.Reason+")", s.End, s.OpenEnd)
	}
}
