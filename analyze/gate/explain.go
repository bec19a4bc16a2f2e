package gate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/internal/stat"
	"github.com/schedscope/schedscope/model"
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
	e.Where = c.where(it, base)
	if len(it.rule.Quantity.Select) == 0 { // stretches and what runs before are of all waits
		e.See = c.see(it)
		if waits(it.rule.Quantity) {
			e.Behind = c.behind(base)
		}
	}
	e.Origin, e.Why = c.origin(it)
	if too {
		e.Origin = OriginUnknown
		e.Why[0] = "not a change alone: the base does not keep the limit either"
		it.note(fmt.Sprintf("the base does not keep it either: its %s is %s", what, rule.FormatValue(x, it.res.Unit)))
	}
	return e
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

// against returns the traces that explanations compare with: those of a history are of
// its newest session, nil if there are none.
func (c *check) against() []*sample.Sample {
	switch {
	case c.base != nil:
		return c.base.used
	case len(c.past) > 0:
		return c.past[len(c.past)-1].samples
	}
	return nil
}

// waits says whether the quantity is of waiting to run.
func waits(q rule.Quantity) bool {
	switch q.Metric {
	case "runnable", "wait", "sim.runnable", "sim.wait":
		return true
	}
	return false
}

// counted says whether the quantity counts instead of measuring time.
func counted(q rule.Quantity) bool {
	m, ok := rule.Lookup(q.Metric)
	return ok && m.Unit == rule.Number
}

// where returns the classes with the greatest increase of what the rule is about.
func (c *check) where(it *item, base []*sample.Sample) []Part {
	q := it.rule.Quantity
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
			case s.Key == "reason" && !s.Match(class.Detail):
				return false
			}
		}
		return true
	}
}

// behind returns what the waits stood behind, with the lengths of single runs.
func (c *check) behind(base []*sample.Sample) []Part {
	parts := increases(base, c.cand.used,
		func(s *sample.Sample) []sample.Class { return s.Behind },
		func(sample.Class) bool { return true }, false)
	for i := range parts {
		if parts[i].BaseP99 == 0 && parts[i].CandP99 == 0 {
			parts[i].BaseP99 = runP99(base, parts[i].Func)
			parts[i].CandP99 = runP99(c.cand.used, parts[i].Func)
		}
	}
	return parts
}

// runP99 is the median over samples of the p99 of a function's runs; of several classes
// of it the longest.
func runP99(samples []*sample.Sample, fn string) float64 {
	var xs []float64
	for _, s := range samples {
		x := 0.0
		for _, r := range s.Runs {
			if r.Func == fn {
				x = max(x, float64(r.P99))
			}
		}
		xs = append(xs, x)
	}
	return zeroIfNaN(stat.Median(xs))
}

func zeroIfNaN(x float64) float64 {
	if math.IsNaN(x) {
		return 0
	}
	return x
}

// classKey is what makes classes of two programs the same: lines move when anything
// above them changes, so they are not in it.
type classKey struct{ fn, detail, at, by string }

func keyOf(c sample.Class) classKey {
	return classKey{c.Func, c.Detail, frameFunc(c.At), frameFunc(c.By)}
}

func frameFunc(f *sample.Frame) string {
	if f == nil {
		return ""
	}
	return f.Func
}

func (k classKey) compare(o classKey) int {
	return cmp.Or(strings.Compare(k.fn, o.fn), strings.Compare(k.detail, o.detail), strings.Compare(k.at, o.at), strings.Compare(k.by, o.by))
}

// a tally has a class's sums over the samples of both sides, base first.
type tally struct {
	shown        sample.Class // with the place it has in the candidate, if it is there
	total, count [2]float64
	p99          [2][]float64
	// Of the candidate's samples together.
	sum model.Duration
	n   int64
}

