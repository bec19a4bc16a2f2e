package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// TestTracesText tells several traces apart.
func TestTracesText(t *testing.T) {
	d := documentOf(t, "mixed.go1.22.p2.trace", "syscalls.go1.26.p4.trace", "quiet.go1.26.p4.trace")
	d.Skipped = []Skipped{{"gone.trace", "no such file"}}
	d.Traces[0].Name, d.Traces[2].Name = "a/\x1b[2Jsame.trace", "b/\x1b[2Jsame.trace"
	text, _ := render(t, d, Options{Unicode: true, Top: 2})
	for _, want := range []string{
		"\ntraces     p99 from ", "the longest wait is in syscalls.go1.26.p4.trace", "different Go versions and numbers of procs are mixed",
		"\nTraces\n", "  p99 ", "  procs busy ", "… and 1 more; --top 0 shows all", "Not read: 1 input;",
		"main.work.func2 of trace 2 (syscalls.go1.26.p4.trace)",
	} {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), strings.Join(strings.Fields(want), " ")) {
			t.Errorf("no %q in:\n%s", want, text[:min(len(text), 6000)])
		}
	}
	if strings.Contains(text, "\x1b") || !strings.Contains(text, "a/") || !strings.Contains(text, "b/") {
		t.Error("names of traces are not clean, or not told apart")
	}
	one, _ := render(t, documentOf(t, "quiet.go1.26.p4.trace"), Options{Unicode: true})
	if strings.Contains(one, "\ntraces ") || strings.Contains(one, "\nTraces\n") {
		t.Error("one trace has a spread")
	}
}

// TestOutliers has exact numbers.
func TestOutliers(t *testing.T) {
	make := func(p99s ...int64) []result.TraceFigures {
		var list []result.TraceFigures
		for i, p := range p99s {
			list = append(list, result.TraceFigures{Trace: i, Waits: fewForP99, P99: model.Duration(p)})
		}
		return list
	}
	few := make(10, 11, 12, 13, 14, 15, 16, 900)
	few[7].Waits--
	for _, tt := range []struct {
		figures []result.TraceFigures
		want    string
	}{
		{make(10, 900, 10, 10), "[]"}, // few traces
		{few, "[]"},
		{make(10, 11, 12, 13, 14, 15, 16, 17), "[]"},
		{make(10, 11, 12, 13, 14, 15, 16, 900), "[7]"},
		{make(10, 28, 12, 13, 11, 15, 14, 27), "[1]"}, // quartiles 11 and 15: 27 is not beyond 27
		{make(10, 10, 10, 10, 10, 10, 10, 20), "[]"},  // no more than twice the median
		{make(10, 10, 10, 10, 21, 10, 10, 30), "[7 4]"},
	} {
		var got []int
		for _, f := range outliersOf(tt.figures) {
			got = append(got, f.Trace)
		}
		if s := fmt.Sprint(got); s != tt.want {
			t.Errorf("%v: %s, want %s", tt.figures, s, tt.want)
		}
	}
}
