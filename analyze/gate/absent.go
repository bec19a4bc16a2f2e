package gate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/internal/textui"
)

// countAbsent takes totals as 0 in traces that have nothing of the name that a rule
// selects, if others have: a goroutine that the candidate starts and the base does not, or
// the other way round, is the news that the rule is there for. What no trace has is more
// likely to be a slip in the rule.
func (m matter) countAbsent() matter {
	m.all = slices.Clone(m.all)
	for i := range m.rules {
		r := &m.rules[i]
		if !r.zeroIfAbsent() || !m.all.have(r.key) {
			continue
		}
		for k, s := range m.all {
			n := 0
			samples := slices.Clone(s.samples)
			for i, x := range samples {
				_, has := x.Values[r.key]
				if has || !sample.Absent(x.Missing[r.key]) || r.Quantity.Per == rule.PerOp && x.Ops <= 0 {
					continue
				}
				y := *x
				if y.Values = maps.Clone(x.Values); y.Values == nil {
					y.Values = map[string]sample.Value{}
				}
				y.Values[r.key] = sample.Value{}
				samples[i] = &y
				n++
			}
			if n > 0 {
				m.all[k].samples = samples
				m.warnings = append(m.warnings, fmt.Sprintf("%s: %d of %s of the %s have nothing of that name, which counts as 0; if it was only renamed there, the rule needs a pattern for both names", r.text, n, textui.Plural(len(samples), "trace"), s.name))
			}
		}
	}
	return m
}

// zeroIfAbsent reports whether a quantity is a total of what has a name that selectors
// choose. Causes may be unknown for another reason.
func (r *subject) zeroIfAbsent() bool {
	q := r.Quantity
	if r.metric.Env || q.Selected("behind") == nil && (q.Selected("cause") != nil || q.Selected("func") == nil && q.Selected("name") == nil) {
		return false
	}
	return q.Agg == rule.Sum || q.Per != rule.PerNone
}

// remedy says what to do about a rule that a side has no data for; "" if that is not
// known.
func (m *matter) remedy(r *subject) string {
	q := r.Quantity
	if r.metric.Env || r.metric.Name == "op" || r.ofRequests() {
		return ""
	}
	elsewhere := m.all.have(r.key)
	single := r.metric.Kind == rule.Distribution && q.Per == rule.PerNone && q.Agg != rule.Sum && q.Agg != rule.Share
	switch {
	case single && (elsewhere || len(q.Select) == 0):
		sum := rule.Quantity{Agg: rule.Sum, Metric: q.Metric, Select: q.Select}
		per := rule.Quantity{Agg: rule.Mean, Metric: q.Metric, Select: q.Select, Per: rule.PerSecond}
		return fmt.Sprintf("; where nothing happens there is nothing to aggregate: a rule on %s or %s has 0 there", sum, per)
	case !elsewhere:
		return m.all.thereIs(q)
	}
	return ""
}

// maxNames is how many names a message lists.
const maxNames = 5

// thereIs lists what selectors could choose.
func (s sides) thereIs(q rule.Quantity) string {
	for _, key := range []string{"func", "reason", "cause", "behind"} {
		x := q.Selected(key)
		if x == nil {
			continue
		}
		names := s.named(key)
		if len(names) == 0 || slices.ContainsFunc(names, x.Match) {
			continue
		}
		near := ""
		if n := textui.Closest(strings.Trim(x.Pattern, "*"), names); n != "" {
			near = fmt.Sprintf("; did you mean %s?", n)
		}
		more := ""
		if n := len(names) - maxNames; n > 0 {
			names, more = names[:maxNames], fmt.Sprintf(" and %d more", n)
		}
		return fmt.Sprintf("%s; with %s there are %s%s", near, key, strings.Join(names, ", "), more)
	}
	return ""
}

// named returns the names that a selector's key has in the traces, greatest first in each
// list.
func (s sides) named(key string) (names []string) {
	add := func(s string) {
		if s != "" && s != sample.Others && !slices.Contains(names, s) {
			names = append(names, s)
		}
	}
	for _, side := range s {
		for _, x := range side.samples {
			list, name := slices.Concat(x.Waits, x.Blocked, x.Runs), func(c *sample.Class) string { return c.Func }
			switch key {
			case "reason":
				list, name = x.Blocked, func(c *sample.Class) string { return rule.SlugOf(c.Detail) }
			case "behind":
				list = x.Blame
			case "cause":
				list = nil
				for _, n := range x.Causes {
					add(rule.SlugOf(n.Name))
				}
			}
			for i := range list {
				add(name(&list[i]))
			}
		}
	}
	return names
}