// increases returns the classes by how much they grew, per op or second, means over
// samples; by counts if asked. Without a base that is by what there is of them.
func increases(base, cand []*sample.Sample, pick func(*sample.Sample) []sample.Class, match func(sample.Class) bool, counts bool) []Part {
	if len(base) > 0 && !slices.ContainsFunc(base, hasClasses) {
		return nil // of an old session of a history
	}
	classes := map[classKey]*tally{}
	per := divisor(base, cand)
	for side, samples := range [][]*sample.Sample{base, cand} {
		for _, s := range samples {
			gather(classes, side, s, pick(s), match, per(s)*float64(len(samples)))
		}
	}
	var parts []Part
	whole := 0.0
	for _, key := range sortedKeys(classes) {
		t := classes[key]
		p := t.part()
		grown := p.Cand - p.Base
		if counts {
			grown = p.CandCount - p.BaseCount
		}
		if grown > 0 {
			whole += grown
			p.Share = grown
			parts = append(parts, p)
		}
	}
	slices.SortStableFunc(parts, func(a, b Part) int { return cmp.Compare(b.Share, a.Share) })
	for i := range parts {
		parts[i].Share /= whole
	}
	return shorten(parts)
}

func hasClasses(s *sample.Sample) bool { return len(s.Waits)+len(s.Blocked)+len(s.Runs) > 0 }

// shorten leaves the few parts that matter, at least one.
func shorten(parts []Part) []Part {
	n := 0
	for n < len(parts) && n < maxParts && (n == 0 || parts[n].Share >= leastPart) {
		n++
	}
	return parts[:n]
}

// divisor returns what the totals of a sample are divided by: ops if all samples count
// them, else seconds.
func divisor(base, cand []*sample.Sample) func(*sample.Sample) float64 {
	byOps := medianOf(slices.Concat(base, cand), opRate) != nil
	return func(s *sample.Sample) float64 {
		if byOps {
			return float64(s.Ops)
		}
		return max(seconds(s), 1e-9)
	}
}

func gather(classes map[classKey]*tally, side int, s *sample.Sample, of []sample.Class, match func(sample.Class) bool, div float64) {
	p99 := map[classKey]float64{}
	for _, class := range of {
		if !match(class) {
			continue
		}
		key := keyOf(class)
		t := classes[key]
		if t == nil {
			t = &tally{shown: class}
			classes[key] = t
		} else if side == 1 && t.count[1] == 0 {
			t.shown = class
		}
		if side == 1 {
			t.sum += class.Total
			t.n += class.Count
		}
		t.total[side] += float64(class.Total) / div
		t.count[side] += float64(class.Count) / div
		p99[key] = max(p99[key], float64(class.P99))
	}
	for key, x := range p99 {
		classes[key].p99[side] = append(classes[key].p99[side], x)
	}
}

func (t *tally) part() Part {
	p := Part{
		Class: t.shown, Base: t.total[0], Cand: t.total[1], BaseCount: t.count[0], CandCount: t.count[1],
		BaseP99: zeroIfNaN(stat.Median(t.p99[0])), CandP99: zeroIfNaN(stat.Median(t.p99[1])),
	}
	p.Class.Total, p.Class.Count, p.Class.P99 = t.sum, t.n, 0
	return p
}

func sortedKeys(m map[classKey]*tally) []classKey {
	keys := make([]classKey, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, classKey.compare)
	return keys
}

// see returns the worst stretches of the candidate's worst traces, and one of the
// baseline's trace that is nearest to its median.
func (c *check) see(it *item) []Look {
	var see []Look
	worst := slices.Clone(having(c.cand.used, it.key))
	slices.SortStableFunc(worst, func(a, b *sample.Sample) int {
		return cmp.Compare(it.sign()*b.Values[it.key].X, it.sign()*a.Values[it.key].X)
	})
	for _, s := range worst {
		if len(see) < maxSee && len(s.Worst) > 0 {
			see = append(see, Look{Trace: s.Name, Stretch: s.Worst[0]})
		}
	}
	if twin := c.twin(it); twin != nil && len(see) > 0 {
		see = append(see, Look{Trace: twin.Name, Base: true, Stretch: twin.Worst[0]})
	}
	return see
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
	if it.rule.Bound.Relative && c.res.Design == History {
		accept += ", or schedscope gate baseline add on the main branch"
	}
	next = append(next, accept)
	if it.res.MDE > 0 && it.rule.Bound.Relative {
		next = append(next, fmt.Sprintf("this gate sees %s or %s with %.0f%% probability", times(it.res.MDE), it.further(), 100*power))
	}
	return next
}
