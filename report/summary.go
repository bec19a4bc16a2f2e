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

// summary prints what comes before the details: a screen, of about 30 lines.
func (t *text) summary() {
	t.head()
	t.printf("\n")
	t.verdict()
	t.foundSummary()
	t.printf("\n")
	t.latencyLine()
	t.tracesLine()
	t.referenceLine()
	t.utilisation()
	t.pauses()
	t.idleLine()
	t.causesTable()
	t.worstLines()
}

// head says what was read.
func (t *text) head() {
	d, totals := t.doc, t.r.Totals
	if len(d.Traces) == 1 {
		tr := &d.Traces[0]
		t.printf("%s\n", t.bold(textui.Clean(tr.Name))+": "+describeTrace(tr))
	} else {
		t.printf("%s\n", t.bold(textui.Plural(len(d.Traces), "trace"))+", merged into one report: "+t.formats())
	}
	t.printf("%s, %s, %s (%s of the runtime), %s, %s\n",
		textui.Duration(totals.Span), gomaxprocs(totals), textui.Plural(totals.Goroutines, "goroutine"),
		textui.Count(totals.SystemGoroutines), textui.Plural(totals.Threads, "thread"), textui.Plural(totals.Events, "event"))
	t.completeness()
	t.captured()
}

// describeTrace says of what kind and size a trace is.
func describeTrace(tr *Trace) string {
	s := fmt.Sprintf("Go 1.%d trace format", tr.Version)
	if tr.Bytes >= 0 {
		s += ", " + textui.Bytes(tr.Bytes)
	}
	if tr.Compression != "" {
		s += " (" + tr.Compression + ")"
	}
	if tr.Generations > 0 {
		s += ", " + textui.Plural(tr.Generations, "generation")
	}
	if tr.Windowed {
		s += fmt.Sprintf(", from %s to %s", textui.Instant(tr.Start), textui.Instant(tr.Start+model.Time(tr.Span)))
	}
	return s
}

// formats names the formats of several traces.
func (t *text) formats() string {
	var versions []int
	for _, tr := range t.doc.Traces {
		versions = append(versions, tr.Version)
	}
	slices.Sort(versions)
	var names []string
	for _, v := range slices.Compact(versions) {
		names = append(names, fmt.Sprintf("Go 1.%d", v))
	}
	return strings.Join(names, ", ") + " trace format"
}

// gomaxprocs says how many procs there were, and how often that changed.
func gomaxprocs(totals *analyze.Totals) string {
	if len(totals.MaxProcs) == 0 {
		if totals.Procs == 0 {
			return "no proc seen"
		}
		return textui.Plural(totals.Procs, "proc") + " seen"
	}
	lo, hi := totals.MaxProcs[0].Procs, totals.MaxProcs[0].Procs
	for _, s := range totals.MaxProcs {
		lo, hi = min(lo, s.Procs), max(hi, s.Procs)
	}
	if lo == hi {
		return fmt.Sprintf("GOMAXPROCS %d", lo)
	}
	return fmt.Sprintf("GOMAXPROCS %d to %d", lo, hi)
}

// completeness says in one line whether all was read.
func (t *text) completeness() {
	var broken, contradicting int
	for i := range t.doc.Traces {
		tr := &t.doc.Traces[i]
		if tr.Loss != nil || tr.EndedEarly != "" {
			broken++
		}
		if tr.Inconsistent > 0 {
			contradicting++
		}
	}
	switch skipped := len(t.doc.Skipped); {
	case broken == 0 && contradicting == 0 && skipped == 0:
		return
	case broken == 1 && len(t.doc.Traces) == 1 && t.doc.Traces[0].EndedEarly != "" && skipped == 0:
		t.wrap("  ", "INCOMPLETE: %s", t.doc.Traces[0].early())
	case broken == 1 && len(t.doc.Traces) == 1 && t.doc.Traces[0].Loss != nil && skipped == 0:
		t.wrap("  ", "INCOMPLETE: %s", t.doc.Traces[0].Loss)
	case broken > 0 || skipped > 0:
		var parts []string
		if broken > 0 {
			parts = append(parts, textui.Count(broken)+" could be read in part")
		}
		if skipped > 0 {
			parts = append(parts, textui.Count(skipped)+" could not be read at all")
		}
		t.wrap("  ", "INCOMPLETE: of %s, %s; see the notes at the end",
			textui.Plural(len(t.doc.Traces)+skipped, "input"), strings.Join(parts, ", "))
	default:
		t.wrap("  ", "INCONSISTENT: the trace contradicts itself; see the notes at the end")
	}
}

