package pathologies

import "github.com/schedscope/schedscope/model"

// procsNow is what each proc does, by the steps so far.
type procsNow struct {
	list     []procNow
	max      int  // GOMAXPROCS as the trace says, or the procs seen
	stopping bool // the world, which has not stopped yet
}

// procNow is what a proc does.
type procNow struct {
	state model.ProcState
	g     model.GoID
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
		x.max = int(s.N)
	}
}

// change makes a proc do what a StepProc says.
func (x *procsNow) change(s *model.Step) {
	if s.P < 0 || s.P >= maxProcs { // there cannot be such a one
		return
	}
	for int(s.P) >= len(x.list) {
		x.list = append(x.list, procNow{g: model.NoGoroutine})
	}
	p, burst := &x.list[s.P], model.Time(0)
	state := model.ProcState(s.To)
	if state == model.ProcRunning {
		burst = s.Time
		if p.burst > 0 && p.g == s.G {
			burst = p.burst
		}
	}
	x.max = max(x.max, int(s.P)+1) // GOMAXPROCS may have fallen below it
	*p = procNow{state, s.G, burst}
}

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
