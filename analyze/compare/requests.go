package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/schedscope/schedscope/analyze/findings"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/internal/stat"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

const (
	// enoughRequests are enough in a trace for a group to be compared, fewestRequests if the group changed by much: of so
	// many the least is below the median in 31 of 32 cases, and the greatest above it.
	enoughRequests, fewestRequests = 10, 5
	maxGroups                      = 5
	// leastHung more requests hang on one side than as great a part as on the other would be.
	leastHung = 3
	// allRequests is the group of all, where there are no others; otherRequests are those of no group that both sides have.
	allRequests, otherRequests = "requests", "other requests"
)

// A group is a set of requests that is compared.
type group struct {
	name    string
	total   model.Duration
	count   [2]int64 // in all traces of each side
	many    [2]int   // traces with enough of them
	some    [2]int   // traces with fewestRequests
	p50     [2][]float64
	only    int   // 0: both sides have enough; 1: the baseline, 2: the candidate
	unknown int64 // requests of the other side whose handler is not known
	rare    bool  // both sides have some, one not enough
}

// groups returns the groups of requests that at least half of the traces of a side have enough
// of: first those of both sides, with the most time first, then those that are rare, or less than the first. Those without a
// name are another mixture if one side has a group that the other has not: they are compared together with that, as a handler
// is seen only in requests that wait, unless that side has more of them; then, or without a group, all requests are.
// What both have and is not among them, but seems to have changed by much, is in r.unjudged.
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
				if g.Count >= fewestRequests {
					sum.some[i]++
				}
				sum.p50[i] = append(sum.p50[i], float64(g.P50))
				found[g.Name], named[i] = sum, true
			}
		}
	}
	all := false
	var both, rare, alone, rest []group
	for name, g := range found {
		base, cand := 2*g.many[0] >= len(r.Base.Traces), 2*g.many[1] >= len(r.Cand.Traces)
		g.rare = !(base && cand) && 2*g.some[0] >= len(r.Base.Traces) && 2*g.some[1] >= len(r.Cand.Traces)
		if g.only = 2; base {
			g.only = 1
		}
		all = all || base != cand && name != result.NoName
		switch other := 2 - g.only; {
		case base && cand:
			g.only = 0
			both = append(both, g)
		case name == result.NoName, name == result.OtherNames: // no group that a side may lack
		case g.rare:
			g.only = 0
			rare = append(rare, g)
		case base == cand:
			rest = append(rest, g)
		case named[other] && found[result.OtherNames].count[other] == 0: // else it may be among those
			g.unknown = found[result.NoName].count[other]
			alone = append(alone, g)
		}
	}
	r.foreign = r.strangers(found)
	if all {
		both = slices.DeleteFunc(both, func(g group) bool { return g.name == result.NoName })
	}
	r.apart = result.Each(both, func(g *group) string { return g.name })
	byTotal := func(a, b group) int { return cmp.Or(cmp.Compare(b.total, a.total), cmp.Compare(a.name, b.name)) }
	slices.SortFunc(both, byTotal)
	for n := maxGroups; len(both) > n; both = both[:len(both)-1] {
		g := both[len(both)-1]
		g.rare = true
		rare = append(rare, g)
	}
	for _, list := range []*[]group{&rare, &alone} {
		slices.SortFunc(*list, byTotal)
		if list == &rare && r.Single() { // nothing is tested, so that they may be chosen by what is asked of them
			slices.SortStableFunc(*list, byChange)
		}
		n := min(len(*list), maxGroups)
		*list, rest = (*list)[:n], append(rest, (*list)[n:]...)
	}
	r.unjudge(append(rest, alone...))
	if all || len(both) == 0 {
		name, n := allRequests, [2]float64{}
		for i, s := range []*Side{&r.Base, &r.Cand} {
			for _, t := range s.Traces {
				if x := r.set(t, otherRequests); x != nil {
					n[i] += float64(x.Count) / (Seconds(t.Sample) * float64(len(s.Traces)))
				}
			}
		}
		more := func(g group) bool { return n[g.only-1] > runLimit*n[2-g.only] }
		if len(both) > 0 && len(alone) > 0 && !slices.ContainsFunc(alone, more) {
			name = otherRequests
		}
		both = append(both, group{name: name})
	}
	return slices.Concat(both, rare, alone)
}

