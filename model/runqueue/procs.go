package runqueue

import "github.com/schedscope/schedscope/model"

// lost is how a proc was last given up.
type lost struct {
	by    model.ThreadID
	at    model.Time
	began model.Time // latest step of the thread before
	taken bool       // from a system call: by sysmon, or given up by a call known to block
	bare  bool       // by the thread that had it, which had started nothing on it since its latest stop
}

// handOff bounds the time in which a proc that was taken from a system call finds
// a new thread (runtime/proc.go: handoffp): longer, and it was idle meanwhile.
const handOff model.Duration = 100_000

// lostOf and endOf return the entries of a proc; of ids out of reason, one that
// means nothing.
func (f *front) lostOf(p model.ProcID) *lost {
	if !isProc(p) {
		return &lost{by: model.NoThread}
	}
	return at(&f.lost, int(p))
}

func (f *front) endOf(p model.ProcID) **got {
	if !isProc(p) {
		return new(*got)
	}
	return at(&f.ends, int(p))
}

// at returns the i-th element of a list, which it makes longer if need be.
func at[T any](list *[]T, i int) *T {
	if i >= len(*list) {
		*list = append(*list, make([]T, i+1-len(*list))...)
	}
	return &(*list)[i]
}

// move follows a proc from thread to thread.
func (f *front) move(s *model.Step) {
	if s.Flags&model.StepStatus != 0 {
		if f.pending != nil {
			f.pending.kind = gotWorld // it was not idle: the trace shows it only now
			f.pending = nil
		}
		return
	}
	t := f.threadOf(s.M)
	switch {
	case s.ToM != model.NoThread && s.ToM == s.M && t != nil:
		exit, gave := t.exit, t.gave
		f.touch(t, s.Time)
		t.exit, t.got, t.gotFrom = exit, s.Time, model.NoThread
		if f.pending != nil {
			t.getting = f.pending
			t.getting.m = s.M
			switch l := f.lostOf(s.P); {
			case t.inCall:
				t.getting.kind = gotExit
			case f.stopper != model.NoGoroutine:
				t.getting.kind = gotWorld
			case l.taken && s.Time.Sub(l.at) < handOff:
				t.getting.kind = gotHandoff
			case gave >= 0 && s.Time.Sub(gave) < lookAgain:
				t.getting.kind = gotAgain
			}
		}
		if l := f.lostOf(s.P); l.bare {
			t.gotFrom = l.by
		}
		f.pending = nil
	case s.ToM == model.NoThread:
		began := s.Time
		if t != nil {
			began = t.last
		}
		bare := s.M == s.FromM && t != nil && !t.inCall && f.stopper == model.NoGoroutine && t.exit.get() == nil
		if bare {
			last := t.lastStopped()
			_, own := f.locked[last]
			bare = !own && !f.callbacks[last] // a locked thread gives up its proc too (stoplockedm)
		}
		*f.lostOf(s.P) = lost{by: s.M, at: s.Time, bare: bare, began: began, taken: s.M != s.FromM || t != nil && t.inCall}
		f.touch(t, s.Time)
		if bare {
			t.gave = s.Time
		}
	default:
		f.touch(t, s.Time)
	}
}

// lookAgain is more than passes from where a thread gives its proc up to where it gets
// another one because it has looked again, and less than it takes to stop and be woken.
const lookAgain = 3000

// assumeIdle takes procs that have not been seen so far to be idle, as the Machine
// does. What runs since before the trace is known from its first event. Procs that
// a smaller GOMAXPROCS removed are new again when it grows.
func (f *front) assumeIdle(s *model.Step) {
	f.seen = f.seen[:min(len(f.seen), int(s.N))]
	for len(f.seen) < int(s.N) {
		f.seen = append(f.seen, false)
	}
	for i := range int(s.N) {
		if !f.seen[i] {
			f.seen[i] = true
			f.goesIdle(&model.Step{Time: s.Time, P: model.ProcID(i)}, false)
		}
	}
}

// goesIdle begins the idleness of a proc, taken from a thread in a system call or not.
func (f *front) goesIdle(s *model.Step, taken bool) {
	end := &got{m: model.NoThread, lost: s.Time, taken: taken}
	*f.endOf(s.P) = end
	f.push(op{kind: opIdle, at: s.Time, p: s.P, got: end})
}

func (f *front) procStep(s *model.Step) {
	if isProc(s.P) {
		*at(&f.seen, int(s.P)) = true
	}
	from, to := model.ProcState(s.From), model.ProcState(s.To)
	if from != to && to == model.ProcIdle {
		f.goesIdle(s, from == model.ProcSyscall)
	}
	if from != to && from == model.ProcIdle {
		end := f.endOf(s.P)
		if f.pending = *end; f.pending == nil {
			f.pending = &got{m: model.NoThread}
		}
		*end = nil
		f.pending.at, f.pending.known = s.Time, true
		f.push(op{kind: opBusy, at: s.Time, p: s.P, got: f.pending})
	}
	if to == model.ProcSearching && from != model.ProcIdle {
		f.push(op{kind: opSearch, at: s.Time, p: s.P})
	}
	if x := f.watched[s.G].get(); x != nil && x.blind && to == model.ProcRunning && s.Work.IsGC() && s.Work != model.WorkGCAssist {
		x.how, x.howGrade, x.entry = SourceSystem, GradeCertain, entryNone // by its label
		delete(f.watched, s.G)
	}
	_, was := f.dedicated[s.P]
	if is := to == model.ProcRunning && s.Work == model.WorkGCDedicated; is != was {
		op := op{kind: opDrain, at: s.Time, p: s.P}
		if is {
			f.dedicated[s.P], op.n = s.G, 1
		} else {
			delete(f.dedicated, s.P)
		}
		f.push(op)
	}
}
