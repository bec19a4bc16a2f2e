package findings

import (
	"fmt"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// cutWaits sums up waits whose beginning or end is not in the trace.
func cutWaits(c *result.Censored) (count int64, longest model.Duration) {
	return c.AtStart.Count + c.AtEnd.Count, max(c.AtStart.Max, c.AtEnd.Max)
}

// cutMatters reports whether a wait that is seen in part only was longer, and
// long, than all that are seen whole: percentiles do not show it.
func cutMatters(l *result.Latency) bool {
	_, longest := cutWaits(&l.Censored)
	return longest >= result.SeriousWait && longest > l.All.Max
}

// WaitSeverity returns how much scheduling latency matters by itself.
func WaitSeverity(l *result.Latency) result.Severity { return severity(&l.All, cutMatters(l)) }

// severity returns how much waits matter: by their p99, or by their maximum if there are too few for one. Truncated waits
// that matter make them notable at least.
func severity(x *result.Dist, cut bool) result.Severity {
	switch {
	case x.Count >= fewWaits && x.P99 >= result.SeriousWait:
		return result.Serious
	case x.Max >= result.SeriousWait, x.Count >= fewWaits && x.P99 >= result.NotableWait, cut:
		return result.Notable
	}
	return result.Info
}

// headline sums up scheduling latency, with the reason that fits the worst waits.
func headline(r *result.Report) result.Finding {
	all := &r.Latency.All
	if all.Count == 0 {
		return noWaits(r)
	}
	f := result.Finding{Kind: "no-notable-waiting", Severity: WaitSeverity(&r.Latency), Evidence: []result.Evidence{
		{Name: "waits", Value: float64(all.Count), Unit: "count"},
		{Name: "p50 scheduling latency", Value: float64(all.P50), Unit: "ns"},
		{Name: "p99 scheduling latency", Value: float64(all.P99), Unit: "ns"},
		{Name: "longest wait", Value: float64(all.Max), Unit: "ns"},
	}}
	p50, p99, longest := textui.Duration(all.P50), textui.Duration(all.P99), textui.Duration(all.Max)
	said := fmt.Sprintf("p50 %s, p99 %s, at most %s", p50, p99, longest)
	if all.Count < fewValues {
		said = fmt.Sprintf("%s took %s", textui.Plural(all.Count, "wait"), between(all))
	}
	if f.Severity == result.Info {
		switch {
		case all.Count == 1:
			said = "the only one took " + longest
		case all.Count >= fewValues && r.MainRequests() == nil:
			said = fmt.Sprintf("half of %s took at most %s, 99%% at most %s, the longest %s", textui.Plural(all.Count, "wait"), p50, p99, longest)
		}
		f.Text = fmt.Sprintf("No wait to run was notably long: %s.", said)
		return f
	}
	if all.Count < fewValues || r.MainRequests() == nil {
		said += worstWhere(r)
	}
	f.Text = fmt.Sprintf("Goroutines waited to run: %s.", said)
	f.Kind, f.Grade = "waiting", result.Inferred
	if cutMatters(&r.Latency) {
		f.Grade = result.Certain
		f.Text += " " + cutText(r)
		f.Evidence = append(f.Evidence, cutEvidence(r)...)
	}
	return f
}

// noWaits is the headline if no wait of the program is seen whole.
func noWaits(r *result.Report) result.Finding {
	f := result.Finding{Kind: "no-waits", Severity: WaitSeverity(&r.Latency)}
	if n, _ := cutWaits(&r.Latency.Censored); n > 0 {
		f.Text = fmt.Sprintf("The %s shows no wait to run from beginning to end. %s", subject(r), cutText(r))
		f.Evidence = cutEvidence(r)
		return f
	}
	f.Text = fmt.Sprintf("The %s shows no goroutine of the program waiting to run from beginning to end.", subject(r))
	if n := r.Latency.System.Count; n > 0 {
		f.Text += fmt.Sprintf(" %s of the runtime's own goroutines are not counted.", textui.Plural(n, "wait"))
	}
	return f
}

// cutText describes the waits that are seen in part.
func cutText(r *result.Report) string {
	n, longest := cutWaits(&r.Latency.Censored)
	who := textui.Either(n == 1, fmt.Sprintf("1 wait is seen in part only, because the %s begins or ends in it,", subject(r)), fmt.Sprintf("%s are seen in part only, because the %s begins or ends in them, the longest", textui.Plural(n, "wait"), subject(r)))
	return fmt.Sprintf("%s for %s at least.", who, textui.Duration(longest))
}

func cutEvidence(r *result.Report) []result.Evidence {
	n, longest := cutWaits(&r.Latency.Censored)
	return []result.Evidence{{Name: "waits seen in part", Value: float64(n), Unit: "count"}, {Name: "longest of those, at least", Value: float64(longest), Unit: "ns"}}
}

// worstWhere returns in brackets which goroutine had the worst wait, and when.
func worstWhere(r *result.Report) string {
	waits := r.WorstWaits
	if len(waits) == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s, at %s%s)", plain(waits[0].Function), textui.Duration(waits[0].End), in(r, waits[0].Trace))
}
