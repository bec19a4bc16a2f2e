package gate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/analyze/experiment"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/internal/textui"
)

const (
	maxParts  = 5    // of Where and of Behind
	leastPart = 0.05 // of the increase
	maxSee    = 2    // stretches of the candidate
)

// explain fills in what an engineer needs to know of each rule that is violated, and of
// the first that a disturbed machine kept from being judged.
func (c *check) explain() {
	told := false
	for _, it := range c.items {
		switch {
		case it.res.Verdict == Fail, it.res.Verdict == Waived:
			it.res.Explain = c.explanation(it)
		case it.cause == causeGuard && c.failed("machine") && !told && it.res.Cand != nil && it.res.P == nil:
			it.res.Explain = &Explain{Next: []string{"record again on a quiet machine: what was measured is not the program's doing alone"}}
			it.res.Explain.Origin, it.res.Explain.Why = c.origin(it)
			told = true
		}
	}
}

func (c *check) explanation(it *item) *Explain {
	e := &Explain{Next: c.next(it)}
	base := c.against()
	what, x, too := c.baseToo(it)
	if too {
		base = nil // an increase, if there is one, is not what violates the rule
	}
	e.Alone = len(base) == 0
	q := it.rule.Quantity
	code := q.Selected("behind") != nil
	if !code {
		e.Where = c.where(it, base)
	}
	if _, _, ok := it.metric.OfRequests(); ok { // no stretch has them
		look := "look: schedscope analyze says what the slowest requests of a trace have; worst here is "
		if worst := c.worst(it); len(worst) > 0 {
			e.Next = append([]string{look + worst[0].Name}, e.Next...)
		}
	} else if len(q.Select) == 0 { // stretches are of all waits
		e.See = c.see(it)
	}
	old := len(base) > 0 && !slices.ContainsFunc(base, func(s *sample.Sample) bool { return len(s.Blame) > 0 }) // its causes are not known
	if (code || len(q.Select) == 0) && waits(q) && !old && experiment.SampledUnlike(slices.Concat(base, c.cand.used)) == "" {
		e.Behind = increases(base, c.cand.used, func(s *sample.Sample) []sample.Class { return s.Blame }, matching(q), false)
	}
	e.Origin, e.Why = c.origin(it)
	if too {
		e.Origin = OriginUnknown
		e.Why[0] = "not a change alone: the base does not keep the limit either"
		it.note(fmt.Sprintf("the base does not keep it either: its %s is %s", what, rule.FormatValue(x, it.res.Unit)))
	}
	switch text := c.group(it); {
	case text != "" && e.Origin == OriginUnknown && !too: // counters of the program say less
		e.Why[0] = text
	case text != "":
		e.Why = append([]string{text}, e.Why...)
	}
	return e
}

// group says what changed most for the worse where a rule is about requests, as compare does: which of
// them if it is about all of a kind, and the part of their time; "" if that is not known.
func (c *check) group(it *item) string {
	side := func(list []*sample.Sample) (s experiment.Side) {
		for _, x := range list {
			s.Traces = append(s.Traces, &experiment.Trace{Sample: x})
		}
		return s
	}
	if _, _, ok := it.metric.OfRequests(); !ok || c.against() == nil {
		return ""
	}
	if c.compared == nil {
		c.compared = experiment.Of(side(c.against()), side(c.cand.used), "")
	}
	r, q, most := c.compared, it.rule.Quantity, 1.0
	var said []string
	for _, row := range r.Rows {
		q.Select = []rule.Selector{{Key: "kind", Pattern: r.RequestKind}, {Key: "name", Pattern: row.Group}}
		if len(it.rule.Quantity.Select) == 0 && row.Differs && row.Ratio != nil && row.Quantity == q.String() && math.Pow(row.Ratio.Est, it.sign()) > most {
			most = math.Pow(row.Ratio.Est, it.sign())
			said = []string{fmt.Sprintf("most of all %s: %s", textui.ShortFunc(row.Group), experiment.IntervalText(row.Ratio))}
		}
	}
	if r.Verdict == experiment.Worse && r.OfRequests() && r.Part != "" {
		said = append(said, fmt.Sprintf("%s of %s", r.Part, r.Of()))
	}
	return strings.Join(said, "; ")
}

// baseToo says whether the base does not keep an absolute limit either: by its median,
// or, of a rule without statistics, by its worst trace. It returns which of them, and
// its value.
func (c *check) baseToo(it *item) (what string, x float64, too bool) {
	b := it.res.Base
	if it.rule.Bound.Relative || b == nil {
		return "", 0, false
	}
	what, x = "median", b.Median
	switch {
	case it.rule.Point && it.higher():
		what, x = "worst trace", slices.Max(b.Values)
	case it.rule.Point:
		what, x = "worst trace", slices.Min(b.Values)
	}
	return what, x, !it.rule.Op.Holds(x, it.res.Bound)
}

// against returns the traces that explanations compare with, nil if there are none.
func (c *check) against() []*sample.Sample {
	if c.base == nil {
		return nil
	}
	return c.base.used
}

