package verdict

import (
	"bytes"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/gate"
	"github.com/schedscope/schedscope/analyze/gate/baseline"
	"github.com/schedscope/schedscope/analyze/gate/budget"
	"github.com/schedscope/schedscope/analyze/gate/rule"
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

func calibration() *gate.CalibrateResult {
	limit := 20.0
	foreign := 0.25
	return &gate.CalibrateResult{Runs: 40, Failed: 0, Undecided: 3, FalseAlarms: 0, Bound: 0.0778, Traces: 800, Disturbed: 41,
		Causes: []gate.Cause{{Why: "machine", Runs: 2}, {Why: "load", Runs: 1}},
		Rules: []gate.CalibratedRule{
			{Rule: "p99(runnable) <= baseline*1.1", Level: budget.Error, Judged: 37, Bound: 0.0778, Median: 1.1 * ms, Spread: 0.31},
			{Rule: "mean(wakes/op) <= baseline*1.02", Level: budget.Warn, Judged: 38, Failed: 1, Bound: 0.12, Median: 3.16, Spread: 0.009},
		},
		Noise: []gate.NoiseFigure{
			{Name: "involuntary context switches/s/P", Traces: 800, Median: 1.2, P90: 6.5, Max: 88, Limit: &limit},
			{Name: "used by other processes", Traces: 800, Median: 0.02, P90: 0.11, Max: 0.61, Limit: &foreign},
			{Name: "canary", Traces: 800, Median: 51 * ms, P90: 55 * ms, Max: 130 * ms},
		},
	}
}

func selftest(ok bool) *gate.SelftestResult {
	s := &gate.SelftestResult{OK: ok, Unchanged: passing(), Rules: []gate.SelftestRow{
		{Rule: "p99(runnable) <= baseline*1.1", Level: budget.Error, Factor: 1.65, Scaled: gate.Fail, Exit: 1, Unscaled: gate.Unseen, OK: true},
		{Rule: "mean(wakes/op) <= baseline*1.02", Level: budget.Error, Factor: 1.53, Scaled: gate.Fail, Exit: 1, Unscaled: gate.Pass, OK: true},
	}}
	if !ok {
		s.Rules[1] = gate.SelftestRow{Rule: "p99(region{name=chekout}) < 5ms", Level: budget.Error, Scaled: gate.Unusable, Exit: 2, Unscaled: gate.Unusable,
			Why: "cannot fail: no trace has data for it"}
	}
	return s
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

// TestStudies renders plans, calibrations and self-tests.
func TestStudies(t *testing.T) {
	init := func(c *gate.CalibrateResult) *gate.CalibrateResult {
		c.Noise[0].Unit, c.Noise[1].Unit, c.Noise[2].Unit = rule.Number, rule.Fraction, rule.Nanoseconds
		return c
	}
	for name, write := range map[string]func(*bytes.Buffer, Options) error{
		"plan":         func(b *bytes.Buffer, o Options) error { return Plan(b, plan(), o) },
		"calibration":  func(b *bytes.Buffer, o Options) error { return Calibration(b, init(calibration()), o) },
		"sessions":     func(b *bytes.Buffer, o Options) error { return History(b, history(), o) },
		"selftest":     func(b *bytes.Buffer, o Options) error { return Selftest(b, selftest(true), o) },
		"selftest-bad": func(b *bytes.Buffer, o Options) error { return Selftest(b, selftest(false), o) },
	} {
		var wide, narrow bytes.Buffer
		if err := write(&wide, Options{Unicode: true}); err != nil {
			t.Fatal(err)
		}
		if err := write(&narrow, Options{Width: 80}); err != nil {
			t.Fatal(err)
		}
		golden(t, name+".txt", wide.String())
		golden(t, name+"-80.txt", narrow.String())
		for _, l := range strings.Split(narrow.String(), "\n") {
			if len(l) > 80 {
				t.Errorf("%s: %d columns: %s", name, len(l), l)
			}
		}
	}
	for _, err := range []error{
		Plan(new(bytes.Buffer), &gate.PlanResult{}, Options{}),
		Calibration(new(bytes.Buffer), &gate.CalibrateResult{}, Options{}),
		Selftest(new(bytes.Buffer), &gate.SelftestResult{}, Options{}),
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
