package verdict

import (
	"bytes"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/gate"
	"github.com/schedscope/schedscope/analyze/gate/baseline"
	"github.com/schedscope/schedscope/analyze/gate/budget"
	"github.com/schedscope/schedscope/analyze/gate/sample"
)

func plan() *gate.PlanResult {
	return &gate.PlanResult{Alpha: 0.05, Family: 2, Traces: 17, FalseAlarm: 0.0031, Rules: []gate.PlanRow{
		{Rule: "p99(runnable) <= baseline*1.1", Slug: "a", Level: budget.Error, Seen: 40, Spread: 0.31, Median: 1.1 * ms,
			Margin: 1.1, Detect: 1.65, Needed: 17, Traces: 17, MDE: 1.63, Power: 0.82, FalseAlarm: 0.003},
		{Rule: "mean(wakes/op) <= baseline*1.02", Slug: "b", Level: budget.Error, Seen: 40, Spread: 0.009, Median: 3.16,
			Margin: 1.02, Detect: 1.53, Needed: 6, Traces: 17, MDE: 1.031, Power: 1, FalseAlarm: 0.0001},
		{Rule: "p99(runnable) < 5ms @ 95%", Slug: "c", Level: budget.Error, Seen: 40, Spread: 0.31, Median: 1.1 * ms,
			Margin: 4.55, Detect: 1.5, Needed: 12, Traces: 17, MDE: 1.35, Power: 0.95},
		{Rule: "p99(region{name=pay}) <= baseline*1.1", Slug: "d", Level: budget.Warn, Why: "no trace has data for it"},
		{Rule: "mean(cpu/op) <= baseline*1.5", Slug: "e", Level: budget.Error, Seen: 40, Spread: 0.04, Median: 0.3 * ms,
			Margin: 1.5, Detect: 1.3, Traces: 17, MDE: 1.56, Why: "the bound allows what should be seen"},
	}}
}

func history() *baseline.File {
	session := func(id, commit string, x float64) baseline.Session {
		return baseline.Session{ID: id, Commit: commit, Time: "2026-11-20T12:00:00Z", Design: "interleaved", Samples: []sample.Sample{
			{Values: map[string]sample.Value{"p99(runnable)": {X: x * ms}, "mean(wakes/op)": {X: 3 * x}}},
		}}
	}
	return &baseline.File{Workload: "checkout", MetricDefs: "2026.1", Sessions: []baseline.Session{
		session("3f786850e387550f", "0123456789abcdef0123456789abcdef01234567", 1), session("before the move", "", 1.5),
	}}
}

// TestStudies renders plans and histories.
func TestStudies(t *testing.T) {
	for name, write := range map[string]func(*bytes.Buffer, Options) error{
		"plan":     func(b *bytes.Buffer, o Options) error { return Plan(b, plan(), o) },
		"sessions": func(b *bytes.Buffer, o Options) error { return History(b, history(), o) },
	} {
		var wide, narrow bytes.Buffer
		if err := write(&wide, Options{Unicode: true}); err != nil {
			t.Fatal(err)
		}
		if err := write(&narrow, Options{Width: 80}); err != nil {
			t.Fatal(err)
		}
		golden(t, name, "wide", wide.String(), "80 columns", narrow.String())
		for _, l := range strings.Split(narrow.String(), "\n") {
			if len(l) > 80 {
				t.Errorf("%s: %d columns: %s", name, len(l), l)
			}
		}
	}
	for _, err := range []error{
		Plan(new(bytes.Buffer), &gate.PlanResult{}, Options{}),
		History(new(bytes.Buffer), &baseline.File{}, Options{}),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	p := plan()
	p.Rules[0].Rule, p.Rules[3].Why = evil, evil
	var b bytes.Buffer
	if Plan(&b, p, Options{}); strings.ContainsAny(b.String(), "\x1b\x00\r") || strings.Contains(b.String(), "\n::") {
		t.Errorf("a hostile rule: %q", b.String())
	}
	h := history()
	h.Workload, h.Sessions[0].ID, h.Sessions[0].Commit, h.Sessions[0].Time, h.Sessions[0].Design = evil, evil, evil, evil, evil
	b.Reset()
	if History(&b, h, Options{}); strings.ContainsAny(b.String(), "\x1b\x00\r") || strings.Contains(b.String(), "\n::") {
		t.Errorf("a hostile history: %q", b.String())
	}
}
