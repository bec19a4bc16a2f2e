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

// proc is what the look-ahead remembers of a proc.
type proc struct {
	lost      lost
	end       *acquired // of its being idle
	seen      bool
	dedicated bool       // it runs a dedicated mark worker:
	worker    model.GoID // which
	starts    uint8      // on it so far, modulo 61
	began     uint       // where the ring ended with the latest start, if that was the latest of its operations; else 0
	thread    *thread    // the latest that was asked for with it
}

// proc returns what is remembered of a proc; of ids out of reason, what means nothing.
func (f *lookahead) proc(p model.ProcID) *proc {
	if uint(p) < uint(len(f.procs)) {
		return &f.procs[p]
	}
	if !isProc(p) {
		return &proc{lost: lost{by: model.NoThread}}
	}
	return at(&f.procs, int(p))
}

// at returns the i-th element of a list, which it makes longer if need be.
func at[T any](list *[]T, i int) *T {
	if i >= len(*list) {
		*list = append(*list, make([]T, i+1-len(*list))...)
	}
	return &(*list)[i]
}

// move follows a proc from thread to thread.
func (f *lookahead) move(s *model.Step) {
	if s.Flags&model.StepStatus != 0 {
		if f.pending != nil {
			f.pending.kind = acquiredRestart // it was not idle: the trace shows it only now
			f.pending = nil
		}
		return
	}
	t, p := f.threadOf(s.M, s.P), f.proc(s.P)
	switch {
	case s.ToM != model.NoThread && s.ToM == s.M && t != nil:
		exit, gave := t.exit, t.gave
		f.touch(t, s.Time)
		t.exit, t.got, t.gotFrom = exit, s.Time, model.NoThread
		if f.pending != nil {
			t.getting = f.pending
			t.getting.m = s.M
			switch l := &p.lost; {
			case t.inCall:
				t.getting.kind = acquiredExit
			case f.stopper != model.NoGoroutine:
				t.getting.kind = acquiredRestart
			case l.taken && s.Time.Sub(l.at) < handOff:
				t.getting.kind = acquiredHandoff
			case gave >= 0 && s.Time.Sub(gave) < lookAgain:
				t.getting.kind = acquiredAgain
			}
		}
		if p.lost.bare {
			t.gotFrom = p.lost.by
		}
		f.pending = nil
	case s.ToM == model.NoThread:
		began := s.Time
		if t != nil {
			began = t.last
		}
		bare := s.M == s.FromM && t != nil && !t.inCall && f.stopper == model.NoGoroutine && t.exit.get() == nil
		if bare {
			last := f.gs.Get(t.lastStopped())
			bare = last == nil || last.home == nil && !last.callback // a locked thread gives up its proc too (stoplockedm)
		}
		p.lost = lost{by: s.M, at: s.Time, bare: bare, began: began, taken: s.M != s.FromM || t != nil && t.inCall}
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
func (f *lookahead) assumeIdle(s *model.Step) {
	for i := range max(len(f.procs), int(s.N)) {
		p := f.proc(model.ProcID(i))
		if i < int(s.N) && !p.seen {
			f.goesIdle(model.ProcID(i), s.Time, false)
		}
		p.seen = i < int(s.N)
	}
}

// goesIdle begins the idleness of a proc, taken from a thread in a system call or not.
func (f *lookahead) goesIdle(id model.ProcID, at model.Time, taken bool) {
	end := &acquired{m: model.NoThread, lost: at, taken: taken}
	p := f.proc(id)
	p.end, p.began = end, 0
	f.ring.push(op{kind: opIdle, at: at, p: id, acquired: end})
}

func (f *lookahead) procStep(s *model.Step) {
	p := f.proc(s.P)
	p.seen = true
	from, to := model.ProcState(s.From), model.ProcState(s.To)
	if from != to && to == model.ProcIdle {
		f.goesIdle(s.P, s.Time, from == model.ProcSyscall)
	}
	if from != to && from == model.ProcIdle {
		if f.pending = p.end; f.pending == nil {
			f.pending = &acquired{m: model.NoThread}
		}
		p.end, p.began = nil, 0
		f.pending.at, f.pending.known = s.Time, true
		f.ring.push(op{kind: opBusy, at: s.Time, p: s.P, acquired: f.pending})
	}
	if to == model.ProcSearching && from != model.ProcIdle {
		f.ring.search(p, s.P, s.Time)
	}
	if to == model.ProcRunning && s.Work.IsGC() && s.Work != model.WorkGCAssist {
		g := f.goroutineOf(s.G)
		if x := g.watched.get(); x != nil && x.blind {
			x.how, x.howGrade, x.entry = SourceSystem, GradeCertain, entryNone // by its label
			g.watched = handle{}
		}
	}
	if is := to == model.ProcRunning && s.Work == model.WorkGCDedicated; is != p.dedicated {
		op := op{kind: opDrain, at: s.Time, p: s.P}
		if p.dedicated, p.worker = is, s.G; is {
			op.n = 1
		}
		f.ring.push(op)
	}
}