// verdictLines is how many findings the summary shows.
const verdictLines = 2

// verdict says in words what waits and why.
func (t *text) verdict() {
	for i, f := range t.doc.Findings {
		if i == verdictLines {
			break
		}
		say := textui.Clean(f.Text)
		if f.Grade == result.Inferred {
			say += " (inferred)"
		}
		say = textui.Columns(say, t.width-2, "  ")
		if i == 0 {
			say = t.bold(say)
		}
		t.printf("- %s\n", say)
	}
}

// latencyLine shows scheduling latency as a whole.
func (t *text) latencyLine() {
	all := &t.r.Latency.All
	if all.Count() == 0 {
		t.labelled("latency", "no waits")
		return
	}
	s := fmt.Sprintf("%s of %s in all", textui.Plural(all.Count(), "wait"), textui.Duration(all.Total()))
	for i, q := range all.Quantiles(0.5, 0.9, 0.99) {
		s += [...]string{"; p50 ", ", p90 ", ", p99 "}[i] + textui.Duration(q)
	}
	at := textui.Instant(all.MaxAt())
	if waits := t.r.Worst.Waits(); len(waits) > 0 && waits[0].Duration() == all.Max() {
		at = textui.Instant(waits[0].End) + t.ofTrace(waits[0])
	}
	t.labelled("latency", "%s, max %s at %s", s, textui.Duration(all.Max()), at)
}

// referenceLine sets the latency beside that of the same work under other schedulers.
func (t *text) referenceLine() {
	var sum Reference
	n, whole := 0, true
	for i := range t.doc.Traces {
		r := t.doc.Traces[i].Reference
		if r == nil || r.Waits == 0 {
			continue
		}
		n++
		whole = whole && r.Whole
		sum.From = r.From
		sum.Length += r.Length
		sum.Measured += r.Measured
		sum.Rules += r.Rules
		sum.Low += r.Low
		sum.High += r.High
		sum.Poor = sum.Poor || r.Poor
		sum.Ideal += r.Ideal
	}
	if n == 0 {
		if t.doc.NoReference {
			t.labelled("reference", "not simulated, for the time that so many traces take; --reference does it")
		}
		return
	}
	part := ""
	switch {
	case n < len(t.doc.Traces):
		part = fmt.Sprintf("; of %s in %s of the traces", textui.Duration(sum.Length), textui.Count(n))
	case !whole && n == 1 && sum.From == 0:
		part = fmt.Sprintf("; of the first %s", textui.Duration(sum.Length))
	case !whole && n == 1:
		part = fmt.Sprintf("; of the %s from %s", textui.Duration(sum.Length), textui.Instant(sum.From))
	case !whole:
		part = fmt.Sprintf("; of %s in all", textui.Duration(sum.Length))
	}
	if sum.Poor {
		part += "; these rules do not reproduce the trace: what is measured beyond them need not be lost"
	}
	t.labelled("reference", "the same work under an ideal scheduler (first come, first served) waits %s, under Go's rules %s (%s..%s), measured %s (inferred%s)",
		textui.Duration(sum.Ideal), textui.Duration(sum.Rules), textui.Duration(sum.Low), textui.Duration(sum.High), textui.Duration(sum.Measured), part)
}

