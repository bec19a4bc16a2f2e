package gate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/analyze/compare"
	"github.com/schedscope/schedscope/analyze/gate/budget"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/internal/stat"
	"github.com/schedscope/schedscope/internal/textui"
)

// verdict says what follows from guards and tests: of each rule, with what explains it, and of all
// together, in words and as an exit code.
func verdict(g guarded, tested []judged) *Result {
	res := g.result(g.used)
	res.Guards = append(res.Guards, g.guards...)
	warn := func(texts ...string) {
		for _, text := range texts {
			if !slices.Contains(res.Warnings, text) {
				res.Warnings = append(res.Warnings, text)
			}
		}
	}
	warn(g.warnings...)
	for _, j := range tested {
		warn(j.warnings...)
	}
	var rules []judged
	for _, j := range tested {
		j = g.decide(j)
		warn(j.warnings...)
		rules = append(rules, j)
	}
	rules = g.explain(rules)
	for _, j := range rules {
		res.Rules = append(res.Rules, j.res)
	}
	var warnings []string
	res.Verdict, res.Exit, res.Headline, warnings = g.conclude(rules)
	warn(warnings...)
	res.Next = g.next(rules)
	return res
}

// decide makes a verdict of what was computed of a rule.
func (g *guarded) decide(j judged) judged {
	if j.res.P != nil {
		j = g.judge(g.withPower(j))
	}
	if j.res.Verdict == Fail {
		j = g.waive(j)
	}
	j = j.note(g.coverage(&j))
	// The medians, which are shown, may lie on the other side of the bound than what the
	// verdict rests on.
	if j.res.Test == "permutation" && j.off != 0 && j.cause != causeGuard {
		over := j.sign()*j.res.Cand.Median > j.sign()*j.res.Bound
		switch {
		case over && j.off < 1:
			j = j.note("by the medians beyond the limit; by the ratios of all pairs of traces, which the verdict rests on, within it")
		case !over && j.off > 1:
			j = j.note("by the medians within the limit; by the ratios of all pairs of traces, which the verdict rests on, beyond it")
		}
	}
	if g.status("mix") == GuardFlag && j.perEvent() && j.Bound.Relative && j.cause != causeGuard && j.cause != causeMissing {
		j = j.note("mix changed: this quantile is of other events than before")
	}
	return j
}

// leastNoted is the part from which it is noted.
const leastNoted = 0.01

// coverage says how much of the waiting behind code is estimated, and how much unknown; "" if that
// is little.
func (g *guarded) coverage(j *judged) string {
	if j.Quantity.Selected("behind") == nil || j.res.Cand == nil {
		return ""
	}
	of := func(f func(sample.Value) float64) float64 {
		return *compare.Median(having(g.used.cand(), j.key), func(s *sample.Sample) *float64 { return new(f(s.Values[j.key])) })
	}
	var said []string
	if x := of(func(v sample.Value) float64 { return v.Estimated }); x >= leastNoted {
		said = append(said, percent(x)+" of it is estimated")
	}
	if x := of(func(v sample.Value) float64 { return v.Unknown }); x >= leastNoted {
		said = append(said, percent(x)+" of the waiting behind code is behind unknown code, which does not count")
	}
	return strings.Join(said, "; ")
}

// mostNeeded is a number of traces beyond which nobody is advised to record them.
const mostNeeded = 500

