package runqueue

import (
	"slices"

	"github.com/schedscope/schedscope/model"
)

// start explains where a goroutine that starts was taken from.
func (r *replay) start(s *stay) {
	p := r.proc(s.p)
	switch {
	case p == nil:
		r.remove(s)
		s.source, s.grade = SourceUnknown, GradeContradicted
	case s.how != SourceUnknown:
		r.remove(s)
		s.source, s.grade = s.how, GradeCertain
		if s.how == SourceNetpoll || s.how == SourceSystem || s.how == SourceSyscall && s.pseudo == model.NotPseudo {
			p.tick.inc()
		}
	case s.explained:
		p.tick.inc()
	case s.handed:
		r.take(p, s)
		s.source, s.via = SourceLocked, ViaNone
	default:
		r.take(p, s)
	}
	r.tell(s, p)
}

// remove takes a stay out of the queue where it stands.
func (r *replay) remove(s *stay) {
	switch s.place {
	case PlaceRunnext:
		if p := r.proc(s.at); p.next == s {
			p.next = nil
		}
	case PlaceLocal:
		p := r.proc(s.at)
		if i := slices.Index(p.q, s); i >= 0 {
			p.q = slices.Delete(p.q, i, i+1)
		}
	case PlaceGlobal:
		if i := slices.Index(r.global, s); i >= 0 {
			r.global = slices.Delete(r.global, i, i+1)
		}
	}
	s.lastP = s.at
	s.place, s.at = PlaceNone, model.NoProc
}

// take explains a start from a queue.
func (r *replay) take(p *procState, s *stay) {
	s.grade = GradeCertain
	switch s.place {
	case PlaceRunnext:
		if s.at == p.id {
			r.remove(s)
			s.source = SourceRunnext
			if s.handed {
				p.tick.inc()
			}
			return
		}
		r.takeNextOf(p, r.proc(s.at), s)
	case PlaceLocal:
		if s.at == p.id {
			r.takeLocal(p, s)
		} else {
			r.takeSteal(p, r.proc(s.at), s)
		}
	case PlaceGlobal:
		r.takeGlobal(p, s)
	default:
		s.source, s.grade = SourceUnknown, GradeContradicted
	}
	p.tick.inc()
}

// takeLocal takes s from p's own local queue.
func (r *replay) takeLocal(p *procState, s *stay) {
	if i := slices.Index(p.q, s); i > 0 {
		r.stealsInFlight(p, i)
	}
	if i := slices.Index(p.q, s); i != 0 {
		s.grade = GradeContradicted
	}
	r.remove(s)
	s.source = SourceLocal
}

// takeNextOf takes s from the runnext of victim.
func (r *replay) takeNextOf(p, victim *procState, s *stay) {
	r.remove(s)
	s.source, s.fromP, s.batch = SourceStealRunnext, victim.id, 1
}

// takeSteal takes s, and what stood before it, from victim's local queue.
func (r *replay) takeSteal(p, victim *procState, s *stay) {
	i := slices.Index(victim.q, s)
	if i > 0 {
		r.stealsInFlight(victim, i)
		i = slices.Index(victim.q, s)
	}
	r.steal(p, victim, i, s)
}

// steal moves the first i+1 of victim's queue to the thief, which runs the last
// of them, s (runtime/proc.go: runqsteal).
func (r *replay) steal(thief, victim *procState, i int, s *stay) {
	n := i + 1
	if l := len(victim.q); n != l-l/2 {
		s.grade = GradeContradicted
	}
	moved := slices.Clone(victim.q[:i])
	victim.q = slices.Delete(victim.q, 0, n)
	for _, x := range moved {
		x.via, x.fromP, x.batch = ViaSteal, victim.id, n
		r.place(x, PlaceLocal, thief.id)
	}
	thief.q = append(thief.q, moved...)
	s.place, s.at, s.lastP = PlaceNone, model.NoProc, victim.id
	s.source, s.via, s.fromP, s.batch = SourceSteal, ViaNone, victim.id, n
}

