package runqueue

import "github.com/schedscope/schedscope/model"

// tell hands out what a world has logged.
func (r *replay) tell(w *world, _ []*world) {
	for i := range w.log {
		e := &w.log[i]
		switch e.kind {
		case logStart:
			r.tellStart(e)
		case logOverflow:
			for _, o := range r.obs.overflow {
				o.Overflow(&Overflow{Time: e.at, P: e.p, Size: int(e.n), Grade: GradeUnique})
			}
		case logFairness:
			for _, o := range r.obs.fairness {
				o.Fairness(&Fairness{Time: e.at, G: e.stay.g, P: e.p, Local: int(e.n), Grade: GradeUnique})
			}
		}
	}
	w.log = w.log[:0]
}

func (r *replay) tellStart(e *entryLog) {
	s, x := e.stay, &e.spot
	o := &r.out
	*o = Start{Time: s.start, G: s.g, M: s.m, P: s.p, Func: s.fn, System: s.system, Since: s.ready, OpenStart: s.open, Origin: s.origin,
		Pseudo: s.pseudo, Source: x.source, Enqueued: x.enqueued, QueueP: x.queueP,
		FromP: x.fromP, Batch: int(x.batch), LastP: x.lastP, Search: s.search, Tick: int(e.tick)}
	if x.source == SourceLocal {
		o.Via = x.via
	}
	if !x.certain {
		o.Grade = GradeContradicted
	}
	for _, t := range r.obs.start {
		t.Start(o)
	}
	if x.source == SourceSteal || x.source == SourceStealRunnext {
		st := Steal{Time: s.start, G: s.g, Thief: s.p, M: s.m, Victim: x.fromP, Size: int(x.batch), Runnext: x.source == SourceStealRunnext, Grade: o.Grade}
		for _, t := range r.obs.steal {
			t.Steal(&st)
		}
	}
	_ = model.NoProc
}
