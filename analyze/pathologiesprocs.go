package analyze

import "github.com/schedscope/schedscope/model"

// procsNow is what each proc does, by the steps so far.
type procsNow struct {
	list     []procNow
	known    int  // seen, without those that GOMAXPROCS did away with
	idle     int  // of those
	max      int  // GOMAXPROCS as the trace says, or the procs seen
	stopping bool // the world, which has not stopped yet
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

// phase follows what concerns all procs.
func (x *procsNow) phase(s *model.Step) {
	switch s.Kind {
	case model.StepStopping:
		x.stopping = true
	case model.StepStopped, model.StepRestarted:
		x.stopping = false
	case model.StepProcs:
		x.resize(int(s.N))
	}
}

// resize does away with the procs beyond GOMAXPROCS, of which no other step tells.
func (x *procsNow) resize(n int) {
	x.max = n
	for i := n; i < len(x.list); i++ {
		if p := &x.list[i]; p.state == model.ProcIdle || p.state == model.ProcStopped {
			x.known--
			x.countIdle(p.state, -1)
			*p = procNow{g: model.NoGoroutine}
		}
	}
}

// proc returns a proc, nil if there cannot be such a one.
func (x *procsNow) proc(id model.ProcID) *procNow {
	if uint(id) >= uint(len(x.list)) {
		if id < 0 || id >= maxPathologyProcs {
			return nil
		}
		for int(id) >= len(x.list) {
			x.list = append(x.list, procNow{g: model.NoGoroutine})
		}
	}
	return &x.list[id]
}

// change makes a proc do what a StepProc says.
func (x *procsNow) change(p *procNow, s *model.Step) {
	burst := model.Time(0)
	state := model.ProcState(s.To)
	if state == model.ProcRunning {
		burst = s.Time
		if p.burst > 0 && p.g == s.G {
			burst = p.burst
		}
	}
	if p.state != state {
		x.countIdle(p.state, -1)
		x.countIdle(state, +1)
		if p.state == model.ProcUndetermined {
			x.known++
		}
	}
	x.max = max(x.max, int(s.P)+1) // GOMAXPROCS may have fallen below it
	*p = procNow{state: state, work: s.Work, g: s.G, fn: s.Func, since: s.Time, burst: burst}
}

func (x *procsNow) countIdle(state model.ProcState, n int) {
	if state == model.ProcIdle {
		x.idle += n
	}
}

// anyIdle reports whether a proc is idle. One not seen yet has done nothing.
func (x *procsNow) anyIdle() bool { return x.idle > 0 || x.known < x.max }

// inHand reports whether there is work at hand that takes microseconds: a search,
// or a stop of the world for which nobody but the stopper must give way.
func (x *procsNow) inHand() bool {
	return x.count(model.ProcSearching) > 0 || x.stopping && x.count(model.ProcRunning) <= 1
}

// count returns how many procs are in a state.
func (x *procsNow) count(state model.ProcState) (n int) {
	for i := range x.list {
		if x.list[i].state == state {
			n++
		}
	}
	return n
}
