package lockstep

import (
	"fmt"
	"math/bits"

	"github.com/schedscope/schedscope/analyze/refsched"
	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// waking is a wake that must be under way.
type waking struct {
	on bool
	at model.Time
	d  Divergence
}

// Bounds of wakes. A thread that is woken takes some microseconds, and longer if the
// operating system runs something else; no time is the scheduler's own.
const (
	wakeWithin model.Duration = 1_000_000 // nearly all wakes are faster where there are cores enough
	// wakeLost is after how long nobody comes any more. It must be less than usually passes
	// until somebody comes for another reason.
	wakeLost model.Duration = 40_000_000
	// signalled is how long a thread that was woken may stand still before it has its proc,
	// which seems idle meanwhile; on two cores that others use as well, 30 ms were seen.
	signalled model.Duration = 100_000_000
	wakeMost  model.Duration = 20_000_000 // what is later counts as late however many are
	idleFor   model.Duration = 50_000     // a proc that was idle for so long is on the list of idle ones
)

// mustWake begins a decision if the rules say that somebody is woken by what makes
// a goroutine runnable. A thread that searches may be a spinning one.
func (p *procs) mustWake(s *model.Step) {
	if p.wake.on || p.stopping || s.P == model.NoProc || s.By == model.NoGoroutine || p.searching > 0 ||
		s.Time.Sub(p.lastIdle) < Epsilon || s.Time.Sub(p.restart) < idleFor {
		return
	}
	if refsched.MustWake(len(p.idleOnes(s.Time)), 0) {
		p.wake = waking{on: true, at: s.Time, d: Divergence{Time: s.Time, P: s.P, M: s.M, G: s.G}}
	}
}

// endWake ends the decision, if there is one.
func (p *procs) endWake(at model.Time, came bool) {
	w := &p.wake
	if !w.on {
		return
	}
	w.on = false
	if came {
		p.came.Add(coarse(at.Sub(w.at)), 1)
		return
	}
	v := verdict{did: fmt.Sprintf("woke nobody for %d µs", at.Sub(w.at)/1000), want: "wake a thread for an idle proc", class: Unexplained}
	p.c.queues.judge(Wake, v, w.d, w.at)
}

// Wakeup implements [runqueue.WakeupObserver]: how long wakes take.
func (c *Checker) Wakeup(w *runqueue.Wakeup) {
	if w.Caused && !w.Handoff {
		c.procs.latency.Add(coarse(w.Got.Sub(w.Trigger)), 1)
	}
}

// coarse rounds a length of time up to an eighth: how long wakes take differs by more.
func coarse(d model.Duration) int64 {
	x := int64(max(d, 0))
	e := max(0, bits.Len64(uint64(x))-4)
	return (x>>e+1)<<e - 1
}

// judgeWakes judges the wakes that came: in time, if no later than all but a
// thousandth of the wakes of this trace are.
func (p *procs) judgeWakes() {
	limit := p.latency.At(dist.Rank(0.999, p.latency.Total()))
	limit = min(max(limit, int64(wakeWithin)), int64(wakeMost))
	p.came.Each(func(d, n int64) {
		v := verdict{agreed: d <= limit, class: OS}
		for range n {
			p.c.queues.result.Kinds[Wake].add(v)
		}
	})
}
