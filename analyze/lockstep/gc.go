package lockstep

import (
	"fmt"

	"github.com/schedscope/schedscope/analyze/refsched"
	"github.com/schedscope/schedscope/model"
)

// worker judges a mark worker that begins, once its label shows the mode.
func (p *procs) worker(s *model.Step, q *proc) {
	if q.work == s.Work && q.g == s.G {
		return
	}
	procs := max(p.count, 1)
	most, fraction := refsched.GCWorkers(procs)
	v := verdict{agreed: true, class: Unexplained}
	switch s.Work {
	case model.WorkGCDedicated:
		n := 1
		for i := range p.list {
			if o := &p.list[i]; model.ProcID(i) != s.P && o.seen && o.state == model.ProcRunning && o.work == model.WorkGCDedicated {
				n++
			}
		}
		// A worker that is about to end does not count any more, but may try to end the mark phase before it shows, and
		// only one can at a time (runtime/mgc.go: gcBgMarkWorker, gcMarkDone).
		v.agreed, v.excluded = n <= most, n == most+1
		v.did, v.want = fmt.Sprintf("ran %d dedicated workers", n), fmt.Sprintf("at most %d", most)
	case model.WorkGCFractional:
		v.agreed = fraction > 0
		v.did, v.want = "ran a fractional worker", "none"
	case model.WorkGCIdle:
		return
	}
	p.c.queues.judge(GC, v, Divergence{Time: s.Time, P: s.P, M: s.M, G: s.G}, s.Time)
}

// stopping is a stop of the world.
type stopping struct {
	at      model.Time
	g       model.GoID
	stopped model.Time
	started int
	marked  bool // for mark termination
	search  model.Duration
	d       Divergence
}

// judgeStop judges a stop of the world once it is over. A thread may find something between the
// event of the stop and the flag that others look at (runtime/proc.go: stopTheWorldWithSema).
func (p *procs) judgeStop() {
	v := verdict{agreed: p.stop.started == 0, class: Unexplained}
	v.did, v.want = fmt.Sprintf("started %d goroutines while the world was being stopped", p.stop.started), "none"
	switch {
	case p.stop.search >= Frozen:
		v.class = OS
	case p.stop.started == 1:
		v.class = HiddenEvent
	}
	p.c.queues.judge(STW, v, p.stop.d, p.stop.at)
}
