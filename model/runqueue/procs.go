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
	began     int        // where the line ended with the latest start, if that was the latest of its operations; else 0
	thread    *thread    // the latest that was asked for with it
}

// proc returns what is remembered of a proc; of ids out of reason, what means nothing.
func (f *lookahead) proc(p model.ProcID) *proc {
	if i := uint(p); i < uint(len(f.procs)) {
		return &f.procs[i]
	}
	return f.newProc(p)
}

func (f *lookahead) newProc(p model.ProcID) *proc {
	if !isProc(p) {
		f.none = proc{lost: lost{by: model.NoThread}}
		return &f.none
	}
	f.procs = append(f.procs, make([]proc, int(p)+1-len(f.procs))...)
	return &f.procs[p]
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
	p := f.proc(s.P)
	t := f.threadOf(s.M, p)
	switch {
	case s.ToM != model.NoThread && s.ToM == s.M && t != nil:
		exit, gave := t.exit, t.gave
		t.touch(s.Time)
		t.exit, t.got, t.gotFrom, t.rare = exit, s.Time, model.NoThread, true
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
			bare = last == nil || last.home == nil && !f.callStacks.has(last.stoppedIn) // a locked thread gives up its proc too (stoplockedm)
		}
		p.lost = lost{by: s.M, at: s.Time, bare: bare, began: began, taken: s.M != s.FromM || t != nil && t.inCall}
		if t != nil {
			t.touch(s.Time)
		}
		if bare {
			t.gave, t.rare = s.Time, true
		}
	case t != nil:
		t.touch(s.Time)
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
	f.line.push(op{kind: opIdle, at: at, p: id, acquired: end})
}

// procStep follows a proc from state to state: in a step of its own, or as s says along with one of
// the goroutine that it has.
func (f *lookahead) procStep(s *model.Step, p *proc) {
	p.seen = true
	from, to, _ := s.ProcStates()
	switch {
	case to == model.ProcSearching && from != model.ProcIdle:
		f.line.search(p, s.P, s.Time)
	case from == to:
	case to == model.ProcIdle:
		f.goesIdle(s.P, s.Time, from == model.ProcSyscall)
	case from == model.ProcIdle:
		if f.pending = p.end; f.pending == nil {
			f.pending = &acquired{m: model.NoThread}
		}
		p.end, p.began = nil, 0
		f.pending.at, f.pending.known = s.Time, true
		f.line.push(op{kind: opBusy, at: s.Time, p: s.P, acquired: f.pending})
	}
	if s.Work.IsGC() || p.dedicated {
		f.work(s, p, to == model.ProcRunning)
	}
}

// work follows mark workers and assists, or what comes after a dedicated worker.
func (f *lookahead) work(s *model.Step, p *proc, runs bool) {
	if runs && s.Work.IsGC() && s.Work != model.WorkGCAssist {
		g := f.goroutineOf(s.G)
		if x := g.watched.get(); x != nil && x.blind {
			x.how, x.howGrade, x.entry = SourceSystem, GradeCertain, entryNone // by its label
			g.watched = handle{}
		}
	}
	if is := runs && s.Work == model.WorkGCDedicated; is != p.dedicated {
		p.dedicated, p.worker = is, s.G
		f.line.push(op{kind: opDrain, at: s.Time, p: s.P, on: is})
	}
}
