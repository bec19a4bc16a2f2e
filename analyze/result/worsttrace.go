package result

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/schedscope/schedscope/internal/textui"
)

// worstTraceKind is the kind of the finding that names the worst of several traces.
const worstTraceKind = "worst-trace"

// withWorstTrace returns the findings of a merged report with that on its worst trace.
func (v *Report) withWorstTrace() []Finding {
	f, ok := WorstTrace(v.PerTrace, TraceNames(Each(v.Traces, func(t *Trace) string { return t.Name })))
	if !ok {
		return v.Findings
	}
	at := slices.IndexFunc(v.Findings, func(x Finding) bool { return x.Severity <= f.Severity })
	if at < 0 {
		at = len(v.Findings)
	}
	return slices.Insert(v.Findings, at, f)
}

// TraceNames names each by the end of its path alone, if no other has the same.
func TraceNames(names []string) []string {
	bases := map[string]int{}
	for _, name := range names {
		bases[filepath.Base(name)]++
	}
	return Each(names, func(name *string) string {
		if base := filepath.Base(*name); bases[base] == 1 {
			return textui.Shorten(textui.Clean(base), 40)
		}
		return textui.Shorten(textui.Clean(*name), 40)
	})
}

// worstTrace finds the trace whose waits matter most: by the severity that it has by
// itself, then by p99. It finds none if that is none to speak of.
func WorstTrace(list []TraceFigures, names []string) (Finding, bool) {
	var having []*TraceFigures
	for i := range list {
		if f := &list[i]; f.Waits > 0 && f.Trace < len(names) {
			having = append(having, f)
		}
	}
	if len(list) < 2 || len(having) == 0 {
		return Finding{}, false
	}
	slices.SortStableFunc(having, func(a, b *TraceFigures) int {
		return cmp.Or(cmp.Compare(b.Severity, a.Severity), cmp.Compare(b.P99, a.P99), cmp.Compare(b.Max, a.Max))
	})
	worst, others := having[0], having[1:]
	if worst.Severity == Info {
		return Finding{}, false
	}
	f := Finding{Kind: worstTraceKind, Severity: worst.Severity, Grade: Certain,
		Evidence: []Evidence{{Name: "traces", Value: float64(len(list)), Unit: "count"},
			{Name: "its p99 scheduling latency", Value: float64(worst.P99), Unit: "ns"},
			{Name: "its longest wait", Value: float64(worst.Max), Unit: "ns"}, {Name: "its waits", Value: float64(worst.Waits), Unit: "count"}}}
	f.Text = fmt.Sprintf("Of %s %s is the worst: p99 %s and at most %s in %s", textui.Plural(len(list), "trace"), names[worst.Trace],
		textui.Duration(worst.P99), textui.Duration(worst.Max), textui.Plural(worst.Waits, "wait"))
	if len(others) == 0 {
		f.Text += "; nothing waited in the others."
		return f, true
	}
	slices.SortStableFunc(others, func(a, b *TraceFigures) int { return cmp.Compare(a.P99, b.P99) })
	median := others[NearestRank(0.5, len(others))].P99
	f.Evidence = append(f.Evidence, Evidence{Name: "median p99 of the others", Value: float64(median), Unit: "ns"})
	if len(others) == 1 {
		f.Text += fmt.Sprintf("; p99 %s in the other.", textui.Duration(median))
	} else {
		f.Text += fmt.Sprintf("; the median p99 of the others is %s.", textui.Duration(median))
	}
	return f, true
}
