package view

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/analyze/findings"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/report/document"
)

// Outliers are looked for among at least so many traces; fewer speak for themselves.
const outlierTraces = 8

// outlierRange is how many times the distance of the quartiles an outlier is beyond them.
const outlierRange = 3

// fewForP99 are too few waits for a p99 that says more than the maximum.
const fewForP99 = 100

// Describe returns the format and size of a trace.
func Describe(t *result.Trace) string {
	return goVersion(t) + " trace format" + textui.If(t.Bytes >= 0, ", "+textui.Bytes(t.Bytes)) + textui.If(t.Compression != "", " ("+t.Compression+")") +
		textui.If(t.Generations > 0, ", "+plural(t.Generations, "generation")) +
		textui.If(t.Windowed || t.Start > 0, fmt.Sprintf(", from %s to %s", textui.Instant(t.Start), textui.Instant(t.Start+model.Time(t.Span))))
}

// Formats returns the formats of several traces.
func Formats(r *result.Report) string {
	names := result.Each(r.Traces, goVersion)
	slices.Sort(names) // older ones have two digits, too
	return strings.Join(slices.Compact(names), ", ") + " trace format"
}

// GOMAXPROCS returns the number of procs, as a range if it changed.
func GOMAXPROCS(t *result.Totals) string {
	if len(t.GOMAXPROCS) == 0 {
		if t.Procs == 0 {
			return "no proc seen"
		}
		return plural(t.Procs, "proc") + " seen"
	}
	lo, hi := t.GOMAXPROCS[0].Procs, t.GOMAXPROCS[0].Procs
	for _, s := range t.GOMAXPROCS {
		lo, hi = min(lo, s.Procs), max(hi, s.Procs)
	}
	return textui.Either(lo == hi, fmt.Sprintf("GOMAXPROCS %d", lo), fmt.Sprintf("GOMAXPROCS %d to %d", lo, hi))
}

// Missing returns in one line what a trace lacks, "" if it is complete.
func Missing(t *result.Trace) string {
	switch {
	case t.EndedEarly != "":
		return t.Early()
	case t.Loss != nil:
		return t.Loss.String()
	}
	return ""
}

// Completeness returns in one line what was not read, "" if everything was.
func Completeness(r *result.Report) string {
	var broken, contradicting int
	missing := ""
	for i := range r.Traces {
		if m := Missing(&r.Traces[i]); m != "" {
			missing = m
			broken++
		}
		if r.Traces[i].Inconsistent > 0 {
			contradicting++
		}
	}
	skipped := len(r.Skipped)
	switch {
	case broken == 1 && len(r.Traces) == 1 && skipped == 0:
		return "INCOMPLETE: " + missing
	case broken > 0 || skipped > 0:
		return fmt.Sprintf("INCOMPLETE: of %s, %s; see the notes at the end", plural(len(r.Traces)+skipped, "input"), textui.Join(", ",
			textui.If(broken > 0, textui.Count(broken)+" could be read in part"), textui.If(skipped > 0, textui.Count(skipped)+" could not be read at all")))
	case contradicting > 0:
		return "INCONSISTENT: the trace contradicts itself; see the notes at the end"
	}
	return ""
}

// mixed says what numbers of several traces mix, "" if nothing.
func mixed(r *result.Report) string {
	versions := slices.ContainsFunc(r.Traces, func(t result.Trace) bool { return t.Format != r.Traces[0].Format })
	// The mean is not exact: a trace may begin before its first proc.
	procs := slices.ContainsFunc(r.PerTrace, func(f result.TraceFigures) bool {
		return f.Procs > r.PerTrace[0].Procs*1.05 || r.PerTrace[0].Procs > f.Procs*1.05
	})
	what := textui.Join(" and ", textui.If(versions, "Go versions"), textui.If(procs, "numbers of procs"))
	return textui.If(what != "", "different "+what+" are mixed")
}

// figure makes a cell of a figure of a trace.
func figure(unit string, v float64) document.Cell {
	switch unit {
	case "ns":
		return document.As(document.KindDuration, int64(v))
	case "share":
		return document.As(document.KindShare, v)
	case "count":
		return document.As(document.KindCount, int64(v))
	}
	return document.Shown(fmt.Sprintf("%.2f", v), v)
}

