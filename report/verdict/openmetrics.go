package verdict

import (
	"io"
	"strconv"

	"github.com/schedscope/schedscope/analyze/gate"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/internal/openmetrics"
)

// family is a metric family of figures.
type family struct{ openmetrics.Family }

func newFamily(name, unit, help string) *family {
	return &family{openmetrics.Family{Name: name, Unit: unit, Help: help}}
}

// OpenMetrics writes the figures of each rule as gauges with three significant digits:
// readers compare them as texts. Times are seconds, as that format wants them.
func OpenMetrics(w io.Writer, r *gate.Result, _ Options) error {
	c, err := printable(r)
	if err != nil {
		return err
	}
	exit := newFamily("schedscope_gate_exit_code", "", "0 passed, 1 budget violated, 2 unusable, 3 cannot judge")
	exit.add(openmetrics.Labels("workload", c.Workload, "verdict", string(c.Verdict)), float64(c.Exit))
	verdicts := newFamily("schedscope_gate_rule_verdict", "", "1 for the verdict on the rule")
	values, limits := byUnit("value", "median over traces"), byUnit("limit", "bound of the rule at the baseline's median")
	ratio := newFamily("schedscope_gate_change_ratio", "ratio", "candidate to baseline, with the ends of the confidence interval")
	count := newFamily("schedscope_gate_traces", "", "values compared")
	for _, rr := range distinct(ranked(c)) {
		of := []string{"workload", c.Workload, "rule", rr.Rule}
		verdicts.add(openmetrics.Labels(append(of, "verdict", string(rr.Verdict))...), 1)
		for _, s := range sides(rr) {
			on := openmetrics.Labels(append(of, "side", s.name)...)
			values[rr.Unit].add(on, seconds(s.values.Median, rr.Unit))
			count.add(on, float64(s.values.N))
		}
		if rr.Base == nil || rr.Base.N > 0 {
			limits[rr.Unit].add(openmetrics.Labels(of...), seconds(rr.Bound, rr.Unit))
		}
		if i := rr.Ratio; i != nil {
			ratio.add(openmetrics.Labels(append(of, "of", "estimate")...), i.Est)
			ratio.add(openmetrics.Labels(append(of, "of", "low")...), i.Low)
			ratio.add(openmetrics.Labels(append(of, "of", "high")...), i.High)
		}
	}
	return openmetrics.Write(w, &exit.Family, &verdicts.Family, &values[0].Family, &values[1].Family, &values[2].Family,
		&limits[0].Family, &limits[1].Family, &limits[2].Family, &ratio.Family, &count.Family)
}

// distinct leaves out rules with the text of one before: a sample must be told once.
func distinct(rules []*gate.RuleResult) []*gate.RuleResult {
	seen := map[string]bool{}
	var out []*gate.RuleResult
	for _, r := range rules {
		if !seen[r.Rule] {
			out = append(out, r)
		}
		seen[r.Rule] = true
	}
	return out
}

// byUnit returns a family for each unit that quantities may have.
func byUnit(what, help string) map[rule.Unit]*family {
	name := "schedscope_gate_" + what
	return map[rule.Unit]*family{
		rule.Nanoseconds: newFamily(name+"_seconds", "seconds", help),
		rule.Number:      newFamily(name, "", help+", of counts"),
		rule.Fraction:    newFamily(name+"_ratio", "ratio", help+", of shares"),
	}
}

func seconds(x float64, u rule.Unit) float64 {
	if u == rule.Nanoseconds {
		return x / 1e9
	}
	return x
}

// side is one side of a rule.
type side struct {
	name   string
	values *gate.Values
}

func sides(r *gate.RuleResult) []side {
	var out []side
	if r.Base != nil && r.Base.N > 0 {
		out = append(out, side{"base", r.Base})
	}
	if r.Cand != nil && r.Cand.N > 0 {
		out = append(out, side{"cand", r.Cand})
	}
	return out
}

func (f *family) add(labels string, x float64) {
	f.Add(labels, strconv.FormatFloat(x, 'g', 3, 64))
}
