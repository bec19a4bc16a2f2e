package analyze

import "github.com/schedscope/schedscope/model"

// procsNow is what each proc does, by the steps so far.
type procsNow struct {
	list      []procNow
	known     int // seen, but for those that GOMAXPROCS did away with
	idle      int
	searching int
	running   int
	max       int  // GOMAXPROCS as told, or the procs seen
	stopping  bool // the world, which has not stopped yet
}

// procNow is what a proc does since a time.
type procNow struct {
	state model.ProcState
	work  model.WorkKind
	g     model.GoID
	fn    model.StringID
	since model.Time
	burst model.Time // since when g has been running, assists and all; 0: it does not
}

// step follows a StepProc and what concerns all procs. It returns what the proc
// did before, if it is a StepProc of a proc that was known.
func (x *procsNow) step(s *model.Step) (before procNow, ok bool) {
	switch s.Kind {
	case model.StepStopping:
		x.stopping = true
	case model.StepStopped, model.StepRestarted:
		x.stopping = false
	case model.StepProcs:
		x.resize(int(s.N))
	case model.StepProc:
		return x.proc(s)
	}
	return before, false
}

// resize does away with the procs beyond GOMAXPROCS, of which no other step tells.
func (x *procsNow) resize(n int) {
	x.max = n
	for i := n; i < len(x.list); i++ {
		if p := &x.list[i]; p.state == model.ProcIdle || p.state == model.ProcStopped {
			x.count(p.state, -1)
			*p = procNow{g: model.NoGoroutine}
		}
	}
}

func (x *procsNow) proc(s *model.Step) (before procNow, ok bool) {
	if s.P < 0 || s.P >= maxPathologyProcs {
		return before, false
	}
	for int(s.P) >= len(x.list) {
		x.list = append(x.list, procNow{g: model.NoGoroutine})
	}
	p := &x.list[s.P]
	before = *p
	x.count(p.state, -1)
	*p = procNow{state: model.ProcState(s.To), work: s.Work, g: s.G, fn: s.Func, since: s.Time}
	x.count(p.state, +1)
	if p.state == model.ProcRunning {
		p.burst = s.Time
		if before.burst > 0 && before.g == s.G {
			p.burst = before.burst
		}
	}
	x.max = max(x.max, int(s.P)+1)
	return before, before.since > 0
}

// inHand reports whether there is work at hand that takes microseconds: a search,
// or a stop of the world for which nobody but the stopper must give way.
func (x *procsNow) inHand() bool { return x.searching > 0 || x.stopping && x.running <= 1 }

// anyIdle reports whether a proc is idle. One not seen yet has done nothing.
func (x *procsNow) anyIdle() bool { return x.idle > 0 || x.known < x.max }

func (x *procsNow) count(s model.ProcState, n int) {
	if s != model.ProcUndetermined {
		x.known += n
	}
	switch s {
	case model.ProcIdle:
		x.idle += n
	case model.ProcSearching:
		x.searching += n
	case model.ProcRunning:
		x.running += n
	}
}