// spreadLabels are the rows of the table of the spread.
var spreadLabels = []struct{ name, label string }{
	{"p50_ns", "p50"}, {"p99_ns", "p99"}, {"p99_9_ns", "p99.9"}, {"max_ns", "longest wait"},
	{"waiting", "goroutines waiting"}, {"waits", "waits"}, {"utilisation", "procs busy"}, {"procs", "procs"}, {"span_ns", "length"},
}

// traces sets several traces side by side: how much they differ, and their numbers, to
// which the rest refers.
func traces(r *result.Report) *document.Section {
	if !several(r) {
		return nil
	}
	s := document.New("traces", "Traces")
	if mix := mixed(r); mix != "" {
		s.Text("N.B. %s in the numbers of all.", mix)
	}
	spread := s.Table("t-spread", document.Word("of each trace"), document.Figure("min"), document.Figure("quarter"), document.Figure("median"),
		document.Figure("3 quarters"), document.Figure("max"), document.Name("least in"), document.Name("most in"))
	spread.Caption, spread.Fixed = "How much the traces differ", true
	for _, x := range spreadLabels {
		if v := result.Find(r.Spread, func(s *result.Spread) bool { return s.Name == x.name }); v != nil {
			spread.Row(x.label, figure(v.Unit, v.Min), figure(v.Unit, v.Q1), figure(v.Unit, v.Median), figure(v.Unit, v.Q3), figure(v.Unit, v.Max),
				traceName(r, v.MinTrace), traceName(r, v.MaxTrace))
		}
	}
	// The longest p99 first.
	sorted := slices.Clone(r.PerTrace)
	slices.SortStableFunc(sorted, func(a, b result.TraceFigures) int {
		return cmp.Or(cmp.Compare(b.P99, a.P99), cmp.Compare(b.Max, a.Max))
	})
	list := s.Table("t-traces", document.Count(""), document.Name("name"), document.Duration("length"), document.Count("waits"), document.Duration("total").Extra(),
		document.Duration("p50").Extra(), document.Duration("p99"), document.Duration("p99.9").Extra(), document.Duration("max"), document.Instant("max at").Extra(),
		document.Share("busy").Doc("procs"), document.Number("procs", 1).Extra(), document.Words("mostly").Doc("what most of the waiting was lost to"), document.Word(""))
	list.Caption = "Traces"
	for _, f := range sorted {
		if f.Trace >= len(r.Traces) {
			continue
		}
		waits := textui.Either[any](f.Waits < fewForP99, document.Shown(textui.Count(f.Waits)+" (few)", float64(f.Waits)), f.Waits)
		of := func(d model.Duration) any { return document.If(f.Waits > 0, d) }
		list.Row(f.Trace+1, r.Traces[f.Trace].Name, f.Span, waits, f.Total, of(f.P50), of(f.P99), of(f.P999), of(f.Max), f.MaxAt,
			f.Utilisation, f.Procs, cmp.Or(f.MainCause, "-"), goVersion(&r.Traces[f.Trace]))
	}
	if far := outliers(r); far != "" {
		s.Text("Far beyond the others in p99: %s.", far)
	}
	if n := len(r.Skipped); n > 0 {
		s.Text("Not read: %s; the notes at the end say why.", plural(n, "input"))
	}
	return s
}

// outliers names the traces with enough waits whose p99 is beyond the upper quartile by
// three times the distance of the quartiles, and twice the median, the farthest first.
func outliers(r *result.Report) string {
	const most = 10 // that are named
	list := slices.DeleteFunc(slices.Clone(r.PerTrace), func(f result.TraceFigures) bool { return f.Waits < fewForP99 })
	if len(list) < outlierTraces {
		return ""
	}
	slices.SortStableFunc(list, func(a, b result.TraceFigures) int { return cmp.Compare(b.P99, a.P99) })
	at := func(q float64) model.Duration { return list[len(list)-1-result.NearestRank(q, len(list))].P99 }
	limit := max(at(0.75)+outlierRange*(at(0.75)-at(0.25)), 2*at(0.5))
	var names []string
	for i := range list {
		if list[i].P99 <= limit {
			break
		}
		names = append(names, fmt.Sprintf("%s (%s)", traceName(r, list[i].Trace), textui.Duration(list[i].P99)))
	}
	if n := len(names) - most; n > 0 {
		names = append(names[:most], fmt.Sprintf("%d more", n))
	}
	return strings.Join(names, ", ")
}