// strangers says that no handler has requests on both sides, "" if one has, or if more of a side show no handler than any one
// of them.
func (r *Result) strangers(found map[string]group) string {
	var most [2]group
	sides := map[string]int{} // that have requests of a handler, of a function literal by the function that it is in, as others there change its number
	for name, g := range found {
		for i, n := range g.count {
			if n > 0 && name != result.NoName && name != result.OtherNames {
				sides[model.Enclosing(name)] |= 1 << i
			}
		}
		for i, n := range g.count {
			if n > most[i].count[i] || n == most[i].count[i] && name < most[i].name {
				most[i] = g
			}
		}
	}
	for _, have := range sides {
		if have == 1|2 {
			return ""
		}
	}
	for i, g := range most {
		if g.name == result.NoName || g.name == result.OtherNames || g.count[i] < fewestRequests {
			return ""
		}
	}
	of := func(i int) string { return textui.Clean(result.GroupName(r.RequestKind, most[i].name)) }
	return fmt.Sprintf("they may be of different programs: no handler has requests on both sides, such as %s of %s and %s of %s; trace.WithRegion gives what is the same one name", of(0), r.Base.Name, of(1), r.Cand.Name)
}

// change is by how much the median of a group seems to have changed, as a logarithm.
func (g *group) change() float64 {
	base, cand := MedianOrZero(g.p50[0]), MedianOrZero(g.p50[1])
	if min(base, cand) <= 0 || math.Abs(cand-base) < 10*leastTime {
		return 0
	}
	return math.Abs(math.Log(cand / base))
}

func byChange(a, b group) int { return cmp.Compare(b.change(), a.change()) }

// unjudge notes of groups that have no rows of both sides those that seem to have changed by much, the most first.
func (r *Result) unjudge(groups []group) {
	groups = slices.DeleteFunc(groups, func(g group) bool { return g.change() < math.Log(leastFar) })
	slices.SortFunc(groups, func(a, b group) int { return cmp.Or(byChange(a, b), cmp.Compare(a.name, b.name)) })
	r.unjudged = result.Each(groups[:min(len(groups), maxGroups)], func(g *group) string {
		row := Row{Group: g.name, Section: SectionRequests, Unit: rule.Nanoseconds, of: &rule.Quantity{Agg: rule.Quantile, Q: 0.5, Metric: "request"}, why: g.counts()}
		row.fill(Values{X: g.p50[0]}, Values{X: g.p50[1]})
		row.P = nil
		return fmt.Sprintf("not judged: %s: %s", r.Name(&row), row.sentence())
	})
}

// counts says how many requests of a group each side has.
func (g *group) counts() string {
	return fmt.Sprintf(" of %s and %s requests", textui.Count(g.count[0]), textui.Count(g.count[1]))
}

// set returns the requests of a group of a trace, nil if there are none.
func (r *Result) set(t *Trace, group string) *sample.RequestSet {
	x := t.Sample.Requests
	if x == nil || x.Kind != r.RequestKind {
		return nil
	}
	switch i := slices.IndexFunc(x.Groups, func(g sample.RequestGroup) bool { return g.Name == group }); {
	case i >= 0:
		return &x.Groups[i].RequestSet
	case group == allRequests:
		return &x.RequestSet
	case group != otherRequests:
		return nil
	}
	sum := &sample.RequestSet{}
	for _, g := range x.Groups {
		if !slices.Contains(r.apart, g.Name) {
			sum.Count, sum.Total, sum.Slowest, sum.Rest, sum.Middle = sum.Count+g.Count, sum.Total+g.Total, sum.Slowest+g.Slowest, sum.Rest+g.Rest, sum.Middle+g.Middle
			sum.Tail, sum.Usual = append(sum.Tail, g.Tail...), append(sum.Usual, g.Usual...)
		}
	}
	return sum
}

