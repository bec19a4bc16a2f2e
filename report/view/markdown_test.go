package view_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/resulttest"
	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/report/view"
)

func renderMarkdown(t *testing.T, v *result.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := view.Markdown(&b, v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestMarkdownGolden(t *testing.T) {
	golden(t, "summary.md", renderMarkdown(t, resulttest.Read(t, "http.trace")))
	golden(t, "summary-several.md", renderMarkdown(t, resulttest.Read(t, "tasks.go1.26.p4.trace", "quiet.go1.26.p4.trace")))
	golden(t, "summary-hostile.md", renderMarkdown(t, hostileDocument()))
}

// TestMarkdownOld checks that of several traces those are told that have no causes, and
// that long waits name their trace.
func TestMarkdownOld(t *testing.T) {
	out := renderMarkdown(t, resulttest.Read(t, "foreign/trace.go1.19.trace", "http.trace", "quiet.go1.26.p4.trace"))
	for _, want := range []string{"The causes of waits are not known for 1 of 3 traces: run queues cannot", "<code>http.trace</code> |"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if out := renderMarkdown(t, resulttest.Read(t, "foreign/trace.go1.19.trace")); !strings.Contains(out, "are not known: run queues") {
		t.Error(out)
	}
}

// TestMarkdownSaved checks that the summary of a saved report is that of its traces, and
// that its tables are tables, on every fixture.
func TestMarkdownSaved(t *testing.T) {
	for _, name := range fixtures.Chosen(fixtures.Names()) {
		d := resulttest.Try(t, name)
		if d == nil {
			continue
		}
		v := d
		var b bytes.Buffer
		if err := result.Write(&b, v); err != nil {
			t.Fatal(err)
		}
		saved, err := result.Read(&b)
		if err != nil {
			t.Fatal(err)
		}
		out := renderMarkdown(t, v)
		if renderMarkdown(t, saved) != out {
			t.Errorf("%s: the summary of the saved report differs", name)
		}
		checkTables(t, name, out)
	}
	checkTables(t, "filled", renderMarkdown(t, filled()))
}

// checkTables checks that all rows of a table have as many cells as its headings.
func checkTables(t *testing.T, name, out string) {
	t.Helper()
	bars := 0
	for line := range strings.Lines(out) {
		n := strings.Count(line, "|")
		switch {
		case !strings.HasPrefix(line, "|"):
			bars = 0
			if n > 0 {
				t.Errorf("%s: a bar in %q", name, line)
			}
		case bars == 0:
			bars = n
		case n != bars:
			t.Errorf("%s: %d bars, not %d: %q", name, n, bars, line)
		}
	}
	if strings.Count(out, "<details>") != strings.Count(out, "</details>") {
		t.Errorf("%s: details are not closed", name)
	}
}

// TestMarkdownNotKnown checks that what is not known, and what is of nothing, is no 0.
func TestMarkdownNotKnown(t *testing.T) {
	v := resulttest.Saved(t, resulttest.Read(t, "gc.go1.26.p4.trace"))
	v.Latency.All.Unknown = true
	v.Handoffs = []result.Handoff{{Cause: "unknown", Open: 1}}
	v.Traces = append(v.Traces, v.Traces[0])
	v.PerTrace = []result.TraceFigures{{Trace: 0, MainCause: "none"}}
	out := renderMarkdown(t, v)
	for _, want := range []string{
		`\| scheduling latency \| [0-9,]+ \| [0-9.]+ms \| - \| - \| - \| - \| [0-9.]+[mµ]s \|`,
		`\| unknown \| 0 \| 0[^|]*\| - \| - \| - \| - \| - \|`,
		`\| 0 \(few\) \| - \| - \| 0% \| none \|`,
	} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("no row %s", want)
		}
	}
}

// ownMarkup is what the summary itself has of markup.
var ownMarkup = regexp.MustCompile(`(?m)</?(code|details|summary)>|<!-- -->|&#\d+;|^#+ |\*\*[a-zA-Z -]+\*\*|--:\|?|\|?---|^- `)

// TestMarkdownEscapes checks that names make no markup.
func TestMarkdownEscapes(t *testing.T) {
	v := hostileDocument()
	for i, name := range hostile {
		v.Findings = append(v.Findings, result.Finding{Text: name + " @all"})
		v.Notes = append(v.Notes, name)
		v.Skipped = append(v.Skipped, result.Skipped{Name: name, Cause: name})
		v.Pathologies = append(v.Pathologies, result.Pathology{Name: "x", Meaning: name, Advice: name, Count: int64(i)})
		v.Causes.Rows = append(v.Causes.Rows, result.CauseRow{Cause: name, Meaning: name})
		v.Handoffs = append(v.Handoffs, result.Handoff{Cause: name})
		v.Queues.BySource = append(v.Queues.BySource, result.Count{Name: name})
		v.PerTrace = append(v.PerTrace, result.TraceFigures{MainCause: name})
		v.WorstWaits = append(v.WorstWaits, result.Wait{Function: name, Origin: name, Causes: []result.CauseTotal{{Cause: name}}, Blockers: []result.Blocker{{Function: name}}})
		v.Traces[0].Name, v.Causes.Refused = name, name
		out := renderMarkdown(t, v)
		checkTables(t, name, out)
		if strings.Contains(out, "@all") {
			t.Error("a mention of all")
		}
		for line := range strings.Lines(ownMarkup.ReplaceAllString(out, "")) {
			if strings.ContainsAny(line, "<>`*_[]~\x1b\u202e") {
				t.Errorf("markup in %.200q", line)
			}
		}
	}
}
