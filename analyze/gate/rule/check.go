package rule

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/internal/textui"
)

// Lookup returns the metric of a name.
func Lookup(name string) (*Metric, bool) {
	i := slices.IndexFunc(Metrics, func(m Metric) bool { return m.Name == name })
	if i < 0 {
		return nil, false
	}
	return &Metrics[i], true
}

// Unit returns the unit of the quantity's values. That of a quantity per second is the
// metric's, too: nanoseconds, in each second.
func (q Quantity) Unit() Unit {
	if q.Agg == Share {
		return Fraction
	}
	if m, ok := Lookup(q.Metric); ok {
		return m.Unit
	}
	return Number
}

// Check returns an error if the quantity, which need not come from the parser, is invalid.
func (q Quantity) Check() error {
	msg, hint := q.fault()
	switch {
	case msg == "":
		return nil
	case hint == "":
		return errors.New(msg)
	}
	return errors.New(msg + "; " + hint)
}

// fault returns what is wrong with the quantity, and what to write instead.
func (q Quantity) fault() (msg, hint string) {
	m, ok := Lookup(q.Metric)
	if !ok {
		return fmt.Sprintf("there is no metric %q", q.Metric), metricsHint(q.Metric)
	}
	for _, s := range q.Select {
		if !slices.Contains(m.Keys, s.Key) {
			return fmt.Sprintf("%s has no selector %q", m.Name, s.Key), keysHint(m, s.Key)
		}
	}
	if q.Selected("behind") != nil && (q.Selected("func") != nil || q.Selected("origin") != nil) {
		return "whose waits stood behind code is not known", "behind goes with cause only"
	}
	if q.Per != PerNone && q.Agg != Mean {
		return q.perFault()
	}
	if m.Name == "ops" && q.Per == PerOp {
		return "there is always one op per op", "write mean(ops/s)"
	}
	if q.Agg == Share {
		return q.shareFault(m)
	}
	return q.kindFault(m)
}

func keysHint(m *Metric, key string) string {
	if len(m.Keys) == 0 {
		return "it takes no selectors"
	}
	hint := "it takes " + strings.Join(m.Keys, ", ")
	if near := textui.Closest(key, m.Keys); near != "" {
		hint = fmt.Sprintf("did you mean %s? %s", near, hint)
	}
	return hint
}

func (q Quantity) perFault() (msg, hint string) {
	hint = "write mean(" + q.inner() + ")"
	switch q.Agg {
	case Share:
		return "a share is a part of the total, the same per op and second", "leave out " + q.Per.String()
	case Sum:
		return fmt.Sprintf("a sum is of the whole window, not %s", q.Per), hint
	}
	return fmt.Sprintf("%s is of single values, and %s there is one number only, their total", q.aggName(), q.Per), hint
}

func (q Quantity) inner() string {
	s := q.String()
	return s[strings.IndexByte(s, '(')+1 : len(s)-1]
}

func (q Quantity) shareFault(m *Metric) (msg, hint string) {
	if len(q.Select) > 0 {
		return "", ""
	}
	if len(m.Keys) == 0 {
		return "a share needs a selector, and " + m.Name + " takes none", ""
	}
	return "a share needs a selector that says of what", fmt.Sprintf("write share(%s{%s=...})", m.Name, m.Keys[0])
}

func (q Quantity) kindFault(m *Metric) (msg, hint string) {
	if q.Agg == Sum || q.Agg == Mean && q.Per != PerNone {
		return "", ""
	}
	if m.Kind == Total {
		hint = fmt.Sprintf("write sum(%[1]s), mean(%[1]s/op) or mean(%[1]s/s)", q.inner())
		if single := strings.Replace(m.Name, "wait", "runnable", 1); single != m.Name {
			hint += fmt.Sprintf("; single waits are %s", single)
		}
		return fmt.Sprintf("%s is one number per trace, it has no %s", m.Name, q.aggName()), hint
	}
	if q.Metric == "runnable" && (q.Selected("cause") != nil || q.Selected("behind") != nil) {
		return fmt.Sprintf("what causes and code took of waits are parts of them, without a %s", q.aggName()),
			fmt.Sprintf("write sum(%[1]s), mean(%[1]s/op), mean(%[1]s/s) or share(%[1]s)", q.inner())
	}
	return "", ""
}

// At returns the bound's value where the baseline has base.
func (b Bound) At(base float64) float64 {
	return textui.Either(!b.Relative, b.Add, float64(b.Factor*base)+b.Add)
}

// Holds reports whether x keeps the bound.
func (o Op) Holds(x, bound float64) bool {
	switch o {
	case Less:
		return x < bound
	case LessEqual:
		return x <= bound
	case Greater:
		return x > bound
	}
	return x >= bound
}

// HigherIsWorse reports whether greater values violate the bound.
func (o Op) HigherIsWorse() bool { return o == Less || o == LessEqual }

// Vacuous returns why every trace keeps the rule, or why none can, "" if the trace decides.
func (r *Rule) Vacuous() string {
	share := r.Quantity.Agg == Share && r.Bound.Add == 1
	switch b := r.Bound; {
	case b.Relative:
		return ""
	case b.Add == 0 && r.Op == Less:
		return "nothing is less than 0, so every trace violates it; write <= 0"
	case b.Add == 0 && r.Op == GreaterEqual:
		return "nothing is less than 0, so no trace can violate it"
	case share && r.Op == Greater:
		return "no share is more than 100%, so every trace violates it; write >= 100%"
	case share && r.Op == LessEqual:
		return "no share is more than 100%, so no trace can violate it"
	}
	return ""
}