// judge goes through what a tested rule may be:
//
//  1. violated, or proved to be kept;
//  2. undecided where requests hang, on a disturbed machine, or since no p of so few traces shows anything;
//  3. beyond the bound, but within chance: nothing is shown, and it would be wrong to say
//     that nothing was seen;
//  4. not seen, although what the rule wants to see would have been, unless the interval
//     leaves that open: that it would probably have been seen, by how traces differ, does
//     not help then;
//  5. not seen, and what the rule wants to see would not have been, either.
func (g *guarded) judge(j judged) judged {
	r := &j.res
	seen := r.MDE != 0 && r.Detect != 0 && j.sign()*r.MDE <= j.sign()*r.Detect
	stop := func(needed int, text, then string) judged {
		if needed > 0 {
			r.Needed = needed
			traces := fmt.Sprintf("%d traces", needed) + textui.If(j.Bound.Relative, " per side")
			text += fmt.Sprintf(then, traces)
		}
		return j.stop(causePower, "%s", text)
	}
	b, end := j.bounds(), 0.0 // the worse one
	switch {
	case b == nil:
	case j.higher():
		end = b.High
	default:
		end = b.Low
	}
	switch detect := compare.TimesText(r.Detect); {
	case j.violated(g.Budget.Alpha): // 1
		r.Verdict = Fail
	case g.status("hang") == GuardFailed: // 2
		return j.stop(causeGuard, "see guard hang: no violation shown, but not proved either that there is none")
	case j.proved:
		r.Verdict = Pass
	case g.disturbed(): // 2
		return j.stop(causeGuard, "machine disturbed: no violation shown, but not proved either that there is none")
	case j.Bound.Relative && j.leastP(r.Base.N, r.Cand.N) > j.alpha*(1+1e-12):
		n := 1
		for j.leastP(n, n) > j.alpha && n < 1000 {
			n++
		}
		r.Needed = max(r.Needed, n)
		return j.stop(causeFew, "no p that so few traces can give shows anything at an error rate of %.3g: %d per side needed", j.alpha, r.Needed)
	case j.off > 1 || *r.P <= g.Budget.Alpha: // 3; where zeros leave no estimate, if it would be violated alone
		chance := fmt.Sprintf("p=%.2g", *r.P)
		if r.PAdj != nil && *r.PAdj != *r.P {
			chance += fmt.Sprintf(", Holm %.2g", *r.PAdj)
		}
		return stop(j.wouldShow(), fmt.Sprintf("beyond the bound, but not beyond chance (%s)", chance), ": if it is what it seems, about %s would show it")
	case seen && b != nil && j.sign()*end > j.sign()*r.Detect: // 4
		// The length of the interval goes with the root of the number of traces.
		x := math.Log(end/b.Est) / math.Log(r.Detect/b.Est)
		needed := math.Ceil(float64(r.Cand.N) * x * x)
		r.Needed = 0
		if !(x > 1 && needed <= mostNeeded) {
			needed = 0 // not known, or too many
		} else {
			needed = max(needed, float64(r.Cand.N+1))
		}
		return stop(int(needed), fmt.Sprintf("no violation shown, but %s is not excluded, and the rule wants to see %s", compare.TimesText(end), detect), ": about %s")
	case seen:
		r.Verdict = Unseen
	case r.MDE == 0: // 5
		return j.stop(causePower, "no violation shown, and what would have been seen is not known: the spread of the values is not (zeros?)")
	default:
		return stop(r.Needed, fmt.Sprintf("no violation shown, but only one of %s or %s would have been, and the rule wants to see %s", compare.TimesText(r.MDE), j.more(), detect), ": about %s")
	}
	return j
}

// more is the word for what is worse.
func (r *subject) more() string { return textui.Either(r.higher(), "more", "less") }

// violated reports whether the test shows that the bound is not kept, where alpha is the error rate
// of the whole family.
func (j *judged) violated(alpha float64) bool {
	if j.res.PAdj != nil {
		return *j.res.PAdj <= alpha*(1+1e-12)
	}
	return *j.res.P <= j.alpha*(1+1e-12)
}

// leastP is the smallest p that the test of a relative rule can give of so many traces: more if the
// bound allows more than the base has.
func (j *judged) leastP(n, m int) float64 {
	if j.sign()*j.res.Bound > j.sign()*j.res.Base.Median {
		return stat.Unchanged * stat.MinP(n, m)
	}
	return stat.MinP(n, m)
}

// A powerOf has the functions of package stat about the test of a kind of rule. Ratios are in the
// direction in which more is worse: k is what the bound allows and r what is there, to the baseline
// or, of an absolute rule, to the limit.
type powerOf struct {
	needed func(k, r, s, alpha, power float64) int
	mde    func(k, s float64, n, m int, alpha, power float64) float64
	power  func(k, r, s float64, n, m int, alpha float64) float64
}

func (r *subject) powers() powerOf {
	if r.Bound.Relative {
		return powerOf{stat.Needed, stat.MDE, stat.Power}
	}
	return powerOf{
		func(_, r, s, alpha, power float64) int { return stat.SignNeeded(r, s, alpha, power) },
		func(_, s float64, _, n int, alpha, power float64) float64 { return stat.SignMDE(s, n, alpha, power) },
		func(_, r, s float64, _, n int, alpha float64) float64 { return stat.SignPower(r, s, n, alpha) },
	}
}

// withPower returns j with the smallest effect that would have been seen, as a ratio to the
// baseline, or to the limit of an absolute rule, and how many traces show what the rule wants to
// see.
func (g *guarded) withPower(j judged) judged {
	k, n, least := j.margin, 0, g.minTraces()
	if j.Bound.Relative {
		n = j.res.Base.N
	} else {
		k, least = 1, 0
		if j.res.Detect = j.Detect; j.Detect == 0 {
			j.res.Detect = j.worse(detectRoom)
		}
	}
	if k == 0 || math.IsNaN(j.spread) || j.alpha <= 0 {
		return j
	}
	k = j.worse(k)
	mde := j.powers().mde(k, j.spread, n, j.res.Cand.N, j.alpha, power)
	if !finite(mde) || mde <= 0 {
		return j
	}
	j.res.MDE = j.worse(mde)
	if j.res.Needed = j.powers().needed(k, j.worse(j.res.Detect), j.spread, j.alpha, power); j.res.Needed > 0 {
		j.res.Needed = max(j.res.Needed, least)
	}
	return j
}

