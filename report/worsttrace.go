package report

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/internal/textui"
)

// worstTraceKind is the kind of the finding that names the worst of several traces.
const worstTraceKind = "worst-trace"

// Judge sets the findings: those on all traces together, and of several which is the worst,
// which their common numbers may hide.
func (d *Document) Judge() {
	if len(d.Traces) > 1 {
		d.Report.Names = d.names()
	}
	d.Findings = analyze.Verdict(d.Report)
	if f, ok := worstTrace(d.figures(), d.names()); ok {
		at := 1 + slices.IndexFunc(d.Findings[1:], func(x analyze.Finding) bool { return x.Severity <= f.Severity })
		if at == 0 {
			at = len(d.Findings)
		}
		d.Findings = slices.Insert(d.Findings, at, f)
	}
}

// withWorstTrace returns the findings of a merged report with that on its worst trace.
func (v *V1) withWorstTrace() []V1Finding {
	f, ok := worstTrace(v.PerTrace, traceNames(each(v.Traces, func(t *V1Trace) string { return t.Name })))
	if !ok {
		return v.Findings
	}
	own := v1Finding(&f)
	at := slices.IndexFunc(v.Findings, func(x V1Finding) bool { return compareSeverity(x.Severity, own.Severity) <= 0 })
	if at < 0 {
		at = len(v.Findings)
	}
	return slices.Insert(v.Findings, at, own)
}

// names are the traces' short names.
func (d *Document) names() []string {
	return traceNames(each(d.Traces, func(t *Trace) string { return t.Name }))
}

// traceNames names each by the end of its path alone, if no other has the same.
func traceNames(names []string) []string {
	bases := map[string]int{}
	for _, name := range names {
		bases[filepath.Base(name)]++
	}
	return each(names, func(name *string) string {
		if base := filepath.Base(*name); bases[base] == 1 {
			return textui.Shorten(textui.Clean(base), 40)
		}
		return textui.Shorten(textui.Clean(*name), 40)
	})
}

// worstTrace finds the trace whose waits matter most: by the severity that it has by
// itself, then by p99. It finds none if that is none to speak of.
func worstTrace(list []V1TraceFigures, names []string) (analyze.Finding, bool) {
	var having []*V1TraceFigures
	for i := range list {
		if f := &list[i]; f.Waits > 0 && f.Trace < len(names) {
			having = append(having, f)
		}
	}
	if len(list) < 2 || len(having) == 0 {
		return analyze.Finding{}, false
	}
	slices.SortStableFunc(having, func(a, b *V1TraceFigures) int {
		return cmp.Or(compareSeverity(b.Severity, a.Severity), cmp.Compare(b.P99, a.P99), cmp.Compare(b.Max, a.Max))
	})
	worst, others := having[0], having[1:]
	severity := slices.Index(severities, worst.Severity)
	if severity <= int(analyze.Info) {
		return analyze.Finding{}, false
	}
	f := analyze.Finding{Kind: worstTraceKind, Severity: analyze.Severity(severity), Grade: analyze.Certain,
		Evidence: []analyze.Evidence{{Name: "traces", Value: float64(len(list)), Unit: "count"},
			{Name: "its p99 scheduling latency", Value: float64(worst.P99), Unit: "ns"},
			{Name: "its longest wait", Value: float64(worst.Max), Unit: "ns"}, {Name: "its waits", Value: float64(worst.Waits), Unit: "count"}}}
	f.Text = fmt.Sprintf("Of %s %s is the worst: p99 %s and at most %s in %s", textui.Plural(len(list), "trace"), names[worst.Trace],
		textui.Duration(worst.P99), textui.Duration(worst.Max), textui.Plural(worst.Waits, "wait"))
	if len(others) == 0 {
		f.Text += "; nothing waited in the others."
		return f, true
	}
	slices.SortStableFunc(others, func(a, b *V1TraceFigures) int { return cmp.Compare(a.P99, b.P99) })
	median := others[nearestRank(0.5, len(others))].P99
	f.Evidence = append(f.Evidence, analyze.Evidence{Name: "median p99 of the others", Value: float64(median), Unit: "ns"})
	if len(others) == 1 {
		f.Text += fmt.Sprintf("; p99 %s in the other.", textui.Duration(median))
	} else {
		f.Text += fmt.Sprintf("; the median p99 of the others is %s.", textui.Duration(median))
	}
	return f, true
}
