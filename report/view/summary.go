package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/analyze/findings"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/report/document"
)

// How much the summary shows.
const (
	groupsShown = 5    // of requests
	foundLines  = 3    // pathologies
	causeLines  = 8    // causes, of at least causeShare each
	causeShare  = 0.01 //
	worstShown  = 3    // waits
	sparkWidth  = 40   // columns of the curve of utilisation
	fewEpisodes = 20   // that are too few for a percentile
)

// screenLines is how long the first screen is at most.
const screenLines = 30

// screen prints what is seen first: what of the traces is missing, the verdict, where requests
// spend their time, at most three items, of which the last ones give way if the lines do not suffice,
// what is ruled out, and where to go on. It returns the items that it left out, nil if none.
func screen(t *document.TextWriter, r *result.Report) *document.Section {
	verdictLine(t, r)
	groupsTable(t, r, groupsShown)
	var cards document.Cards
	if section := diagnoses(r); section != nil {
		cards = section.Blocks[0].(document.Cards)
	}
	for n, whole, also := len(cards), true, true; ; {
		middle, end := t.Like(), t.Like()
		var left *document.Section
		if n > 0 {
			middle.Printf("\n")
			middle.Sections(&document.Section{Blocks: []document.Block{shortened(cards[:n], whole)}})
		}
		if n < len(cards) {
			left = document.New("diagnoses", "More items")
			left.Add(cards[n:])
		}
		end.Printf("\n")
		end.Facts(screenFacts(r, left != nil, also))
		if n < 1 || n == 1 && !whole || t.Lines()+middle.Lines()+end.Lines() <= screenLines {
			t.Append(middle)
			t.Append(end)
			return left
		}
		switch {
		case also:
			also = false
		case whole:
			whole = false
		default:
			n--
		}
	}
}

// verdictLine prints what is missing, the verdict, and what was read.
func verdictLine(t *document.TextWriter, r *result.Report) {
	if s := Completeness(r); s != "" {
		t.Wrap("", "  ", s)
	}
	v := &r.Verdict
	var facts []string
	switch len(r.Traces) {
	case 0:
	case 1:
		x := &r.Traces[0]
		facts = append(facts, textui.Shorten(textui.Clean(x.Name[strings.LastIndexAny(x.Name, `/\\`)+1:]), 40))
		if x.Windowed || x.Start > 0 {
			facts = append(facts, fmt.Sprintf("%s to %s", textui.Instant(x.Start), textui.Instant(x.Start+model.Time(x.Span))))
		}
		facts = append(facts, goVersion(x))
	default:
		facts = append(facts, plural(len(r.Traces), "trace"), Formats(r))
	}
	facts = append(facts, textui.Duration(r.Totals.Span), fmt.Sprintf("%s, %s busy", GOMAXPROCS(&r.Totals), textui.Percent(r.Procs.Utilisation)))
	about := strings.Join(facts, ", ")
	word := textui.Either(v.Word == findings.Healthy, t.Good(v.Word), t.Bold(v.Word))
	if v.Word == "" {
		t.Printf("%s\n", about)
	} else if s := v.Word + "  " + textui.Clean(v.Text); textui.Width(s)+3+textui.Width(about) <= t.Width {
		t.Printf("%s  %s%s%s\n", word, textui.Clean(v.Text), strings.Repeat(" ", t.Width-textui.Width(s)-textui.Width(about)), about)
	} else {
		indent := strings.Repeat(" ", len(v.Word)+2)
		t.Printf("%s  %s\n%s%s\n", word, textui.Columns(textui.Clean(v.Text), t.Width-len(indent), indent), indent, about)
	}
	for _, o := range v.Objectives {
		t.Wrap("", "  ", objectiveText(&o))
	}
	if v.Machine != "" {
		t.Wrap("", "  ", "disturbed: "+v.Machine)
	}
	if list := alone(r); list != "" {
		t.Wrap("", "  ", "each alone: "+textui.Clean(list))
	}
	if len(r.Traces) == 1 && r.Traces[0].Captured != nil {
		c := r.Traces[0].Captured
		t.Wrap("", "  ", "captured: "+c.String())
		if c.Request != nil {
			t.Wrap("", "  ", "the request: "+c.Request.String())
		}
	}
}

