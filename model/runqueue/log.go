package runqueue

import (
	"github.com/schedscope/schedscope/model"
)

// logKind is a kind of finding.
type logKind uint8

const (
	logStart logKind = iota
	logOverflow
	logInjection
	logLengths
)

// finding is something to be reported once no other world says otherwise.
type finding struct {
	kind logKind
	tick int8 // logStart: schedtick modulo 61, -1 if unknown
	p    model.ProcID
	n, m int32 // logOverflow: size; logInjection: global and local; logLengths: queue and runnext
	at   model.Time
	stay *stay // logStart; logInjection: the last of the list
	way  way   // logStart; logOverflow and logInjection: the grade alone
}

// segment is a part of the log that several worlds share. It does not change.
type segment struct {
	before   *segment
	depth    int
	findings []finding
}

// seal makes the log so far a part that copies can share.
func (w *world) seal() {
	w.logBegun()
	if len(w.log) == 0 {
		return
	}
	s := w.r.segments.get()
	s.before, s.depth = w.sealed, w.sealed.deep()+1
	s.findings, w.log = w.log, s.findings[:0]
	w.sealed = s
}

// segments are those that worlds may share, and after them others to be used again.
type segments struct {
	all  []*segment
	used int
}

// get returns a segment with room for findings.
func (l *segments) get() *segment {
	if l.used++; l.used > len(l.all) {
		l.all = append(l.all, new(segment))
	}
	return l.all[l.used-1]
}

// recycle takes all segments back, which no world needs any more, unless they are very many.
func (l *segments) recycle() {
	if l.used > 1024 {
		l.all = nil
	}
	l.used = 0
}

// note logs a finding about a proc.
func (w *world) note(kind logKind, p model.ProcID, s *stay, n, m int) {
	w.log = append(w.log, finding{kind: kind, p: p, stay: s, n: int32(n), m: int32(m), at: w.r.now})
}

// logBegun logs the start that is not in the log yet, if there is one.
func (w *world) logBegun() {
	if s := w.begun; s != nil {
		w.log = append(w.log, finding{kind: logStart, at: s.start, stay: s, way: w.spots[s.slot].way, tick: w.tickOf(s.p)})
		w.begun = nil
	}
}

// tickOf returns schedtick modulo 61 of a proc, -1 if unknown.
func (w *world) tickOf(p model.ProcID) int8 {
	if !isProc(p) {
		return -1
	}
	return int8(w.proc(p).tick.value())
}

// common returns the last segment that two worlds share.
func common(a, b *segment) *segment {
	for a != b {
		if a.deep() >= b.deep() {
			a = a.before
		} else {
			b = b.before
		}
	}
	return a
}

func (s *segment) deep() int {
	if s == nil {
		return 0
	}
	return s.depth
}

// cursor walks backward through the starts that a world has logged.
type cursor struct {
	findings []finding // still to come
	before   *segment
}

func (w *world) cursor() cursor { return cursor{w.log, w.sealed} }

// next returns the start before, nil if base is reached.
func (c *cursor) next(base *segment) *finding {
	for {
		for i := len(c.findings) - 1; i >= 0; i-- {
			f := &c.findings[i]
			c.findings = c.findings[:i]
			if f.kind == logStart {
				return f
			}
		}
		if c.before == base {
			return nil
		}
		c.findings, c.before = c.before.findings, c.before.before
	}
}

// doubt marks the starts that o, a world about as likely as w, explains in another
// way, as far back as w shares its log neither with o nor with best. All worlds log the
// same starts in the same order.
func (w *world) doubt(o, best *world) {
	w.r.spend(w.sealed.deep() + o.sealed.deep() + best.sealed.deep())
	base := common(w.sealed, o.sealed)
	stop := base
	if c := common(w.sealed, best.sealed); w != best && c.deep() > base.deep() {
		stop = c
	}
	for a, b := w.cursor(), o.cursor(); ; {
		w.r.spend(1)
		x := a.next(stop)
		if x == nil {
			return
		}
		if y := b.next(base); y == nil || x.stay != y.stay {
			return
		} else if !x.way.same(&y.way) {
			x.way.choices = max(x.way.choices, 1) + 1
		}
	}
}

// doubtQueued marks what stands in the queues of two equal worlds and came there in
// another way.
func (w *world) doubtQueued(o *world) {
	for i := range w.procs {
		for _, s := range w.procs[i].q.items() {
			if x := &w.spots[s]; x.via != o.spots[s].via {
				x.choices = max(x.choices, 1) + 1
			}
		}
	}
}

// same reports whether both are the same as far as worlds are compared.
func (x *way) same(y *way) bool {
	return x.source == y.source && x.fromP == y.fromP && (x.source != SourceLocal || x.via == y.via)
}