// requestRows adds the rows of each group of requests.
func (r *Result) requestRows() {
	groups := r.groups()
	for i, g := range groups {
		selected := []rule.Selector{{Key: "kind", Pattern: r.RequestKind}}
		if g.name != allRequests && g.name != otherRequests {
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
			if x.q.Q == 0.5 && g.name == allRequests && i > 0 || x.q.Q > 0 && g.name == otherRequests {
				continue // where the mixture changes, the median jumps from group to group
			}
			x.q.Select = selected
			row := Row{Section: SectionRequests, Group: g.name, Quantity: x.q.String(), Unit: x.q.Unit(), of: &x.q, alone: g.only > 0, rare: g.rare}
			values := func(s *Side) (v Values) {
				for _, t := range s.Traces {
					set := r.set(t, g.name)
					if set == nil || set.Count == 0 {
						v.Missing = cmp.Or(v.Missing, "no such requests")
						continue
					}
					v.X = append(v.X, x.of(set, Seconds(t.Sample)))
					if isTail(&x.q) && (sample.Value{N: set.Count}).Few(x.q) || set.Count < enoughRequests {
						row.Few++
					}
				}
				return v
			}
			base, cand := values(&r.Base), values(&r.Cand)
			if s, n := r.fewest(g.name); n > 0 && n < fewestRequests {
				row.handful = fmt.Sprintf("%s has %s, too few to compare how long they take", s.Name, textui.Plural(n, "request"))
				row.alone = row.alone || !row.isRate()
			}
			if row.fill(base, cand); g.rare && row.Few > 0 {
				row.why = g.counts()
			}
			r.Rows = append(r.Rows, row)
		}
		if g.only > 0 {
			r.only(&g)
		}
	}
}

// fewest returns the side that has fewer requests of a group, in all of its traces, and how many.
func (r *Result) fewest(group string) (s *Side, n int64) {
	count := func(s *Side) (n int64) {
		for _, t := range s.Traces {
			if set := r.set(t, group); set != nil {
				n += set.Count
			}
		}
		return n
	}
	base, cand := count(&r.Base), count(&r.Cand)
	return textui.Either(base < cand, &r.Base, &r.Cand), min(base, cand)
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
	text += fmt.Sprintf(": %s of %s, p99 %s", textui.Plural(g.count[g.only-1], "request"), r.Name(row), row.text(p99))
	if g.unknown > 0 { // a handler is seen only in requests that wait
		text += fmt.Sprintf("; in %s the handler of %s is not known", other.Name, textui.Plural(g.unknown, "request"))
	}
	r.Only = append(r.Only, text)
}

// hanging are the requests of a side that hang.
type hanging struct {
	count, ended int64
	open         int64     // that may hang or not
	shares       []float64 // of those of each trace, or of traces that are known only together
	some         int       // of these, how many are above 0
	longest      *findings.Open
}

// String says how many hang, of how many.
func (h *hanging) String() string {
	return fmt.Sprintf("%s of %s", textui.Count(h.count), textui.Count(h.count+h.ended))
}

// hanging returns those of a side. What may be streams or long polls hangs if it ends on the other side.
func (r *Result) hanging(s, other *Side) (h hanging) {
	for _, t := range s.whole() {
		n, ended := int64(0), int64(0)
		if x := t.Sample.Requests; x != nil {
			ended = x.Count
		}
		if x := t.Sample.Open; x != nil {
			if ended = x.Ended; x.Hang || other.ends(x) {
				n = x.Count
				h.some++
				if h.longest == nil || x.Longest > h.longest.Longest {
					h.longest = x
				}
			} else {
				h.open += x.Count
			}
		}
		h.count, h.ended = h.count+n, h.ended+ended
		h.shares = append(h.shares, float64(n)/float64(max(n+ended, 1)))
	}
	return h
}

