package gate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/analyze/experiment"
	"github.com/schedscope/schedscope/analyze/gate/budget"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/internal/stat"
)

// decide makes a verdict of what was computed.
func (c *check) decide(it *item) {
	if it.res.P != nil {
		c.setPower(it)
		c.verdict(it)
	}
	if it.res.Verdict == Fail {
		c.waive(it)
	}
	c.coverage(it)
	// The medians, which are shown, may lie on the other side of the bound than what the
	// verdict rests on.
	if it.res.Test == "permutation" && it.off != 0 && it.cause != causeGuard {
		over := it.sign()*it.res.Cand.Median > it.sign()*it.res.Bound
		switch {
		case over && it.off < 1:
			it.note("by the medians beyond the limit; by the ratios of all pairs of traces, which the verdict rests on, within it")
		case !over && it.off > 1:
			it.note("by the medians within the limit; by the ratios of all pairs of traces, which the verdict rests on, beyond it")
		}
	}
	if c.is("mix", GuardFlag) && perEvent(it.rule.Quantity) && it.rule.Bound.Relative && it.cause != causeGuard && it.cause != causeMissing {
		it.note("mix changed: this quantile is of other events than before")
	}
}

func (it *item) note(text string) {
	if it.res.Why != "" {
		text = it.res.Why + "; " + text
	}
	it.res.Why = text
}

// mostNeeded is a number of traces beyond which nobody is advised to record them.
const mostNeeded = 500

// verdict goes through what a tested rule may be:
//
//  1. violated, or proved to be kept;
//  2. undecided on a disturbed machine, or since no p of so few traces shows anything;
//  3. beyond the bound, but within chance: nothing is shown, and it would be wrong to say
//     that nothing was seen;
//  4. not seen, although what the rule wants to see would have been, unless the interval
//     leaves that open: that it would probably have been seen, by how traces differ, does
//     not help then;
//  5. not seen, and what the rule wants to see would not have been, either.
func (c *check) verdict(it *item) {
	r := it.res
	worse := "less"
	if it.higher() {
		worse = "more"
	}
	seen := r.MDE != 0 && r.Detect != 0 && it.sign()*r.MDE <= it.sign()*r.Detect
	stop := func(needed int, text, then string) {
		if needed > 0 {
			r.Needed = needed
			text += fmt.Sprintf(then, c.traces(it, needed))
		}
		it.stop(causePower, "%s", text)
	}
	switch b := it.bounds(); {
	case c.violated(it): // 1
		r.Verdict = Fail
	case it.proved:
		r.Verdict = Pass
	case c.failed("machine"): // 2
		it.stop(causeGuard, "machine disturbed: no violation shown, but not proved either that there is none")
	case c.leastP(it) > it.alpha*(1+1e-12):
		r.Needed = max(r.Needed, c.needsForP(it))
		it.stop(causeFew, "no p that so few traces can give shows anything at an error rate of %.3g: %d per side needed", it.alpha, r.Needed)
	case it.off > 1 || *r.P <= c.b.Alpha: // 3; where zeros leave no estimate, if it would be violated alone
		chance := fmt.Sprintf("p=%.2g", *r.P)
		if r.PAdj != nil && *r.PAdj != *r.P {
			chance += fmt.Sprintf(", Holm %.2g", *r.PAdj)
		}
		stop(c.wouldShow(it), fmt.Sprintf("beyond the bound, but not beyond chance (%s)", chance), ": if it is what it seems, about %s would show it")
	case seen && it.beyondDetect(b) > 1: // 4
		end := b.High
		if !it.higher() {
			end = b.Low
		}
		// The length of the interval goes with the root of the number of traces.
		x := math.Log(end/b.Est) / math.Log(r.Detect/b.Est)
		needed := math.Ceil(float64(r.Cand.N) * x * x)
		r.Needed = 0
		if !(x > 1 && needed <= mostNeeded) {
			needed = 0 // not known, or too many
		} else {
			needed = max(needed, float64(r.Cand.N+1))
		}
		stop(int(needed), fmt.Sprintf("no violation shown, but %s is not excluded, and the rule wants to see %s", experiment.TimesText(end), experiment.TimesText(r.Detect)), ": about %s")
	case seen:
		r.Verdict = Unseen
	case r.MDE == 0: // 5
		it.stop(causePower, "no violation shown, and what would have been seen is not known: the spread of the values is not (zeros?)")
	default:
		stop(r.Needed, fmt.Sprintf("no violation shown, but only one of %s or %s would have been, and the rule wants to see %s", experiment.TimesText(r.MDE), worse, experiment.TimesText(r.Detect)), ": about %s")
	}
}

