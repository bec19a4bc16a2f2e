package experiment

import (
	"cmp"
	"slices"

	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

const (
	// enoughRequests are enough in a trace for a group to be compared.
	enoughRequests = 10
	maxGroups      = 5
	// allRequests is the group of all, where there are no others.
	allRequests = "requests"
)

// groups returns the groups of requests that at least half of the traces of each side have enough
// of, those with the most time first. Those without a name are another mixture if one side has a
// group that the other has not; then, or if there is no group, all requests come last.
func (r *Result) groups() (names []string) {
	if r.RequestKind == "" {
		return nil
	}
	traces := map[string][2]int{}
	total := map[string]model.Duration{}
	for i, s := range []*Side{&r.Base, &r.Cand} {
		for _, x := range s.samples() {
			if x.Requests == nil || x.Requests.Kind != r.RequestKind {
				continue
			}
			for _, g := range x.Requests.Groups {
				if n := traces[g.Name]; g.Count >= enoughRequests {
					n[i]++
					traces[g.Name] = n
				}
				total[g.Name] += g.Total
			}
		}
	}
	all := false
	for name, n := range traces {
		base, cand := 2*n[0] >= len(r.Base.Traces), 2*n[1] >= len(r.Cand.Traces)
		if all = all || base != cand && name != result.NoName; base && cand {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(total[b], total[a]), cmp.Compare(a, b)) })
	if all {
		names = slices.DeleteFunc(names, func(name string) bool { return name == result.NoName })
	}
	names = names[:min(len(names), maxGroups)]
	if all || len(names) == 0 {
		names = append(names, allRequests)
	}
	return names
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
	for _, group := range groups {
		selected := []rule.Selector{{Key: "kind", Pattern: r.RequestKind}}
		if group != allRequests {
			selected = append(selected, rule.Selector{Key: "name", Pattern: group})
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
			if x.q.Q == 0.5 && group == allRequests && len(groups) > 1 {
				continue // where the mixture changes, the median jumps from group to group
			}
			x.q.Select = selected
			row := Row{Section: SectionRequests, Group: group, Quantity: x.q.String(), Unit: x.q.Unit(), of: &x.q}
			values := func(s *Side) (v Values) {
				for _, t := range s.Traces {
					set := r.set(t, group)
					if set == nil || set.Count == 0 {
						v.Missing = cmp.Or(v.Missing, "no such requests")
						continue
					}
					v.X = append(v.X, x.of(set, Seconds(t.Sample)))
					if isTail(row.Quantity) && set.Count < few*100 {
						row.Few++
					}
				}
				return v
			}
			row.fill(values(&r.Base), values(&r.Cand))
			r.Rows = append(r.Rows, row)
		}
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
