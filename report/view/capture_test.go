package view_test

import (
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/findings"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/resulttest"
	"github.com/schedscope/schedscope/report/document"
)

// TestCaptured checks that the summary, the notes, the JSON and info say why a trace was kept,
// and that what a program wrote cannot do harm.
func TestCaptured(t *testing.T) {
	d := resulttest.Read(t, "quiet.go1.26.p4.trace")
	text, _ := render(t, d, document.TextOptions{Unicode: true})
	for _, text := range []string{text, strings.Join(d.Notes, "\n")} {
		if strings.Contains(text, "captured") {
			t.Error("something is said of a trace that says nothing")
		}
	}
	c := &result.Capture{At: 1_500_000_000, Reason: "slow", Text: "GET /\x1b[2J took 320ms, limit 200ms", Earlier: 2}
	d.Traces[0].Captured = c
	findings.Judge(d)
	const want = `GET /\x1b[2J took 320ms, limit 200ms, at 1.50000s (2 other traces before it)`
	text, _ = render(t, d, document.TextOptions{Unicode: true})
	text = strings.Join(strings.Fields(text), " ")
	for _, s := range []string{"captured: " + want, "was captured because " + want + ". Its numbers describe what led to that"} {
		if !strings.Contains(text, s) {
			t.Errorf("no %q in\n%s", s, text)
		}
	}
	if v := d.Traces[0].Captured; v == nil || v.At != 1_500_000_000 || v.Reason != "slow" || v.Text != c.Text || v.Earlier != 2 {
		t.Errorf("JSON %+v", v)
	}
	d.Traces[0].Captured, d.Traces[0].Taken = nil, c
	findings.Judge(d)
	text, _ = render(t, d, document.TextOptions{Unicode: true})
	text = strings.Join(strings.Fields(text), " ")
	if !strings.Contains(text, "captured a trace of its own, because "+want+".") || strings.Contains(text, "captured:") || strings.Contains(text, "what led to that") {
		t.Errorf("of a capture meanwhile:\n%s", text)
	}
	c.Earlier = 0
	if got := c.String(); strings.Contains(got, "other") {
		t.Error(got)
	}
}
