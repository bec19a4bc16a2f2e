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

// finding is something to be reported once no other hypothesis says otherwise.
type finding struct {
	kind     logKind
	tick     int8 // logStart: schedtick modulo 61, -1 if unknown
	p        model.ProcID
	n, m     int32 // logOverflow: size; logInjection: global and local; logLengths: queue and runnext
	at       model.Time
	runnable *runnable // logStart; logInjection: the last of the list
	path     path      // logStart; logOverflow and logInjection: the grade alone
}

// segment is a part of the log that several hypotheses share. It does not change.
type segment struct {
	before   *segment
	depth    int
	findings []finding
}

// seal makes the log so far a part that copies can share.
func (h *hypothesis) seal() {
	if len(h.log) == 0 {
		return
	}
	s := h.r.segments.get()
	s.before, s.depth = h.sealed, h.sealed.deep()+1
	s.findings, h.log = h.log, s.findings[:0]
	h.sealed = s
}

// segments are those that hypotheses may share, and after them others to be used again.
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

// recycle takes all segments back, which no hypothesis needs any more, unless they are very many.
func (l *segments) recycle() {
	if l.used > 1024 {
		l.all = nil
	}
	l.used = 0
}

// note logs a finding about a proc.
func (h *hypothesis) note(kind logKind, p model.ProcID, s *runnable, n, m int) {
	h.log = append(h.log, finding{kind: kind, p: p, runnable: s, n: int32(n), m: int32(m), at: h.r.now})
}

// logStart logs a start that was accounted for, which is the last that an operation does in a
// hypothesis.
func (h *hypothesis) logStart(s *runnable) {
	h.log = append(h.log, finding{kind: logStart, at: s.Time, runnable: s, path: h.positions[s.slot].path, tick: h.tickOf(s.P)})
}

// tickOf returns schedtick modulo 61 of a proc, -1 if unknown.
func (h *hypothesis) tickOf(p model.ProcID) int8 {
	if !isProc(p) {
		return -1
	}
	return int8(h.proc(p).tick.value())
}

// common returns the last segment that two hypotheses share.
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

// cursor walks backward through the starts that a hypothesis has logged.
type cursor struct {
	findings []finding // still to come
	before   *segment
}

func (h *hypothesis) cursor() cursor { return cursor{h.log, h.sealed} }

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

// doubt marks the starts that o, a hypothesis about as likely as h, explains in another
// way, as far back as h shares its log neither with o nor with best. All hypotheses log the
// same starts in the same order.
func (h *hypothesis) doubt(o, best *hypothesis) {
	h.r.spend(h.sealed.deep() + o.sealed.deep() + best.sealed.deep())
	base := common(h.sealed, o.sealed)
	stop := base
	if c := common(h.sealed, best.sealed); h != best && c.deep() > base.deep() {
		stop = c
	}
	for a, b := h.cursor(), o.cursor(); ; {
		h.r.spend(1)
		x := a.next(stop)
		if x == nil {
			return
		}
		if y := b.next(base); y == nil || x.runnable != y.runnable {
			return
		} else if !x.path.same(&y.path) {
			x.path.choices = max(x.path.choices, 1) + 1
		}
	}
}

// doubtQueued marks what stands in the queues of two equal hypotheses and came there in
// another way.
func (h *hypothesis) doubtQueued(o *hypothesis) {
	for i := range h.procs {
		for _, s := range h.procs[i].q.items() {
			if x := &h.positions[s]; x.via != o.positions[s].via {
				x.choices = max(x.choices, 1) + 1
			}
		}
	}
}

// same reports whether both are the same as far as hypotheses are compared.
func (x *path) same(y *path) bool {
	return x.source == y.source && x.fromP == y.fromP && (x.source != SourceLocal || x.via == y.via)
}