// objectiveText describes an objective and whether it is met.
func objectiveText(o *result.Objective) string {
	s := textui.If(o.Group != "", o.Group+": ") + fmt.Sprintf("objective p%g < %s", 100*o.Quantile, textui.Duration(o.Limit))
	value := textui.Duration(o.Value)
	switch {
	case o.State == "unknown" && o.Open > 0:
		return fmt.Sprintf("%s: cannot be judged, %s without %s that did not end for up to %s", s, value, textui.Count(o.Open), textui.Duration(o.Most))
	case o.State == "unknown" && o.Most > 0:
		return fmt.Sprintf("%s: cannot be judged, %s to %s, as requests of which the handler is not seen may be among them", s, value, textui.Duration(o.Most))
	case o.State == "unknown" && o.Group != "":
		return s + ": cannot be judged, no or too few requests of that name"
	case o.State == "unknown":
		return s + ": cannot be judged, too few requests"
	case o.Most > 0 && o.State == "met":
		value = "at most " + textui.Duration(o.Most)
	case o.Most > 0:
		value = "at least " + value
	}
	return fmt.Sprintf("%s: %s, %s", s, o.State, value)
}

// Groups shows the groups of requests with the most time, at most so many, if there are several.
func Groups(t *document.TextWriter, r *result.Report, most int) {
	if len(requestGroups(r)) > 1 {
		groupsTable(t, r, most)
	}
}

// requestGroups lists groups that have requests, under their labels, those with the most time first.
func requestGroups(r *result.Report) (rows []result.RequestGroup) {
	for i := range r.Requests {
		for _, x := range r.Requests[i].Sets() {
			if x.Name = result.GroupName(r.Requests[i].Kind, x.Name); x.Count > 0 {
				rows = append(rows, x)
			}
		}
	}
	slices.SortStableFunc(rows, func(a, b result.RequestGroup) int { return cmp.Compare(b.Total, a.Total) })
	return rows
}

// groupsTable shows the groups of requests with the most time, at most so many; of a program
// without requests whose goroutines waited to run.
func groupsTable(t *document.TextWriter, r *result.Report, most int) {
	s := RequestGroups(r, most)
	if s == nil {
		s = waiters(r)
	}
	if s == nil {
		return
	}
	narrow := t.Like()
	narrow.TableWidth = t.Width
	narrow.Table(s.Tables()[0])
	t.Printf("\n")
	t.Append(narrow)
}

// mostOfTail names the part that takes the most of the slowest, where they are slow, or else of all.
func mostOfTail(t *result.RequestTail) string {
	var most *result.RequestRow
	size := func(x *result.RequestRow) float64 { return float64(x.Middle) }
	if t.Middle.Count == 0 || float64(t.Total)/float64(t.Count) >= 1.5*float64(t.Middle.Total)/float64(t.Middle.Count) {
		size = func(x *result.RequestRow) float64 { return t.Gain(x) }
	}
	for i := range t.Groups {
		if x := &t.Groups[i]; most == nil || size(x) > size(most) {
			most = x
		}
	}
	if most == nil {
		return ""
	}
	return strings.TrimSpace(most.Label() + " " + textui.Place(most.Function, most.File, most.Line))
}

// waiters lists whose goroutines waited to run.
func waiters(r *result.Report) *document.Section {
	s := document.New("waiters", "")
	t := s.Table("t-waiters", document.Function("goroutines that waited to run").AtMost(48), document.Count("n"), document.Number("per s", 0), document.Duration("typical"), document.Duration("slowest 1%"), document.Duration("longest"))
	t.Fixed = true
	list := r.Latency.ByFunction
	shown := list[:min(len(list), groupsShown-1)]
	for _, x := range shown {
		t.Row(x.Name, x.Count, perSecond(r, x.Count), known(&x.Dist, x.P50), known(&x.Dist, x.P99), x.Max)
	}
	n, longest := int64(0), model.Duration(0)
	for _, x := range list[len(shown):] {
		n, longest = n+x.Count, max(longest, x.Max)
	}
	if n > 0 {
		t.Row(fmt.Sprintf("others (%s)", textui.Plural(len(list)-len(shown), "function")), n, perSecond(r, n), nil, nil, longest)
	}
	return s.OrNil()
}

