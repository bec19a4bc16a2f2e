package lockstep

import (
	"cmp"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// Queues judges the decisions that the run queues determine: place, pick and steal. It is an
// observer of a [runqueue.Resolver], which needs the times of [Queues.Begin] and
// [Queues.Generation], too.
type Queues struct {
	opt    Options
	result Result
	listed [NumKinds]int
	began  bool
	first  model.Time   // of the trace
	gens   []model.Time // when generations began
	// Goroutines that the reference would have taken at unexplained picks, on which proc, until they start.
	wanted map[model.GoID]model.ProcID
	lost   []model.Time // when the goroutines of the latest divergences of place were found to be elsewhere
	// Decisions that are the reference's own in their state, but contradict how the queues came to be
	// so: few are errors of the reconstruction.
	contradicted [NumKinds]Tally
	held         []Divergence // of these
}

// NewQueues returns a Queues without decisions.
func NewQueues(opt Options) *Queues { return &Queues{opt: opt} }

// Begin records the time of a step. The first call sets the start of the trace.
func (q *Queues) Begin(at model.Time) {
	if !q.began {
		q.began, q.first = true, at
	}
}

// Generation records the start of a generation. Calls are in order of time.
func (q *Queues) Generation(at model.Time) { q.gens = append(q.gens, at) }

// Bounds of what is kept, and of contradictions: a few, or one in so many decisions, are not judged;
// more are the runtime's.
const (
	lostKept         = 64
	contradictedFew  = 3
	contradictedMost = 10_000
)

// Reset discards the results so far, but not the state of the trace.
func (q *Queues) Reset() {
	q.result, q.listed, q.contradicted, q.held = Result{}, [NumKinds]int{}, [NumKinds]Tally{}, nil
}

// Result returns the result. Only Reset may be called afterwards.
func (q *Queues) Result() *Result {
	all, contradicted := int64(0), result.Sum(q.contradicted[:], func(t *Tally) int64 { return t.Judged })
	for _, k := range [...]Kind{Pick, Steal} {
		all += q.result.Kinds[k].Judged + q.result.Kinds[k].Excluded
	}
	for k := range q.contradicted {
		if t := &q.contradicted[k]; contradicted > contradictedFew && contradicted*contradictedMost > all {
			q.result.Kinds[k].Merge(t)
		} else {
			q.result.Kinds[k].Excluded += t.Judged
			q.held = nil
		}
	}
	q.result.Unexplained = append(q.result.Unexplained, q.held...)
	q.contradicted, q.held = [NumKinds]Tally{}, nil
	return &q.result
}

// boundary reports whether a time is one at which not much is known.
func (q *Queues) boundary(t model.Time) bool {
	if t.Sub(q.first) < Warmup {
		return true
	}
	for i := len(q.gens) - 1; i >= 0; i-- {
		switch d := t.Sub(q.gens[i]); {
		case d >= -GenerationGap && d <= GenerationGap:
			return true
		case d > GenerationGap:
			return false
		}
	}
	return false
}

// judge counts a verdict on a decision of which since is the earliest that matters, and lists it if it is to be.
func (q *Queues) judge(k Kind, v verdict, d Divergence, since model.Time) {
	diverged, t, list := !v.agreed && !v.excluded, &q.result.Kinds[k], &q.result.Unexplained
	if v.contradicted {
		v.excluded, diverged, t, list = false, true, &q.contradicted[k], &q.held
	}
	if diverged && q.boundary(since) {
		v.class = Boundary
	}
	t.add(v)
	if !diverged {
		return
	}
	if d.State != nil {
		d.Waited = d.State.Time.Sub(d.State.Since)
	}
	if v.class == Unexplained {
		t.Waited += d.Waited
	}
	if v.class != Unexplained && !q.opt.All || q.listed[k] >= q.opt.MaxListed {
		return
	}
	q.listed[k]++
	d.Kind, d.Class, d.Did, d.Want, d.Rule = k, v.class, v.did, v.want, cmp.Or(v.rule, rules[k])
	if d.State != nil {
		s := *d.State
		s.Start = nil
		d.State = &s
	}
	*list = append(*list, d)
}
