package gate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/schedscope/schedscope/analyze/compare"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
)

const (
	maxParts  = 5    // of Where and of Behind
	leastPart = 0.05 // of the increase
	maxSee    = 2    // stretches of the candidate
)

// explain adds to each rule that is violated what an engineer needs to know of it, and to the
// first that a disturbed machine kept from being judged.
func (g *guarded) explain(rules []judged) []judged {
	compared := sync.OnceValue(func() *compare.Result {
		side := func(list []*sample.Sample) compare.Side {
			return compare.Side{Traces: result.Each(list, func(x **sample.Sample) *compare.Trace { return &compare.Trace{Sample: *x} })}
		}
		return compare.Of(side(g.used.base()), side(g.used.cand()), "")
	})
	explained := false
	for i, j := range rules {
		switch {
		case j.res.Verdict == Fail, j.res.Verdict == Waived:
			e, note := g.explanation(&j, compared)
			rules[i] = j.note(note)
			rules[i].res.Explain = e
		case j.cause == causeGuard && g.disturbed() && !explained && j.res.Cand != nil && j.res.P == nil:
			e := &Explain{Next: []string{"record again on a quiet machine: what was measured is not the program's doing alone"}}
			e.Origin, e.Why = g.origin(&j)
			rules[i].res.Explain = e
			explained = true
		}
	}
	return rules
}

// explanation returns that of a violated rule, and a note for the rule.
func (g *guarded) explanation(j *judged, compared func() *compare.Result) (e *Explain, note string) {
	e = &Explain{Next: g.nextOf(j)}
	base, cand := g.used.base(), g.used.cand()
	what, x, too := j.baseToo()
	if too {
		base = nil // an increase, if there is one, is not what violates the rule
	}
	e.Alone = len(base) == 0
	q := j.Quantity
	code := q.Selected("behind") != nil
	if pick := j.classes(); pick != nil && !code {
		e.Where = increases(base, cand, pick, q, j.metric.Unit == rule.Number)
	}
	worst := slices.Clone(having(cand, j.key))
	slices.SortStableFunc(worst, func(a, b *sample.Sample) int {
		return cmp.Compare(j.sign()*b.Values[j.key].X, j.sign()*a.Values[j.key].X)
	})
	switch {
	case j.ofRequests() && len(worst) > 0: // no stretch has them
		e.Next = append([]string{"look: schedscope analyze says what the slowest requests of a trace have; worst here is " + worst[0].Name}, e.Next...)
	case !j.ofRequests() && len(q.Select) == 0: // stretches are of all waits
		e.See = see(worst, having(g.used.base(), j.key), j)
	}
	waits := q.Metric == "runnable" || q.Metric == "wait"
	old := len(base) > 0 && !slices.ContainsFunc(base, func(s *sample.Sample) bool { return len(s.Blame) > 0 }) // its causes are not known
	if (code || len(q.Select) == 0) && waits && !old && compare.SampledUnlike(slices.Concat(base, cand)) == "" {
		e.Behind = increases(base, cand, func(s *sample.Sample) []sample.Class { return s.Blame }, q, false)
	}
	e.Origin, e.Why = g.origin(j)
	if too {
		e.Origin = OriginUnknown
		e.Why[0] = "not a change alone: the base does not keep the limit either"
		note = fmt.Sprintf("the base does not keep it either: its %s is %s", what, rule.FormatValue(x, j.res.Unit))
	}
	if j.ofRequests() && g.design != Absolute {
		switch text := group(j, compared()); {
		case text != "" && e.Origin == OriginUnknown && !too: // counters of the program say less
			e.Why[0] = text
		case text != "":
			e.Why = append([]string{text}, e.Why...)
		}
	}
	return e, note
}

// group says what changed most for the worse where a rule is about requests, as compare does: which of
// them if it is about all of a kind, and the part of their time; "" if that is not known.
func group(j *judged, r *compare.Result) string {
	q, most := j.Quantity, 1.0
	var said []string
	for _, row := range r.Rows {
		q.Select = []rule.Selector{{Key: "kind", Pattern: r.RequestKind}, {Key: "name", Pattern: row.Group}}
		if len(j.Quantity.Select) == 0 && row.Differs && row.Ratio != nil && row.Quantity == q.String() && math.Pow(row.Ratio.Est, j.sign()) > most {
			most = math.Pow(row.Ratio.Est, j.sign())
			said = []string{fmt.Sprintf("most of all %s: %s", textui.ShortFunc(row.Group), compare.IntervalText(row.Ratio))}
		}
	}
	if r.Verdict == compare.Worse && r.OfRequests() && r.Part != "" {
		said = append(said, fmt.Sprintf("%s of %s", r.Part, r.Of()))
	}
	return strings.Join(said, "; ")
}

