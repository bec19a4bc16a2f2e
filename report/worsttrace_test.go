package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze"
)

func TestWorstTrace(t *testing.T) {
	names := []string{"a", "b", "c", "d"}
	figures := func(trace int, severity string, waits, p99, longest int64) V1TraceFigures {
		return V1TraceFigures{Trace: trace, Severity: severity, Waits: waits, P99: p99, Max: longest}
	}
	for _, x := range []struct {
		name, want string
		severity   analyze.Severity
		list       []V1TraceFigures
	}{
		{"one", "", 0, []V1TraceFigures{figures(0, "serious", 9, 9, 9)}},
		{"calm", "", 0, []V1TraceFigures{figures(0, "info", 9, 9, 9), figures(1, "info", 9, 8, 8)}},
		{"older reports", "", 0, []V1TraceFigures{figures(0, "", 9, 9, 9), figures(1, "", 9, 8, 8)}},
		{"serious among calm", "Of 4 traces c is the worst: p99 30.0ms and at most 122ms in 5,000 waits; the median p99 of the others is 2.00µs.", analyze.Serious,
			[]V1TraceFigures{figures(0, "info", 9, 1000, 9), figures(1, "info", 9, 2000, 9), figures(2, "serious", 5000, 30e6, 122e6), figures(3, "info", 9, 5000, 9)}},
		// A few waits have no p99 to speak of: severity goes first.
		{"few waits", "Of 2 traces b is the worst: p99 11.0ms and at most 12.0ms in 1,000 waits; p99 50.0ms in the other.", analyze.Serious,
			[]V1TraceFigures{figures(0, "notable", 2, 50e6, 50e6), figures(1, "serious", 1000, 11e6, 12e6)}},
		{"no waits in others", "Of 2 traces b is the worst: p99 11.0ms and at most 12.0ms in 1 wait; nothing waited in the others.", analyze.Notable,
			[]V1TraceFigures{figures(0, "info", 0, 0, 0), figures(1, "notable", 1, 11e6, 12e6)}},
	} {
		f, ok := worstTrace(x.list, names)
		if ok != (x.want != "") || f.Text != x.want || f.Severity != x.severity {
			t.Errorf("%s: %v %q, want %v %q", x.name, f.Severity, f.Text, x.severity, x.want)
		}
	}
}

// TestWorstTraceOfFixtures puts a fixture among calm ones, as traces and
// as saved reports: the verdict names it, and in which trace points in time lie.
func TestWorstTraceOfFixtures(t *testing.T) {
	names := []string{"quiet.go1.26.p4.trace", "gc.go1.26.p4.trace", "timers.go1.26.p4.trace"}
	d := together(t, names...)
	var alone []*V1
	var severities []string
	for _, name := range names {
		v := saved(t, together(t, name))
		alone, severities = append(alone, v), append(severities, v.Findings[0].Severity)
	}
	merged, err := Merge(alone)
	if err != nil {
		t.Fatal(err)
	}
	for what, v := range map[string]*V1{"traces": saved(t, d), "reports": merged} {
		var found []V1Finding
		for i, f := range v.Findings {
			if f.Kind == worstTraceKind {
				found = append(found, f)
				if i > 1 {
					t.Errorf("%s: the worst trace is finding %d", what, i)
				}
			}
		}
		if len(found) != 1 || found[0].Severity != severities[1] || !strings.Contains(found[0].Text, " "+names[1]+" is the worst") {
			t.Errorf("%s: the worst trace is %+v, want %s", what, found, names[1])
		}
		for i := range v.PerTrace {
			if got, want := v.PerTrace[i].Severity, severities[i]; got != want {
				t.Errorf("%s: severity of %s is %q, want %q", what, names[i], got, want)
			}
		}
	}
	if text := d.Findings[0].Text; !strings.Contains(text, " of "+names[1]) {
		t.Errorf("the verdict does not say in which trace: %s", text)
	}
	var b bytes.Buffer
	if err := Text(&b, d, Options{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "("+names[1]+")") {
		t.Errorf("the line of latency does not say in which trace:\n%s", b.String())
	}
}