// shortened returns cards, unless whole with less of those after the first: its title, the
// first function, and what to do. All lack why, of which a title without a number gets the first sentence.
func shortened(cards document.Cards, whole bool) document.Cards {
	out := slices.Clone(cards)
	for i := 0; i < len(out) && !whole; i++ {
		c := &out[i]
		if n := slices.IndexFunc(c.Facets, func(f document.Facet) bool { return f.Label == "why" }); n >= 0 && c.Summary == "" {
			said, _, _ := strings.Cut(c.Facets[n].Text, ". ")
			c.Summary = ": " + strings.TrimSuffix(said, ".")
		}
		if i == 0 {
			c.Facets = slices.DeleteFunc(slices.Clone(c.Facets), func(f document.Facet) bool { return f.Label == "why" })
			continue
		}
		c.Text = nil
		first := true
		c.Facets = slices.DeleteFunc(slices.Clone(c.Facets), func(f document.Facet) bool {
			keep := f.Label == "fix" || f.Label == "" && first
			first = first && f.Label != ""
			return !keep
		})
	}
	return out
}

// screenFacts are the last lines of the first screen; left: there are more items, also: there is
// room for what else was found.
func screenFacts(r *result.Report, left, also bool) document.Facts {
	var facts document.Facts
	v := &r.Verdict
	if text := checked(v); text != "" {
		facts = append(facts, document.Pair{Name: "ruled out", Value: text, Good: true})
	}
	names := result.Each(r.Pathologies, func(p *result.Pathology) string { return PathologyLabel(p.Name) })
	for _, kind := range findings.Also(r) {
		names = append(names, PathologyLabel(kind))
	}
	if len(names) > foundLines {
		names = append(names[:foundLines], fmt.Sprintf("%d more", len(names)-foundLines))
	}
	facts.Add("also", textui.If(also, strings.Join(names, ", ")))
	next := textui.Either(left, "--details for the other items and all numbers", "--details for all numbers")
	if len(r.Traces) == 1 {
		name := argument(&r.Traces[0])
		if strings.Contains(name, "'") { // lines may end in it
			name = "FILE"
		}
		next += fmt.Sprintf(", schedscope view %s for a timeline", name)
	}
	next += textui.If(r.MainRequests() != nil, ", schedscope requests for the slowest")
	if i := slices.IndexFunc(r.Findings, func(f result.Finding) bool { return f.Title != "" }); i >= 0 && findings.Unseen(r) {
		next += ", trace.WithRegion to name all by route (help requests)"
	} else if i >= 0 {
		next += ", schedscope explain " + r.Findings[i].Kind
	}
	facts.Add("next", next)
	return facts
}

// summary prints the numbers that come first in the details.
func summary(t *document.TextWriter, r *result.Report) {
	t.Printf("\n")
	head(t, r)
	t.Printf("%-10s %s busy |%s|\n", "procs", textui.Percent(r.Procs.Utilisation), curve(r))
	for _, f := range findings.Lead(r.Findings) {
		t.Wrap("", "", f.Text)
	}
	t.Printf("\n")
	facts := document.Facts{{Name: "latency", Value: latencyLine(r)}}
	facts.Add("traces", tracesLine(r))
	facts.Add("procs", strings.Join(useShares(&r.Procs.Uses), ", "))
	facts.Add("GC", gcLine(r))
	facts.Add("STW", stwLine(r))
	x, l := &r.Procs, &r.Latency
	whose := textui.If(x.MaxRunnable > 0 && l.All.Count+l.Censored.AtStart.Count+l.Censored.AtEnd.Count == 0, " (only the runtime's own)")
	facts.Add("run queue", fmt.Sprintf("%.2f goroutines runnable%s on average, at most %s%s", x.MeanRunnable, whose, textui.Count(x.MaxRunnable), peakAt(r)))
	facts.Add("idle procs", IdleLine(r, whose))
	t.Facts(facts)
	causesSummary(t, r)
	worstLines(t, r)
}

// peakAt is when most goroutines were runnable, of several traces with the name of the one.
func peakAt(r *result.Report) string {
	switch x := &r.Procs; {
	case !several(r):
		return " at " + textui.Instant(x.MaxRunnableAt)
	case x.Peak.Runnable == x.MaxRunnable && x.MaxRunnable > 0:
		return " at " + textui.Instant(x.Peak.At) + ofTrace(r, x.Peak.Trace)
	}
	return ""
}

