package verdict

import (
	"fmt"
	"io"
	"strconv"

	"github.com/schedscope/schedscope/analyze/compare"
	"github.com/schedscope/schedscope/analyze/gate"
	"github.com/schedscope/schedscope/analyze/gate/budget"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/report/document"
)

// Plan writes how many traces the rules of a budget need, and what they see with those.
func Plan(w io.Writer, p *gate.PlanResult, o document.TextOptions) error {
	head := document.New("plan", "")
	title := textui.Either(p.Traces > 0, fmt.Sprintf("record %d traces per side: every rule of level error%s then sees what it wants to with a probability of 80%% or more", p.Traces, blind(p)),
		"how many traces it takes is not known")
	head.Add(document.Paragraph{Strong: "PLAN", Text: "  " + title})
	head.Text("alpha %v over %s against a baseline; an unchanged program fails with a probability of %s or less if rules were independent",
		p.Alpha, textui.Plural(p.Family, "rule"), textui.Percent(p.FalseAlarm))
	s := document.New("rules", "Rules")
	number := func(name string) document.Column { return document.Number(name, 0) }
	t := s.Table("t-rules", document.Name("rule"), document.Word("level").Drop(1), number("seen").Drop(2), number("median"), number("spread"), number("allowed").Drop(3),
		number("wants"), number("needs"), number("with"), number("sees"), number("power"), number("alarms").Drop(4))
	t.Fixed = true
	for i := range p.Rules {
		t.Row(planCells(&p.Rules[i])...)
	}
	for _, r := range p.Rules {
		if r.Why != "" {
			s.Text("%s: %s", r.Rule, r.Why)
		}
	}
	s.Add(document.Facts{
		{Name: "seen", Value: "traces that this rests on"},
		{Name: "spread", Value: "standard deviation between traces, of logarithms"},
		{Name: "allowed", Value: "what the bound allows, as a ratio to the baseline; of an absolute rule to the median now"},
		{Name: "wants", Value: "the ratio that the rule wants to see: detect in the budget; of an absolute rule to the limit"},
		{Name: "needs", Value: "traces per side that show it with a probability of 80%"},
		{Name: "sees", Value: "the ratio that shows with 80% with so many traces, and power: how likely they show what the rule wants to see"},
		{Name: "alarms", Value: "how likely an unchanged program fails the rule"},
	})
	v := &view{o: Options{TextOptions: o}}
	return v.text(w, &document.Document{Sections: []*document.Section{head, s}})
}

// blind says how many rules of level error no number of traces helps; the notes below the
// table have the reasons.
func blind(p *gate.PlanResult) string {
	n := result.CountOf(p.Rules, func(r *gate.PlanRow) bool { return r.Level == budget.Error && r.Needed == 0 && !r.Point })
	return textui.If(n != 0, fmt.Sprintf(" except %d (see below)", n))
}

func planCells(r *gate.PlanRow) []any {
	cells := []any{r.Rule, string(r.Level), strconv.Itoa(r.Seen), textui.If(r.Seen > 0, value(r.Median, r.Unit))}
	if r.Traces == 0 {
		return cells
	}
	return append(cells, textui.Percent(r.Spread), compare.TimesText(r.Margin), compare.TimesText(r.Detect), textui.If(r.Needed > 0, strconv.Itoa(r.Needed)),
		strconv.Itoa(r.Traces), textui.If(r.MDE > 0, compare.TimesText(r.MDE)), textui.Percent(r.Power), textui.Percent(r.FalseAlarm))
}
