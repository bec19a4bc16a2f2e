package gate

import (
	"fmt"
	"math"
	"slices"
	"strings"

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
	it.compareMedians()
	if c.mixChanged() && perEvent(it.rule.Quantity) && it.rule.Bound.Relative && it.cause != causeGuard && it.cause != causeMissing {
		it.note("mix changed: this quantile is of other events than before")
	}
}

func (it *item) note(text string) {
	if it.res.Why != "" {
		text = it.res.Why + "; " + text
	}
	it.res.Why = text
}

// compareMedians says if the medians, which are shown, lie on the other side of the bound
// than what the verdict rests on.
func (it *item) compareMedians() {
	rests := map[string]string{"mann-whitney": "the ratios of all pairs of traces", "signed-rank": "the ratios within pairs"}[it.res.Test]
	if rests == "" || it.off == 0 || it.cause == causeGuard {
		return
	}
	over := it.sign()*it.res.Cand.Median > it.sign()*it.res.Bound
	switch {
	case over && it.off < 1:
		it.note(fmt.Sprintf("by the medians beyond the limit; by %s, which the verdict rests on, within it", rests))
	case !over && it.off > 1:
		it.note(fmt.Sprintf("by the medians within the limit; by %s, which the verdict rests on, beyond it", rests))
	}
}

func (c *check) verdict(it *item) {
	switch {
	case c.violated(it):
		it.res.Verdict = Fail
	case it.proved:
		it.res.Verdict = Pass
	case c.failed("machine"):
		it.stop(causeGuard, "machine disturbed: no violation shown, but not proved either that there is none")
	case c.leastP(it) > it.alpha*(1+1e-12):
		it.res.Needed = max(it.res.Needed, c.needsForP(it))
		it.stop(causeFew, "no p that so few traces can give shows anything at an error rate of %.3g: %d per side needed", it.alpha, it.res.Needed)
	case c.suspicious(it):
		c.suspect(it)
	case c.wouldHaveSeen(it) && it.reaches() > 1:
		c.open(it)
	case c.wouldHaveSeen(it):
		it.res.Verdict = Unseen
	default:
		c.weak(it)
	}
}

// setPower computes the smallest effect that would have been seen, as a ratio to the
// baseline, or to the limit of an absolute rule.
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
	mde, needed := c.power(it, k, r)
	if !finite(mde) || mde <= 0 {
		return
	}
	it.res.MDE, it.res.Needed = mde, needed
	if !it.higher() {
		it.res.MDE = 1 / mde
	}
}

// power returns the smallest ratio that shows with the probability that counts, and how
// many traces show the ratio r.
func (c *check) power(it *item, k, r float64) (mde float64, needed int) {
	switch it.res.Test {
	case "sign":
		return stat.SignMDE(it.spread, it.res.Cand.N, it.alpha, power), stat.SignNeeded(r, it.spread, it.alpha, power)
	case "history":
		return it.historyMDE(), 0
	}
	needed = stat.Needed(k, r, it.spread, it.alpha, power)
	if needed > 0 {
		needed = max(needed, c.minTraces())
	}
	return stat.MDE(k, it.spread, it.res.Base.N, it.res.Cand.N, it.alpha, power), needed
}

// quantile of the normal distribution.
func quantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }

func (c *check) wouldHaveSeen(it *item) bool {
	if it.res.MDE == 0 || it.res.Detect == 0 {
		return false
	}
	if it.higher() {
		return it.res.MDE <= it.res.Detect
	}
	return it.res.MDE >= it.res.Detect
}

// suspicious says whether the estimate lies beyond the bound, or, where zeros leave none,
// whether the rule would be violated if it stood alone.
func (c *check) suspicious(it *item) bool { return it.off > 1 || *it.res.P <= c.alpha }

// suspect says that the estimate lies beyond the bound, but within chance: nothing is
// shown, and it would be wrong to say that nothing was seen.
func (c *check) suspect(it *item) {
	chance := fmt.Sprintf("p=%.2g", *it.res.P)
	if it.res.PAdj != nil && *it.res.PAdj != *it.res.P {
		chance += fmt.Sprintf(", Holm %.2g", *it.res.PAdj)
	}
	text := fmt.Sprintf("beyond the bound, but not beyond chance (%s)", chance)
	if n := c.wouldTell(it); n > 0 {
		it.res.Needed = n
		text += fmt.Sprintf(": if it is what it seems, about %s would show it", c.traces(it, n))
	}
	it.stop(causePower, "%s", text)
}

