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
