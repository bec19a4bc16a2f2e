package findings

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// How objectives are judged
//
//  1. One without a group is for all requests of a kind together, and for those of each group.
//  2. A handler is seen only in requests that wait, as a rule the slower ones. Each other request of the
//     kind may be of that handler or of another. So a percentile of a group has bounds: it is the least if
//     all others that are shorter belong to the group, the greatest if all that are longer do.
//  3. An objective is met or missed if both bounds are. Of groups whose bounds are not, all requests
//     together decide, unless the objective names the group.

// ParseObjectives parses "p99=50ms,p50=5ms", for all groups of requests, or for one of them if a
// name and a colon come before it.
func ParseObjectives(text string) (list []result.Objective, err error) {
	group, limits := "", text
	if i := strings.LastIndex(text, ":"); i >= 0 {
		group, limits = text[:i], text[i+1:]
	}
	if several.MatchString(group) {
		return nil, fmt.Errorf("%q: there is more than one group: give each a --slo of its own", text)
	}
	for part := range strings.SplitSeq(limits, ",") {
		m := objective.FindStringSubmatch(part)
		if m == nil {
			return nil, fmt.Errorf("%q: want p99=50ms, p50=5ms or both joined by a comma, after GROUP: if it is for one group", text)
		}
		q, err := strconv.ParseFloat(m[1], 64)
		d, err2 := time.ParseDuration(m[2])
		if err = cmp.Or(err, err2); err != nil || q <= 0 || q >= 100 || d <= 0 {
			return nil, fmt.Errorf("%q: want a percentile between p0 and p100, such as p99.9, and a duration above 0", part)
		}
		list = append(list, result.Objective{Group: group, Quantile: q / 100, Limit: model.Duration(d)})
	}
	return list, nil
}

var (
	objective = regexp.MustCompile(`^p([0-9.]+)=((?:[0-9.]+[a-zµ]+)+)$`)
	several   = regexp.MustCompile(`:p[0-9.]+=(?:[0-9.]+[a-zµ]+)+,`) // the end of an objective before another group
)

// isGroup reports whether an objective is for a group of requests, or for all of its kind.
func isGroup(o *result.Objective, q *question) bool {
	return o.Group == "" || o.Group == q.kind || isNamed(o, q.Name)
}

// about reports whether an objective is for a group of requests, or for the only handler that is seen in those
// of a kind without groups.
func (j *judge) about(o *result.Objective, q *question) bool {
	if isGroup(o, q) || result.Handled(q.Name) || q.Name == result.NoName {
		return isGroup(o, q)
	}
	seen := false
	for i := range j.r.Requests {
		for n := range j.r.Requests[i].Handlers {
			if h := &j.r.Requests[i].Handlers[n]; j.r.Requests[i].Kind == q.kind && result.Handled(h.Name) {
				if !isNamed(o, h.Name) {
					return false
				}
				seen = true
			}
		}
	}
	return seen
}

// decides reports whether an objective says whether requests of q are slow: of the slowest only high percentiles do.
func (j *judge) decides(o *result.Objective, q *question) bool {
	return j.about(o, q) && (q.all || o.Quantile >= 0.9)
}

// isNamed reports whether an objective is for a handler, task or function.
func isNamed(o *result.Objective, name string) bool {
	return o.Group == name || o.Group == textui.ShortFunc(name) || strings.HasSuffix(name, "."+o.Group)
}

// named returns how many requests have the handler, task or function that an objective is for.
func (j *judge) named(o *result.Objective) (n int64) {
	for i := range j.r.Requests {
		for _, h := range j.r.Requests[i].Handlers {
			if o.Group != "" && isNamed(o, h.Name) {
				n += h.Count
			}
		}
	}
	return n
}

