package view_test

import (
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/findings"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/resulttest"
	"github.com/schedscope/schedscope/report/document"
)

// TestTracesText tells several traces apart.
func TestTracesText(t *testing.T) {
	d := resulttest.Read(t, "mixed.go1.22.p2.trace", "quiet.go1.26.p4.trace", "syscalls.go1.26.p4.trace")
	d.Skipped = []result.Skipped{{Name: "gone.trace", Cause: "no such file"}}
	d.Traces[0].Name, d.Traces[1].Name = "a/\x1b[2Jsame.trace", "b/\x1b[2Jsame.trace"
	findings.Judge(d)
	text, _ := render(t, d, document.TextOptions{Unicode: true, Top: 2})
	for _, want := range []string{
		"\ntraces     p99 from ", "the longest wait is in syscalls.go1.26.p4.trace", "different Go versions and numbers of procs are mixed",
		"\nTraces\n", "  p99 ", "  procs busy ", "… and 1 more; --top 0 shows all", "Not read: 1 input;",
		"main.work.func2 of trace 3 (syscalls.go1.26.p4.trace)",
	} {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), strings.Join(strings.Fields(want), " ")) {
			t.Errorf("no %q in:\n%s", want, text[:min(len(text), 6000)])
		}
	}
	if strings.Contains(text, "\x1b") || !strings.Contains(text, "a/") || !strings.Contains(text, "b/") {
		t.Error("names of traces are not clean, or not told apart")
	}
	one, _ := render(t, resulttest.Read(t, "quiet.go1.26.p4.trace"), document.TextOptions{Unicode: true})
	if strings.Contains(one, "\ntraces ") || strings.Contains(one, "\nTraces\n") {
		t.Error("one trace has a spread")
	}
}

// TestAlone checks what several traces are each, where that is known and differs.
func TestAlone(t *testing.T) {
	for _, x := range []struct {
		words [3]string
		want  string
	}{
		{[3]string{"STARVED", "STARVED", "STARVED"}, "each alone: 3 STARVED (syscalls.go1.26.p4.trace, mixed.go1.22.p2.trace, ...)"},
		{[3]string{"HEALTHY", "SLOW", "UNKNOWN"}, "each alone: 1 SLOW (quiet.go1.26.p4.trace), 1 UNKNOWN (syscalls.go1.26.p4.trace), 1 HEALTHY"},
		{[3]string{"HEALTHY", "HEALTHY", "UNKNOWN"}, ""}, // as all together
		{[3]string{"STARVED", "", "SLOW"}, ""},           // of an older version
	} {
		d := resulttest.Read(t, "mixed.go1.22.p2.trace", "quiet.go1.26.p4.trace", "syscalls.go1.26.p4.trace")
		for i := range d.PerTrace {
			d.PerTrace[i].Verdict = x.words[i]
		}
		d.Verdict.Word = "HEALTHY"
		text, _ := render(t, d, document.TextOptions{Unicode: true})
		text = strings.Join(strings.Fields(text), " ")
		if x.want == "" && strings.Contains(text, "each alone") || !strings.Contains(text, x.want) {
			t.Errorf("%q: no %q in %s", x.words, x.want, text[:min(len(text), 600)])
		}
	}
}
