package sample

import (
	"cmp"
	"slices"

	"github.com/schedscope/schedscope/analyze/causes"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// causeRows returns what waits lost to causes, and how many cells that were: a wait may lose
// time to several. They are known by function or by origin, not by both.
func (m *measured) causeRows(by string) (rows []row) {
	add := func(name, origin string, cells []result.CauseTotal) {
		for _, x := range cells {
			rows = append(rows, row{name: name, detail: origin, cause: x.Cause, total: x.Total, count: 1})
		}
	}
	c := m.report.Causes
	switch by {
	case byFunc:
		for _, x := range c.ByFunc() {
			add(x.Function, "", x.Causes)
		}
	case byOrigin:
		for o := range c.ByOrigin {
			add("", result.OriginName(model.Origin(o)), c.ByOrigin[o].Cells())
		}
	default:
		for x := range result.NumCauses {
			rows = append(rows, row{cause: x.String(), total: c.ByCause[x].Total, count: c.ByCause[x].Waits})
		}
	}
	return rows
}

// lostTo returns what waits were lost to, greatest first.
func lostTo(r *causes.Analysis) []Named {
	var out []Named
	for c := range result.NumCauses {
		if d := r.ByCause[c].Total; d > 0 {
			out = append(out, Named{c.String(), d})
		}
	}
	slices.SortStableFunc(out, func(a, b Named) int { return cmp.Compare(b.Total, a.Total) })
	return out
}

// blameRows returns the waits behind code by function, and how often. What is unknown has only
// the start function of who ran, which may have done nothing itself.
func (m *measured) blameRows() []row {
	return result.Each(m.blame, func(r *result.BlameRow) row {
		x := row{name: r.Function, cause: r.Kind, basis: r.BlameBasis, total: r.Sum() - r.Unknown, count: r.Turns}
		if r.Kind == result.BlameShortSyscall { // a part of the cause
			x.cause = result.CauseSyscall.String()
		}
		return x
	})
}

// Blame returns the code that waits stood behind, by function and cause, greatest first, of the
// rows about these. Where the code is unknown it is that of a start function, at no place.
func Blame(rows []result.BlameRow) []Class {
	var out []Class
	for r := range result.Refs(rows) {
		if known := r.Total - r.Unknown; known > 0 {
			at := &Frame{Func: r.Function, File: r.File, Line: int(r.Line)}
			out = append(out, Class{Func: r.Function, Detail: r.Kind, At: at, Total: known, Count: r.Turns, Longest: r.Longest})
		}
		if r.Unknown > 0 {
			out = append(out, Class{Func: r.Function, Detail: r.Kind, Total: r.Unknown})
		}
	}
	return topClasses(out)
}

// RequestsOf returns the requests of a kind, with their use of time.
func RequestsOf(k *result.RequestKind) *Requests {
	x := &Requests{Kind: k.Kind, RequestSet: requestSet(&k.RequestSet)}
	x.Path = result.Each(k.Path, func(p *result.RequestTime) Named { return Named{p.Name, p.Total} })
	sets := k.Sets()
	for i := range sets {
		if g := &sets[i]; g.Name != "" {
			x.Groups = append(x.Groups, RequestGroup{g.Name, requestSet(&g.RequestSet)})
		}
	}
	return x
}

// requestSet returns how long requests took, and what their own goroutines did.
func requestSet(s *result.RequestSet) RequestSet {
	x := RequestSet{Count: s.Count, Total: s.Total, P50: s.P50, P99: s.P99, Tail: []Class{}}
	if len(s.Tails) == 0 {
		return x
	}
	t := &s.Tails[0]
	x.Slowest, x.Rest, x.Middle = t.Count, s.Total-t.Total, t.Middle.Count
	for p := range result.Refs(t.Groups) {
		c := Class{Func: p.Function, Detail: p.String()}
		if p.Function != "" {
			c.At = &Frame{p.Function, p.File, p.Line}
		}
		if c.Total, c.Count = p.Slow, p.Times; c.Total > 0 {
			x.Tail = append(x.Tail, c)
		}
		if c.Total, c.Count = p.Middle, p.Usual; c.Total > 0 {
			x.Usual = append(x.Usual, c)
		}
	}
	x.Tail, x.Usual = topClasses(x.Tail), topClasses(x.Usual)
	return x
}