// wouldShow is how many traces show what the estimate seems to be, 0 if that is not known
// or too many.
func (j *judged) wouldShow() int {
	if !(j.off > 1) {
		return 0 // the estimate says nothing
	}
	// Less than any error rate needs, and quick.
	if x := j.spread / math.Log(j.off); !(2*x*x < mostNeeded) {
		return 0
	}
	n := j.powers().needed(1, j.off, j.spread, j.alpha, power)
	if n > mostNeeded {
		return 0
	}
	return max(n, j.res.Cand.N+1)
}

// bounds is the interval in what Detect is in: of the ratio to the baseline, or of the
// median by the limit. nil: there is none.
func (j *judged) bounds() *stat.Interval {
	b, limit := j.res.Cand.Bounds, j.res.Bound
	switch {
	case j.Bound.Relative:
		return j.res.Ratio
	case b == nil || limit <= 0:
		return nil
	}
	return &stat.Interval{Est: b.Est / limit, Low: b.Low / limit, High: b.High / limit, Confidence: b.Confidence}
}

// waive applies a waiver to a violated rule.
func (g *guarded) waive(j judged) judged {
	w := g.Budget.Waiver(j.res.Rule, g.Today)
	if w == nil {
		return j
	}
	j.res.Waiver = &Waiver{Until: day(w.Until), Issue: w.Issue}
	if w.Ceiling != nil {
		j.res.Waiver.Ceiling = w.Ceiling.Text(j.res.Unit)
		beyond, warnings := g.beyond(j.subject, *w.Ceiling)
		j.warnings = append(j.warnings, warnings...)
		if beyond {
			return j.note("beyond the ceiling of its waiver, " + j.res.Waiver.Ceiling)
		}
	}
	j.res.Verdict = Waived
	return j
}

// beyond reports whether the candidate is worse than a waiver allows: by the same test as
// the rule's, at the error rate of one rule.
func (g *guarded) beyond(r subject, ceiling rule.Bound) (bool, []string) {
	if ceiling.Relative && g.design == Absolute {
		return true, nil
	}
	other := *r.Rule.Rule
	other.Bound = ceiling
	if !ceiling.Relative && !r.Point && r.Confidence == 0 {
		other.Confidence = 1 - g.Budget.Alpha
	}
	r.Rule.Rule = &other
	j := g.test(r)
	switch {
	case j.res.P == nil:
		return j.res.Verdict != Pass, j.warnings
	case ceiling.Relative:
		j.alpha = g.Budget.Alpha
	}
	return j.violated(g.Budget.Alpha), j.warnings
}