// stealsInFlight looks for thieves that have taken from the first n of victim's
// queue already, although the trace shows their starts only later.
func (r *replay) stealsInFlight(victim *procState, n int) {
	for i := min(n, len(victim.q)) - 1; i >= 0; i-- {
		x := victim.q[i]
		if x.started && x.how == SourceUnknown && x.p != victim.id && x.search <= r.now {
			if thief := r.proc(x.p); thief != nil {
				x.grade = GradeUnique
				x.explained = true
				r.steal(thief, victim, i, x)
				return
			}
		}
	}
}

// takeGlobal takes s from the global queue.
func (r *replay) takeGlobal(p *procState, s *stay) {
	for {
		i := slices.Index(r.global, s)
		if i == 0 || !r.grabInFlight(i) {
			break
		}
	}
	i := slices.Index(r.global, s)
	if i < 0 { // another grab took it along
		r.take2(p, s)
		return
	}
	if i > 0 && !overlap(r.global[0], s) {
		s.grade = GradeContradicted
	}
	r.grab(p, s)
}

func (r *replay) take2(p *procState, s *stay) {
	if s.place == PlaceLocal && s.at == p.id {
		r.takeLocal(p, s)
		return
	}
	if s.place == PlaceLocal {
		r.takeSteal(p, r.proc(s.at), s)
	}
}

// overlap reports whether b, which became runnable after a, may have been queued
// before it.
func overlap(a, b *stay) bool { return b.ready <= a.until }

// grabInFlight looks for a proc that has taken from the head of the global queue
// already, although the trace shows its start only later.
func (r *replay) grabInFlight(n int) bool {
	x := r.global[0]
	if !x.started || x.how != SourceUnknown || x.search > r.now {
		return false
	}
	p := r.proc(x.p)
	if p == nil {
		return false
	}
	x.explained, x.grade = true, GradeUnique
	r.grab(p, x)
	return true
}

// grab takes s from the global queue and, if p has nothing of its own, a batch
// behind it (runtime/proc.go: globrunqgetbatch).
func (r *replay) grab(p *procState, s *stay) {
	s.source, s.via, s.batch, s.fromP = SourceGlobal, ViaNone, 1, model.NoProc
	size := len(r.global)
	r.remove(s)
	if p.next != nil || len(p.q) > 0 {
		r.stealsInFlight(p, len(p.q))
	}
	switch {
	case p.next != nil || len(p.q) > 0:
		p.tick.vote()
		for _, o := range r.obs.fairness {
			o.Fairness(&Fairness{Time: r.now, G: s.g, P: p.id, Local: len(p.q), Grade: s.grade})
		}
	case p.tick.fair():
		for _, o := range r.obs.fairness {
			o.Fairness(&Fairness{Time: r.now, G: s.g, P: p.id, Grade: s.grade})
		}
	default:
		n := min(batchMax, size, size/r.count()+1)
		s.batch = n
		batch := r.global[:n-1]
		for _, x := range batch {
			x.via, x.batch, x.fromP = ViaGlobal, n, model.NoProc
			r.place(x, PlaceLocal, p.id)
		}
		p.q = append(p.q, batch...)
		r.global = slices.Delete(r.global, 0, n-1)
	}
}

// tell hands out a start.
func (r *replay) tell(s *stay, p *procState) {
	o := &r.out
	*o = Start{Time: s.start, G: s.g, M: s.m, P: s.p, Func: s.fn, System: s.system, Since: s.ready, OpenStart: s.open, Origin: s.origin,
		Pseudo: s.pseudo, Source: s.source, Grade: s.grade, Choices: s.choices, Enqueued: s.enqueued, QueueP: s.queueP,
		FromP: s.fromP, Batch: s.batch, LastP: s.lastP, Search: s.search, Tick: -1}
	if s.source == SourceLocal {
		o.Via = s.via
	}
	if p != nil {
		o.Tick = p.tick.value()
	}
	for _, x := range r.obs.start {
		x.Start(o)
	}
	if s.source == SourceSteal || s.source == SourceStealRunnext {
		st := Steal{Time: s.start, G: s.g, Thief: s.p, M: s.m, Victim: s.fromP, Size: s.batch, Runnext: s.source == SourceStealRunnext, Grade: s.grade}
		for _, x := range r.obs.steal {
			x.Steal(&st)
		}
	}
}
