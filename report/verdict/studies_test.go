package verdict

import (
	"bytes"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/gate"
	"github.com/schedscope/schedscope/analyze/gate/budget"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/report/document"
)

func plan() *gate.PlanResult {
	return &gate.PlanResult{Alpha: 0.05, Family: 2, Traces: 17, FalseAlarm: 0.0031, Rules: []gate.PlanRow{
		{Rule: "p99(runnable) <= baseline*1.1", Slug: "a", Level: budget.Error, Unit: rule.Nanoseconds, Seen: 40, Spread: 0.31, Median: 1.1 * ms,
			Margin: 1.1, Detect: 1.65, Needed: 17, Traces: 17, MDE: 1.63, Power: 0.82, FalseAlarm: 0.003},
		{Rule: "mean(wakes/op) <= baseline*1.02", Slug: "b", Level: budget.Error, Unit: rule.Number, Seen: 40, Spread: 0.009, Median: 3.16,
			Margin: 1.02, Detect: 1.53, Needed: 6, Traces: 17, MDE: 1.031, Power: 1, FalseAlarm: 0.0001},
		{Rule: "p99(runnable) < 5ms @ 95%", Slug: "c", Level: budget.Error, Unit: rule.Nanoseconds, Seen: 40, Spread: 0.31, Median: 1.1 * ms,
			Margin: 4.55, Detect: 1.5, Needed: 12, Traces: 17, MDE: 1.35, Power: 0.95},
		{Rule: "p99(region{name=pay}) <= baseline*1.1", Slug: "d", Level: budget.Warn, Unit: rule.Nanoseconds, Why: "no trace has data for it"},
		{Rule: "mean(cpu/op) <= baseline*1.5", Slug: "e", Level: budget.Error, Unit: rule.Nanoseconds, Seen: 40, Spread: 0.04, Median: 0.3 * ms,
			Margin: 1.5, Detect: 1.3, Traces: 17, MDE: 1.56, Why: "the bound allows what should be seen"},
	}}
}

// TestPlan renders a plan.
func TestPlan(t *testing.T) {
	var wide, narrow bytes.Buffer
	if err := Plan(&wide, plan(), document.TextOptions{Unicode: true}); err != nil {
		t.Fatal(err)
	}
	if err := Plan(&narrow, plan(), document.TextOptions{Width: 80}); err != nil {
		t.Fatal(err)
	}
	golden(t, "plan", "wide", wide.String(), "80 columns", narrow.String())
	for l := range strings.Lines(narrow.String()) {
		if len(l) > 81 {
			t.Errorf("%d columns: %s", len(l)-1, l)
		}
	}
	if err := Plan(new(bytes.Buffer), &gate.PlanResult{}, document.TextOptions{}); err != nil {
		t.Error(err)
	}
	p := plan()
	p.Rules[0].Rule, p.Rules[3].Why = evil, evil
	var b bytes.Buffer
	if Plan(&b, p, document.TextOptions{}); strings.ContainsAny(b.String(), "\x1b\x00\r") || strings.Contains(b.String(), "\n::") {
		t.Errorf("a hostile rule: %q", b.String())
	}
}