// conclude makes one verdict of all, and warns of what it does not show.
func (g *guarded) conclude(rules []judged) (v Verdict, exit int, headline string, warnings []string) {
	pick := func(v Verdict, is func(judged) bool) []judged {
		return slices.DeleteFunc(slices.Clone(rules), func(j judged) bool { return j.res.Verdict != v || !is(j) })
	}
	every := func(judged) bool { return true }
	isError := func(j judged) bool { return j.Level == budget.Error }
	// A guard that blocks says that nothing can be judged here, so it counts for rules of level
	// warn, too.
	isBlocked := func(j judged) bool { return j.cause == causeGuard || isError(j) && j.cause != causePower }
	unusable, failed, unseen, waived := pick(Unusable, every), pick(Fail, isError), pick(Unseen, isError), pick(Waived, every)
	warned := pick(Fail, func(j judged) bool { return !isError(j) })
	blocked := pick(Inconclusive, isBlocked) // whatever the power
	weak := pick(Inconclusive, func(j judged) bool { return isError(j) && !isBlocked(j) })
	undecided := pick(Inconclusive, func(j judged) bool { return isError(j) || isBlocked(j) })
	warn := func(are []judged, what string) {
		if len(are) > 0 {
			warnings = append(warnings, textui.Plural(len(are), "rule")+what)
		}
	}
	warn(warned, " of level warn violated")
	warn(waived, " violated with a waiver")
	if len(failed) > 0 {
		warn(blocked, " could not be judged")
	}
	warn(weak, " inconclusive for want of traces")

	end := func(is Verdict, code int, format string, args ...any) {
		v, exit, headline = is, code, fmt.Sprintf(format, args...)
	}
	all, on := textui.Plural(len(rules), "rule"), g.OnInconclusive
	if len(failed) == 0 && slices.ContainsFunc(rules, func(j judged) bool { return j.added }) { // else it is named
		all += " (one of them added for the throughput of requests)"
	}
	errors := len(slices.DeleteFunc(slices.Clone(rules), func(j judged) bool { return !isError(j) }))
	kept := textui.Plural(errors, "rule") + textui.If(errors < len(rules), " of level error")
	switch {
	case len(unusable) > 0:
		end(Unusable, ExitUnusable, "unusable: %d of %s cannot be judged at all: %s: %s", len(unusable), all, unusable[0].res.Rule, unusable[0].res.Why)
	case len(failed) > 0:
		end(Fail, ExitViolated, "%d of %s violated: %s", len(failed), all, names(failed))
	case g.disturbed() && len(blocked) == 0 && on != "pass":
		end(Inconclusive, ExitUndecided, "machine disturbed: no violation shown in %s, but no such recording passes", all)
	case len(blocked) > 0 && on != "pass":
		end(Inconclusive, ExitUndecided, "cannot judge %d of %s: %s", len(blocked), all, undecided[0].res.Why)
	case len(weak) > 0 && on == "fail":
		end(Inconclusive, ExitUndecided, "%d of %s inconclusive: %s", len(weak), all, undecided[0].res.Why)
	case len(undecided) > 0:
		end(Inconclusive, ExitOK, "no violation shown, %d of %s inconclusive: %s", len(undecided), all, undecided[0].res.Why)
	case g.disturbed():
		end(Inconclusive, ExitOK, "machine disturbed: no violation shown in %s", all)
	case errors == 0:
		end(Inconclusive, ExitOK, "nothing can fail: %s only warn", all)
	case len(waived) > 0:
		end(Waived, ExitOK, "%d of %s violated with a waiver, no other violation shown", len(waived), all)
	case len(unseen) > 0:
		end(Unseen, ExitOK, "no violation shown in %s, and one of %s would have been with %.0f%% probability", kept, sizes(unseen), 100*power)
	default:
		end(Pass, ExitOK, "%s kept", kept)
	}
	if g.SameProgram {
		warnings = append(warnings, calibration(exit, rules))
	}
	return v, exit, headline, warnings
}

// calibration says what recordings of one program on both sides show: whether the gate
// raises a false alarm, and how far traces differ.
func calibration(exit int, rules []judged) string {
	text := "both sides ran the same program, and no violation was shown, as it should be"
	switch exit {
	case ExitViolated:
		text = "both sides ran the same program: this violation is a false alarm"
	case ExitUndecided:
		text = "both sides ran the same program, and what was recorded does not allow a verdict"
	}
	var spreads []string
	for _, j := range rules {
		if finite(j.spread) {
			spreads = append(spreads, j.key+" "+percent(j.spread))
		}
	}
	return text + textui.If(len(spreads) > 0, "; standard deviation between traces, of logarithms: "+strings.Join(spreads, ", "))
}

// maxSizes is how many sizes a headline names.
const maxSizes = 3

// sizes says of which size a change would have been seen in rules that are not proved to be kept.
func sizes(unseen []judged) string {
	var list []string
	for _, j := range unseen {
		s := compare.TimesText(j.res.Detect) + textui.If(!j.Bound.Relative, " of the limit")
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	if n := len(list) - maxSizes; n > 0 {
		list = append(list[:maxSizes], fmt.Sprintf("%d more sizes", n))
	}
	last := len(list) - 1
	if last == 0 {
		return list[0]
	}
	return strings.Join(list[:last], ", ") + " or " + list[last]
}

// names lists violated rules.
func names(failed []judged) string {
	var list []string
	for _, j := range failed {
		name := j.res.Rule
		if j.added {
			name = fmt.Sprintf("the throughput of requests fell (%s), %s", compare.TimesText(j.res.Cand.Median/j.res.Base.Median), name)
		}
		list = append(list, name)
	}
	return strings.Join(list, ", ")
}

// next says what to do about what could not be decided.
func (g *guarded) next(rules []judged) (list []string) {
	most := 0
	for _, j := range rules {
		if j.cause == causeFew || j.cause == causePower {
			most = max(most, j.res.Needed)
		}
	}
	if most > 0 {
		list = append(list, fmt.Sprintf("record about %d traces per side: schedscope gate record -n %d, or see schedscope gate plan", most, most))
	}
	if !slices.ContainsFunc(rules, func(j judged) bool { return j.cause != causeMissing }) {
		return append(list, "ask for what these traces have figures of, of requests only where some were found: schedscope help gate-rules lists all")
	}
	if g.disturbed() {
		list = append(list, "record again where nothing else runs; one program recorded on both sides shows what a machine is good for")
	}
	if g.status("load") == GuardFailed {
		list = append(list, "record both sides under the same load: at a fixed rate (load: open), or a fixed number of ops (load: fixed-work)")
	}
	return list
}
