package verdict

import (
	"io"
	"strconv"
	"strings"

	"github.com/schedscope/schedscope/analyze/gate/budget"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/internal/textui"
)

// ruleWidth is how wide the explanation of a rule is.
const ruleWidth = 88

// Rule explains a rule: what it measures, what it allows, how it is judged and what that
// takes.
func Rule(w io.Writer, r *rule.Rule) error {
	var b strings.Builder
	b.WriteString(textui.Clean(r.String()) + "\n\n")
	section := func(label string, sentences []string) {
		for _, s := range sentences {
			b.WriteString(label + strings.Repeat(" ", 10-len(label)) + textui.Columns(textui.Clean(s), ruleWidth-10, strings.Repeat(" ", 10)) + "\n")
			label = ""
		}
	}
	section("measures", measures(&r.Quantity))
	section("allows", allows(r))
	section("judged", judged(r))
	section("needs", takes(r))
	section("beware", beware(r))
	section("slug", []string{r.Slug()})
	_, err := io.WriteString(w, b.String())
	return err
}

// measures says what number of a trace the rule is about.
func measures(q *rule.Quantity) []string {
	m, ok := rule.Lookup(q.Metric)
	if !ok {
		return []string{q.String() + ", which is no metric"}
	}
	out := []string{"one number per trace: " + aggregate(q)}
	out = append(out, m.Name+" is "+m.Doc+".")
	for _, s := range q.Select {
		out = append(out, selected(s))
	}
	return out
}

// aggregate says how values become the number.
func aggregate(q *rule.Quantity) string {
	switch q.Agg {
	case rule.Quantile:
		return "the value of " + q.Metric + " that " + percentText(q.Q) + " of those in the window do not exceed, by nearest rank."
	case rule.Max:
		return "the greatest " + q.Metric + " in the window."
	case rule.Sum:
		return "the total of " + q.Metric + " in the window."
	case rule.Share:
		return "the selected part of the total of " + q.Metric + ", 0% to 100%."
	}
	switch q.Per {
	case rule.PerOp:
		return "the total of " + q.Metric + " in the window, divided by the ops done in it. What an op is the budget says (op)."
	case rule.PerSecond:
		return "the total of " + q.Metric + " in the window, per second of it."
	}
	return "the mean of " + q.Metric + " in the window."
}

// selectors say what the keys of selectors are, by key.
var selectors = map[string]string{
	"func":   "of goroutines whose start function is ",
	"origin": "of goroutines that became runnable by ",
	"cause":  "the parts lost to ",
	"reason": "for the reason ",
	"name":   "with the name ",
}

func selected(s rule.Selector) string {
	what, ok := selectors[s.Key]
	if !ok {
		what = "with " + s.Key + " "
	}
	out := "Only " + what + s.Pattern
	if strings.Contains(s.Pattern, "*") {
		return out + ", where * is any text."
	}
	return out + "."
}

// allows says where the bound is.
func allows(r *rule.Rule) []string {
	u := r.Quantity.Unit()
	word := [...]string{"less than ", "at most ", "more than ", "at least "}[r.Op]
	out := word + value(r.Bound.Add, u)
	if r.Bound.Relative {
		out = word + ofBaseline(r.Bound, u)
	}
	if r.Op.HigherIsWorse() {
		return []string{out + "; higher is worse."}
	}
	return []string{out + "; lower is worse."}
}

func ofBaseline(b rule.Bound, u rule.Unit) string {
	s := "what the baseline has"
	if b.Factor != 1 {
		s = strconv.FormatFloat(b.Factor, 'f', -1, 64) + " times " + s
	}
	if b.Add > 0 {
		s += ", and " + value(b.Add, u) + " more"
	}
	return s
}

// judged says what gives the verdict.
func judged(r *rule.Rule) []string {
	switch {
	case r.Point:
		return []string{
			"each trace as it is, without statistics: FAIL if it is beyond the limit, else PASS.",
			"Nothing is known of how often that goes wrong. It is the only form for a single trace.",
		}
	case !r.Bound.Relative:
		return absolute(r)
	}
	return []string{
		"over traces of a process each, baseline against candidate, by an exact one-sided Mann-Whitney test of the candidate's values against the baseline's values as the bound has them (signed ranks of pairs if the budget says paired).",
		"FAIL if p is at most alpha, after Holm's correction over the rules of level error. So a change within the room that the rule leaves fails much more rarely than alpha.",
		"PASS, proved, if the interval of the ratio lies within the bound. PASS, too, if the estimate is within the bound, a change of the size that the rule wants to see would have been seen with a probability of 80%, and the interval does not reach beyond that size. Else INCONCLUSIVE.",
		detects(r),
		"Against the sessions of a baseline file instead, the median of the candidate must lie beyond a prediction limit of their medians; with fewer than 20 sessions that only warns.",
	}
}