// ends reports whether requests like those that did not end on the other side do on this one, in a small part of the time.
func (s *Side) ends(x *findings.Open) bool {
	for _, t := range s.whole() {
		q := t.Sample.Requests
		if q == nil || q.Kind != x.Kind {
			continue
		}
		sets := textui.Either(len(q.Groups) > 0, q.Groups, []sample.RequestGroup{{Name: x.Name, RequestSet: q.RequestSet}})
		if slices.ContainsFunc(sets, func(g sample.RequestGroup) bool {
			return g.Name == x.Name && g.Count >= enoughRequests && findings.HangTimes*g.P99 <= x.Longest
		}) {
			return true
		}
	}
	return false
}

// hung decides where requests hang: no length of those that ended is worse.
//
//  1. Where those of one side do, that one is worse. It is not known whether the other is better if none of its
//     requests ended, or if other traces of the side that hangs do not, and chance would do that.
//  2. Where those of both do, the one is worse of which a greater part does, by as much as counts of a length. If both are
//     alike, those that ended are compared.
//  3. Nothing is better where there are no requests that ended, and the other side has some.
func (r *Result) hung() {
	base, cand := r.hanging(&r.Base, &r.Cand), r.hanging(&r.Cand, &r.Base)
	of := func(h *hanging) string { return fmt.Sprintf("%s, for up to %s", h, textui.Duration(h.longest.Longest)) }
	set := func(verdict string, h *hanging, format string, args ...any) {
		r.Verdict, r.Headline, r.Part = verdict, fmt.Sprintf(format, args...), ""
		if h != nil && h.longest.Waits != "" {
			r.Part = fmt.Sprintf("%s %s", textui.Clean(textui.ShortFunc(h.longest.Name)), h.longest.Waits)
		}
	}
	chance := len(base.shares) > 1 && len(cand.shares) > 1 && TwoSided(base.shares, cand.shares) > max(Alpha, 2.002*stat.MinP(len(base.shares), len(cand.shares)))
	switch old, now := r.Base.Name, r.Cand.Name; {
	case base.count == 0 && cand.count == 0:
		if r.Verdict == Better && r.Base.serves() != "" && r.Cand.serves() == "" { // 3
			r.Verdict = Unknown
			r.Headline += fmt.Sprintf("; but %s has no request that ended", now)
		}
	case base.count == 0 && base.ended == 0 && base.open > 0:
		set(Unknown, &cand, "requests hang in %s: %s; in %s none of %s ended", now, of(&cand), old, textui.Count(base.open))
	case base.count == 0:
		set(Worse, &cand, "requests hang in %s: %s; none in %s, of %s", now, of(&cand), old, textui.Count(base.ended))
	case cand.count == 0 && cand.ended == 0:
		set(Unknown, &base, "requests hang in %s: %s; in %s none ended", old, of(&base), now)
	case cand.count == 0 && chance:
		set(Unknown, &base, "requests hang in %d of %s of %s: %s; none in %s, which may be chance", base.some, textui.Plural(len(base.shares), "trace"), old, of(&base), now)
	case cand.count == 0:
		set(Better, &base, "requests hang only in %s: %s; none in %s, of %s", old, of(&base), now, textui.Count(cand.ended))
	case !chance && base.fewer(&cand): // 2
		set(Worse, &cand, "more requests hang in %s: %s; in %s %s", now, of(&cand), old, of(&base))
	case !chance && cand.fewer(&base):
		set(Better, &base, "fewer requests hang in %s: %s; in %s %s", now, of(&cand), old, of(&base))
	case r.OfRequests(), r.lead != nil && r.lead.Section == SectionOps:
		r.Headline += fmt.Sprintf("; requests hang on both sides: %s in %s, %s in %s", &base, old, &cand, now)
	default:
		set(Same, &cand, "requests hang on both sides: in %s %s; in %s %s", old, of(&base), now, of(&cand))
	}
}

// fewer reports whether far less of the requests hang than of the other side: as odds, since all may.
func (h *hanging) fewer(than *hanging) bool {
	// As many as would hang if the odds were those of the other side.
	likewise := float64(than.count) * float64(h.ended) / max(float64(than.ended), 0.5)
	return likewise >= leastSeen*float64(h.count) && likewise-float64(h.count) >= leastHung
}