// originsByTotal returns the origins that have waits, greatest total first.
func (t *text) originsByTotal() []model.Origin {
	l := t.r.Latency
	var out []model.Origin
	for o := range model.NumOrigins {
		if l.ByOrigin[o].Count() > 0 {
			out = append(out, o)
		}
	}
	slices.SortStableFunc(out, func(a, b model.Origin) int {
		return cmp.Compare(l.ByOrigin[b].Total(), l.ByOrigin[a].Total())
	})
	return out
}

// sparkWidth is the number of columns of the curve of utilisation.
const sparkWidth = 40

// utilisation says what the procs did, and draws how it went over time.
func (t *text) utilisation() {
	idle := t.r.Idle
	uses := totalUses(t.r.Timeline)
	var parts []string
	for _, u := range shownUses {
		if share := uses.Share(u); share >= 0.005 {
			parts = append(parts, u.Label()+" "+textui.Percent(share))
		}
	}
	t.printf("%-10s %s busy |%s|\n", "procs", textui.Percent(idle.Utilisation()), t.curve())
	if len(parts) > 0 {
		t.labelled("", "%s", strings.Join(parts, ", "))
	}
}

// labelled prints a line of the summary that begins with a label.
func (t *text) labelled(label, format string, args ...any) {
	const indent = "           "
	t.printf("%-10s %s\n", label, textui.Columns(fmt.Sprintf(format, args...), t.width-len(indent), indent))
}

// shownUses are the uses of procs in the order of the line.
var shownUses = []result.Use{result.UseUser, result.UseGC, result.UseAssist, result.UseRuntime, result.UseSyscall,
	result.UseSearching, result.UseStopped, result.UseIdle, result.UseUnknown}

// totalUses sums up what the procs did.
func totalUses(t *analyze.Timeline) result.Uses { return t.Uses(0, len(t.Bins())) }

// curve draws the share of busy procs over time.
func (t *text) curve() string {
	bins := len(t.r.Timeline.Bins())
	values := make([]float64, min(sparkWidth, bins))
	for c := range values {
		uses := t.r.Timeline.Uses(c*bins/len(values), (c+1)*bins/len(values))
		values[c] = uses.Share(result.UseUser, result.UseGC, result.UseAssist, result.UseRuntime, result.UseSyscall)
	}
	return textui.Spark(values, 1)
}

// pauses says what the garbage collector and stop-the-world phases took.
func (t *text) pauses() {
	gc, stw := t.r.GC, t.r.STWs
	s := fmt.Sprintf("%s of the procs' time", textui.Percent(gc.Share()))
	if n := gc.Marks.Count() + gc.CensoredMarks.Count; n > 0 {
		s += fmt.Sprintf(" in %s", textui.Plural(n, "mark phase"))
		if gc.Assists.Count > 0 {
			s += fmt.Sprintf(", %s of %s with waiting", textui.Plural(gc.Assists.Count, "mark assist"), textui.Duration(gc.Assists.Total))
		}
	}
	t.labelled("GC", "%s", s)
	if stw.Count == 0 {
		t.labelled("STW", "none")
		return
	}
	s = textui.Plural(stw.Effective.Count(), "time")
	if stw.Effective.Count() > 0 {
		s += fmt.Sprintf(", %s in all, the longest %s from %s", textui.Duration(stw.Effective.Total()),
			textui.Duration(stw.Effective.Max()), textui.Instant(stw.Effective.MaxAt()))
	}
	if stw.Censored.Count > 0 {
		s += fmt.Sprintf("; %s more seen in part", textui.Count(stw.Censored.Count))
	}
	t.labelled("STW", "%s", s)
}

// fewEpisodes are too few for a percentile.
const fewEpisodes = 20

