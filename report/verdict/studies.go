package verdict

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/schedscope/schedscope/analyze/gate"
	"github.com/schedscope/schedscope/analyze/gate/budget"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/internal/textui"
)

// Plan writes how many traces the rules of a budget need, and what they see with those.
func Plan(w io.Writer, p *gate.PlanResult, o Options) error {
	t := &text{o: o}
	if p.Traces > 0 {
		t.title("PLAN", fmt.Sprintf("record %d traces per side: every rule of level error then sees what it wants to with a probability of 80%% or more%s", p.Traces, blind(p)))
	} else {
		t.title("PLAN", "how many traces it takes is not known")
	}
	t.under("PLAN", fmt.Sprintf("alpha %v over %s against a baseline; an unchanged program fails with a probability of %s or less if rules were independent",
		p.Alpha, textui.Plural(p.Family, "rule"), textui.Percent(p.FalseAlarm)))
	t.line("")
	table := o.table("Lllrrrrrrrrr", "rule", "level", "seen", "median", "spread", "allowed", "wants", "needs", "with", "sees", "power", "alarms")
	table.Drop = [][]int{{1}, {2}, {5}, {11}}
	unknown := false
	for _, r := range p.Rules {
		table.Row(planCells(&r)...)
		unknown = unknown || r.Why != ""
	}
	t.table(table)
	if unknown {
		t.line("")
	}
	for _, r := range p.Rules {
		if r.Why != "" {
			t.line(textui.Clean(r.Rule) + ": " + t.wrap(textui.Clean(r.Why), 0))
		}
	}
	t.line("")
	t.legend([][2]string{
		{"seen", "traces that this rests on"},
		{"spread", "standard deviation between traces, of logarithms"},
		{"allowed", "what the bound allows, as a ratio to the baseline; of an absolute rule to the median now"},
		{"wants", "the ratio that the rule wants to see: detect in the budget; of an absolute rule to the limit"},
		{"needs", "traces per side that show it with a probability of 80%"},
		{"sees", "the ratio that shows with 80% with so many traces, and power: how likely they show what the rule wants to see"},
		{"alarms", "how likely an unchanged program fails the rule"},
	})
	_, err := io.WriteString(w, t.finish())
	return err
}