// setPower computes the smallest effect that would have been seen, as a ratio to the
// baseline, or to the limit of an absolute rule, and how many traces show what the rule
// wants to see.
func (c *check) setPower(it *item) {
	k := it.margin
	if !it.rule.Bound.Relative {
		k = 1
		it.res.Detect = it.rule.Detect
		if it.res.Detect == 0 {
			it.res.Detect = map[bool]float64{true: detectRoom, false: 1 / detectRoom}[it.higher()]
		}
	}
	if k == 0 || math.IsNaN(it.spread) || it.alpha <= 0 {
		return
	}
	r := it.res.Detect
	if !it.higher() {
		k, r = 1/k, 1/r
	}
	mde, needed := 0.0, 0
	switch it.res.Test {
	case "sign":
		mde, needed = stat.SignMDE(it.spread, it.res.Cand.N, it.alpha, power), stat.SignNeeded(r, it.spread, it.alpha, power)
	default:
		mde = stat.MDE(k, it.spread, it.res.Base.N, it.res.Cand.N, it.alpha, power)
		if needed = stat.Needed(k, r, it.spread, it.alpha, power); needed > 0 {
			needed = max(needed, c.minTraces())
		}
	}
	if !finite(mde) || mde <= 0 {
		return
	}
	it.res.MDE, it.res.Needed = mde, needed
	if !it.higher() {
		it.res.MDE = 1 / mde
	}
}

// wouldShow is how many traces show what the estimate seems to be, 0 if that is not known
// or too many.
func (c *check) wouldShow(it *item) int {
	n := 0
	if !(it.off > 1) {
		return 0 // the estimate says nothing
	}
	// Less than any error rate needs, and quick.
	if x := it.spread / math.Log(it.off); !(2*x*x < mostNeeded) {
		return 0
	}
	switch it.res.Test {
	case "sign":
		n = stat.SignNeeded(it.off, it.spread, it.alpha, power)
	case "permutation":
		n = stat.Needed(1, it.off, it.spread, it.alpha, power)
	}
	if n > mostNeeded {
		return 0
	}
	return max(n, it.res.Cand.N+1)
}

func (c *check) traces(it *item, n int) string {
	if it.rule.Bound.Relative {
		return fmt.Sprintf("%d traces per side", n)
	}
	return fmt.Sprintf("%d traces", n)
}

// beyondDetect is how far the worse end of the interval lies beyond what the rule wants to
// see, 1: at it; 0 if it is not known.
func (it *item) beyondDetect(b *stat.Interval) float64 {
	end := 0.0
	switch {
	case b != nil && it.higher():
		end = b.High / it.res.Detect
	case b != nil && b.Low > 0:
		end = it.res.Detect / b.Low
	}
	if !finite(end) {
		return 0
	}
	return end
}

// bounds is the interval in what Detect is in: of the ratio to the baseline, or of the
// median by the limit. nil: there is none.
func (it *item) bounds() *stat.Interval {
	if it.res.Test != "sign" {
		return it.res.Ratio
	}
	b, limit := it.res.Cand.Bounds, it.res.Bound
	if b == nil || limit <= 0 {
		return nil
	}
	return &stat.Interval{Est: b.Est / limit, Low: b.Low / limit, High: b.High / limit, Confidence: b.Confidence}
}

// waive applies a waiver to a violated rule.
func (c *check) waive(it *item) {
	w := c.b.Waiver(it.res.Rule, c.in.Today)
	if w == nil {
		return
	}
	it.res.Waiver = &Waiver{Until: day(w.Until), Issue: w.Issue}
	if w.Ceiling != nil {
		it.res.Waiver.Ceiling = w.Ceiling.Text(it.res.Unit)
		if c.beyond(it, *w.Ceiling) {
			it.note(fmt.Sprintf("beyond the ceiling of its waiver, %s", it.res.Waiver.Ceiling))
			return
		}
	}
	it.res.Verdict = Waived
}

