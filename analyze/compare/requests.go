package compare

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

const (
	// enoughRequests are enough in a trace for a group to be compared.
	enoughRequests = 10
	maxGroups      = 5
	// allRequests is the group of all, where there are no others.
	allRequests = "requests"
)

// A group is a set of requests that is compared.
type group struct {
	name    string
	total   model.Duration
	count   [2]int64 // in all traces of each side
	many    [2]int   // traces with enough of them
	only    int      // 0: both sides have enough; 1: the baseline, 2: the candidate
	unknown int64    // requests of the other side whose handler is not known
}

// groups returns the groups of requests that at least half of the traces of a side have enough
// of: first those of both sides, with the most time first. Those without a name are another mixture
// if one side has a group that the other has not; then, or if there is no group, all requests are
// compared, too.
func (r *Result) groups() []group {
	if r.RequestKind == "" {
		return nil
	}
	found, named := map[string]group{}, [2]bool{}
	for i, s := range []*Side{&r.Base, &r.Cand} {
		for _, x := range s.samples() {
			if x.Requests == nil || x.Requests.Kind != r.RequestKind {
				continue
			}
			for _, g := range x.Requests.Groups {
				sum := found[g.Name]
				sum.name, sum.total = g.Name, sum.total+g.Total
				if sum.count[i] += g.Count; g.Count >= enoughRequests {
					sum.many[i]++
				}
				found[g.Name], named[i] = sum, true
			}
		}
	}
	all := false
	var both, alone []group
	for name, g := range found {
		base, cand := 2*g.many[0] >= len(r.Base.Traces), 2*g.many[1] >= len(r.Cand.Traces)
		if g.only = 2; base {
			g.only = 1
		}
		all = all || base != cand && name != result.NoName
		switch other := 2 - g.only; {
		case base && cand:
			g.only = 0
			both = append(both, g)
		case name == result.NoName, name == result.OtherNames, base == cand: // no group that a side may lack
		case named[other] && found[result.OtherNames].count[other] == 0: // else it may be among those
			g.unknown = found[result.NoName].count[other]
			alone = append(alone, g)
		}
	}
	if all {
		both = slices.DeleteFunc(both, func(g group) bool { return g.name == result.NoName })
	}
	for _, list := range []*[]group{&both, &alone} {
		slices.SortFunc(*list, func(a, b group) int { return cmp.Or(cmp.Compare(b.total, a.total), cmp.Compare(a.name, b.name)) })
		*list = (*list)[:min(len(*list), maxGroups)]
	}
	if all || len(both) == 0 {
		both = append(both, group{name: allRequests})
	}
	return append(both, alone...)
}

// set returns the requests of a group of a trace, nil if there are none.
func (r *Result) set(t *Trace, group string) *sample.RequestSet {
	x := t.Sample.Requests
	if x == nil || x.Kind != r.RequestKind {
		return nil
	}
	for i := range x.Groups {
		if x.Groups[i].Name == group {
			return &x.Groups[i].RequestSet
		}
	}
	if group != allRequests {
		return nil
	}
	return &x.RequestSet
}

// requestRows adds the rows of each group of requests.
func (r *Result) requestRows() {
	groups := r.groups()
	for i, g := range groups {
		selected := []rule.Selector{{Key: "kind", Pattern: r.RequestKind}}
		if g.name != allRequests {
			selected = append(selected, rule.Selector{Key: "name", Pattern: g.name})
		}
		for _, x := range []struct {
			q  rule.Quantity
			of func(*sample.RequestSet, float64) float64 // and seconds
		}{
			{rule.Quantity{Agg: rule.Quantile, Q: 0.5, Metric: "request"}, func(x *sample.RequestSet, _ float64) float64 { return float64(x.P50) }},
			{rule.Quantity{Agg: rule.Quantile, Q: 0.99, Metric: "request"}, func(x *sample.RequestSet, _ float64) float64 { return float64(x.P99) }},
			{rule.Quantity{Agg: rule.Mean, Metric: "request"}, func(x *sample.RequestSet, _ float64) float64 { return float64(x.Total) / float64(x.Count) }},
			{rule.Quantity{Agg: rule.Mean, Metric: "requests", Per: rule.PerSecond}, func(x *sample.RequestSet, seconds float64) float64 { return float64(x.Count) / seconds }},
		} {
			if x.q.Q == 0.5 && g.name == allRequests && i > 0 {
				continue // where the mixture changes, the median jumps from group to group
			}
			x.q.Select = selected
			row := Row{Section: SectionRequests, Group: g.name, Quantity: x.q.String(), Unit: x.q.Unit(), of: &x.q, alone: g.only > 0}
			values := func(s *Side) (v Values) {
				for _, t := range s.Traces {
					set := r.set(t, g.name)
					if set == nil || set.Count == 0 {
						v.Missing = cmp.Or(v.Missing, "no such requests")
						continue
					}
					v.X = append(v.X, x.of(set, Seconds(t.Sample)))
					if isTail(&x.q) && (sample.Value{N: set.Count}).Few(x.q) {
						row.Few++
					}
				}
				return v
			}
			row.fill(values(&r.Base), values(&r.Cand))
			r.Rows = append(r.Rows, row)
		}
		if g.only > 0 {
			r.only(&g)
		}
	}
}

// only says which side alone has enough of a group. The row of its p99 is the last but two.
func (r *Result) only(g *group) {
	row, side, other := &r.Rows[len(r.Rows)-3], &r.Base, &r.Cand
	p99 := row.Base.Median
	if g.only == 2 {
		side, other, p99 = other, side, row.Cand.Median
	}
	text := fmt.Sprintf("seen only in %s", side.Name)
	if n := g.count[2-g.only]; n > 0 {
		text = fmt.Sprintf("too few in %s to compare, %s, but in %s", other.Name, textui.Count(n), side.Name)
	}
	text += fmt.Sprintf(": %s of %s, p99 %s", textui.Plural(g.count[g.only-1], "request"), row.name(), row.text(p99))
	if g.unknown > 0 { // a handler is seen only in requests that wait
		text += fmt.Sprintf("; in %s the handler of %s is not known", other.Name, textui.Plural(g.unknown, "request"))
	}
	r.Only = append(r.Only, text)
}

// hangs says which requests of a side hang, "" if none does.
func (s *Side) hangs() string {
	for _, t := range s.whole() {
		if t.Sample.Hangs != "" {
			return t.Sample.Hangs
		}
	}
	return ""
}

// hung decides where the requests of one side hang: no length of those that ended is worse.
func (r *Result) hung() {
	base, cand := r.Base.hangs(), r.Cand.hangs()
	switch {
	case base != "" && cand != "":
		r.warnf("requests", "requests hang on both sides, in %s: %s", r.Cand.Name, cand)
	case cand != "":
		r.Verdict, r.Headline, r.Part = Worse, fmt.Sprintf("requests hang in %s: %s", r.Cand.Name, cand), ""
	case base != "":
		r.Verdict, r.Headline, r.Part = Better, fmt.Sprintf("requests hang only in %s: %s", r.Base.Name, base), ""
	}
}

// Drawn returns how long the requests of a trace took that the headline is about.
func (r *Result) Drawn(v *result.Report) *result.Dist {
	for i := range v.Requests {
		k := &v.Requests[i]
		if k.Kind != r.RequestKind {
			continue
		}
		sets := k.Sets()
		for n := range sets {
			if sets[n].Name == r.lead.Group {
				return &sets[n].Dist
			}
		}
		if r.lead.Group == allRequests {
			return &k.Dist
		}
	}
	return &result.Dist{}
}