// alone says what the traces are by themselves, if that is known of all and differs from what they
// are together, with the names of some that are not healthy.
func alone(r *result.Report) string {
	const most = 2 // that are named
	sorted := slices.Clone(r.PerTrace)
	slices.SortStableFunc(sorted, func(a, b result.TraceFigures) int { return cmp.Compare(b.P99, a.P99) })
	names := result.TraceNames(result.Each(r.Traces, func(t *result.Trace) string { return t.Name }))
	of := map[string][]string{} // by word
	for i := range sorted {
		if f := &sorted[i]; f.Trace < len(names) {
			of[f.Verdict] = append(of[f.Verdict], names[f.Trace])
		}
	}
	if len(of[""]) > 0 {
		return ""
	}
	differ := false
	var list []string
	for _, word := range []string{findings.Starved, findings.Slow, findings.SlowTail, findings.Disturbed, findings.Unknown, findings.Healthy} {
		traces := of[word]
		if len(traces) == 0 {
			continue
		}
		differ = differ || word != r.Verdict.Word && word != findings.Unknown
		text := fmt.Sprintf("%d %s", len(traces), word)
		if len(traces) > most {
			traces = append(traces[:most], "...")
		}
		text += textui.If(word != findings.Healthy, " ("+strings.Join(traces, ", ")+")")
		list = append(list, text)
	}
	return textui.If(differ, strings.Join(list, ", "))
}

// Verdict returns the verdict with its reasons.
func Verdict(r *result.Report) *document.Section {
	s := document.New("verdict", "")
	v := &r.Verdict
	if v.Word != "" {
		s.Add(document.Paragraph{Strong: v.Word, Text: ": " + v.Text, Good: v.Word == findings.Healthy})
	}
	for i := range v.Objectives {
		s.Text("%s", objectiveText(&v.Objectives[i]))
	}
	if v.Machine != "" {
		s.Text("Disturbed: %s", v.Machine)
	}
	if list := alone(r); list != "" {
		s.Text("Each alone: %s.", list)
	}
	lead := slices.Clone(findings.Lead(r.Findings))
	if v.Word != "" { // it says that already
		lead = slices.DeleteFunc(lead, func(f result.Finding) bool {
			return slices.Contains([]string{"requests", "waiting", "no-notable-waiting", "no-waits"}, f.Kind)
		})
	}
	if list := findingList(lead); len(list) > 0 {
		s.Add(list)
	}
	return s
}

// RuledOut lists the checks that passed, and those that could not be made.
func RuledOut(r *result.Report) *document.Section {
	s := document.New("ruled-out", "")
	if text := checked(&r.Verdict); text != "" {
		s.Add(document.Paragraph{Strong: "Ruled out", Text: ": " + text, Good: true})
	}
	return s
}

// checked says what was checked and is fine, and what could not be.
func checked(v *result.Verdict) string {
	return textui.Join("; ", strings.Join(v.RuledOut, ", "), textui.If(v.Unchecked != "", "not checked: "+v.Unchecked))
}

// findingList are statements of the verdict.
func findingList(list []result.Finding) document.List {
	return result.Each(list, func(f *result.Finding) document.Item {
		return document.Item{Text: f.Text, Severity: f.Severity.String(), Grade: f.Grade.String(), Evidence: evidence(f.Evidence)}
	})
}

// diagnoses are who is to blame, where, and what to do.
func diagnoses(r *result.Report) *document.Section {
	var cards document.Cards
	said := map[string]int{}
	for i := range r.Findings {
		f := r.Findings[i]
		if f.Title == "" {
			continue
		}
		if n := said[f.Advice]; n > 0 && f.Advice != "" {
			f.Advice = fmt.Sprintf("As in %d.", n)
		} else {
			said[f.Advice] = len(cards) + 1
		}
		cards = append(cards, diagnosisCard(r, &f))
	}
	s := document.New("diagnoses", "")
	s.Add(cards)
	return s.OrNil()
}