// leaked decides where goroutines pile up on one side only, in half of its traces or more: they keep what they have, whatever
// requests take meanwhile. Where that is better, nothing that is worse counts less.
func (r *Result) leaked() {
	leaks := func(s *Side) (most *findings.Leak) {
		n, all := 0, s.whole()
		for _, t := range all {
			if x := t.Sample.Leak; x != nil {
				if n++; most == nil || x.Added > most.Added {
					most = x
				}
			}
		}
		if 2*n < len(all) {
			return nil
		}
		return most
	}
	say := func(x *findings.Leak, in, not string) string {
		if x == nil {
			return ""
		}
		return fmt.Sprintf("goroutines of %s pile up in %s, not in %s: %s more at the end than at the beginning", textui.Clean(textui.ShortFunc(x.Func)), in, not, textui.Count(x.Added))
	}
	base, cand := leaks(&r.Base), leaks(&r.Cand)
	if base == nil || cand == nil {
		r.decide(say(base, r.Base.Name, r.Cand.Name), say(cand, r.Cand.Name, r.Base.Name), true)
	}
}

// held decides where goroutines are held up on one side, in half of its traces or more, and not half as long on the other:
// by a lock where only waits to run are compared, or before connections are accepted, which no request shows.
func (r *Result) held() {
	of := func(s *Side, match func(*findings.Held) bool) (median float64) {
		var shares []float64
		for _, t := range s.whole() {
			share := 0.0
			for i := range t.Sample.Held {
				if x := &t.Sample.Held[i]; match(x) {
					share = max(share, x.Share)
				}
			}
			shares = append(shares, share)
		}
		return stat.Median(shares)
	}
	find := func(s, other *Side) string {
		seen := map[string]bool{"": true}
		for _, t := range s.whole() {
			for _, x := range t.Sample.Held {
				known := seen[x.Title]
				seen[x.Title] = true
				if known || x.Lock && r.lead != nil && !r.ofWaiting() {
					continue
				}
				share := of(s, func(y *findings.Held) bool { return y.Title == x.Title })
				if than := of(other, func(y *findings.Held) bool { return y.Lock == x.Lock }); share >= leastHeld && than <= share/2 {
					return fmt.Sprintf("%s in %s: %.2g goroutines wait at a time on average, %.2g in %s", x.Title, s.Name, share, than, other.Name)
				}
			}
		}
		return ""
	}
	if unknown := func(t *Trace) bool { return len(t.Sample.Held) == 0 }; !slices.ContainsFunc(slices.Concat(r.Base.whole(), r.Cand.whole()), unknown) {
		r.decide(find(&r.Base, &r.Cand), find(&r.Cand, &r.Base), false)
	}
}

// leastHeld is how many goroutines wait at a time on average where that matters by itself.
const leastHeld = 0.2

// decide puts first what is bad on one side whatever requests take, "" if nothing is, or how much was done if always is set. Where it
// is better, nothing that is worse counts less.
func (r *Result) decide(base, cand string, always bool) {
	switch {
	case (base == "") == (cand == ""):
	case base != "" && r.Verdict != Worse && (r.Verdict != Unknown || r.doubt == "" && r.Single() || r.doubt != "" && always && r.lead != nil && r.ofWaiting()):
		r.Verdict, r.Headline = Better, base+"; "+r.Headline
	case base != "":
		r.Headline += "; better: " + base
	case r.Verdict == Worse:
		r.Headline += "; also worse: " + cand
	default:
		r.Verdict, r.Headline, r.Part = Worse, cand+"; "+r.Headline, ""
	}
}

// Drawn returns how long the requests of a trace took that the headline is about, nil if it has none.
func (r *Result) Drawn(v *result.Report) *dist.Dist {
	sum := &dist.Dist{}
	for i := range v.Requests {
		if k := &v.Requests[i]; k.Kind == r.RequestKind {
			for _, set := range k.Sets() {
				group := r.lead.Group
				if x := set.Values(); x != nil && (set.Name == group || group == allRequests || group == otherRequests && !slices.Contains(r.apart, set.Name)) {
					sum.Merge(x)
				}
			}
		}
	}
	if sum.Count() == 0 {
		return nil
	}
	return sum
}