// names returns what objectives may be for: kinds of requests, and of each the handlers, those with the most requests first.
func (j *judge) names() (names []string) {
	for k := range result.Refs(j.r.Requests) {
		names = append(names, plain(k.Kind))
		handlers := slices.DeleteFunc(slices.Clone(k.Handlers), func(h result.RequestHandler) bool { return h.Count == 0 || !result.Handled(h.Name) })
		slices.SortStableFunc(handlers, func(a, b result.RequestHandler) int { return cmp.Compare(b.Count, a.Count) })
		names = append(names, result.Each(handlers, func(h *result.RequestHandler) string { return plain(textui.ShortFunc(h.Name)) })...)
	}
	return names
}

// misnamed says that no group of requests is called what an objective is for, and which there are, "" if there is one.
func (j *judge) misnamed(o *result.Objective) string {
	if o.State != "unknown" || o.Group == "" || o.Open > 0 || o.Most > 0 || j.named(o) > 0 || slices.ContainsFunc(j.questions, func(q *question) bool { return isGroup(o, q) }) {
		return ""
	}
	const maxNames = 10
	names := j.names()
	shown := cmp.Or(strings.Join(names[:min(len(names), maxNames)], ", "), "none")
	if n := len(names) - maxNames; n > 0 {
		shown += fmt.Sprintf(" and %d more", n)
	}
	near := cmp.Or(textui.Closest(o.Group, names), textui.Closest(o.Group, result.Each(names, func(s *string) string { return (*s)[strings.LastIndexByte(*s, '.')+1:] })))
	return fmt.Sprintf("No group of requests is called %s, for which there is an objective: there are %s.", plain(o.Group), shown) + textui.If(near != "", fmt.Sprintf(" Did you mean %s?", near))
}

// measure compares objectives with what was measured.
func (j *judge) measure(objectives []result.Objective) {
	for _, o := range objectives {
		worst := o
		for k := range result.Refs(j.r.Requests) {
			of, others := o, unseen(k)
			all := o.Group == "" || o.Group == k.Kind
			if all {
				compare(&of, k, k.Dist.Values(), nil)
			}
			for n := range k.Handlers {
				if h := &k.Handlers[n]; result.Handled(h.Name) && (all && len(k.Groups) > 0 || !all && isNamed(&o, h.Name)) {
					compare(&of, k, h.Dist.Values(), others)
				}
			}
			if of.State == "missed" {
				j.miss(&of, k)
			}
			if x := &j.open; x.kind == k && (x.hangs || x.handler.Count > 0) && of.State != "missed" && (all || isNamed(&o, x.handler.Name)) && x.over(o.Limit) > (1-o.Quantile)*float64(k.Count+x.count) {
				if of.Most, of.Open, of.State = x.longest, x.count, "unknown"; x.hangs {
					of.State, of.Value = "missed", o.Limit
				}
			}
			worst = worse(worst, of)
		}
		worst.State = cmp.Or(worst.State, "unknown")
		j.r.Verdict.Objectives = append(j.r.Verdict.Objectives, worst)
	}
}

// miss notes which requests of a kind miss an objective.
func (j *judge) miss(o *result.Objective, k *result.RequestKind) {
	for i, q := range j.questions {
		if q.all || q.kind != k.Kind || len(k.Groups) > 0 && (!isGroup(o, q) || q.Unknown || q.RequestGroup.Dist.Values().Quantile(o.Quantile) <= o.Limit) {
			continue
		}
		if o.Quantile > 0.9 && q.slowest() >= slowRequests*q.middle() {
			q.limit = o.Limit
		} else { // the typical one is as slow
			j.questions[i+1].limit = o.Limit
		}
	}
}

// met reports whether objectives say of all requests that they are not slow.
func (j *judge) met() bool {
	list := j.r.Verdict.Objectives
	undecided := func(q *question) bool {
		return !slices.ContainsFunc(list, func(o result.Objective) bool { return j.decides(&o, q) })
	}
	return !slices.ContainsFunc(j.questions, undecided) && (len(j.questions) > 0 || slices.ContainsFunc(list, func(o result.Objective) bool { return o.Group == "" })) && j.kept()
}