// room is what a rule wants to see by default, as a factor to what its bound allows.
const room = 1.5

// detects says what a relative rule wants to see.
func detects(r *rule.Rule) string {
	s, x := "one and a half times what the bound allows", r.Bound.Factor*room
	if !r.Op.HigherIsWorse() {
		s, x = "what the bound allows, divided by one and a half", r.Bound.Factor/room
	}
	s = "The size that it wants to see is the rule's detect in the budget, a ratio to the baseline. Without one it is " + s
	if r.Bound.Add > 0 {
		return s + " at the baseline's median."
	}
	return s + ", " + times(x) + "."
}

func confidence(r *rule.Rule) float64 {
	if r.Confidence == 0 {
		return rule.DefaultConfidence
	}
	return r.Confidence
}

// leastOf returns how many traces a sign test needs: if all of so few are beyond a limit,
// that is less likely to be chance than the confidence leaves.
func leastOf(confidence float64) int {
	n, chance := 1, 0.5
	for ; chance > 1-confidence && n < 100; n++ {
		chance /= 2
	}
	return n
}

func absolute(r *rule.Rule) []string {
	c := confidence(r)
	out := []string{"over traces of a process each, by the median and the sign test: FAIL if the whole of the median's interval is beyond the limit, PASS if the whole keeps it. Each end of the interval holds at " + percentText(c) + "."}
	size, beyond := times(room), "above"
	if !r.Op.HigherIsWorse() {
		size, beyond = times(1/room), "below"
	}
	out = append(out, "PASS, too, if the median keeps it, "+size+" of the limit would have been seen with a probability of 80%, and the interval does not reach "+beyond+" that. Else INCONCLUSIVE.")
	if c == 0.95 {
		out = append(out, "Of 5 traces, all 5 must be beyond the limit to fail; of 10, at least 9.")
	}
	return out
}

func percentText(x float64) string {
	return strconv.FormatFloat(100*x, 'g', 6, 64) + "%"
}

// takes says what must be there.
func takes(r *rule.Rule) []string {
	var out []string
	switch {
	case r.Point:
		out = append(out, "one trace or more.")
	case r.Bound.Relative:
		out = append(out, "at least min_traces of the budget per side ("+strconv.Itoa(budget.Default().MinTraces)+" by default; 10 is better), recorded in turns on one machine: schedscope gate record.")
	default:
		out = append(out, "at least "+strconv.Itoa(leastOf(confidence(r)))+" traces of a process each.")
	}
	m, _ := rule.Lookup(r.Quantity.Metric)
	if m != nil && m.Env {
		out = append(out, "an environment record with each trace, as gate record and schedtest make it.")
	}
	if r.Quantity.Per == rule.PerOp {
		out = append(out, "ops: the budget's op must name what the program does.")
	}
	return out
}

// beware says what the rule does not see, or takes for something else.
func beware(r *rule.Rule) []string {
	q := &r.Quantity
	m, _ := rule.Lookup(q.Metric)
	var out []string
	switch {
	case q.Agg == rule.Max:
		out = append(out, "a maximum is one value of a trace and differs greatly between traces: no more than level warn.")
	case q.Agg == rule.Quantile:
		out = append(out, "a quantile with fewer than 10 values beyond it is not judged above level warn: the trace is too short for it.")
		if q.Metric == "runnable" || q.Metric == "blocked" {
			out = append(out, "It is of single waits. A change that adds many short ones lowers it although every op waits longer: have a rule per op beside it, such as mean(wait/op).")
		}
	}
	if m != nil && m.Sim {
		out = append(out, "It is simulated from measured run times, and not judged where the operating system interrupted those.")
	}
	if m != nil && m.Unit == rule.Nanoseconds && !m.Env {
		out = append(out, "A disturbed machine changes it: it is judged on quiet ones only (guards of the budget).")
	}
	return out
}
