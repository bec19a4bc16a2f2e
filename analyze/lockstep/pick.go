package lockstep

import (
	"fmt"
	"slices"

	"github.com/schedscope/schedscope/analyze/refsched"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// Decision implements [runqueue.DecisionObserver].
func (c *Checker) Decision(d *runqueue.Decision) {
	c.procs.until(d.Time)
	c.queues.Decision(d)
}

// Start implements [runqueue.StartObserver].
func (c *Checker) Start(s *runqueue.Start) {
	c.procs.started(s)
	c.queues.Start(s)
}

// Decision implements [runqueue.DecisionObserver]. Of one that diverges the rest is not judged: a steal
// is from where, and how many.
func (q *Queues) Decision(d *runqueue.Decision) {
	kind, v, from := Pick, q.judgeWhole(d), Divergence{Time: d.Time, P: d.P, M: d.M, G: d.G, State: d}
	if source(d) == refsched.PickSteal {
		kind = Steal
	}
	follows := q.follows(d, &v)
	if follows {
		v = verdict{excluded: true}
	}
	q.judge(kind, v, from, d.Time)
	if (v.agreed || v.excluded) && !follows {
		q.judge(Place, q.judgePlace(d), from, d.Time)
	}
}

// follows reports whether an unexplained pick follows from an earlier one: the reference would have
// taken the same goroutine then, which has not started since and does not stand where the
// reconstruction put it.
func (q *Queues) follows(d *runqueue.Decision, v *verdict) bool {
	if v.agreed || v.excluded || v.class != Unexplained || v.wants <= 0 {
		return false
	}
	p, again := q.wanted[v.wants]
	if q.wanted == nil {
		q.wanted = map[model.GoID]model.ProcID{}
	}
	q.wanted[v.wants] = d.P
	return again && p == d.P
}

// Start implements [runqueue.StartObserver]. Of a plain start the reference takes the same, unless
// it is not known to be one.
func (q *Queues) Start(s *runqueue.Start) {
	if len(q.wanted) > 0 {
		delete(q.wanted, s.G)
	}
	if !s.Plain {
		return
	}
	v := verdict{agreed: s.Grade <= runqueue.GradeUnique}
	v.excluded = !v.agreed
	q.result.Kinds[Pick].add(v)
	q.result.Kinds[Place].add(v)
}

// Lengths implements [runqueue.LengthsObserver].
func (c *Checker) Lengths(l *runqueue.Lengths) { c.procs.length(l) }

// judgeWhole judges a pick, and of a steal how many were taken.
func (q *Queues) judgeWhole(d *runqueue.Decision) verdict {
	v := q.judgePick(d)
	if v.agreed && source(d) == refsched.PickSteal {
		v = q.judgeSteal(d)
	}
	if v.agreed && d.Start != nil && d.Start.Grade == runqueue.GradeContradicted {
		return verdict{excluded: true, contradicted: true, did: describe(d, source(d)), want: "a pick that fits those before it", class: q.classOfPick(d, source(d))}
	}
	return v
}

// source is from where the proc took the goroutine, by where that stood.
func source(d *runqueue.Decision) refsched.PickFrom {
	switch {
	case d.Place == runqueue.PlaceRunnext && d.At == d.P:
		return refsched.PickNext
	case d.Place == runqueue.PlaceRunnext:
		return refsched.PickStealNext
	case d.Place == runqueue.PlaceLocal && d.At == d.P:
		return refsched.PickOwn
	case d.Place == runqueue.PlaceLocal:
		return refsched.PickSteal
	case d.Place == runqueue.PlaceGlobal:
		return refsched.PickGlobal
	}
	return refsched.PickNothing
}

// states returns the states that are possible: the one without the takes that show
// later first.
func states(d *runqueue.Decision) []refsched.PickState {
	s := refsched.PickState{Fair: d.Tick == 0, Next: d.Next != model.NoGoroutine, Own: d.Own.Len, Global: d.Global.Len, Victims: d.Queues, VictimNexts: d.Nexts}
	out := []refsched.PickState{s}
	vary := func(change func(*refsched.PickState)) {
		for _, x := range out {
			y := x
			if change(&y); y != x {
				out = append(out, y)
			}
		}
	}
	if d.Victim.Least > 0 && d.Victim.Left() == 0 { // it is one of those that count, and another thief has emptied it
		vary(func(x *refsched.PickState) { x.Victims-- })
	}
	if d.NextTaken {
		vary(func(x *refsched.PickState) { x.Next = false })
	}
	if d.Own.Taken > 0 {
		vary(func(x *refsched.PickState) { x.Own = d.Own.Left() })
	}
	if d.Global.Taken > 0 {
		vary(func(x *refsched.PickState) { x.Global = d.Global.Left() })
	}
	if d.Global.Least == 0 {
		vary(func(x *refsched.PickState) { x.Global = 0 }) // what is there came after it looked
	}
	return out
}

// judgePick compares from where a goroutine was taken, and as which one, with
// what the reference takes.
func (q *Queues) judgePick(d *runqueue.Decision) verdict {
	if d.Start != nil && d.Start.Grade == runqueue.GradeChosen || d.Place == runqueue.PlaceUnknown || d.Blind ||
		d.Lost || d.Grade == runqueue.GradeContradicted { // another decision broke the rules; see judgePlace
		return verdict{excluded: true}
	}
	did := source(d)
	if did == refsched.PickGlobal && d.Tick < 0 && (d.Own.Left() > 0 || d.Next != model.NoGoroutine && !d.NextTaken) {
		return verdict{excluded: true} // the first one shows where the schedtick stands
	}
	all := states(d)
	for _, s := range all {
		want := refsched.Pick(s)
		if want == refsched.PickFair {
			want = refsched.PickGlobal
		}
		if want == did && q.inOrder(d, did) {
			return verdict{agreed: true}
		}
	}
	if s := all[0]; d.NextUnsure && s.Next {
		if s.Next = false; refsched.Pick(s) == did && q.inOrder(d, did) {
			return verdict{excluded: true}
		}
	}
	want := refsched.Pick(all[0])
	v := verdict{did: describe(d, did), rule: pickRules[want]}
	v.want, v.wants = wanted(d, want)
	v.class = q.classOfPick(d, did)
	return v
}

// pickRules are where the runtime's source (Go 1.26) takes something from there.
var pickRules = [...]string{
	refsched.PickNothing: "", refsched.PickFair: "runtime/proc.go: findRunnable, schedtick%61",
	refsched.PickNext: "runtime/proc.go: runqget", refsched.PickOwn: "runtime/proc.go: runqget",
	refsched.PickGlobal: "runtime/proc.go: globrunqget",
	refsched.PickSteal:  "runtime/proc.go: stealWork", refsched.PickStealNext: "runtime/proc.go: stealWork",
}

// inOrder reports whether the goroutine is the first that is left of its queue. Of
// a stolen one [Queues.judgeSteal] judges.
func (q *Queues) inOrder(d *runqueue.Decision, from refsched.PickFrom) bool {
	switch from {
	case refsched.PickOwn, refsched.PickGlobal:
		return d.Over == 0
	case refsched.PickStealNext:
		return d.Victim.Left() == 0 || d.Victim.Least == 0 // what is there came while the thief slept
	}
	return true
}

// judgePlace asks whether the goroutine stood somewhere from where it can have been
// taken, as the rules of its becoming runnable say.
func (q *Queues) judgePlace(d *runqueue.Decision) verdict {
	if d.Start != nil && d.Start.Grade == runqueue.GradeChosen || d.Open || d.Blind ||
		!d.Lost && (d.Place == runqueue.PlaceUnknown || d.Grade == runqueue.GradeContradicted) {
		return verdict{excluded: true}
	}
	moved := d.Start != nil && d.Start.Source == runqueue.SourceGlobal && source(d) != refsched.PickGlobal
	if !d.Lost && !moved {
		return verdict{agreed: true}
	}
	if d.Lost {
		if slices.Contains(q.lost, d.LostAt) {
			return verdict{excluded: true} // it follows from another one
		}
		q.lost = append(q.lost[max(0, len(q.lost)-lostKept+1):], d.LostAt)
	}
	v := verdict{did: describe(d, source(d)), want: "found where it was queued"}
	v.class = q.classOfPick(d, source(d))
	return v
}

// judgeSteal compares how many were taken with half of the queue. What was queued
// while the thief searched may have come too late for it, and earlier thieves may
// have been there.
func (q *Queues) judgeSteal(d *runqueue.Decision) verdict {
	if d.Start != nil && d.Start.Grade == runqueue.GradeChosen || d.Blind {
		return verdict{excluded: true}
	}
	n, x := d.Index+1, &d.Victim
	if fits(n, x.Least, x.Len) ||
		x.Taken > 1 && fits(n, x.Taken-1, x.Taken-1) || // from the other thief, who had all but one of them
		n > x.Taken && fits(n-x.Taken, x.Least-x.Taken, x.Left()) {
		return verdict{agreed: true}
	}
	v := verdict{did: fmt.Sprintf("took %d of %d", n, x.Len), want: fmt.Sprintf("take %d", refsched.StealBatch(x.Len))}
	v.class = q.classOfPick(d, refsched.PickSteal)
	return v
}

// fits reports whether a thief takes n of a queue between least and most long.
func fits(n, least, most int) bool {
	return n >= refsched.StealBatch(max(1, least)) && n <= refsched.StealBatch(most)
}

// classOfPick finds the reason of a pick, or of another decision with the same
// state, that the rules do not allow.
func (q *Queues) classOfPick(d *runqueue.Decision, did refsched.PickFrom) Class {
	switch {
	case q.boundary(d.Time) || q.boundary(d.Since):
		return Boundary
	case q.raced(d, did):
		return OrderRace
	case d.Drained, d.Own.Len >= refsched.RunqSize-2, d.Victim.Len >= refsched.RunqSize-2:
		return HiddenEvent
	case d.Time.Sub(d.Search) >= Frozen:
		return OS
	case d.Origin == model.OriginSTW:
		return VersionRule // the one place that differs between versions: runnext since Go 1.26
	}
	return Unexplained
}

// raced reports whether the pick is right if operations of different threads that are
// at most Epsilon apart took effect in another order.
func (q *Queues) raced(d *runqueue.Decision, did refsched.PickFrom) bool {
	near := func(a, b model.Time) bool { return a.Sub(b) <= Epsilon && b.Sub(a) <= Epsilon }
	if d.Lost {
		return near(d.LostAt, d.Earliest) || near(d.LostAt, d.Time)
	}
	if d.Over > 0 {
		if d.Over > len(d.Passed) {
			return false
		}
		for _, x := range d.Passed[:d.Over] {
			enqueued := near(x.Since, d.Since) || x.Until >= d.Since && x.Since <= d.Since
			taken := x.Start != 0 && x.Proc != d.P && x.Start.Sub(d.Time) <= Epsilon
			if !enqueued && !taken {
				return false
			}
		}
		return true
	}
	switch did {
	case refsched.PickGlobal:
		return d.Contend && d.Own.Left() == 0
	case refsched.PickSteal, refsched.PickStealNext:
		return d.Global.Left() > 0 && d.Global.Until > d.Earliest || near(d.Global.Until, d.Earliest) || near(d.Victim.Until, d.Earliest)
	case refsched.PickNext, refsched.PickOwn:
		return d.Global.Left() > 0 && (near(d.Global.Until, d.Earliest) || d.Global.Until > d.Earliest)
	}
	return false
}

// describe says what the runtime did.
func describe(d *runqueue.Decision, from refsched.PickFrom) string {
	switch from {
	case refsched.PickNext:
		return "took it from its runnext"
	case refsched.PickOwn:
		return fmt.Sprintf("took number %d of its queue", d.Index+1)
	case refsched.PickGlobal:
		return fmt.Sprintf("took number %d of the global queue", d.Index+1)
	case refsched.PickSteal:
		return fmt.Sprintf("stole number %d of %d from proc %d", d.Index+1, d.Victim.Len, d.At)
	case refsched.PickStealNext:
		return fmt.Sprintf("stole it from the runnext of proc %d", d.At)
	}
	return "took it from where it cannot have been"
}

// wanted says what the reference would have done, and which goroutine it would have taken, 0 if that is not known.
func wanted(d *runqueue.Decision, from refsched.PickFrom) (string, model.GoID) {
	take := func(g model.GoID, where string) (string, model.GoID) {
		return fmt.Sprintf("take goroutine %d from %s", g, where), g
	}
	switch from {
	case refsched.PickFair:
		return take(d.Global.Head[0], "the global queue by the 61st tick")
	case refsched.PickNext:
		return take(d.Next, "its runnext")
	case refsched.PickOwn:
		return take(d.Own.Head[0], "its queue")
	case refsched.PickGlobal:
		return take(d.Global.Head[0], "the global queue")
	case refsched.PickSteal:
		return fmt.Sprintf("steal half of the queue of one of %d procs", d.Queues), 0
	case refsched.PickStealNext:
		return fmt.Sprintf("steal the runnext of one of %d procs", d.Nexts), 0
	}
	return "find nothing", 0
}
