package lockstep

import (
	"strings"

	"github.com/schedscope/schedscope/model"
)

// noteAsked follows until when all procs are asked to stop for an instant, and again
// every 100 us until all have heard (runtime/proc.go: forEachPInternal): at a
// new generation of the trace, during a mark phase and after its end, and when a
// goroutine takes procs from system calls without stopping the world. The one that begins new generations
// (runtime/trace.go: traceAdvance) asks more than once. A proc has
// heard when its goroutine stopped.
func (p *procs) noteAsked(s *model.Step) {
	if s.Kind == model.StepMove && s.ToM == model.NoThread && s.M != s.FromM && s.By != model.NoGoroutine && !p.stopping {
		p.ask()
	}
	if s.Kind == model.StepProc && p.deaf > 0 {
		if q := p.proc(s.P); q.deaf && (model.ProcState(s.To) != model.ProcRunning || s.G != q.g) {
			q.deaf = false
			p.deaf--
		}
	}
	if s.Kind == model.StepGo && (s.G == p.advancer || s.Flags&model.StepSystem != 0 && model.GoState(s.To) == model.GoRunning && strings.Contains(p.c.tables.String(s.Func), "traceAdvancer")) {
		if p.advancer = model.NoGoroutine; model.GoState(s.To) == model.GoRunning {
			p.advancer = s.G
		}
		p.ask()
	}
	if p.marking || p.stopping || p.deaf > 0 || p.advancer != model.NoGoroutine {
		p.asked = s.Time
	}
}

// ask begins to ask all procs.
func (p *procs) ask() {
	p.deaf = 0
	for i := range p.list {
		q := &p.list[i]
		if q.deaf = q.seen && (q.state == model.ProcRunning || q.state == model.ProcSyscall); q.deaf {
			p.deaf++
		}
	}
	p.asked = p.now
}
