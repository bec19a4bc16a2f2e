package budget

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/stat"
	"github.com/schedscope/schedscope/internal/textui"
)

// check looks at what can only be judged as a whole.
func (r *reader) check(root *yaml.Node) {
	b := r.budget
	if len(b.Rules) == 0 {
		r.fail(root, "there is no rule")
	}
	lines := map[string]int{} // of rules, by their text
	for i := range b.Rules {
		r.checkRule(&b.Rules[i], lines)
	}
	r.checkTraces(root)
	r.checkWaivers()
}

// valueOf returns the value of a key of a mapping, nil if it has none.
func valueOf(n *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// line stands for a node in errors about a rule or a waiver.
func line(n int) *yaml.Node { return &yaml.Node{Line: n} }

func (r *reader) checkRule(ru *Rule, lines map[string]int) {
	at := line(ru.Line)
	r.confidenceOf(ru)
	if before := lines[ru.String()]; before > 0 {
		r.fail(at, "the rule %s is there already, in line %d", ru, before)
	}
	lines[ru.String()] = ru.Line
	if why := oneValue(ru.Quantity); why != "" && ru.Level == Error {
		r.fail(at, "%s rests on %s of each trace and can only have level: warn; a quantile such as p99 can be judged", ru.Quantity, why)
	}
	if why := ru.Vacuous(); why != "" {
		r.fail(at, "%s: %s", ru, why)
	}
	r.checkOp(ru)
	r.checkDetect(ru)
}

// confidenceOf takes away what a relative rule says of its confidence, which must be
// what alpha says for all of them.
func (r *reader) confidenceOf(ru *Rule) {
	if !ru.Bound.Relative || ru.Confidence == 0 {
		return
	}
	if want := 1 - r.budget.Alpha; math.Abs(ru.Confidence-want) > 1e-9 {
		r.fail(line(ru.Line), "rules with a baseline share alpha and are judged at %s together; leave out @ %s or change alpha",
			rule.FormatValue(want, rule.Fraction), rule.FormatValue(ru.Confidence, rule.Fraction))
	}
	ru.Confidence = 0
}

// oneValue says which single value a quantity is, whatever the trace, or "".
func oneValue(q rule.Quantity) string {
	switch {
	case q.Agg == rule.Max, q.Agg == rule.Quantile && q.Q == 1:
		return "the greatest value"
	case q.Agg == rule.Quantile && q.Q == 0:
		return "the smallest value"
	}
	return ""
}

func (r *reader) checkOp(ru *Rule) {
	q, op := ru.Quantity, r.budget.Op
	switch {
	case q.Metric == "op" && op == "":
		r.fail(line(ru.Line), "%s needs the key op, which says what an op is, such as op: region:request; requests have the metric request", q)
	case q.Metric == "op" && !strings.HasPrefix(op, "region:") && !strings.HasPrefix(op, "task:"):
		r.fail(line(ru.Line), "%s needs ops that have a length: region:NAME or task:NAME, not %q", q, op)
	}
}

func (r *reader) checkDetect(ru *Rule) {
	switch {
	case ru.Detect == 0:
	case !ru.Bound.Relative:
		r.fail(line(ru.Line), "detect is a ratio to the baseline, and %s has none", ru)
	case ru.Op.HigherIsWorse() && ru.Detect <= ru.Bound.Factor, !ru.Op.HigherIsWorse() && ru.Detect >= ru.Bound.Factor:
		r.fail(line(ru.Line), "detect is %v, which %s allows; it is the ratio that should be seen as a violation", ru.Detect, ru)
	}
}

// checkTraces checks that the smallest possible p of each test can fail its rule.
func (r *reader) checkTraces(root *yaml.Node) {
	b := r.budget
	at := cmp.Or(valueOf(root, "min_traces"), root)
	if need, why := b.Need(); need > b.MinTraces {
		r.fail(at, "min_traces is %d, with which no rule could be violated: %s, which takes min_traces: %d", b.MinTraces, why, need)
	}
}

// Need returns how many traces per side there must be, at least, for the tests to be
// able to show a violation, and why. An exact test cannot have a smaller p than one
// over the number of arrangements of its data. An absolute rule asks for what its
// confidence leaves; those with a baseline share alpha, and Holm's correction asks for
// alpha by their number in one of them at least.
func (b *Budget) Need() (int, string) {
	need, why, family := 0, "", 0
	for _, ru := range b.Rules {
		switch {
		case ru.Level != Error || ru.Point:
		case ru.Bound.Relative:
			family++
		default:
			if n := SignTraces(1 - ru.Confidence); n > need {
				need, why = n, fmt.Sprintf("%s needs a p of %.4g", ru, 1-ru.Confidence)
			}
		}
	}
	if family == 0 {
		return need, why
	}
	p := b.Alpha / float64(family)
	n := 1
	for stat.MinP(n, n) > p*rounding {
		n++
	}
	if n > need {
		need, why = n, fmt.Sprintf("%s with a baseline and of level error need a p of %.4g, alpha by their number", textui.Plural(family, "rule"), p)
	}
	return need, why
}

// rounding is by how much a p may be above its limit, relatively.
const rounding = 1 + 1e-9

// SignTraces returns how many traces a sign test takes to reach p: the least n with
// 2^-n <= p.
func SignTraces(p float64) int {
	n := 1
	for least := 0.5; least > p*rounding; least /= 2 {
		n++
	}
	return n
}

func (r *reader) checkWaivers() {
	texts := result.Each(r.budget.Rules, func(x *Rule) string { return x.String() })
	for i := range r.budget.Waivers {
		w := &r.budget.Waivers[i]
		matched := false
		for j, text := range texts {
			if w.Matches(text) {
				matched = true
				r.readCeiling(w, r.ceilings[i], &r.budget.Rules[j])
			}
		}
		if !matched {
			r.fail(line(w.Line), "the waiver of %q matches no rule; rules are %s", w.Pattern, strings.Join(texts, "; "))
		}
	}
}

// noCeiling is the ceiling of a waiver without limit. It must be written: a waiver that lost its
// ceiling would allow more.
const noCeiling = "none"

// readCeiling reads the ceiling of a waiver in the unit of a rule that it matches.
func (r *reader) readCeiling(w *Waiver, n *yaml.Node, ru *Rule) {
	text := n.Value // "5ms" or, of a count, a number
	if _, number := scalarNumber(n); !number {
		text = r.text(n, "ceiling")
	}
	if text == "" || text == noCeiling {
		return
	}
	c, err := rule.ParseBound(text, ru.Quantity.Unit())
	switch {
	case err != nil:
		r.fail(n, "%v", err)
	case c.Relative != ru.Bound.Relative:
		r.fail(n, "the ceiling %s does not fit %s: both or none have a baseline", text, ru)
	case !looser(c, ru.Bound, ru.Op.HigherIsWorse()):
		r.fail(n, "the ceiling %s waives nothing: %s asks no more", text, ru)
	case w.Ceiling != nil && *w.Ceiling != c:
		r.fail(n, "the ceiling %s means different things for the rules that the waiver matches", text)
	}
	w.Ceiling = &c
}

// looser reports whether c allows something that b does not.
func looser(c, b rule.Bound, up bool) bool {
	if up {
		return c.Factor > b.Factor || c.Add > b.Add
	}
	return c.Factor < b.Factor || c.Add < b.Add
}

// Matches reports whether the waiver is for the rule of this text, as [rule.Rule.String]
// returns it. A pattern may be of the whole text or of the quantity alone.
func (w *Waiver) Matches(ruleText string) bool {
	return rule.Glob(w.Pattern, ruleText) || rule.Glob(w.Pattern+" *", ruleText)
}

// Expired reports whether the waiver has ended: it holds on its last day, too.
func (w *Waiver) Expired(today time.Time) bool {
	y, m, d := today.Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC).After(w.Until)
}

// MaxWaived is the longest time from now for which a waiver may hold, in days: waivers are
// forgotten otherwise.
const MaxWaived = 180

// TooLong reports whether the waiver holds for more than [MaxWaived] days.
func (w *Waiver) TooLong(today time.Time) bool {
	y, m, d := today.Date()
	return w.Until.After(time.Date(y, m, d+MaxWaived, 0, 0, 0, 0, time.UTC))
}

// Waiver returns the waiver of the rule with this text that has not expired, nil if
// there is none.
func (b *Budget) Waiver(ruleText string, today time.Time) *Waiver {
	return result.Find(b.Waivers, func(w *Waiver) bool { return !w.Expired(today) && w.Matches(ruleText) })
}

// Expired returns the expired waivers. A budget with expired waivers must not be used until
// they are removed or renewed.
func (b *Budget) Expired(today time.Time) []Waiver {
	return slices.DeleteFunc(slices.Clone(b.Waivers), func(w Waiver) bool { return !w.Expired(today) })
}
