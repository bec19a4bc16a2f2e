package findings

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
)

// worstTrace finds the trace whose waits matter most: by the severity that it has by
// itself, then by p99. It finds none if that is none to speak of.
func worstTrace(r *result.Report) (result.Finding, bool) {
	list, names := r.PerTrace, traceNames(r)
	var having []*result.TraceFigures
	for i := range list {
		if f := &list[i]; f.Waits > 0 && f.Trace < len(names) {
			having = append(having, f)
		}
	}
	if len(list) < 2 || len(having) == 0 {
		return result.Finding{}, false
	}
	slices.SortStableFunc(having, func(a, b *result.TraceFigures) int {
		return cmp.Or(cmp.Compare(b.Severity, a.Severity), cmp.Compare(b.P99, a.P99), cmp.Compare(b.Max, a.Max))
	})
	worst, others := having[0], having[1:]
	if worst.Severity == result.Info {
		return result.Finding{}, false
	}
	f := result.Finding{Kind: "worst-trace", Severity: worst.Severity, Grade: result.Certain,
		Evidence: []result.Evidence{{Name: "traces", Value: float64(len(list)), Unit: "count"},
			{Name: "its p99 scheduling latency", Value: float64(worst.P99), Unit: "ns"},
			{Name: "its longest wait", Value: float64(worst.Max), Unit: "ns"}, {Name: "its waits", Value: float64(worst.Waits), Unit: "count"}}}
	f.Text = fmt.Sprintf("Of %s %s is the worst: p99 %s and at most %s in %s", textui.Plural(len(list), "trace"), names[worst.Trace],
		textui.Duration(worst.P99), textui.Duration(worst.Max), textui.Plural(worst.Waits, "wait"))
	if len(others) == 0 {
		f.Text += "; nothing waited in the others."
		return f, true
	}
	slices.SortStableFunc(others, func(a, b *result.TraceFigures) int { return cmp.Compare(a.P99, b.P99) })
	median := others[result.NearestRank(0.5, len(others))].P99
	f.Evidence = append(f.Evidence, result.Evidence{Name: "median p99 of the others", Value: float64(median), Unit: "ns"})
	f.Text += fmt.Sprintf(textui.Either(len(others) == 1, "; p99 %s in the other.", "; the median p99 of the others is %s."), textui.Duration(median))
	return f, true
}

// inTraces says of several traces, and of several reports of some, in how many an item is, and which have most of it.
func inTraces(r *result.Report, f *result.Finding, traces int64, in *result.Places) {
	if len(r.Traces) < 2 || in == nil {
		return
	}
	count := func(what string, n int64, of int64) string {
		f.Evidence = append(f.Evidence, result.Evidence{Name: what + "s with it", Value: float64(n), Unit: "count"})
		return fmt.Sprintf("%s of %s", textui.Count(n), textui.Plural(of, what))
	}
	f.In = "in " + count("trace", max(traces, 1), int64(len(r.Traces)))
	if r.Reports > 1 {
		f.In += " and " + count("report", in.Reports, r.Reports)
	}
	names := traceNames(r)
	if len(in.Most) > 0 {
		f.In += ", most in " + strings.Join(result.Each(in.Most, func(t *result.Share) string { return names[t.Trace] }), ", ")
	}
}

// codeInTraces is inTraces of the code that an item names first, of what waited for it for these reasons. There are
// rows by who waited: it is in at least as many traces as any of them, and most in those of the greatest.
func codeInTraces(r *result.Report, f *result.Finding, kinds []string) {
	var traces, reports int64
	var most *result.BlameRow
	for x := range result.Refs(r.Blame.Rows) {
		if len(f.Where) == 0 || x.Function != f.Where[0].Function || x.File != f.Where[0].File || x.In == nil || !slices.Contains(kinds, x.Kind) {
			continue
		}
		traces, reports = max(traces, x.Traces), max(reports, x.In.Reports)
		if most == nil || x.Total > most.Total {
			most = x
		}
	}
	if most != nil {
		inTraces(r, f, traces, &result.Places{Reports: reports, Most: most.In.Most})
	}
}
