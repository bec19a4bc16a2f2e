package verdict

import (
	"testing"

	"github.com/schedscope/schedscope/analyze/gate"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/model"
)

func TestFigures(t *testing.T) {
	tests := []struct{ got, want string }{
		{value(8.98e-6, rule.Fraction), "<0.01%"}, {value(0.2, rule.Fraction), "20%"}, {value(1.1e6, rule.Nanoseconds), "1.10ms"}, {value(3.157, rule.Number), "3.16"},
		{instant(412_000_000), "412ms"}, {instant(70_170_600), "70.1706ms"}, {instant(100), "100ns"}, {instant(0), "0"}, {instant(10_000_000_000), "10s"}, {instant(725_412_000_000), "725.412s"},
		{shortCommit("4f1c2d9e8b7a65"), "4f1c2d9e8b7a"}, {shortCommit("v1.2-äöü"), "v1.2-äöü"}, {shortCommit("abc"), "abc"},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
}

func TestReach(t *testing.T) {
	for _, tt := range []struct {
		r    gate.RuleResult
		want string
	}{
		{gate.RuleResult{MDE: 1.31, Test: "permutation"}, ">= x1.31"},
		{gate.RuleResult{MDE: 0.8, Test: "permutation"}, "<= x0.80"},
		{gate.RuleResult{MDE: 1.4, Test: "sign"}, ">= x1.40 of the limit"},
	} {
		if got := reach(&tt.r); got != tt.want {
			t.Errorf("reach of %+v = %q, want %q", tt.r, got, tt.want)
		}
	}
}

// TestCommand checks what is meant to be pasted into a shell.
func TestCommand(t *testing.T) {
	l := &gate.Look{Trace: "it's 1.trace"}
	l.From, l.To = model.Duration(1.5*ms), model.Duration(2*ms)
	o := Options{BaseDir: "runs/base", CandDir: "runs/cand"}
	if got, want := o.command(l), `schedscope analyze --from 1.5ms --to 2ms 'runs/cand/it'\''s 1.trace'`; got != want {
		t.Errorf("command %s, want %s", got, want)
	}
	l.Base = true
	if got, want := o.command(l), `schedscope analyze --from 1.5ms --to 2ms 'runs/base/it'\''s 1.trace'`; got != want {
		t.Errorf("command %s, want %s", got, want)
	}
}

// TestReasonOfPoint checks that what the remark says is not said again.
func TestReasonOfPoint(t *testing.T) {
	for why, want := range map[string]string{
		"every trace for itself, no error rate":                                    "",
		"one process, no error rate":                                               "",
		"one process, no error rate; the base does not keep it either":             "the base does not keep it either",
		"1 of 6 traces of the candidate have no data for it":                       "1 of 6 traces of the candidate have no data for it",
		"one process, no error rate; beyond the ceiling of its waiver, 5ms; again": "beyond the ceiling of its waiver, 5ms; again",
	} {
		r := newRule("p99(runnable) < 2ms @ point", gate.Fail, nil, values(3*ms, 1), nil)
		r.Point, r.Why = true, why
		if got := reason(&r); got != want {
			t.Errorf("%q becomes %q, want %q", why, got, want)
		}
	}
}

// TestWorst checks which value of a rule without statistics is the worst.
func TestWorst(t *testing.T) {
	for text, want := range map[string]float64{"mean(ops/s) > 100 @ point": 90, "mean(ops/s) < 100 @ point": 120} {
		r := newRule(text, gate.Fail, nil, &gate.Values{N: 3, Values: []float64{100, 90, 120}}, nil)
		r.Point = true
		if got, ok := worst(&r); !ok || got != want {
			t.Errorf("%s: got %g, want %g", text, got, want)
		}
	}
}
