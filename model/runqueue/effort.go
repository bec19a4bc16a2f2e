package runqueue

import "github.com/schedscope/schedscope/model"

// The search for explanations is bounded, in steps rather than in time, so that the result of a
// trace is the same everywhere:
//
//  1. Each operation of the trace allows effortPerOp more steps, up to effortMost.
//  2. Whatever walks along the global queue, the logs of hypotheses or a hypothesis that is copied
//     spends steps.
//  3. When less than effortReserve is left, no hypotheses are made, and the likeliest alone is kept.
//     Nobody compares it with the others, so what it has not reported yet counts as
//     contradicted.
//  4. When nothing is left, what stands in the global queue, the only one without a bound, is
//     lost: whoever starts from there counts as contradicted, at no cost.
//
// Real programs keep more than nine tenths of effortMost at all times (TestEffort).
const (
	effortPerOp   = 500
	effortMost    = 2 << 20
	effortReserve = effortMost / 2
)

// spend takes steps from those that are left.
func (r *replay) spend(steps int) { r.effort -= steps }

// limit lets go of what cannot be searched any more, before an operation is applied. It need not be
// called while nothing is spent.
func (r *replay) limit() {
	r.effort = min(r.effort+effortPerOp, effortMost)
	if r.effort < effortReserve && len(r.hypotheses) > 1 {
		r.keepBest()
	}
	if r.effort < 0 {
		r.hypotheses[0].forgetGlobal()
	}
}

// keepBest drops all hypotheses but the likeliest, which comes first, without a look at them.
func (r *replay) keepBest() {
	best := r.hypotheses[0]
	for _, h := range r.hypotheses[1:] {
		r.drop(h)
	}
	r.hypotheses, r.undecided = r.hypotheses[:1], 0
	for c := best.cursor(); ; {
		f := c.next(nil)
		if f == nil {
			break
		}
		f.path.grade = GradeContradicted
	}
	r.report(best)
}

// forgetGlobal takes what stands in the global queue, or is on its way there, for lost.
func (h *hypothesis) forgetGlobal() {
	h.touch(model.NoProc)
	h.mislay(h.coming)
	h.mislay(h.global.items())
	h.coming = h.coming[:0]
	h.global.drop(h.global.len())
}

// mislay notes that goroutines do not stand where they were put. The caller takes them out of
// the queue.
func (h *hypothesis) mislay(list []slot) {
	for _, a := range list {
		x := &h.positions[a]
		x.place, x.at, x.lost, x.moved = PlaceNone, model.NoProc, true, h.r.now
	}
}
