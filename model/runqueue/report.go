package runqueue

import "github.com/schedscope/schedscope/model"

// report hands out what the last hypothesis that is left has logged, in order.
func (r *replay) report(h *hypothesis) {
	r.reportSealed(h.sealed)
	r.reportAll(h.log)
	h.sealed, h.log = nil, h.log[:0]
	r.segments.recycle()
}

func (r *replay) reportSealed(s *segment) {
	if s != nil {
		r.reportSealed(s.before)
		r.reportAll(s.findings)
	}
}

func (r *replay) reportAll(findings []finding) {
	for i := range findings {
		r.reportOne(&findings[i])
	}
}

func (r *replay) reportOne(f *finding) {
	switch f.kind {
	case logStart:
		r.reportStart(f.runnable, &f.path, f.tick)
	case logOverflow:
		model.Report(r.obs.overflow, OverflowObserver.Overflow, &Overflow{Time: f.at, P: f.p, Size: int(f.n), Grade: f.path.grade})
	case logInjection:
		s := f.runnable
		model.Report(r.obs.injection, InjectionObserver.Injection, &Injection{Time: s.Since, M: s.by, P: f.p, Global: int(f.n), Local: int(f.m),
			Netpoll: s.Origin == model.OriginNetpoll, Poller: s.poller, Grade: f.path.grade})
	case logLengths:
		r.reportLengths(f.at, f.p, length{f.n, f.m})
	}
}

func (r *replay) reportLengths(at model.Time, p model.ProcID, l length) {
	r.outLengths = Lengths{Time: at, P: p, Len: int(l.queue), Next: int(l.next)}
	for _, o := range r.obs.lengths {
		o.Lengths(&r.outLengths)
	}
	for _, o := range r.obs.queue {
		o.Queue(&r.outLengths)
	}
}

func (r *replay) reportStart(s *runnable, x *path, tick int8) {
	o := &s.Start
	o.Source, o.Grade, o.Enqueued, o.QueueP = x.source, x.grade, x.enqueued, x.queueP
	o.FromP, o.Batch, o.LastP, o.Tick, o.Plain = x.fromP, int(x.batch), x.lastP, int(tick), x.plain
	if x.source == SourceLocal {
		o.Via = x.via
	}
	choices := int(max(s.choices, x.choices))
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
	if x.before != nil {
		x.before.Start = o
		model.Report(r.obs.decision, DecisionObserver.Decision, x.before)
		if n := len(r.lent) - 1; n >= 0 && r.lent[n] == x.before { // as where there is one hypothesis
			r.views, r.lent = append(r.views, x.before), r.lent[:n]
		}
		x.before = nil
	}
	for _, ob := range r.obs.start {
		ob.Start(o)
	}
	if x.fair {
		model.Report(r.obs.fairness, FairnessObserver.Fairness, &Fairness{Time: s.Time, G: s.G, P: s.P, Local: int(x.ahead), Grade: o.Grade})
	}
	if x.taken == SourceSteal || x.taken == SourceStealRunnext {
		model.Report(r.obs.steal, StealObserver.Steal, &Steal{Time: s.Time, G: s.G, Thief: s.P, M: s.M, Victim: x.fromP, Size: int(x.batch),
			Runnext: x.taken == SourceStealRunnext, Grade: o.Grade})
	}
	if l := s.injected; l == nil {
		r.putBack(s)
	} else if l.reported++; l.done && l.reported == len(l.runnables) {
		for _, x := range l.runnables {
			r.putBack(x)
		}
	}
}

// putBack takes back a runnable that was reported.
func (r *replay) putBack(s *runnable) {
	if !s.blind {
		r.pool.put(s)
	}
}
