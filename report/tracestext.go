package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// Outliers are told of at least so many traces; fewer speak for themselves.
const outlierTraces = 8

// outlierRange is how many times the distance of the quartiles an outlier is beyond them.
const outlierRange = 3

// fewForP99 are too few waits for a p99 that says more than the maximum.
const fewForP99 = 100

// tracesLine says in the summary how much several traces differ.
func (t *text) tracesLine() {
	if len(t.doc.Traces) < 2 {
		return
	}
	spread := result.SpreadOf(t.doc.figures())
	i := slices.IndexFunc(spread, func(s result.Spread) bool { return s.Name == "p99_ns" })
	if i < 0 {
		return
	}
	p99 := &spread[i]
	s := fmt.Sprintf("p99 from %s (%s) to %s (%s), median %s", figureText(p99.Unit, p99.Min), t.traceName(p99.MinTrace),
		figureText(p99.Unit, p99.Max), t.traceName(p99.MaxTrace), figureText(p99.Unit, p99.Median))
	if waits := t.r.Worst.Waits(); len(waits) > 0 {
		s += "; the longest wait is in " + t.traceName(waits[0].Trace)
	}
	if mix := t.mixed(); mix != "" {
		s += "; " + mix
	}
	t.labelled("traces", "%s", s)
}

// traceName names a trace: by the end of its path alone if no other has the same.
func (t *text) traceName(trace int) string {
	if trace < 0 || trace >= len(t.doc.Traces) {
		return fmt.Sprintf("trace %d", trace+1)
	}
	if t.names == nil {
		t.names = t.doc.names()
	}
	return t.names[trace]
}

// mixed says what numbers of several traces mix, "" if nothing.
func (t *text) mixed() string {
	var parts []string
	for i := range t.doc.Traces {
		if t.doc.Traces[i].Version != t.doc.Traces[0].Version {
			parts = append(parts, "Go versions")
			break
		}
	}
	for i := range t.doc.Traces {
		// The mean is not exact: a trace may begin before its first proc.
		if a, b := t.doc.Traces[i].Figures.Procs, t.doc.Traces[0].Figures.Procs; a > b*1.05 || b > a*1.05 {
			parts = append(parts, "numbers of procs")
			break
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "different " + strings.Join(parts, " and ") + " are mixed"
}

// figureText shows a figure of a trace.
func figureText(unit string, v float64) string {
	switch unit {
	case "ns":
		return textui.Duration(int64(v))
	case "share":
		return textui.Percent(v)
	case "count":
		return textui.Count(int64(v))
	}
	return fmt.Sprintf("%.2f", v)
}

// spreadLabels are the rows of the table of the spread.
var spreadLabels = []struct{ name, label string }{
	{"p50_ns", "p50"}, {"p99_ns", "p99"}, {"p99_9_ns", "p99.9"}, {"max_ns", "longest wait"}, {"waiting", "goroutines waiting"},
	{"waits", "waits"}, {"utilisation", "procs busy"}, {"procs", "procs"}, {"span_ns", "length"},
}

// traces tells several traces apart: how much they differ, which waited the longest, and
// their numbers, to which the rest refers.
func (t *text) traces() {
	if len(t.doc.Traces) < 2 {
		return
	}
	figures := t.doc.figures()
	t.section("Traces", "")
	if mix := t.mixed(); mix != "" {
		t.note("N.B. %s in the numbers of all.", mix)
	}
	t.spread(result.SpreadOf(figures))
	t.traceRows(figures)
	t.outliers(figures)
	t.skippedRows()
}

func (t *text) spread(list []result.Spread) {
	tb := t.table("LrrrrrLL", "of each trace", "min", "quarter", "median", "3 quarters", "max", "least in", "most in")
	for _, x := range spreadLabels {
		if i := slices.IndexFunc(list, func(s result.Spread) bool { return s.Name == x.name }); i >= 0 {
			s := &list[i]
			row := []string{x.label}
			for _, v := range []float64{s.Min, s.Q1, s.Median, s.Q3, s.Max} {
				row = append(row, figureText(s.Unit, v))
			}
			tb.Row(append(row, t.traceName(s.MinTrace), t.traceName(s.MaxTrace))...)
		}
	}
	t.b.WriteString(tb.String())
}

// traceRows lists traces, those of the longest p99 first.
func (t *text) traceRows(figures []result.TraceFigures) {
	sorted := slices.Clone(figures)
	slices.SortStableFunc(sorted, func(a, b result.TraceFigures) int {
		return cmp.Or(cmp.Compare(b.P99, a.P99), cmp.Compare(b.Max, a.Max))
	})
	t.printf("\n")
	tb := t.table("rLrrrrrLl", "", "name", "length", "waits", "p99", "max", "busy", "mostly", "")
	shown := t.limit(len(sorted))
	for _, f := range sorted[:shown] {
		tr := &t.doc.Traces[f.Trace]
		few := ""
		if f.Waits < fewForP99 {
			few = " (few)"
		}
		waits := durations(f.Waits > 0, f.P99, f.Max)
		tb.Row(fmt.Sprint(f.Trace+1), textui.Clean(tr.Name), textui.Duration(tr.Span), textui.Count(f.Waits)+few,
			waits[0], waits[1], textui.Percent(f.Utilisation), cmp.Or(f.MainCause, "-"), fmt.Sprintf("Go 1.%d", tr.Version))
	}
	t.b.WriteString(tb.String())
	t.more(shown, len(sorted))
}

// outliers names the traces whose p99 is far from those of the others.
func (t *text) outliers(figures []result.TraceFigures) {
	list := outliersOf(figures)
	if len(list) == 0 {
		return
	}
	var names []string
	shown := t.limit(len(list))
	for _, f := range list[:shown] {
		names = append(names, fmt.Sprintf("%s (%s)", t.traceName(f.Trace), textui.Duration(f.P99)))
	}
	if shown < len(list) {
		names = append(names, fmt.Sprintf("%d more", len(list)-shown))
	}
	t.note("Far beyond the others in p99: %s.", strings.Join(names, ", "))
}

// outliersOf returns the traces with enough waits whose p99 is beyond the upper quartile
// by three times the distance of the quartiles, and twice the median, the farthest first.
func outliersOf(figures []result.TraceFigures) []result.TraceFigures {
	var list []result.TraceFigures
	for _, f := range figures {
		if f.Waits >= fewForP99 {
			list = append(list, f)
		}
	}
	if len(list) < outlierTraces {
		return nil
	}
	slices.SortStableFunc(list, func(a, b result.TraceFigures) int { return cmp.Compare(b.P99, a.P99) })
	at := func(q float64) model.Duration { return list[len(list)-1-result.NearestRank(q, len(list))].P99 }
	limit := max(at(0.75)+outlierRange*(at(0.75)-at(0.25)), 2*at(0.5))
	n := slices.IndexFunc(list, func(f result.TraceFigures) bool { return f.P99 <= limit })
	return list[:max(n, 0)]
}

// skippedRows names inputs that are not in the report.
func (t *text) skippedRows() {
	if n := len(t.doc.Skipped); n > 0 {
		t.note("Not read: %s; the notes at the end say why.", textui.Plural(n, "input"))
	}
}

// ofTrace says of what trace something is, "" if there is one only.
func (t *text) ofTrace(w *analyze.Wait) string {
	if len(t.doc.Traces) < 2 {
		return ""
	}
	return " (" + t.traceName(w.Trace) + ")"
}
