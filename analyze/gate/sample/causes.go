package sample

import (
	"cmp"
	"slices"

	"github.com/schedscope/schedscope/analyze/result"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/model"
)

// causeTotal returns what selected waits lost to selected causes, and how many cells
// that were: a wait may lose time to several.
func (m *measured) causeTotal(s *source) (total float64, count int64, err error) {
	c := m.report.Causes
	if c.Refused != "" {
		return 0, 0, missingf("causes are not known: %s", c.Refused)
	}
	cause, fn, origin := s.selector("cause"), s.selector("func"), s.selector("origin")
	var sum model.Duration
	exists := false
	for x := range result.NumCauses {
		if cause.Match(x.String()) {
			exists = true
			sum += c.ByCause[x].Total
			count += c.ByCause[x].Waits
		}
	}
	switch {
	case !exists:
		return 0, 0, missingf("nothing matches %s", cause)
	case fn != nil && origin != nil:
		return 0, 0, missingf("causes are known by func or by origin, not by both")
	case fn != nil && !slices.ContainsFunc(m.funcs, fn.Match):
		return 0, 0, missingf("nothing matches %s", fn)
	case origin != nil && !slices.Contains(s.origins[:], true):
		return 0, 0, missingf("nothing matches %s", origin)
	case fn == nil && origin == nil:
		return float64(sum), count, nil
	}
	var cells []result.CauseTotal
	if fn != nil {
		for _, row := range c.ByFunc() {
			if fn.Match(row.Function) {
				cells = append(cells, row.Causes...)
			}
		}
	} else {
		for o := range c.ByOrigin {
			if s.origins[o] {
				cells = append(cells, c.ByOrigin[o].Cells()...)
			}
		}
	}
	sum, count = 0, 0
	for _, x := range cells {
		if cause.Match(x.Cause) {
			sum += x.Total
			count++
		}
	}
	return float64(sum), count, nil
}

// causes returns what waits were lost to, greatest first.
func causes(r *analyze.Causes) []Named {
	var out []Named
	for c := range result.NumCauses {
		if d := r.ByCause[c].Total; d > 0 {
			out = append(out, Named{c.String(), d})
		}
	}
	slices.SortStableFunc(out, func(a, b Named) int { return cmp.Compare(b.Total, a.Total) })
	return out
}

// blamed returns what waits stood behind the selected code, what they stood behind any, and
// how often for the selected.
func (m *measured) blamed(sel []rule.Selector) (of, all result.BlameBasis, turns int64) {
	for i := range m.blame {
		r := &m.blame[i]
		all.Add(&r.BlameBasis)
		if !slices.ContainsFunc(sel, func(s rule.Selector) bool { return !s.Match(blameKey(r, s.Key)) }) {
			of.Add(&r.BlameBasis)
			turns += r.Turns
		}
	}
	return of, all, turns
}

// blameKey returns what a row has by the key of a selector.
func blameKey(r *result.BlameRow, key string) string {
	switch {
	case key == "behind":
		return r.Function
	case r.Kind == result.BlameShortSyscall: // a part of the cause
		return result.CauseSyscall.String()
	}
	return r.Kind
}

// blameTotal returns the waits behind the selected code, and how often. What is unknown has
// only the start function of who ran, which may have done nothing itself. Of a function that
// the trace's stacks have without anybody waiting behind it, that is 0.
func (m *measured) blameTotal(s *source) (total float64, count int64, err error) {
	if why := m.report.Causes.Refused; why != "" {
		return 0, 0, missingf("causes are not known: %s", why)
	}
	of, _, turns := m.blamed(s.sel)
	if sum := of.Sum() - of.Unknown; sum > 0 {
		return float64(sum), turns, nil
	}
	fn := s.selector("behind")
	for id := range m.tables.NumStacks() {
		if slices.ContainsFunc(m.tables.Stack(model.StackID(id)), func(f model.Frame) bool { return fn.Match(f.Func) }) {
			return 0, 0, nil
		}
	}
	return 0, 0, missingf("nothing matches %s", fn)
}

// blame returns the code that waits stood behind, by function and cause, greatest first.
// Where the code is unknown it is that of a start function, at no place.
func blame(rows []result.BlameRow) []Class {
	var out []Class
	for i := range rows {
		r := &rows[i]
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

// requestsOf returns the requests of the kind with the most time, nil if there are none.
func requestsOf(r *analyze.Requests) *Requests {
	v := &result.Report{}
	r.Result(v)
	if len(v.Requests) == 0 || v.Requests[0].Count == 0 {
		return nil
	}
	k := &v.Requests[0]
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
	x.Slowest, x.Middle = t.Count, t.Middle.Count
	for i := range t.Groups {
		p := &t.Groups[i]
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