// fromAt is when the longest of d began. Which of several traces that is of is not known.
func fromAt(r *result.Report, d *result.Dist) string {
	return textui.If(!several(r), " from "+textui.Instant(d.MaxAt))
}

// head says what was read.
func head(t *document.TextWriter, r *result.Report) {
	if several(r) {
		t.Printf("%s, merged into one report: %s\n", t.Bold(plural(len(r.Traces), "trace")), Formats(r))
	} else if len(r.Traces) == 1 {
		t.Printf("%s: %s\n", t.Bold(textui.Clean(r.Traces[0].Name)), Describe(&r.Traces[0]))
	}
	x := &r.Totals
	t.Printf("%s, %s, %s (%s of the runtime), %s, %s\n", textui.Duration(x.Span), GOMAXPROCS(x), plural(x.Goroutines, "goroutine"),
		textui.Count(x.SystemGoroutines), plural(x.Threads, "thread"), plural(x.Events, "event"))
}

// latencyLine shows scheduling latency as a whole.
func latencyLine(r *result.Report) string {
	all := &r.Latency.All
	if all.Count == 0 {
		return "no waits"
	}
	s := fmt.Sprintf("%s of %s in all", plural(all.Count, "wait"), textui.Duration(all.Total)) +
		textui.Either(all.Unknown, "; percentiles not known", fmt.Sprintf("; p50 %s, p90 %s, p99 %s", textui.Duration(all.P50), textui.Duration(all.P90), textui.Duration(all.P99)))
	at := textui.Instant(all.MaxAt)
	if len(r.WorstWaits) > 0 && r.WorstWaits[0].Duration == all.Max {
		at = textui.Instant(r.WorstWaits[0].End) + ofTrace(r, r.WorstWaits[0].Trace)
	}
	return s + fmt.Sprintf(", max %s at %s", textui.Duration(all.Max), at)
}

// ofTrace says of what trace something is, "" if there is one only.
func ofTrace(r *result.Report, trace int) string {
	return textui.If(several(r), " ("+traceName(r, trace)+")")
}

// tracesLine says how much several traces differ.
func tracesLine(r *result.Report) string {
	x := result.Find(r.Spread, func(s *result.Spread) bool { return s.Name == "p99_ns" })
	if !several(r) || x == nil {
		return ""
	}
	text := func(v float64) string { c := figure(x.Unit, v); return c.String() }
	s := fmt.Sprintf("p99 from %s (%s) to %s (%s), median %s", text(x.Min), traceName(r, x.MinTrace), text(x.Max), traceName(r, x.MaxTrace), text(x.Median))
	if len(r.WorstWaits) > 0 {
		s += "; the longest wait is in " + traceName(r, r.WorstWaits[0].Trace)
	}
	return textui.Join("; ", s, mixed(r))
}

// curve draws the share of busy procs over time.
func curve(r *result.Report) string {
	bins := len(r.Series.Covered)
	values := make([]float64, min(sparkWidth, bins))
	for c := range values {
		var uses result.Uses
		for u := range uses {
			for i := c * bins / len(values); i < min((c+1)*bins/len(values), len(r.Series.Uses[u])); i++ {
				uses[u] += model.Duration(r.Series.Uses[u][i])
			}
		}
		values[c] = uses.Share(result.UseUser, result.UseGC, result.UseAssist, result.UseRuntime, result.UseSyscall)
	}
	return textui.Spark(values, 1)
}

// gcLine says what the garbage collector took.
func gcLine(r *result.Report) string {
	gc := &r.GC
	s := textui.Percent(gc.Share) + " of the procs' time"
	if n := gc.Marks.Count + gc.CensoredMarks.Count; n > 0 {
		s += " in " + plural(n, "mark phase")
		s += textui.If(gc.Assists.Count > 0, fmt.Sprintf(", %s of %s with waiting", plural(gc.Assists.Count, "mark assist"), textui.Duration(gc.Assists.Total)))
	}
	return s
}

// stwLine says what stop-the-world phases took.
func stwLine(r *result.Report) string {
	stw := &r.STW
	if stw.Count == 0 {
		return "none"
	}
	return plural(stw.Effective.Count, "time") + textui.If(stw.Effective.Count > 0, fmt.Sprintf(", %s in all, the longest %s%s", textui.Duration(stw.Effective.Total), textui.Duration(stw.Effective.Max), fromAt(r, &stw.Effective))) +
		textui.If(stw.Censored.Count > 0, fmt.Sprintf("; %s more truncated", textui.Count(stw.Censored.Count)))
}