// kept reports whether there are objectives, and all are met.
func (j *judge) kept() bool {
	list := j.r.Verdict.Objectives
	return len(list) > 0 && !slices.ContainsFunc(list, func(o result.Objective) bool { return o.State != "met" })
}

// compare judges an objective by requests of a kind that are seen and others that may be of the same group.
func compare(o *result.Objective, k *result.RequestKind, seen, others *dist.Dist) {
	if seen == nil || seen.Count() < enough || float64(seen.Count())*(1-o.Quantile) < 1 {
		return
	}
	x := *o
	low, high := bounds(seen, others, o.Quantile)
	if k.Kind == "func" { // calls that do not wait are not seen
		low = 0
	}
	switch x.State, x.Value, x.Most = "unknown", low, high; {
	case low > o.Limit:
		x.State = "missed"
	case high <= o.Limit:
		x.State = "met"
	case others != nil && (o.Group == "" || o.Group == k.Kind):
		return
	}
	if low == high {
		x.Most = 0
	}
	*o = worse(*o, x)
}

// worse returns the worse of two judgments.
func worse(a, b result.Objective) result.Objective {
	states := []string{"", "met", "unknown", "missed"}
	if cmp.Or(cmp.Compare(slices.Index(states, a.State), slices.Index(states, b.State)), cmp.Compare(max(a.Value, a.Most), max(b.Value, b.Most))) < 0 {
		return b
	}
	return a
}

// unseen are the requests of a kind of which the handler is not known; nil if there are none.
func unseen(k *result.RequestKind) (all *dist.Dist) {
	for h := range result.Refs(k.Handlers) {
		if result.Handled(h.Name) {
			continue
		}
		if v := h.Dist.Values(); v != nil && v.Count() > 0 {
			all = cmp.Or(all, &dist.Dist{})
			all.Merge(v)
		}
	}
	return all
}

// bounds returns the least and the greatest that a quantile may be of requests that are seen and any of the
// others.
func bounds(seen, others *dist.Dist, q float64) (low, high model.Duration) {
	if others == nil {
		v := seen.Quantile(q)
		return v, v
	}
	fewer, i := others, 1
	if seen.Count() < others.Count() {
		fewer, i = seen, 0
	}
	var all dist.Dist
	all.Merge(seen)
	all.Merge(others)
	if !all.Exact() { // the same values of both: the middles of buckets
		fewer = dist.Of(fewer.Histogram(), 0, all.Min(), all.Max(), 0)
	}
	type some struct {
		v model.Duration
		n int64
	}
	var list []some
	fewer.Each(func(v model.Duration, n int64) { list = append(list, some{v, n}) })
	var below [2]int64 // up to v, of those that are seen and of the others
	low, high = -1, -1
	all.Each(func(v model.Duration, n int64) {
		below[1-i] += n
		for ; len(list) > 0 && list[0].v <= v; list = list[1:] {
			below[i] += list[0].n
			below[1-i] -= list[0].n
		}
		if low < 0 && below[0]+below[1] >= dist.Rank(q, seen.Count()+below[1]) {
			low = v
		}
		if high < 0 && below[0] >= dist.Rank(q, all.Count()-below[1]) {
			high = v
		}
	})
	return low, high
}

// others returns how many requests have an unknown handler, and what the median of a group is at most with them, if it
// may be another.
func others(s *result.RequestGroup, unseen *dist.Dist) (n int64, half model.Duration) {
	seen := s.Dist.Values()
	if unseen == nil || seen == nil || seen.Count() == 0 {
		return 0, 0
	}
	low, high := bounds(seen, unseen, 0.5)
	if float64(low) >= (1-likeMedian)*float64(s.P50) && float64(high) <= (1+likeMedian)*float64(s.P50) {
		return 0, 0
	}
	return unseen.Count(), high
}
