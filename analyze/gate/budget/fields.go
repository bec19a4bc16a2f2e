package budget

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/schedscope/schedscope/analyze/gate/rule"
)

// topFields, guardFields, ruleFields and waiverFields are the keys of a file. The JSON
// Schema has the same.
var (
	topFields    []field
	guardFields  []field
	ruleFields   []field
	waiverFields []field
)

func init() {
	topFields = []field{
		{"schema", readSchema},
		{"workload", func(r *reader, n *yaml.Node) { r.budget.Workload = r.text(n, "workload") }},
		{"op", func(r *reader, n *yaml.Node) { r.budget.Op = r.checked(n, "op", rule.CheckOp) }},
		{"load", func(r *reader, n *yaml.Node) {
			r.budget.Load = Load(r.oneOf(n, "load", string(Open), string(Closed), string(Fixed)))
		}},
		{"window", func(r *reader, n *yaml.Node) { r.budget.Window = r.checked(n, "window", rule.CheckWindow) }},
		{"min_traces", func(r *reader, n *yaml.Node) { r.budget.MinTraces = r.integer(n, "min_traces", 2, 1000) }},
		{"alpha", readAlpha},
		{"guards", func(r *reader, n *yaml.Node) { r.mapping(n, "guards", guardFields) }},
		{"rules", readRules},
		{"waivers", readWaivers},
		{"replay_procs", func(r *reader, n *yaml.Node) { r.budget.ReplayProcs = r.integer(n, "replay_procs", 1, 1024) }},
		{"sim_seeds", func(r *reader, n *yaml.Node) { r.budget.SimSeeds = r.integer(n, "sim_seeds", 1, 64) }},
	}
	guardFields = []field{
		{"load_tolerance", func(r *reader, n *yaml.Node) { r.budget.Guards.LoadTolerance = r.fraction(n, "load_tolerance") }},
		{"nivcsw_per_s_per_p", func(r *reader, n *yaml.Node) { r.budget.Guards.Nivcsw = r.number(n, "nivcsw_per_s_per_p", 0) }},
		{"run_delay_ratio", func(r *reader, n *yaml.Node) { r.budget.Guards.RunDelayRatio = r.number(n, "run_delay_ratio", 1) }},
		{"foreign", func(r *reader, n *yaml.Node) { r.budget.Guards.Foreign = r.fraction(n, "foreign") }},
		{"steal", func(r *reader, n *yaml.Node) { r.budget.Guards.Steal = r.fraction(n, "steal") }},
		{"same", readSame},
	}
	ruleFields = []field{
		{"rule", func(r *reader, n *yaml.Node) { r.last().Rule = readRule(r, n) }},
		{"level", func(r *reader, n *yaml.Node) {
			r.last().Level = Level(r.oneOf(n, "level", string(Error), string(Warn), string(Off)))
		}},
		{"owner", func(r *reader, n *yaml.Node) { r.last().Owner = r.text(n, "owner") }},
		{"detect", func(r *reader, n *yaml.Node) { r.last().Detect = readDetect(r, n) }},
	}
	waiverFields = []field{
		{"rule", func(r *reader, n *yaml.Node) { r.lastWaiver().Pattern = canonicalPattern(r.text(n, "rule")) }},
		{"until", func(r *reader, n *yaml.Node) { r.lastWaiver().Until = r.day(n, "until") }},
		{"issue", func(r *reader, n *yaml.Node) { r.lastWaiver().Issue = r.text(n, "issue") }},
		{"ceiling", func(r *reader, n *yaml.Node) { r.ceilings[len(r.ceilings)-1] = n }},
	}
}

func (r *reader) last() *Rule { return &r.budget.Rules[len(r.budget.Rules)-1] }

func (r *reader) lastWaiver() *Waiver { return &r.budget.Waivers[len(r.budget.Waivers)-1] }

func readSchema(r *reader, n *yaml.Node) {
	if s := r.text(n, "schema"); s != "" && s != Schema {
		hint := "this is not a budget"
		if strings.HasPrefix(s, strings.TrimSuffix(Schema, "1")) {
			hint = "a newer schedscope is needed"
		}
		r.fail(n, "the schema is %q and not %q: %s", s, Schema, hint)
	}
}

func readAlpha(r *reader, n *yaml.Node) {
	r.budget.Alpha = r.fraction(n, "alpha")
	if a := r.budget.Alpha; a <= 0 || a > 0.5 {
		r.fail(n, "alpha, the probability of a false alarm, is above 0 and at most 0.5, not %s", describe(n))
	}
}

func readSame(r *reader, n *yaml.Node) {
	same := []string{}
	r.list(n, "same", func(item *yaml.Node) {
		same = append(same, r.oneOf(item, "same", Identities...))
	})
	r.budget.Guards.Same = same
}

func readRules(r *reader, n *yaml.Node) {
	r.list(n, "rules", func(item *yaml.Node) {
		r.budget.Rules = append(r.budget.Rules, Rule{Level: Error, Line: item.Line})
		if item.Kind == yaml.MappingNode {
			r.mapping(item, "a rule", ruleFields)
		} else {
			r.last().Rule = readRule(r, item)
		}
		if r.last().Rule == nil && len(r.errs) == 0 {
			r.fail(item, "the key rule is missing")
		}
	})
}

func readRule(r *reader, n *yaml.Node) *rule.Rule {
	text := r.text(n, "a rule")
	if text == "" {
		return nil
	}
	parsed, err := rule.Parse(text)
	if err != nil {
		r.fail(n, "%v", err)
	}
	return parsed
}

func readDetect(r *reader, n *yaml.Node) float64 {
	x := r.number(n, "detect", 0)
	if x == 0 {
		r.fail(n, "detect is the ratio to the baseline that should be seen, such as 1.3")
	}
	return x
}

func readWaivers(r *reader, n *yaml.Node) {
	r.list(n, "waivers", func(item *yaml.Node) {
		r.budget.Waivers = append(r.budget.Waivers, Waiver{Line: item.Line})
		r.ceilings = append(r.ceilings, nil)
		r.mapping(item, "a waiver", waiverFields)
		switch w := r.lastWaiver(); {
		case len(r.errs) > 0:
		case w.Pattern == "":
			r.fail(item, "the key rule is missing: which rules are waived")
		case w.Until.IsZero():
			r.fail(item, "the key until is missing: waivers end")
		case w.Issue == "":
			r.fail(item, "the key issue is missing: where the reason is, such as issue: \"#123\"")
		case r.ceilings[len(r.ceilings)-1] == nil:
			r.fail(item, "the key ceiling is missing: how far the rule is waived, such as ceiling: 6ms or ceiling: baseline*1.5; none is without limit")
		}
	})
}

// canonicalPattern lets a waiver name a rule as the file has it.
func canonicalPattern(pattern string) string {
	if parsed, err := rule.Parse(pattern); err == nil {
		return parsed.String()
	}
	if q, err := rule.ParseQuantity(pattern); err == nil {
		return q.String()
	}
	return pattern
}