// waits says whether the quantity is of waiting to run.
func waits(q rule.Quantity) bool {
	return q.Metric == "runnable" || q.Metric == "wait"
}

// counted says whether the quantity counts instead of measuring time.
func counted(q rule.Quantity) bool {
	m, ok := rule.Lookup(q.Metric)
	return ok && m.Unit == rule.Number
}

// where returns the classes with the greatest increase of what the rule is about.
func (c *check) where(it *item, base []*sample.Sample) []Part {
	q := it.rule.Quantity
	if _, _, ok := it.metric.OfRequests(); ok {
		return nil
	}
	pick := func(s *sample.Sample) []sample.Class { return s.Waits }
	switch q.Metric {
	case "blocked":
		pick = func(s *sample.Sample) []sample.Class { return s.Blocked }
	case "running", "run", "cpu", "starts", "preemptions":
		pick = func(s *sample.Sample) []sample.Class { return s.Runs }
	case "stw", "steals", "handoffs", "gc", "ops", "syscall", "op", "region", "task":
		return nil // in no class, such as a whole op's time
	}
	return increases(base, c.cand.used, pick, matching(q), counted(q))
}

// matching returns whether a class is one that the selectors of a quantity choose.
func matching(q rule.Quantity) func(sample.Class) bool {
	return func(class sample.Class) bool {
		for _, s := range q.Select {
			switch {
			case s.Key == "func" && !s.Match(class.Func):
				return false
			case (s.Key == "reason" || s.Key == "cause") && !s.Match(class.Detail):
				return false
			case s.Key == "behind" && (class.At == nil || !s.Match(class.Func)):
				return false
			}
		}
		return true
	}
}

// increases returns the few classes that grew most, per op if all samples count them, else
// per second; by counts if asked. Without a base that is by what there is of them. A nil
// match takes all.
func increases(base, cand []*sample.Sample, pick func(*sample.Sample) []sample.Class, match func(sample.Class) bool, counts bool) []Part {
	byOps := experiment.Median(slices.Concat(base, cand), experiment.OpRate) != nil
	sources := func(samples []*sample.Sample) (list []experiment.Source) {
		for _, s := range samples {
			x := experiment.Source{Units: max(experiment.Seconds(s), 1e-9), Parts: pick(s)}
			if byOps {
				x.Units = float64(s.Ops)
			}
			if match != nil {
				x.Parts = slices.DeleteFunc(slices.Clone(x.Parts), func(c sample.Class) bool { return !match(c) })
			}
			list = append(list, x)
		}
		return list
	}
	var parts []Part
	whole := 0.0
	for _, p := range experiment.Tally(sources(base), sources(cand)) {
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
func (c *check) see(it *item) []Look {
	var see []Look
	for _, s := range c.worst(it) {
		if len(see) < maxSee && len(s.Worst) > 0 {
			see = append(see, Look{Trace: s.Name, Stretch: s.Worst[0]})
		}
	}
	if twin := c.twin(it); twin != nil && len(see) > 0 {
		see = append(see, Look{Trace: twin.Name, Base: true, Stretch: twin.Worst[0]})
	}
	return see
}

// worst returns the candidate's traces that have a value, worst first.
func (c *check) worst(it *item) []*sample.Sample {
	worst := slices.Clone(having(c.cand.used, it.key))
	slices.SortStableFunc(worst, func(a, b *sample.Sample) int {
		return cmp.Compare(it.sign()*b.Values[it.key].X, it.sign()*a.Values[it.key].X)
	})
	return worst
}

func (c *check) twin(it *item) *sample.Sample {
	if it.res.Base == nil {
		return nil
	}
	var twin *sample.Sample
	off := math.Inf(1)
	for _, s := range having(c.against(), it.key) {
		if d := math.Abs(s.Values[it.key].X - it.res.Base.Median); d < off && len(s.Worst) > 0 {
			twin, off = s, d
		}
	}
	return twin
}

// next says what to do about a violation.
func (c *check) next(it *item) []string {
	n := max(c.minTraces(), 10)
	var next []string
	if it.rule.Bound.Relative {
		next = append(next, fmt.Sprintf("reproduce: schedscope gate record -n %d --base OLD --cand NEW -o runs/", n))
	} else {
		next = append(next, fmt.Sprintf("reproduce: record %d traces of the program and judge them with the same budget", n))
	}
	if it.res.Verdict == Waived {
		return append(next, fmt.Sprintf("settle it before %s, when the waiver ends", it.res.Waiver.Until))
	}
	accept := "accept: a waiver in the budget, with a day on which it ends"
	if it.added {
		accept = "accept: a greater load_tolerance in the budget; load: open or fixed-work says that the load is given"
	}
	next = append(next, accept)
	if it.res.MDE > 0 && it.rule.Bound.Relative {
		next = append(next, fmt.Sprintf("this gate sees %s or %s with %.0f%% probability", experiment.TimesText(it.res.MDE), map[bool]string{true: "more", false: "less"}[it.higher()], 100*power))
	}
	return next
}
