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
	if why := m.report.Causes.Refused; why != "" {
		return 0, 0, missingf("causes are not known: %s", why)
	}
	cause, fn, origin := s.selector("cause"), s.selector("func"), s.selector("origin")
	var of []result.Cause
	for c := range result.NumCauses {
		if cause.Match(c.String()) {
			of = append(of, c)
		}
	}
	switch {
	case len(of) == 0:
		return 0, 0, missingf("nothing matches %s", cause)
	case fn != nil && origin != nil:
		return 0, 0, missingf("causes are known by func or by origin, not by both")
	case fn != nil && !m.selects(fn):
		return 0, 0, missingf("nothing matches %s", fn)
	case origin != nil && !slices.Contains(s.origins[:], true):
		return 0, 0, missingf("nothing matches %s", origin)
	}
	sum, n := m.causeSum(of, s, fn, origin)
	return float64(sum), n, nil
}

func (m *measured) causeSum(of []result.Cause, s *source, fn, origin *rule.Selector) (sum model.Duration, n int64) {
	add := func(t *analyze.CauseTotals) {
		for _, c := range of {
			if t[c] > 0 {
				sum += t[c]
				n++
			}
		}
	}
	switch {
	case fn != nil:
		for _, row := range m.report.Causes.ByFunc() {
			if fn.Match(row.Name) {
				add(&row.Causes)
			}
		}
	case origin != nil:
		for o := range m.report.Causes.ByOrigin {
			if s.origins[o] {
				add(&m.report.Causes.ByOrigin[o])
			}
		}
	default:
		for _, c := range of {
			sum += m.report.Causes.ByCause[c].Total
			n += m.report.Causes.ByCause[c].Waits
		}
	}
	return sum, n
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
		c := Class{Func: row.Func, Detail: row.Work.String(), Total: row.Total, Count: row.Turns}
		if row.Syscall {
			c.Detail = "system call"
		}
		if len(row.Stacks) > 0 {
			c.At = frameOf(row.Stacks[0].Stack)
		}
		out = append(out, c)
	}
	return topClasses(out)
}
