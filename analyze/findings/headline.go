package findings

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

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

// WaitSeverity returns how much scheduling latency matters by itself: by its p99, or by its
// maximum if there are too few waits for one. Truncated waits make it notable at least.
func WaitSeverity(l *result.Latency) result.Severity {
	all := &l.All
	switch {
	case all.Count >= fewWaits && all.P99 >= result.SeriousWait:
		return result.Serious
	case all.Max >= result.SeriousWait, all.Count >= fewWaits && all.P99 >= result.NotableWait, cutMatters(l):
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
	few := fmt.Sprintf("%s took %s", textui.Plural(all.Count, "wait"), between(all))
	switch {
	case f.Severity == result.Info && all.Count == 1:
		f.Text = fmt.Sprintf("No wait to run was notably long: the only one took %s.", longest)
		return f
	case f.Severity == result.Info && all.Count < fewValues:
		f.Text = fmt.Sprintf("No wait to run was notably long: %s.", few)
		return f
	case f.Severity == result.Info:
		f.Text = fmt.Sprintf("No wait to run was notably long: half of %s took at most %s, 99%% at most %s, the longest %s.",
			textui.Plural(all.Count, "wait"), p50, p99, longest)
		return f
	case all.Count < fewValues:
		f.Text = fmt.Sprintf("Goroutines waited to run: %s%s.", few, worstWhere(r))
	default:
		f.Text = fmt.Sprintf("Goroutines waited to run: p50 %s, p99 %s, at most %s%s.", p50, p99, longest, worstWhere(r))
	}
	f.Kind, f.Grade = "waiting", result.Inferred
	if cutMatters(&r.Latency) {
		f.Grade = result.Certain
		f.Text += " " + cutText(r)
		f.Evidence = append(f.Evidence, cutEvidence(r)...)
	} else if why, ok := likelyReason(r); ok && r.Causes.Refused != "" {
		f.Text += " " + why.text
		f.Evidence = append(f.Evidence, result.Evidence{Name: why.name, Value: why.share, Unit: "share"})
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

// cutText tells of the waits that are seen in part.
func cutText(r *result.Report) string {
	n, longest := cutWaits(&r.Latency.Censored)
	who := fmt.Sprintf("%s are seen in part only, because the %s begins or ends in them, the longest", textui.Plural(n, "wait"), subject(r))
	if n == 1 {
		who = fmt.Sprintf("1 wait is seen in part only, because the %s begins or ends in it,", subject(r))
	}
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

// verdictWaits is on how many of the worst waits a verdict rests, however many are shown.
const verdictWaits = 10

var syscallUse = result.UseSyscall.String()

// meanwhile is what the procs did during the worst waits, all together.
type meanwhile struct {
	uses        result.Uses
	funcs       []result.FuncActivity // longest first
	approximate bool                  // some of it is not exact
}

// during sums up what the procs did during the worst waits.
func during(r *result.Report) meanwhile {
	type key struct {
		fn      string
		syscall bool
	}
	var m meanwhile
	at := map[key]int{}
	for i := range r.WorstWaits[:min(len(r.WorstWaits), verdictWaits)] {
		w := &r.WorstWaits[i]
		m.uses.Add(&w.Uses)
		m.approximate = m.approximate || w.Approximate || w.OtherFunctions > 0
		for _, a := range w.Functions {
			k := key{a.Function, a.Use == syscallUse}
			i, ok := at[k]
			if !ok {
				i = len(m.funcs)
				at[k] = i
				m.funcs = append(m.funcs, result.FuncActivity{Function: a.Function, Use: a.Use})
			}
			m.funcs[i].Total += a.Total
		}
	}
	slices.SortStableFunc(m.funcs, func(a, b result.FuncActivity) int { return cmp.Compare(b.Total, a.Total) })
	return m
}

// reason is what took most of the procs' time during the worst waits.
type reason struct {
	use   result.Use // one of those that it stands for
	share float64
	name  string // of the share
	text  string
}

// likelyReason says what took most of the procs' time during the worst waits.
func likelyReason(r *result.Report) (reason, bool) {
	m := during(r)
	share := m.uses.Share
	best := reason{use: result.UseUser, share: share(result.UseUser, result.UseRuntime), name: "ran goroutines during the worst waits"}
	for _, c := range []reason{
		{use: result.UseGC, share: share(result.UseGC, result.UseAssist), name: "garbage collection during the worst waits"},
		{use: result.UseStopped, share: share(result.UseStopped), name: "stopped during the worst waits"},
		{use: result.UseIdle, share: share(result.UseIdle, result.UseSearching), name: "idle or searching during the worst waits"},
		{use: result.UseSyscall, share: share(result.UseSyscall), name: "kept by system calls during the worst waits"},
	} {
		if c.share > best.share {
			best = c
		}
	}
	percent := textui.Percent(best.share)
	switch best.use {
	case result.UseUser:
		best.text = fmt.Sprintf("During the worst of them the procs were busy with goroutines for %s of their time%s.%s", percent, m.mostly(false), observer(r, &m))
	case result.UseGC:
		best.text = fmt.Sprintf("The worst of them coincide with garbage collection, which took %s of the procs' time meanwhile (%s), %s over the whole %s.",
			percent, assistsOf(&m.uses), textui.Percent(r.GC.Share), subject(r))
	case result.UseStopped:
		best.text = fmt.Sprintf("The worst of them coincide with a stopped world: the procs were stopped for %s of the time.", percent)
	case result.UseIdle:
		best.text = fmt.Sprintf("Procs were idle or looking for work for %s of the time of the worst of them: not lack of procs, but late or impossible wakeups (a locked thread, the system, more procs than cores?).", percent)
	case result.UseSyscall:
		best.text = fmt.Sprintf("During the worst of them the procs were kept by system calls for %s of their time%s.", percent, m.mostly(true))
	}
	return best, best.share > 0
}

// assistsOf says what part of garbage collection goroutines of the program did.
func assistsOf(u *result.Uses) string {
	if u[result.UseAssist] == 0 {
		return "none of it mark assists"
	}
	return fmt.Sprintf("%s of it mark assists", textui.Percent(ratio(u[result.UseAssist], u[result.UseAssist]+u[result.UseGC])))
}

// mostly names the function that ran, or was in system calls, the longest, if
// it is a good part.
func (m *meanwhile) mostly(syscalls bool) string {
	total := m.uses.Total()
	for _, a := range m.funcs {
		if (a.Use == syscallUse) != syscalls {
			continue
		}
		share := ratio(a.Total, total)
		if share < 0.2 {
			return ""
		}
		about := ""
		if m.approximate {
			about = "about "
		}
		return fmt.Sprintf(", most of all %s (%s%s)", plain(a.Function), about, textui.Percent(share))
	}
	return ""
}

// tracer tells the runtime's goroutines that exist to record the trace.
func tracer(fn string) bool {
	return strings.HasPrefix(fn, "runtime.(*trace") || strings.HasPrefix(fn, "runtime.trace") || strings.HasPrefix(fn, "runtime/trace.")
}

// observer says that the tracer itself was in the way, if it was notably. Where
// the whole process stood still it may have been there by chance.
func observer(r *result.Report, m *meanwhile) string {
	if slices.ContainsFunc(r.Pathologies, func(p result.Pathology) bool { return p.Name == "frozen-process" }) {
		return ""
	}
	var ran model.Duration
	for _, a := range m.funcs {
		if a.Use != syscallUse && tracer(a.Function) {
			ran += a.Total
		}
	}
	return traceCost(ratio(ran, m.uses.Total()))
}

// traceCost says what share the tracer's own goroutines had, if it was notable.
func traceCost(share float64) string {
	if share < 0.05 {
		return ""
	}
	return fmt.Sprintf(" The tracer's own goroutines took %s: without recording these waits would be shorter.", textui.Percent(share))
}
