package sample

import (
	"cmp"
	"slices"

	"github.com/schedscope/schedscope/analyze/result"

	"github.com/schedscope/schedscope/analyze"
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

// behind returns what waits stood behind, greatest first, each with the place where most
// of its turns ended, by time.
func behind(r *analyze.Causes) []Class {
	var out []Class
	for _, row := range r.Antagonists() {
		c := Class{Func: row.Function, Detail: row.Work, Total: row.Total, Count: row.Turns}
		if row.Syscall {
			c.Detail = "system call"
		}
		most := &row.Stacks[0]
		if i := slices.IndexFunc(most.Stack, func(f result.Frame) bool { return f.Function == most.Place }); i >= 0 {
			f := &most.Stack[i]
			c.At = &Frame{Func: f.Function, File: f.File, Line: int(f.Line)}
		}
		out = append(out, c)
	}
	return topClasses(out)
}