// mostNeeded is a number of traces beyond which nobody is told to record them.
const mostNeeded = 500

// wouldTell is how many traces show what the estimate seems to be, 0 if that is not known
// or too many.
func (c *check) wouldTell(it *item) int {
	n := 0
	if it.res.Test == "history" || !(it.off > 1) {
		return 0 // it is sessions that are missing, or the estimate tells nothing
	}
	// Less than any error rate needs, and quick.
	if x := it.spread / math.Log(it.off); !(2*x*x < mostNeeded) {
		return 0
	}
	switch it.res.Test {
	case "sign":
		n = stat.SignNeeded(it.off, it.spread, it.alpha, power)
	case "mann-whitney", "signed-rank":
		n = stat.Needed(1, it.off, it.spread, it.alpha, power)
	}
	if n > mostNeeded {
		return 0
	}
	return max(n, it.res.Cand.N+1)
}

func (c *check) traces(it *item, n int) string {
	if it.rule.Bound.Relative && c.base != nil {
		return fmt.Sprintf("%d traces per side", n)
	}
	return fmt.Sprintf("%d traces", n)
}

// weak says that the effect that matters would not have been seen.
func (c *check) weak(it *item) {
	if it.res.MDE == 0 {
		it.stop(causePower, "no violation shown, and what would have been seen is not known: the spread of the values is not (zeros?)")
		return
	}
	text := fmt.Sprintf("no violation shown, but only one of %s or %s would have been, and the rule wants to see %s", times(it.res.MDE), it.further(), times(it.res.Detect))
	if it.res.Needed > 0 {
		text += ": about " + c.traces(it, it.res.Needed)
	}
	it.stop(causePower, "%s", text)
}

// reaches is how far the worse end of the interval lies beyond what the rule wants to see,
// 1: at it; 0 if it is not known.
func (it *item) reaches() float64 {
	end := 0.0
	switch b := it.bounds(); {
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

// open says that the interval leaves open what the rule wants to see: that it would
// probably have been seen, by how traces differ, does not help where these leave it open.
func (c *check) open(it *item) {
	b := it.bounds()
	end := b.High
	if !it.higher() {
		end = b.Low
	}
	text := fmt.Sprintf("no violation shown, but %s is not excluded, and the rule wants to see %s", times(end), times(it.res.Detect))
	it.res.Needed = it.narrows(b.Est, end)
	if it.res.Needed > 0 {
		text += ": about " + c.traces(it, it.res.Needed)
	}
	it.stop(causePower, "%s", text)
}

// narrows is how many traces leave the interval's end at what the rule wants to see, 0 if
// that is not known or too many: its length goes with the root of their number.
func (it *item) narrows(est, end float64) int {
	r := math.Log(end/est) / math.Log(it.res.Detect/est)
	n := math.Ceil(float64(it.res.Cand.N) * r * r)
	if !(r > 1 && n <= mostNeeded) || it.res.Test == "history" {
		return 0
	}
	return max(int(n), it.res.Cand.N+1)
}

func (it *item) further() string {
	if it.higher() {
		return "more"
	}
	return "less"
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
		r.Confidence = 1 - c.alpha
	}
	other.rule.Rule = &r
	other.res.Bound = ceiling.Add
	other.level = it.level
	if ceiling.Relative && c.base == nil && c.past == nil {
		return true
	}
	c.judge(other)
	if other.res.P != nil {
		if ceiling.Relative {
			other.alpha = c.alpha
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
		isError := it.level == budget.Error
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
	if c.res.Exit == ExitViolated {
		text = "both sides ran the same program: this violation is a false alarm"
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
		if it.res.Verdict != Unseen || it.level != budget.Error {
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
		return times(it.res.Detect) + " of the limit"
	}
	return times(it.res.Detect)
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
		if it.res.Verdict == v && it.level == budget.Error {
			names = append(names, it.res.Rule)
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
	if len(c.dependent) > 0 {
		c.warn("values of a trace depend on each other: in the median trace those beyond the quantile are worth %.2g independent ones at worst, %d are good (%s); longer traces have more", c.worth, tail, strings.Join(c.dependent, ", "))
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