// blind says how many rules of level error no number of traces helps; the table's notes
// have the reasons.
func blind(p *gate.PlanResult) string {
	n := 0
	for i := range p.Rules {
		r, err := rule.Parse(p.Rules[i].Rule)
		n += one(p.Rules[i].Level == budget.Error && p.Rules[i].Needed == 0 && (err != nil || !r.Point))
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("; %s cannot, see below", textui.Plural(n, "rule"))
}

func planCells(r *gate.PlanRow) []string {
	u := unitOf(r.Rule)
	cells := []string{textui.Clean(r.Rule), string(r.Level), strconv.Itoa(r.Seen), value(r.Median, u)}
	if r.Seen == 0 {
		cells[3] = ""
	}
	if r.Traces == 0 {
		return cells
	}
	needs := ""
	if r.Needed > 0 {
		needs = strconv.Itoa(r.Needed)
	}
	sees := ""
	if r.MDE > 0 {
		sees = times(r.MDE)
	}
	return append(cells, textui.Percent(r.Spread), times(r.Margin), times(r.Detect), needs,
		strconv.Itoa(r.Traces), sees, textui.Percent(r.Power), textui.Percent(r.FalseAlarm))
}

// unitOf returns the unit of a rule's quantity.
func unitOf(text string) rule.Unit {
	r, err := rule.Parse(text)
	if err != nil {
		return rule.Number
	}
	return r.Quantity.Unit()
}

// unitOfQuantity returns the unit of a quantity as rules write it.
func unitOfQuantity(text string) rule.Unit {
	q, err := rule.ParseQuantity(text)
	if err != nil {
		return rule.Number
	}
	return q.Unit()
}

// Calibration writes how often the gate fails a program against itself on a machine, how
// far traces differ there, and what disturbs them.
func Calibration(w io.Writer, c *gate.CalibrateResult, o Options) error {
	t := &text{o: o}
	judged := c.Runs - c.Undecided - c.Unusable
	t.title("CALIBRATION", fmt.Sprintf("%d of %s failed a program against itself: with 95%% confidence at most %s do",
		c.Failed, textui.Plural(judged, "gate run"), textui.Percent(c.Bound)))
	t.under("CALIBRATION", fmt.Sprintf("%s in all, %d could not be judged, %d unusable; %d of %s disturbed",
		textui.Plural(c.Runs, "run"), c.Undecided, c.Unusable, c.Disturbed, textui.Plural(c.Traces, "trace")))
	for _, x := range c.Causes {
		t.under("CALIBRATION", fmt.Sprintf("not judged %s: %s", timesText(x.Runs), textui.Clean(x.Why)))
	}
	t.line("")
	rules := o.table("Llrrrrr", "rule", "level", "judged", "failed", "at most", "median", "spread")
	for _, r := range c.Rules {
		rules.Row(textui.Clean(r.Rule), string(r.Level), strconv.Itoa(r.Judged), strconv.Itoa(r.Failed), textui.Percent(r.Bound),
			value(r.Median, unitOf(r.Rule)), textui.Percent(r.Spread))
	}
	t.table(rules)
	if len(c.Noise) > 0 {
		t.line("")
		noise := o.table("Lrrrrr", "what disturbs", "traces", "median", "p90", "max", "limit")
		for _, n := range c.Noise {
			limit := ""
			if n.Limit != nil {
				limit = value(*n.Limit, n.Unit)
			}
			noise.Row(textui.Clean(n.Name), strconv.Itoa(n.Traces), value(n.Median, n.Unit), value(n.P90, n.Unit), value(n.Max, n.Unit), limit)
		}
		t.table(noise)
	}
	t.line("")
	t.legend([][2]string{
		{"at most", "the rate of failures with 95% confidence"},
		{"spread", "standard deviation between traces of a run and side, of logarithms: schedscope gate plan says what it means for the number of traces"},
	})
	_, err := io.WriteString(w, t.finish())
	return err
}

func timesText(n int) string {
	if n == 1 {
		return "once"
	}
	return strconv.Itoa(n) + " times"
}

// Selftest writes whether the rules of a budget can fail.
func Selftest(w io.Writer, s *gate.SelftestResult, o Options) error {
	t := &text{o: o}
	bad := 0
	for _, r := range s.Rules {
		bad += one(!r.OK)
	}
	if s.OK {
		t.title("PASS", "every rule of level error fails when its values are pushed beyond the bound, and none fails as recorded")
	} else {
		t.title("FAIL", fmt.Sprintf("%d of %s would not guard what this budget says", bad, textui.Plural(len(s.Rules), "rule")))
	}
	unchanged := s.Unchanged
	if unchanged == nil {
		unchanged = &gate.Result{}
	}
	guards := references(unchanged)
	if s.Unchanged != nil {
		t.under("PASS", "as recorded: "+headWord(s.Unchanged.Verdict)+", "+textui.Clean(guards.Replace(s.Unchanged.Headline)))
	}
	t.line("")
	table := o.table("lLllll", "", "rule", "level", "pushed", "then", "as recorded")
	for _, r := range s.Rules {
		mark := "ok"
		if !r.OK {
			mark = "BAD"
		}
		factor := ""
		if r.Factor > 0 {
			factor = times(r.Factor)
		}
		table.Row(mark, textui.Clean(r.Rule), string(r.Level), factor, fmt.Sprintf("%s (exit %d)", r.Scaled, r.Exit), string(r.Unscaled))
	}
	t.table(table)
	t.reasons(s, guards)
	for _, g := range unchanged.Guards {
		if g.Status == gate.GuardFailed || g.Blocks != "" {
			t.line("guard " + textui.Clean(g.Name) + ": " + t.wrap(textui.Clean(g.Text), 0))
		}
	}
	_, err := io.WriteString(w, t.finish())
	return err
}

// reasons writes why rules cannot fail, each reason once.
func (t *text) reasons(s *gate.SelftestResult, guards *strings.Replacer) {
	rules := map[string][]string{}
	var order []string
	for _, r := range s.Rules {
		if r.Why == "" {
			continue
		}
		why := guards.Replace(r.Why)
		if rules[why] == nil {
			order = append(order, why)
		}
		rules[why] = append(rules[why], r.Rule)
	}
	for _, why := range order {
		t.line("")
		t.line(t.wrap(textui.Clean(why+": "+strings.Join(rules[why], ", ")), 0))
	}
}

// title writes the first line.
func (t *text) title(word, s string) {
	t.line(t.paint(word, word) + "  " + t.wrap(s, len(word)+2))
}

// under writes a line that goes on below a title.
func (t *text) under(word, s string) {
	t.line(strings.Repeat(" ", len(word)+2) + t.wrap(s, len(word)+2))
}

func (o *Options) table(align string, head ...string) *textui.Table {
	t := textui.NewTable(align, head...)
	t.Indent, t.Limit = "", o.Width
	return t
}

func (t *text) table(table *textui.Table) {
	t.line(strings.TrimSuffix(table.String(), "\n"))
}

// legend explains headings.
func (t *text) legend(list [][2]string) {
	for _, l := range list {
		t.line(l[0] + strings.Repeat(" ", 9-len(l[0])) + t.wrap(l[1], 9))
	}
}
