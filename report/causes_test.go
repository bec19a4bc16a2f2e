package report

import (
	"strings"
	"testing"
	"unicode"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model"
)

// TestCausesAddUp checks that every table of causes adds up to the latency, to
// the nanosecond, on traces of all kinds.
func TestCausesAddUp(t *testing.T) {
	for i, name := range fixtures.Real() {
		if testing.Short() && i%6 != 0 {
			continue
		}
		d := documentOf(t, name)
		want := int64(d.Report.Latency.All.Total())
		v := d.Result()
		if c := d.Report.Causes; c.Refused != "" {
			if d.Traces[0].Version >= 22 || len(v.Causes.Rows) != 0 || v.Causes.Refused == "" {
				t.Errorf("%s: refused (%s) with %d causes", name, c.Refused, len(v.Causes.Rows))
			}
			continue
		}
		var shown, rows, origins, funcs, series int64
		head, rest := causesShown(d.Report.Causes)
		for _, x := range append(head, rest...) {
			shown += int64(d.Report.Causes.ByCause[x].Total)
		}
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
		for what, got := range map[string]int64{"the summary": shown, "rows": rows, "by origin": origins, "by function": funcs, "series": series} {
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
}

// TestCausesShown checks which causes the summary names.
func TestCausesShown(t *testing.T) {
	for _, tt := range []struct {
		name        string
		totals      []model.Duration
		shown, rest int
	}{
		{"none", nil, 0, 0},
		{"one", []model.Duration{5}, 1, 0},
		{"all great", []model.Duration{5, 4, 3}, 3, 0},
		{"one little", []model.Duration{1000, 900, 1}, 3, 0}, // as short as to sum it up
		{"some little", []model.Duration{1000, 900, 2, 1}, 2, 2},
		{"many", []model.Duration{9, 9, 9, 9, 9, 9, 9, 9, 9, 9}, 8, 2},
	} {
		c := &analyze.Causes{}
		for i, d := range tt.totals {
			c.ByCause[i] = analyze.CauseSum{Total: d, Waits: 1}
			c.Total += d
		}
		if shown, rest := causesShown(c); len(shown) != tt.shown || len(rest) != tt.rest {
			t.Errorf("%s: %d shown and %d not, want %d and %d", tt.name, len(shown), len(rest), tt.shown, tt.rest)
		}
	}
}

// TestNotKnown checks that an old format says why there are no causes.
func TestNotKnown(t *testing.T) {
	text, _ := render(t, documentOf(t, "foreign/trace.go1.19.trace"), Options{Top: DefaultTop})
	const want = "run queues cannot be reconstructed from a trace of Go 1.19"
	if n := strings.Count(strings.Join(strings.Fields(text), " "), want); n != 2 { // in the summary and in the notes
		t.Errorf("the report says %d times %q", n, want)
	}
	if strings.Contains(text, "where the waiting went") || strings.Contains(text, "\nRun queues\n") {
		t.Error("the report has tables without content")
	}

	d := documentOf(t, "http.trace", "foreign/trace.go1.19.trace")
	text, _ = render(t, d, Options{Top: DefaultTop})
	if row := "\n  not known"; strings.Count(text, row) != 1 {
		t.Errorf("the table of causes has no row %q beside an old format", row)
	}
	v := d.Result()
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

// TestHostileParties checks names in what is told of causes and pathologies.
func TestHostileParties(t *testing.T) {
	x := text{r: analyze.New(model.NewTables(), analyze.Options{}), width: 100, tableWidth: 120}
	for _, name := range hostile {
		frames := []model.Frame{{Func: name, File: name}}
		x.blockers = append(x.blockers, analyze.AntagonistRow{Func: name, Total: 5, Turns: 1,
			Stacks: []analyze.AntagonistStack{{Stack: frames, Total: 5, Turns: 1}}})
		x.pathology(&analyze.Pathology{Name: "gc-assists", Who: []analyze.Party{{Role: "ran", Func: name, Place: name, Stack: frames, Proc: model.NoProc}}})
		w := &analyze.Wait{Cells: []analyze.Cell{{Cause: result.CauseGoroutine, Total: 5}}, Blockers: []analyze.Blocker{{G: 1, Func: name, Total: 5}}}
		x.waitCauses(w)
		x.printf("%s\n", strings.Join(mainCause(w), ", "))
	}
	x.behind()
	x.printf("%s\n", x.mostOf(result.CauseGoroutine))
	if got := x.b.String(); strings.ContainsFunc(got, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) {
		t.Errorf("not printable: %q", got)
	}
	for line := range strings.Lines(x.b.String()) {
		if len(line) > 1000 {
			t.Errorf("a line of %d bytes", len(line))
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
		if got := evidence(tt.e); got != tt.want {
			t.Errorf("%+v is told as %q, want %q", tt.e, got, tt.want)
		}
	}
}

// TestLists checks that lists in tables are never cut in the middle of an item
// if the table is wide enough for one.
func TestLists(t *testing.T) {
	x := text{tableWidth: 40}
	x.listTable("lrL", [][]string{{"origin", "total"}, {"timer", "1.00ms"}, {"created", "2ns"}},
		[][]string{{"lost to"}, {"pick-up 80%", "stop-the-world 20%"}, {"pick-up 9%", "switching 1%"}})
	const want = "  origin    total  lost to\n  timer    1.00ms  pick-up 80%\n  created     2ns  pick-up 9%\n"
	if got := x.b.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestFoundFits checks that the lines of what was found are told whole.
func TestFoundFits(t *testing.T) {
	p := &analyze.Pathology{Name: "long-bursts-without-preemption", Count: 23, Total: 4_730_000_000, Worst: 867_000_000, At: 2_450_000_000, Grade: result.Inferred}
	if got, want := foundLine(p, true), "long bursts without preemption, 23 cases, 4.73s in all, worst 867ms at 2.45s (inferred)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := foundLine(p, false), "long bursts without preemption, 23 cases, worst 867ms at 2.45s (inferred)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
