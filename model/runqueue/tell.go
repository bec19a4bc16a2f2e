package runqueue

import "github.com/schedscope/schedscope/model"

// tell hands out what a world has logged.
func (r *replay) tell(w *world) {
	if w.sealed == nil {
		for i := range w.log {
			r.tellOne(&w.log[i])
		}
	} else {
		for _, f := range w.findings() {
			r.tellOne(f)
		}
	}
	w.sealed, w.log = nil, w.log[:0]
}

func (r *replay) tellOne(f *finding) {
	switch f.kind {
	case logStart:
		r.tellStart(f)
	case logOverflow:
		for _, o := range r.obs.overflow {
			o.Overflow(&Overflow{Time: f.at, P: f.p, Size: int(f.n), Grade: f.spot.grade})
		}
	case logInjection:
		r.tellInjection(f)
	case logLengths:
		r.outLengths = Lengths{Time: f.at, P: f.p, Len: int(f.n), Next: int(f.m)}
		for _, o := range r.obs.lengths {
			o.Lengths(&r.outLengths)
		}
	}
}

func (r *replay) tellStart(f *finding) {
	s, x := f.stay, &f.spot
	o := &r.out
	*o = Start{Time: s.start, G: s.g, M: s.m, P: s.p, Func: s.fn, System: s.system, Since: s.ready, OpenStart: s.open, Origin: s.origin,
		Pseudo: s.pseudo, Source: x.source, Enqueued: x.enqueued, QueueP: x.queueP, Grade: x.grade,
		FromP: x.fromP, Batch: int(x.batch), LastP: x.lastP, Search: s.search, Tick: int(f.tick)}
	if x.source == SourceLocal {
		o.Via = x.via
	}
	choices := max(s.choices, int(x.choices))
	if choices > 1 && o.Grade != GradeContradicted {
		o.Grade = GradeChosen
	}
	if s.wait != 0 {
		op := r.ops.of(s.wait)
		op.starts++
		if o.Grade == GradeContradicted {
			op.contradicted++
			o.Operation = operation(r.ops.tables.Stack(s.wait))[0].Func
		}
	}
	if o.Grade == GradeChosen {
		o.Choices = max(2, choices)
	}
	if x.before != nil && !r.masking {
		x.before.Start = o
		for _, t := range r.obs.decision {
			t.Decision(x.before)
		}
	}
	for _, t := range r.obs.start {
		t.Start(o)
	}
	if x.fair {
		for _, t := range r.obs.fairness {
			t.Fairness(&Fairness{Time: s.start, G: s.g, P: s.p, Local: int(x.ahead), Grade: o.Grade})
		}
	}
	if s.list == nil && !s.blind {
		defer r.recycle(s)
	}
	if x.taken != SourceSteal && x.taken != SourceStealRunnext {
		return
	}
	st := Steal{Time: s.start, G: s.g, Thief: s.p, M: s.m, Victim: x.fromP, Size: int(x.batch), Runnext: x.taken == SourceStealRunnext, Grade: o.Grade}
	for _, t := range r.obs.steal {
		t.Steal(&st)
	}
}

func (r *replay) tellInjection(f *finding) {
	s := f.stay
	j := Injection{Time: s.ready, M: s.by, P: f.p, Global: int(f.n), Local: int(f.m), Netpoll: s.origin == model.OriginNetpoll, Poller: s.poller, Grade: f.spot.grade}
	for _, o := range r.obs.injection {
		o.Injection(&j)
	}
}
