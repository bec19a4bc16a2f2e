package lockstep

import (
	"fmt"
	"slices"

	"github.com/schedscope/schedscope/analyze/refsched"
	"github.com/schedscope/schedscope/model"
)

// exit is a way out of a system call that was right only if no proc was idle.
type exit struct {
	d    Divergence
	idle []model.ProcID
	old  bool // its old proc was in another thread's system call
}

// SyscallExit implements [model.SyscallExitObserver]. Who gets a proc could have it;
// who queues must not have found one.
func (c *Checker) SyscallExit(e *model.SyscallExit) {
	p := &c.procs
	switch e.Path {
	case model.ExitOldProc, model.ExitOtherProc:
		c.queues.judge(Exit, verdict{agreed: true}, Divergence{}, e.End)
	case model.ExitQueued:
		c.take()
		x := exit{d: Divergence{Time: e.End, P: e.OldProc, M: e.M, G: e.G}}
		if !p.stopping {
			x.idle = p.idleOnes(e.End)
			old := p.proc(e.OldProc)
			x.old = old.state == model.ProcSyscall && e.End.Sub(old.since) > idleFor
		}
		if len(x.idle) == 0 && !x.old || len(p.exits) >= maxPassed {
			p.judgeExit(&x)
			return
		}
		p.exits = append(p.exits, x)
	}
}

func (p *procs) judgeExit(e *exit) {
	v := verdict{agreed: refsched.MayQueueAtExit(len(e.idle), e.old), class: Unexplained}
	v.did, v.want = "queued it", fmt.Sprintf("go on with an idle proc, of %d", len(e.idle))
	if e.old {
		v.want = "take its old proc from another system call"
	}
	if len(e.idle) == 0 {
		v.class = HiddenEvent // sysmon looked at that call just then (runtime/proc.go: setBlockOnExitSyscall)
	}
	p.c.queues.judge(Exit, v, e.d, e.d.Time)
}

// got notes that a woken thread has got a proc: it was on its way, and the proc not
// idle for the runtime.
func (p *procs) got(id model.ProcID) {
	remove := func(idle *[]model.ProcID) {
		*idle = slices.DeleteFunc(*idle, func(x model.ProcID) bool { return x == id })
	}
	for i := range p.exits {
		remove(&p.exits[i].idle)
	}
	for i := range p.requests {
		remove(&p.requests[i].idle)
	}
	for i := range p.passed {
		remove(&p.passed[i].idle)
	}
}

// settle judges what has waited for so long that no thread is on its way any more.
func (p *procs) settle(at model.Time) {
	for ; len(p.passed) > 0 && at.Sub(p.passed[0].at) > signalled; p.passed = p.passed[1:] {
		p.judgeRequest(&p.passed[0])
	}
	for ; len(p.exits) > 0 && at.Sub(p.exits[0].d.Time) > signalled; p.exits = p.exits[1:] {
		p.judgeExit(&p.exits[0])
	}
}