// baseToo reports whether the base does not keep an absolute limit either: by its median,
// or, of a rule without statistics, by its worst trace. It returns which of them, and
// its value.
func (j *judged) baseToo() (what string, x float64, too bool) {
	b := j.res.Base
	if j.Bound.Relative || b == nil {
		return "", 0, false
	}
	what, x = "median", b.Median
	if j.Point {
		what, x = "worst trace", j.extreme(b.Values)
	}
	return what, x, !j.Op.Holds(x, j.res.Bound)
}

// classes returns how to find the classes of a sample that the rule is about, nil if it is about none,
// such as a whole op's time.
func (j *judged) classes() func(*sample.Sample) []sample.Class {
	switch j.Quantity.Metric {
	case "blocked":
		return func(s *sample.Sample) []sample.Class { return s.Blocked }
	case "running", "run", "cpu", "starts", "preemptions":
		return func(s *sample.Sample) []sample.Class { return s.Runs }
	case "stw", "steals", "handoffs", "gc", "ops", "syscall", "op", "region", "task":
		return nil
	}
	if j.ofRequests() {
		return nil
	}
	return func(s *sample.Sample) []sample.Class { return s.Waits }
}

// matches reports whether a class is one that the selectors of a quantity choose.
func matches(q rule.Quantity, c sample.Class) bool {
	return !slices.ContainsFunc(q.Select, func(s rule.Selector) bool {
		switch s.Key {
		case "func":
			return !s.Match(c.Func)
		case "reason", "cause":
			return !s.Match(c.Detail)
		case "behind":
			return c.At == nil || !s.Match(c.Func)
		}
		return false
	})
}

// increases returns the few classes that grew most, per op if all samples count them, else
// per second, of those that the selectors of a quantity choose; by counts if asked. Without a base
// that is by what there is of them.
func increases(base, cand []*sample.Sample, pick func(*sample.Sample) []sample.Class, q rule.Quantity, counts bool) []Part {
	byOps := compare.Median(slices.Concat(base, cand), compare.OpRate) != nil
	sources := func(samples []*sample.Sample) (list []compare.Source) {
		for _, s := range samples {
			x := compare.Source{Units: max(compare.Seconds(s), 1e-9), Parts: pick(s)}
			if byOps {
				x.Units = float64(s.Ops)
			}
			x.Parts = slices.DeleteFunc(slices.Clone(x.Parts), func(c sample.Class) bool { return !matches(q, c) })
			list = append(list, x)
		}
		return list
	}
	var parts []Part
	whole := 0.0
	for _, p := range compare.Tally(sources(base), sources(cand)) {
		p.Share = p.Change()
		if counts {
			p.Share = p.CandCount - p.BaseCount
		}
		if p.Share > 0 {
			whole += p.Share
			parts = append(parts, p.Growth)
		}
	}
	slices.SortStableFunc(parts, func(a, b Part) int { return cmp.Compare(b.Share, a.Share) })
	n := 0
	for i := range parts {
		parts[i].Share /= whole
		if n == i && i < maxParts && (i == 0 || parts[i].Share >= leastPart) {
			n++
		}
	}
	return parts[:n]
}

// see returns the worst stretches of the candidate's worst traces, and one of the
// baseline's trace that is nearest to its median.
func see(worst, base []*sample.Sample, j *judged) (list []Look) {
	for _, s := range worst {
		if len(list) < maxSee && len(s.Worst) > 0 {
			list = append(list, Look{Trace: s.Name, Stretch: s.Worst[0]})
		}
	}
	var twin *sample.Sample
	off := math.Inf(1)
	for _, s := range base {
		if d := math.Abs(s.Values[j.key].X - j.res.Base.Median); d < off && len(s.Worst) > 0 {
			twin, off = s, d
		}
	}
	if twin != nil && len(list) > 0 {
		list = append(list, Look{Trace: twin.Name, Base: true, Stretch: twin.Worst[0]})
	}
	return list
}

// nextOf says what to do about a violation.
func (g *guarded) nextOf(j *judged) []string {
	n := max(g.minTraces(), 10)
	next := []string{fmt.Sprintf("reproduce: record %d traces of the program and judge them with the same budget", n)}
	if j.Bound.Relative {
		next[0] = fmt.Sprintf("reproduce: schedscope gate record -n %d --base OLD --cand NEW -o runs/", n)
	}
	switch {
	case j.res.Verdict == Waived:
		return append(next, fmt.Sprintf("settle it before %s, when the waiver ends", j.res.Waiver.Until))
	case j.added:
		next = append(next, "accept: a greater load_tolerance in the budget; load: open or fixed-work says that the load is given")
	default:
		next = append(next, "accept: a waiver in the budget, with a day on which it ends")
	}
	if j.res.MDE > 0 && j.Bound.Relative {
		next = append(next, fmt.Sprintf("this gate sees %s or %s with %.0f%% probability", compare.TimesText(j.res.MDE), j.more(), 100*power))
	}
	return next
}
