package report

import (
	"testing"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

func TestWorstTrace(t *testing.T) {
	names := []string{"a", "b", "c", "d"}
	figures := func(trace int, severity result.Severity, waits int64, p99, longest model.Duration) result.TraceFigures {
		return result.TraceFigures{Trace: trace, Severity: severity, Waits: waits, P99: p99, Max: longest}
	}
	for _, x := range []struct {
		name, want string
		severity   result.Severity
		list       []result.TraceFigures
	}{
		{"one", "", 0, []result.TraceFigures{figures(0, result.Serious, 9, 9, 9)}},
		{"calm", "", 0, []result.TraceFigures{figures(0, result.Info, 9, 9, 9), figures(1, result.Info, 9, 8, 8)}},
		{"serious among calm", "Of 4 traces c is the worst: p99 30.0ms and at most 122ms in 5,000 waits; the median p99 of the others is 2.00µs.", result.Serious,
			[]result.TraceFigures{figures(0, result.Info, 9, 1000, 9), figures(1, result.Info, 9, 2000, 9), figures(2, result.Serious, 5000, 30e6, 122e6), figures(3, result.Info, 9, 5000, 9)}},
		// A few waits have no p99 to speak of: severity goes first.
		{"few waits", "Of 2 traces b is the worst: p99 11.0ms and at most 12.0ms in 1,000 waits; p99 50.0ms in the other.", result.Serious,
			[]result.TraceFigures{figures(0, result.Notable, 2, 50e6, 50e6), figures(1, result.Serious, 1000, 11e6, 12e6)}},
		{"no waits in others", "Of 2 traces b is the worst: p99 11.0ms and at most 12.0ms in 1 wait; nothing waited in the others.", result.Notable,
			[]result.TraceFigures{figures(0, result.Info, 0, 0, 0), figures(1, result.Notable, 1, 11e6, 12e6)}},
	} {
		f, ok := result.WorstTrace(x.list, names)
		if ok != (x.want != "") || f.Text != x.want || f.Severity != x.severity {
			t.Errorf("%s: %v %q, want %v %q", x.name, f.Severity, f.Text, x.severity, x.want)
		}
	}
}