// beyond says whether the candidate is worse than a waiver allows: by the same test as
// the rule's, at the error rate of one rule.
func (c *check) beyond(it *item, ceiling rule.Bound) bool {
	other := newItem(it.rule)
	r := *it.rule.Rule
	r.Bound = ceiling
	if !ceiling.Relative && !r.Point && r.Confidence == 0 {
		r.Confidence = 1 - c.b.Alpha
	}
	other.rule.Rule = &r
	other.res.Bound = ceiling.Add
	if ceiling.Relative && c.base == nil {
		return true
	}
	c.judge(other)
	if other.res.P != nil {
		if ceiling.Relative {
			other.alpha = c.b.Alpha
		}
		return c.violated(other)
	}
	return other.res.Verdict != Pass
}

// outcomes counts verdicts.
type outcomes struct {
	unusable, failed, warned, waived int

	errors int // rules of level error
	unseen int // of those

	blocked int // inconclusive, whatever the power: cannot be judged
	weak    int // inconclusive for want of power
	first   *item
}

func (c *check) count() outcomes {
	var o outcomes
	for _, it := range c.items {
		isError := it.rule.Level == budget.Error
		if isError {
			o.errors++
		}
		switch {
		case it.res.Verdict == Unusable:
			o.unusable++
		case it.res.Verdict == Fail && isError:
			o.failed++
		case it.res.Verdict == Fail:
			o.warned++
		case it.res.Verdict == Waived:
			o.waived++
		case it.res.Verdict == Unseen && isError:
			o.unseen++
		case it.res.Verdict == Inconclusive:
			o.undecided(it, isError)
		}
	}
	return o
}

// undecided counts a rule that is inconclusive. A guard that blocks says that nothing
// can be judged here, so it counts for rules of level warn, too.
func (o *outcomes) undecided(it *item, isError bool) {
	switch {
	case it.cause == causeGuard, isError && it.cause != causePower:
		o.blocked++
	case isError:
		o.weak++
	default:
		return
	}
	if o.first == nil {
		o.first = it
	}
}

// conclude makes one verdict of all.
func (c *check) conclude() {
	for _, it := range c.items {
		c.res.Rules = append(c.res.Rules, *it.res)
	}
	o := c.count()
	c.tell(o)
	all, on := count(len(c.items), "rule"), c.in.OnInconclusive
	errors := count(o.errors, "rule")
	if o.errors < len(c.items) {
		errors += " of level error"
	}
	switch {
	case o.unusable > 0:
		c.end(Unusable, ExitUnusable, "unusable: %d of %s cannot be judged at all: %s", o.unusable, all, c.firstWhy(Unusable))
	case o.failed > 0:
		c.end(Fail, ExitViolated, "%d of %s violated: %s", o.failed, all, c.names(Fail))
	case c.failed("machine") && o.blocked == 0 && on != "pass":
		c.end(Inconclusive, ExitUndecided, "machine disturbed: no violation shown in %s, but no such recording passes", all)
	case o.blocked > 0 && on != "pass":
		c.end(Inconclusive, ExitUndecided, "cannot judge %d of %s: %s", o.blocked, all, o.first.res.Why)
	case o.weak > 0 && on == "fail":
		c.end(Inconclusive, ExitUndecided, "%d of %s inconclusive: %s", o.weak, all, o.first.res.Why)
	case o.weak+o.blocked > 0:
		c.end(Inconclusive, ExitOK, "no violation shown, %d of %s inconclusive: %s", o.weak+o.blocked, all, o.first.res.Why)
	case c.failed("machine"):
		c.end(Inconclusive, ExitOK, "machine disturbed: no violation shown in %s", all)
	case o.errors == 0:
		c.end(Inconclusive, ExitOK, "nothing can fail: %s only warn", all)
	case o.waived > 0:
		c.end(Waived, ExitOK, "%d of %s violated with a waiver, no other violation shown", o.waived, all)
	case o.unseen > 0:
		c.end(Unseen, ExitOK, "no violation shown in %s, and %s", errors, c.seen())
	default:
		c.end(Pass, ExitOK, "%s kept", errors)
	}
	if c.in.SameProgram {
		c.warn("%s", c.calibration())
	}
	c.suggest()
}

