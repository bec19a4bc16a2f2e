package runqueue

import (
	"slices"

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

// finding is something to be told once no other world says otherwise.
type finding struct {
	kind logKind
	tick int8 // logStart: schedtick modulo 61, -1 if unknown
	p    model.ProcID
	n, m int32 // logOverflow: size; logInjection: global and local; logLengths: queue and runnext
	at   model.Time
	stay *stay // logStart; logInjection: the last of the list
	spot spot  // logStart; logOverflow and logInjection: the grade alone
}

// segment is a part of the log that several worlds share. It does not change.
type segment struct {
	before   *segment
	depth    int
	findings []finding
}

// seal makes the log so far a part that copies can share.
func (w *world) seal() {
	if len(w.log) == 0 {
		return
	}
	depth := 1
	if w.sealed != nil {
		depth = w.sealed.depth + 1
	}
	w.sealed = &segment{before: w.sealed, depth: depth, findings: w.log}
	w.log = nil
}

// note logs a finding about a proc.
func (w *world) note(kind logKind, p model.ProcID, s *stay, n, m int) {
	w.log = append(w.log, finding{kind: kind, p: p, stay: s, n: int32(n), m: int32(m), at: w.r.now})
}

// findings returns what w has logged since base, in order.
func (w *world) findings(base *segment) []*finding {
	var out []*finding
	var parts []*segment
	for s := w.sealed; s != base; s = s.before {
		parts = append(parts, s)
	}
	for i := len(parts) - 1; i >= 0; i-- {
		for j := range parts[i].findings {
			out = append(out, &parts[i].findings[j])
		}
	}
	for j := range w.log {
		out = append(out, &w.log[j])
	}
	return out
}

// common returns the last segment that two worlds share.
func common(a, b *segment) *segment {
	depth := func(s *segment) int {
		if s == nil {
			return 0
		}
		return s.depth
	}
	for a != b {
		if depth(a) >= depth(b) {
			a = a.before
		} else {
			b = b.before
		}
	}
	return a
}

// doubt marks the starts that o, a world about as likely as w, explains in
// another way. Both have logged the same starts in the same order.
func (w *world) doubt(o *world) {
	base := common(w.sealed, o.sealed)
	a, b := onlyStarts(w.findings(base)), onlyStarts(o.findings(base))
	for i := range min(len(a), len(b)) {
		if s := a[i].stay; s == b[i].stay && !a[i].spot.same(&b[i].spot) {
			s.choices = max(s.choices, 1) + 1
		}
	}
}

func onlyStarts(list []*finding) []*finding {
	return slices.DeleteFunc(list, func(f *finding) bool { return f.kind != logStart })
}

// same reports whether both tell the same way of a goroutine.
func (x *spot) same(y *spot) bool {
	return x.source == y.source && x.fromP == y.fromP && (x.source != SourceLocal || x.via == y.via)
}
