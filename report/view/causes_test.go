package view_test

import (
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/resulttest"
	"github.com/schedscope/schedscope/report/document"
	"github.com/schedscope/schedscope/report/view"
)

// causesAddUp checks that every table of causes adds up to the latency, to the nanosecond.
func causesAddUp(t *testing.T, name string, v *result.Report) {
	t.Helper()
	want := int64(v.Latency.All.Total)
	if c := &v.Causes; c.Refused != "" {
		if v.Traces[0].Version() >= 22 || len(c.Rows) != 0 {
			t.Errorf("%s: refused (%s) with %d causes", name, c.Refused, len(v.Causes.Rows))
		}
		return
	}
	var rows, origins, funcs, series int64
	for _, r := range v.Causes.Rows {
		rows += int64(r.Total)
	}
	for _, r := range v.Causes.ByOrigin {
		origins += int64(r.Total)
	}
	for _, r := range v.Causes.ByFunction {
		funcs += int64(r.Total)
	}
	for _, c := range v.Causes.Series.Causes {
		for _, n := range c.Bins {
			series += n
		}
	}
	for what, got := range map[string]int64{"rows": rows, "by origin": origins, "by function": funcs, "series": series} {
		if got != want {
			t.Errorf("%s: %s: %d ns, want %d", name, what, got, want)
		}
	}
	for i, w := range v.WorstWaits {
		var sum int64
		for _, c := range w.Causes {
			sum += int64(c.Total)
		}
		if sum != int64(w.Duration) {
			t.Errorf("%s: longest wait %d: causes of %d ns, want %d", name, i+1, sum, w.Duration)
		}
	}
}

// TestNotKnown checks that an old format says why there are no causes.
func TestNotKnown(t *testing.T) {
	text, _ := render(t, resulttest.Read(t, "foreign/trace.go1.19.trace"), document.TextOptions{Top: view.DefaultTop})
	const want = "run queues cannot be reconstructed from a trace of Go 1.19"
	if n := strings.Count(strings.Join(strings.Fields(text), " "), want); n != 2 { // in the summary and in the notes
		t.Errorf("the report says %d times %q", n, want)
	}
	if strings.Contains(text, "where the waiting went") || strings.Contains(text, "\nRun queues\n") {
		t.Error("the report has tables without content")
	}

	d := resulttest.Read(t, "http.trace", "foreign/trace.go1.19.trace")
	text, _ = render(t, d, document.TextOptions{Top: view.DefaultTop})
	if row := "\n  not known"; strings.Count(text, row) != 1 {
		t.Errorf("the table of causes has no row %q beside an old format", row)
	}
	v := d
	sum := v.Causes.UnknownTime
	for _, r := range v.Causes.Rows {
		sum += r.Total
	}
	if v.Causes.Unknown == 0 || sum != v.Latency.All.Total || v.Causes.Waits+v.Causes.Unknown != v.Latency.All.Count {
		t.Errorf("the JSON explains %d ns of %d, %d waits are unknown", sum, v.Latency.All.Total, v.Causes.Unknown)
	}
	if !strings.Contains(text, "in part of the traces not known") {
		t.Error("the notes do not say that causes are not known in part")
	}
}