func diagnosisCard(r *result.Report, f *result.Finding) document.Card {
	c := document.Card{Title: f.Title, Severity: f.Severity.String()}
	why := textui.If(f.Sum > 0 || f.Tail > 0, fmt.Sprintf("%s of all waiting%s. ", textui.Percent(f.Sum),
		textui.If(f.Tail > 0, fmt.Sprintf(", %s of the longest 1%%", textui.Percent(f.Tail)))))
	said := f.In
	if f.Gain != "" { // about requests
		said = textui.Join("; ", f.Text, f.In)
	} else {
		why += f.Text
	}
	c.Summary = textui.If(said != "", ": "+said)
	for _, w := range f.Where {
		facet := document.Facet{Text: culpritText(&w), Depth: w.Depth}
		if w.Source != "" && path.IsAbs(w.File) { // it is at hand
			facet.Place, facet.URL = textui.Clean(PlaceText(&result.Frame{File: w.File, Line: w.Line})), (&url.URL{Scheme: "file", Path: w.File, Fragment: fmt.Sprint(w.Line)}).String()
		}
		c.Facets = append(c.Facets, facet)
	}
	add := func(label, text string) {
		if text != "" {
			c.Facets = append(c.Facets, document.Facet{Label: label, Text: text})
		}
	}
	add("fix", f.Advice)
	add("gain", f.Gain)
	add("why", why)
	if m := f.Look; m != nil && m.Trace < len(r.Traces) {
		at := moment(m.At, m.Length, m.Goroutine)
		c.Moment = &at
		add("see", fmt.Sprintf("schedscope view --at %s --for %s --goroutine %d %s", textui.Instant(m.At), textui.Duration(m.Length), m.Goroutine, argument(&r.Traces[m.Trace])))
	}
	return c
}

// argument returns a trace as commands take it.
func argument(t *result.Trace) string {
	return textui.Either(t.Name == "stdin", "-", textui.ShellWord(t.Name))
}

// culpritText returns who did what, and where.
func culpritText(c *result.Culprit) string {
	s := textui.ShortFunc(c.Function) + textui.If(c.File != "", "  "+PlaceText(&result.Frame{File: c.File, Line: c.Line})) +
		textui.If(c.Source != "", fmt.Sprintf(" '%s'", textui.Shorten(textui.Clean(c.Source), 40)))
	s += textui.If(s != "", "  ") + c.Role
	switch {
	case c.Length > 0:
		s += ", " + textui.Duration(c.Length)
	case c.Depth == 0:
		s += ", " + textui.Percent(c.Share)
	}
	s += textui.If(c.Basis != "", " ("+c.Basis+")")
	for _, caller := range c.Callers {
		s += " < " + textui.ShortFunc(caller)
	}
	return s
}

// alsoFound are the findings that are neither the first nor diagnoses.
func alsoFound(r *result.Report) *document.Section {
	rest := slices.DeleteFunc(slices.Clone(r.Findings[len(findings.Lead(r.Findings)):]), func(f result.Finding) bool { return f.Title != "" })
	if len(rest) == 0 {
		return nil
	}
	s := document.New("also-found", "Also found")
	s.Add(findingList(rest))
	return s
}

// limits shows the limits of what is usual.
func limits(r *result.Report) *document.Section {
	s := document.New("limits", "Limits of what is usual",
		"beyond them the operating system is suspected; estimated from each trace itself, or the default where there are too few samples")
	columns := []document.Column{document.Name("of"), document.Duration("limit"), document.Count("samples"), document.Word("")}
	if several(r) {
		columns = append(columns, document.Count("trace"))
	}
	t := s.Table("t-limits", columns...)
	t.Fold = true
	for _, x := range r.Causes.Thresholds {
		how := textui.Either(x.Default, "default", "calibrated")
		t.Row([]any{x.Name, x.Value, x.Samples, how, x.Trace + 1}[:len(columns)]...)
	}
	return s.OrNil()
}

// notes are statements about the numbers.
func notes(r *result.Report) *document.Section { return document.Statements("notes", "Notes", r.Notes) }