// IdleLine describes the time in which procs idled although there was work. Whose names the
// owner of the work, if it is not the program.
func IdleLine(r *result.Report, whose string) string {
	e := &r.Procs.IdleRunnable.Episodes
	if e.Count == 0 {
		return "none while a goroutine was runnable"
	}
	spread := textui.Either(e.Count >= fewEpisodes && !e.Unknown, "p99 "+textui.Duration(e.P99), plural(e.Count, "episode"))
	return fmt.Sprintf("%s of the time while a goroutine was runnable%s; %s, the longest %s%s", textui.Ratio(e.Total, r.Totals.Span), whose, spread,
		textui.Duration(e.Max), fromAt(r, e))
}

// causesSummary says to what the waiting was lost, in as many rows as the summary has room
// for.
func causesSummary(t *document.TextWriter, r *result.Report) {
	c := &r.Causes
	if c.Total == 0 {
		return
	}
	t.Printf("\n")
	table := causesTable(r, "where the waiting went (inferred)", causesShown(c))
	table.Fixed = true
	t.Table(table)
}

// causesShown returns how many causes the summary shows. One alone is not left out.
func causesShown(c *result.Causes) int {
	n := 0
	for n < min(len(c.Rows), causeLines) && c.Rows[n].Share >= causeShare {
		n++
	}
	if n == 0 || n == len(c.Rows)-1 {
		n = min(n+1, len(c.Rows))
	}
	return n
}

// worstLines names the longest waits, a line for each incident.
func worstLines(t *document.TextWriter, r *result.Report) {
	incidents := r.Incidents()
	for i, incident := range incidents[:min(worstShown, len(incidents))] {
		w := &r.WorstWaits[incident[0]]
		label := ""
		if i == 0 {
			label = "worst"
			t.Printf("\n")
		}
		line := fmt.Sprintf("%-10s %s%s", label, incidentText(r, incident), ofTrace(r, w.Trace))
		origin := textui.If(len(incident) == 1, ", "+OriginLabel(w.Origin))
		did := mainCause(w)
		if did != nil && textui.Width(line+origin+"; "+did[0]) > t.TableWidth {
			did = []string{greatestCell(w)}
		}
		for k, more := range append([]string{origin}, did...) {
			more = [...]string{"", "; ", ", "}[k] + more
			if textui.Width(line+more) > t.TableWidth {
				break
			}
			line += more
		}
		t.Printf("%s\n", textui.Shorten(line, t.TableWidth))
	}
}

// incidentText says who waited, how long and until when: of several waits which was the
// longest.
func incidentText(r *result.Report, incident []int) string {
	w := &r.WorstWaits[incident[0]]
	who := fmt.Sprintf("G%d", w.Goroutine) + textui.If(w.Function != noName, " "+shortName(w.Function, 40))
	when := textui.Duration(w.Duration) + " at " + textui.Instant(w.End)
	differs := func(i int) bool { return r.WorstWaits[i].Function != w.Function }
	switch {
	case len(incident) == 1:
		return when + ": " + who
	case w.Function == noName || slices.ContainsFunc(incident, differs):
		return fmt.Sprintf("%d waits, the longest %s: G%d", len(incident), when, w.Goroutine)
	}
	return fmt.Sprintf("%d waits of %s, the longest %s", len(incident), shortName(w.Function, 28), when)
}

// mainCause says in a few words what a wait was lost to most of all, and behind whom it
// stood the longest; nil if that is not known.
func mainCause(w *result.Wait) []string {
	if len(w.Causes) == 0 {
		return nil
	}
	if cause := result.Parse(w.Causes[0].Cause, result.NumCauses); !cause.Behind() || len(w.Blockers) == 0 {
		return []string{greatestCell(w)}
	}
	var parts []string
	for i := range w.Blockers[:min(2, len(w.Blockers))] {
		who, length := blocker(&w.Blockers[i])
		parts = append(parts, who+" "+length)
	}
	parts[0] = "behind " + parts[0]
	return parts
}

// greatestCell names the cause that a wait was lost to most of all.
func greatestCell(w *result.Wait) string {
	return textui.Ratio(w.Causes[0].Total, w.Duration) + " " + w.Causes[0].Cause
}