// calibration says what recordings of one program on both sides show: whether the gate
// raises a false alarm, and how far traces differ.
func (c *check) calibration() string {
	text := "both sides ran the same program, and no violation was shown, as it should be"
	switch c.res.Exit {
	case ExitViolated:
		text = "both sides ran the same program: this violation is a false alarm"
	case ExitUndecided:
		text = "both sides ran the same program, and what was recorded does not allow a verdict"
	}
	var spreads []string
	for _, it := range c.items {
		if finite(it.spread) {
			spreads = append(spreads, fmt.Sprintf("%s %s", it.key, percent(it.spread)))
		}
	}
	if len(spreads) > 0 {
		text += "; standard deviation between traces, of logarithms: " + strings.Join(spreads, ", ")
	}
	return text
}

func (c *check) end(v Verdict, exit int, format string, args ...any) {
	c.res.Verdict, c.res.Exit, c.res.Headline = v, exit, fmt.Sprintf(format, args...)
}

// seen says of which size a change would have been seen in rules that are not proved to be
// kept.
func (c *check) seen() string {
	var sizes []string
	for _, it := range c.items {
		if it.res.Verdict != Unseen || it.rule.Level != budget.Error {
			continue
		}
		if s := it.wants(); !slices.Contains(sizes, s) {
			sizes = append(sizes, s)
		}
	}
	if n := len(sizes) - maxSizes; n > 0 {
		sizes = append(sizes[:maxSizes], fmt.Sprintf("%d more sizes", n))
	}
	return fmt.Sprintf("one of %s would have been with %.0f%% probability", or(sizes), 100*power)
}

// maxSizes is how many sizes a headline tells.
const maxSizes = 3

// wants is the change that the rule wants to see.
func (it *item) wants() string {
	if it.res.Test == "sign" {
		return experiment.TimesText(it.res.Detect) + " of the limit"
	}
	return experiment.TimesText(it.res.Detect)
}

// or lists texts, of which one counts.
func or(texts []string) string {
	if n := len(texts) - 1; n > 0 {
		return strings.Join(texts[:n], ", ") + " or " + texts[n]
	}
	return strings.Join(texts, "")
}

// names lists the violated rules of level error.
func (c *check) names(v Verdict) string {
	var names []string
	for _, it := range c.items {
		if it.res.Verdict == v && it.rule.Level == budget.Error {
			name := it.res.Rule
			if it.added {
				name = fmt.Sprintf("the throughput of requests fell (%s), %s", experiment.TimesText(it.res.Cand.Median/it.res.Base.Median), name)
			}
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

func (c *check) firstWhy(v Verdict) string {
	for _, it := range c.items {
		if it.res.Verdict == v {
			return it.res.Rule + ": " + it.res.Why
		}
	}
	return ""
}

// tell warns of what the verdict does not show.
func (c *check) tell(o outcomes) {
	if o.warned > 0 {
		c.warn("%s of level warn violated", count(o.warned, "rule"))
	}
	if o.waived > 0 {
		c.warn("%s violated with a waiver", count(o.waived, "rule"))
	}
	if o.failed > 0 && o.blocked > 0 {
		c.warn("%s could not be judged", count(o.blocked, "rule"))
	}
	if o.weak > 0 {
		c.warn("%s inconclusive for want of traces", count(o.weak, "rule"))
	}
}

// suggest says what to do about what could not be decided.
func (c *check) suggest() {
	most := 0
	for _, it := range c.items {
		if it.cause == causeFew || it.cause == causePower {
			most = max(most, it.res.Needed)
		}
	}
	if most > 0 {
		c.res.Next = append(c.res.Next, fmt.Sprintf("record about %d traces per side: schedscope gate record -n %d, or see schedscope gate plan", most, most))
	}
	if c.failed("machine") {
		c.res.Next = append(c.res.Next, "record again where nothing else runs; one program recorded on both sides shows what a machine is good for")
	}
	if c.failed("load") {
		c.res.Next = append(c.res.Next, "record both sides under the same load: at a fixed rate (load: open), or a fixed number of ops (load: fixed-work)")
	}
}
