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
	burst model.Time // since when runs has been running, assists and all; 0: nothing has
	runs  model.GoID
	procLooks
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

// change makes the proc go to a state, as s says.
func (p *procNow) change(s *model.Step, to model.ProcState) {
	p.state = to
	if to != model.ProcRunning {
		p.burst = 0
	} else if p.burst <= 0 || p.runs != s.G {
		p.burst, p.runs = s.Time, s.G
	}
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