// idleLine says whether procs idled although there was work.
func (t *text) idleLine() {
	x := t.r.Idle
	whose := ""
	if l := t.r.Latency; x.MaxRunnable > 0 && l.All.Count()+l.Censored.AtStart.Count+l.Censored.AtEnd.Count == 0 {
		whose = " (only the runtime's own)"
	}
	t.labelled("run queue", "%.2f goroutines runnable%s on average, at most %s at %s", x.MeanRunnable(), whose, textui.Count(x.MaxRunnable), textui.Instant(x.MaxRunnableAt))
	if x.Episodes.Count() == 0 {
		t.labelled("idle procs", "none while a goroutine was runnable")
		return
	}
	spread := textui.Plural(x.Episodes.Count(), "episode")
	if x.Episodes.Count() >= fewEpisodes {
		spread = "p99 " + textui.Duration(x.Episodes.Quantile(0.99))
	}
	t.labelled("idle procs", "%s of the time while a goroutine was runnable%s; %s, the longest %s from %s",
		textui.Ratio(x.Episodes.Total(), x.Span), whose, spread,
		textui.Duration(x.Episodes.Max()), textui.Instant(x.Episodes.MaxAt()))
}

// worstShown is how many of the worst waits the summary names.
const worstShown = 3

// worstLines names the longest waits, a line each.
func (t *text) worstLines() {
	waits := t.r.Worst.Waits()
	for i, w := range waits[:min(worstShown, len(waits))] {
		label := ""
		if i == 0 {
			label = "worst"
			t.printf("\n")
		}
		who := fmt.Sprintf("G%d", w.G)
		if w.Func != analyze.NoName {
			who += " " + shortName(w.Func, 40)
		}
		if t.r.Totals.Traces > 1 {
			who += " (" + t.traceName(w.Trace) + ")"
		}
		line := fmt.Sprintf("%-10s %s at %s: %s", label, textui.Duration(w.Duration()), textui.Instant(w.End), who)
		origin := ", " + result.OriginName(w.Origin)
		did := mainCause(w)
		switch {
		case did == nil:
			did = mainly(w)
		case textui.Width(line+origin+"; "+did[0]) > t.tableWidth:
			did = []string{greatestCell(w)}
		}
		more := []string{origin}
		for n, did := range did {
			more = append(more, [...]string{"; ", ", "}[n]+did)
		}
		t.printf("%s\n", textui.Shorten(upTo(t.tableWidth, line, more), t.tableWidth))
	}
}

// upTo returns s with as many of more, from the first on, as fit into limit
// columns.
func upTo(limit int, s string, more []string) string {
	for _, m := range more {
		if textui.Width(s+m) > limit {
			break
		}
		s += m
	}
	return s
}

// mainly says in a few words what the procs did during a wait: that they did
// nothing, if that was most of it, and which function ran, or was in system
// calls, the longest, unless that was short beside the wait.
func mainly(w *analyze.Wait) []string {
	var parts []string
	for _, u := range []result.Use{result.UseIdle, result.UseSearching, result.UseStopped} {
		if share := w.Uses.Share(u); share >= 0.5 {
			parts = append(parts, fmt.Sprintf("procs %s %s", u.Label(), textui.Percent(share)))
			break
		}
	}
	if len(w.AntagonistFuncs) == 0 {
		return parts
	}
	if a := &w.AntagonistFuncs[0]; len(parts) == 0 || 2*a.Total >= w.Duration() {
		parts = append(parts, activity(w, a))
	}
	return parts
}

// activity says what goroutines of a function did during a wait.
func activity(w *analyze.Wait, a *analyze.AntagonistFunc) string {
	verb, about, what := "ran", "", ""
	switch a.Use {
	case result.UseSyscall:
		verb = a.Use.Label()
	case result.UseAssist:
		what = ", mostly GC assist"
	}
	if !w.Exact() {
		about = "about "
	}
	return fmt.Sprintf("%s %s %s%s%s", shortName(a.Func, 40), verb, about, textui.Duration(a.Total), what)
}

// shortName returns a function's name without the path of its package, as
// stacks of the runtime have it, of at most limit columns.
func shortName(fn string, limit int) string {
	return textui.Shorten(textui.Clean(textui.ShortFunc(fn)), limit)
}
