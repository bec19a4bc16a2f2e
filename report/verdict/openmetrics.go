package verdict

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/schedscope/schedscope/analyze/gate"
	"github.com/schedscope/schedscope/analyze/gate/rule"
)

// family is a metric family of OpenMetrics: its samples stand together.
type family struct {
	name, unit, help string
	samples          []string
}

// OpenMetrics writes the figures of each rule as gauges with three significant digits:
// readers compare them as texts. Times are seconds, as that format wants them.
func OpenMetrics(w io.Writer, r *gate.Result, _ Options) error {
	c, err := printable(r)
	if err != nil {
		return err
	}
	exit := &family{name: "schedscope_gate_exit_code", help: "0 passed, 1 budget violated, 2 unusable, 3 cannot judge"}
	exit.add(labels("workload", c.Workload, "verdict", string(c.Verdict)), float64(c.Exit))
	verdicts := &family{name: "schedscope_gate_rule_verdict", help: "1 for the verdict on the rule"}
	values, limits := byUnit("value", "median over traces"), byUnit("limit", "bound of the rule at the baseline's median")
	ratio := &family{name: "schedscope_gate_change_ratio", unit: "ratio", help: "candidate to baseline, with the ends of the confidence interval"}
	count := &family{name: "schedscope_gate_traces", help: "values compared"}
	for _, rr := range distinct(ranked(c)) {
		of := []string{"workload", c.Workload, "rule", rr.Rule}
		verdicts.add(labels(append(of, "verdict", string(rr.Verdict))...), 1)
		for _, s := range sides(rr) {
			on := labels(append(of, "side", s.name)...)
			values[rr.Unit].add(on, seconds(s.values.Median, rr.Unit))
			count.add(on, float64(s.values.N))
		}
		if rr.Base == nil || rr.Base.N > 0 {
			limits[rr.Unit].add(labels(of...), seconds(rr.Bound, rr.Unit))
		}
		if i := rr.Ratio; i != nil {
			ratio.add(labels(append(of, "of", "estimate")...), i.Est)
			ratio.add(labels(append(of, "of", "low")...), i.Low)
			ratio.add(labels(append(of, "of", "high")...), i.High)
		}
	}
	var b strings.Builder
	for _, f := range []*family{exit, verdicts, values[0], values[1], values[2], limits[0], limits[1], limits[2], ratio, count} {
		f.write(&b)
	}
	_, err = io.WriteString(w, b.String()+"# EOF\n")
	return err
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
		rule.Nanoseconds: {name: name + "_seconds", unit: "seconds", help: help},
		rule.Number:      {name: name, help: help + ", of counts"},
		rule.Fraction:    {name: name + "_ratio", unit: "ratio", help: help + ", of shares"},
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
	f.samples = append(f.samples, f.name+labels+" "+strconv.FormatFloat(x, 'g', 3, 64)+"\n")
}

func (f *family) write(b *strings.Builder) {
	if len(f.samples) == 0 {
		return
	}
	fmt.Fprintf(b, "# TYPE %s gauge\n", f.name)
	if f.unit != "" {
		fmt.Fprintf(b, "# UNIT %s %s\n", f.name, f.unit)
	}
	fmt.Fprintf(b, "# HELP %s %s\n", f.name, f.help)
	b.WriteString(strings.Join(f.samples, ""))
}

var labelEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// labels returns {name="value",...} of pairs; empty values are left out.
func labels(pairs ...string) string {
	var out []string
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			out = append(out, pairs[i]+`="`+labelEscapes.Replace(pairs[i+1])+`"`)
		}
	}
	return "{" + strings.Join(out, ",") + "}"
}
