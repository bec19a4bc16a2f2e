package view

import (
	"fmt"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/compare"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// TestSTWLine checks that what has no known length is not counted among those that the
// total is of.
func TestSTWLine(t *testing.T) {
	whole := result.Dist{Count: 1, Total: 2000, Max: 2000}
	for _, tt := range []struct {
		stw  result.STW
		want string
	}{
		{result.STW{}, "none"},
		{result.STW{Count: 1, Effective: whole}, "1 time, 2.00µs in all, the longest 2.00µs from 0"},
		{result.STW{Count: 2, Effective: whole, Censored: result.Tally{Count: 1}}, "1 time, 2.00µs in all, the longest 2.00µs from 0; 1 more truncated"},
		{result.STW{Count: 1, Censored: result.Tally{Count: 1}}, "0 times; 1 more truncated"},
	} {
		if got := stwLine(&result.Report{STW: tt.stw}); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

// TestObjectiveText checks that an objective which cannot be judged says what of.
func TestObjectiveText(t *testing.T) {
	for _, tt := range []struct {
		o    result.Objective
		want string
	}{
		{result.Objective{State: "met", Value: 1000}, "objective p99 < 2.00µs: met, 1.00µs"},
		{result.Objective{State: "met", Value: 1000, Most: 1500}, "objective p99 < 2.00µs: met, at most 1.50µs"},
		{result.Objective{State: "missed", Group: "GET /", Value: 3000, Most: 4000}, "GET /: objective p99 < 2.00µs: missed, at least 3.00µs"},
		{result.Objective{State: "unknown", Value: 1000, Most: 4000}, "objective p99 < 2.00µs: cannot be judged, 1.00µs to 4.00µs, as requests of which the handler is not seen may be among them"},
		{result.Objective{State: "unknown", Value: 1000, Most: 4000, Open: 1}, "objective p99 < 2.00µs: cannot be judged, 1.00µs without 1 that did not end for up to 4.00µs"},
	} {
		tt.o.Quantile, tt.o.Limit = 0.99, 2000
		if got := objectiveText(&tt.o); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

func TestFormats(t *testing.T) {
	r := &result.Report{Traces: []result.Trace{{Format: "go 1.26"}, {Format: "go 1.21"}, {Format: "go 1.26"}}}
	if got, want := Formats(r), "Go 1.21, Go 1.26 trace format"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestCompleteness checks how the head counts what is missing, and that the missing end of
// a recording that was interrupted is not reported as damage.
func TestCompleteness(t *testing.T) {
	loss := &result.Loss{Bytes: 66, Size: 1000, After: 3_200_000_000, Cause: "cut off"}
	for _, tt := range []struct {
		traces  []result.Trace
		skipped int
		want    string
	}{
		{[]result.Trace{{}}, 0, ""},
		{[]result.Trace{{Inconsistent: 1}}, 0, "INCONSISTENT: "},
		{[]result.Trace{{Loss: loss}}, 0, "INCOMPLETE: lost the last 66 B of 1.00 kB (6.6%): cut off; analysed the first 3.20s"},
		{[]result.Trace{{Loss: loss, EndedEarly: "interrupted"}}, 0, "INCOMPLETE: the recording ended early: interrupted; analysed the first 3.20s, up to the last complete part"},
		{[]result.Trace{{}}, 2, "INCOMPLETE: of 3 inputs, 2 could not be read at all;"},
		{[]result.Trace{{Loss: loss}, {}}, 0, "INCOMPLETE: of 2 inputs, 1 could be read in part;"},
		{[]result.Trace{{Loss: loss}, {}}, 1, "INCOMPLETE: of 3 inputs, 1 could be read in part, 1 could not be read at all;"},
	} {
		got := Completeness(&result.Report{Traces: tt.traces, Skipped: make([]result.Skipped, tt.skipped)})
		if !strings.HasPrefix(got, tt.want) || (got == "") != (tt.want == "") {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

// TestCausesShown checks which causes the summary names.
func TestCausesShown(t *testing.T) {
	for _, tt := range []struct {
		name   string
		totals []model.Duration
		shown  int
	}{
		{"none", nil, 0},
		{"one", []model.Duration{5}, 1},
		{"all great", []model.Duration{5, 4, 3}, 3},
		{"one little", []model.Duration{1000, 900, 1}, 3}, // as short as to sum it up
		{"some little", []model.Duration{1000, 900, 2, 1}, 2},
		{"many", []model.Duration{9, 9, 9, 9, 9, 9, 9, 9, 9, 9}, 8},
	} {
		var c result.Causes
		for _, d := range tt.totals {
			c.Total += d
		}
		for _, d := range tt.totals {
			c.Rows = append(c.Rows, result.CauseRow{Total: d, Share: float64(d) / float64(c.Total)})
		}
		if shown := causesShown(&c); shown != tt.shown {
			t.Errorf("%s: %d shown, want %d", tt.name, shown, tt.shown)
		}
	}
}

// TestEvidence checks numbers with their units.
func TestEvidence(t *testing.T) {
	for _, tt := range []struct {
		e    result.Evidence
		want string
	}{
		{result.Evidence{Value: 1234, Unit: "count"}, "1,234"},
		{result.Evidence{Value: 1.5, Unit: "goroutines"}, "1.50"},
		{result.Evidence{Value: 1234.4, Unit: "per second"}, "1,234/s"},
		{result.Evidence{Value: 0.25, Unit: "share"}, "25%"},
		{result.Evidence{Value: 1500, Unit: "ns"}, "1.50µs"},
	} {
		if got := EvidenceText(&tt.e); got != tt.want {
			t.Errorf("%+v is shown as %q, want %q", tt.e, got, tt.want)
		}
	}
}

// TestPathologyNumbers checks that the lines of what was found say all of it.
func TestPathologyNumbers(t *testing.T) {
	p := &result.Pathology{Count: 23, Total: 4_730_000_000, Worst: 867_000_000, At: 2_450_000_000}
	if got, want := pathologyNumbers(p), "23 cases, 4.73s in all, worst 867ms at 2.45s"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	p.Total = 0
	if got, want := pathologyNumbers(p), "23 cases, worst at most 867ms at 2.45s"; got != want {
		t.Errorf("got %q, want %q", got, want)
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
		{make(10, 900, 10, 10), ""}, // few traces
		{few, ""},
		{make(10, 11, 12, 13, 14, 15, 16, 17), ""},
		{make(10, 11, 12, 13, 14, 15, 16, 900), "trace 8 (900ns)"},
		{make(10, 28, 12, 13, 11, 15, 14, 27), "trace 2 (28ns)"}, // quartiles 11 and 15: 27 is not beyond 27
		{make(10, 10, 10, 10, 10, 10, 10, 20), ""},               // no more than twice the median
		{make(10, 10, 10, 10, 21, 10, 10, 30), "trace 8 (30ns), trace 5 (21ns)"},
	} {
		if got := outliers(&result.Report{PerTrace: tt.figures}); got != tt.want {
			t.Errorf("%v: %s, want %s", tt.figures, got, tt.want)
		}
	}
}

// TestGroups checks that every cause has a group, and that of what is unresolved only that;
// and that names of results have the words of reports.
func TestGroups(t *testing.T) {
	seen := map[string]bool{}
	for c := range result.NumCauses {
		g := GroupOf(c.String())
		seen[g] = true
		if (g == "unresolved") != (c == result.CauseUnresolved) || (g == "os") != c.Suspected() || (g == "idle") != c.IdleProc() {
			t.Errorf("%s is in the group %s", c, g)
		}
	}
	if len(seen) != len(result.CauseGroups) {
		t.Errorf("%d of %d groups are used", len(seen), len(result.CauseGroups))
	}
	for s := range runqueue.NumSources {
		if sources[s.String()] == "" && s != runqueue.SourceUnknown {
			fmt.Println(s)
			t.Errorf("source %s has no name", s)
		}
	}
}

// TestNames checks that names from traces cannot make goroutines and stacks long.
func TestNames(t *testing.T) {
	r := &result.Report{}
	name := strings.Repeat("long", 200) + "\x1b"
	if got := goroutine(r, 0, 7, name); len(got) > 60 || !strings.HasPrefix(got, "G7 long") || strings.Contains(got, "\x1b") {
		t.Errorf("%q", got)
	}
	if got := goroutine(r, 0, -1, noName); got != "several" {
		t.Errorf("%q", got)
	}
}

// TestCompareExtremes checks what is too much to be written as a number.
func TestCompareExtremes(t *testing.T) {
	v := compare.Values{X: []float64{1, 2}, Median: 1, Low: 1, High: 7000, Confidence: 0.95}
	show := compareView{plusMinus: "±"}.spreadText
	if got := show(&v); got != "±>999%" {
		t.Error(got)
	}
	if v.High = 10; show(&v) != "±900%" {
		t.Error(show(&v))
	}
	if boundText(10473) != "x>999" || boundText(998) != "x998" {
		t.Error(boundText(10473), boundText(998))
	}
}
