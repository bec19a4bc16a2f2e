package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/analyze/compare"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/internal/stat"
	"github.com/schedscope/schedscope/internal/textui"
)

// Comparison is a comparison with what is reported beside it.
type Comparison struct {
	*compare.Result
	Skipped []Skipped // traces that could not be read
}

// CompareTop is the usual number of rows of tables of parts.
const CompareTop = 5

// CompareText writes a comparison for people: what to know first, a table of quantities,
// and where the difference is.
func CompareText(w io.Writer, c *Comparison, o Options) error {
	t := &compareText{text: newText(o), c: c}
	if s := c.tooFew(); s != "" {
		t.wrap("", "%s", s)
	}
	t.wrap("", "%s", t.bold(c.Headline))
	if s := c.WhyText(); s != "" {
		t.wrap("     ", "%s", s)
	}
	t.scope()
	t.warnings()
	t.sides()
	t.quantities()
	t.where()
	t.end()
	return t.write(w)
}

// compareText is a comparison while it is written.
type compareText struct {
	*text
	c *Comparison
}

// ScopeText says what a comparison can and cannot tell.
func (c *Comparison) scopeText() string {
	n, m := len(c.Base.Traces), len(c.Cand.Traces)
	switch {
	case n == 1 && m == 1:
		return "One process per side: this describes two traces and gives no verdict. Without more traces there is no error rate; differences may be chance."
	case c.Single():
		return "One process on a side: this gives no verdict. How much processes differ by chance is not known of that side."
	}
	return c.tooFew()
}

// tooFew says that there are several traces but not enough, "" if that is not so: nothing
// below it is then to be taken for a difference.
func (c *Comparison) tooFew() string {
	n, m := len(c.Base.Traces), len(c.Cand.Traces)
	if c.Single() || compare.CanDiffer(n, m) {
		return ""
	}
	return fmt.Sprintf("%s in %s and %d in %s are too few for any difference to be more than chance: that takes %s (10 per side are good).",
		textui.Plural(n, "trace"), textui.Clean(c.Base.Name), m, textui.Clean(c.Cand.Name), compare.EnoughText())
}

func (t *compareText) scope() {
	if s := t.c.scopeText(); t.c.tooFew() == "" && s != "" {
		t.wrap("", "%s", s)
	}
}

// warnings prints what makes sides hard to compare.
func (t *compareText) warnings() {
	for _, w := range t.c.Warnings {
		t.wrap("         ", "warning: %s", w.Text)
	}
	for _, s := range t.c.Skipped {
		t.wrap("         ", "skipped: %s", textui.Clean(s.Cause))
	}
}

// sides prints a line about each side.
func (t *compareText) sides() {
	t.printf("\n")
	tb := t.table("lrrrrrL", "", "traces", "length", t.countHead(), "GOMAXPROCS", "busy", "go")
	for _, s := range []*compare.Side{&t.c.Base, &t.c.Cand} {
		f := factsOf(s)
		tb.Row(nameCell(s), textui.Count(len(s.Traces)), f.length, t.opsOrEvents(&f), f.procs, f.busy, f.goVersion)
	}
	t.printf("%s", tb.String())
}

// nameCell returns the name of a side as tables have it.
func nameCell(s *compare.Side) string {
	const most = 32
	return textui.Shorten(textui.Clean(s.Name), most)
}

func (t *compareText) countHead() string {
	if t.c.PerOp() {
		return "ops/s"
	}
	return "events"
}

func (t *compareText) opsOrEvents(f *sideFacts) string {
	if t.c.PerOp() {
		return f.opRate
	}
	return f.events
}

// sideFacts are the medians of a side's traces, as text.
type sideFacts struct{ length, opRate, events, procs, busy, goVersion string }

func factsOf(s *compare.Side) sideFacts {
	var length, rate, events, busy []float64
	var procs, versions []string
	for _, x := range s.Traces {
		ns := float64(x.Sample.To - x.Sample.From)
		length = append(length, ns)
		events = append(events, float64(x.Sample.Events))
		rate = append(rate, float64(x.Sample.Ops)/ns*1e9)
		if x.Sample.Capacity > 0 {
			busy = append(busy, float64(x.Sample.Running)/float64(x.Sample.Capacity))
		}
		id := &x.Sample.Identity
		procs = append(procs, fmt.Sprint(id.MaxProcs))
		versions = append(versions, textui.Clean(id.Go))
	}
	return sideFacts{
		length: figure(stat.Median(length), rule.Nanoseconds), opRate: figure(stat.Median(rate), rule.Number),
		events: textui.Count(int64(stat.Median(events))), busy: figure(stat.Median(busy), rule.Fraction),
		procs: distinct(procs), goVersion: distinct(versions),
	}
}

// distinct joins the different ones of some texts.
func distinct(list []string) string {
	list = slices.Clone(list)
	slices.Sort(list)
	return strings.Join(slices.Compact(list), ", ")
}

// figure writes a value that may be unknown.
func figure(x float64, u rule.Unit) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "-"
	}
	return rule.FormatValue(x, u)
}

// sectionTitles are the headings of rows.
func (t *compareText) sectionTitle(section string) string {
	switch section {
	case compare.SectionLatency:
		return "Waits to run"
	case compare.SectionOps:
		return "Ops"
	case compare.SectionReasons:
		return "Blocked per " + t.c.Unit() + ", by the reasons that changed most"
	case compare.SectionFuncs:
		return "By start function: those whose waiting changed most"
	}
	return "Per " + t.c.Unit()
}

// quantities prints the rows, one table for all sections so that columns are in line.
func (t *compareText) quantities() {
	tb := t.table("L"+strings.Repeat("r", len(t.quantityHead())), append([]string{""}, t.quantityHead()...)...)
	tb.Indent = ""
	if !t.c.Single() { // a narrow terminal goes without intervals: of medians, then of changes
		tb.Drop = [][]int{{2, 4}, {6}}
	}
	section := ""
	for i := range t.c.Rows {
		row := &t.c.Rows[i]
		if row.Section != section {
			section = row.Section
			tb.Heading(t.sectionTitle(section))
		}
		tb.Row(append([]string{"  " + textui.Clean(row.Quantity) + fewMark(row)}, t.quantityCells(row)...)...)
	}
	t.printf("\n%s", tb.String())
	t.footnotes()
}

func fewMark(row *compare.Row) string {
	if row.Few > 0 {
		return " *"
	}
	return ""
}

func (t *compareText) quantityHead() []string {
	base, cand := nameCell(&t.c.Base), nameCell(&t.c.Cand)
	if t.c.Single() {
		return []string{base, cand, "change"}
	}
	return []string{base, "", cand, "", "change", t.intervalHead(), "p"}
}

// intervalHead tells the confidence that intervals of changes have: where there are few
// traces it is less than asked for.
func (t *compareText) intervalHead() string {
	least := 1.0
	for i := range t.c.Rows {
		if x := changeOf(&t.c.Rows[i]); x != nil && x.Confidence > 0 {
			least = min(least, x.Confidence)
		}
	}
	return textui.Percent(min(least, compare.Confidence)) + " interval"
}

// changeOf returns the ratio or the difference of a row, nil if there is none.
func changeOf(row *compare.Row) *stat.Interval {
	if row.Ratio != nil {
		return row.Ratio
	}
	return row.Difference
}

func (t *compareText) quantityCells(row *compare.Row) []string {
	base, cand := figure(row.Base.Median, row.Unit), figure(row.Cand.Median, row.Unit)
	if t.c.Single() {
		return []string{base, cand, changeText(row)}
	}
	cells := []string{base, t.spread(&row.Base), cand, t.spread(&row.Cand)}
	if row.P == nil {
		return append(cells, changeText(row))
	}
	change := "~"
	if row.Differs {
		change = changeText(row)
	}
	return append(cells, change, intervalText(row), strings.TrimPrefix(compare.PText(*row.P), "p="))
}

// changeText writes by how much a row changed.
func changeText(row *compare.Row) string {
	switch {
	case row.Ratio != nil:
		return compare.TimesText(row.Ratio.Est)
	case row.Difference != nil:
		return signedFigure(row.Difference.Est, row.Unit)
	}
	return "-"
}

func signedFigure(x float64, u rule.Unit) string {
	if x > 0 {
		return "+" + rule.FormatValue(x, u)
	}
	return rule.FormatValue(x, u)
}

func intervalText(row *compare.Row) string {
	switch {
	case row.Ratio != nil:
		return fmt.Sprintf("%s to %s", boundText(row.Ratio.Low), boundText(row.Ratio.High))
	case row.Difference != nil:
		return fmt.Sprintf("%s to %s", signedFigure(row.Difference.Low, row.Unit), signedFigure(row.Difference.High, row.Unit))
	}
	return ""
}

// boundText writes an end of a ratio's interval. Where it is that far, how far says nothing.
func boundText(x float64) string {
	if x >= 999.5 {
		return "x>999"
	}
	return compare.TimesText(x)
}

// spread is spreadText in the characters of the terminal: ± has two columns without
// Unicode, as there ~ is the mark of no difference.
func (t *compareText) spread(v *compare.Values) string { return t.plusMinus(spreadText(v)) }

func (t *compareText) plusMinus(s string) string {
	if t.o.Unicode {
		return s
	}
	return strings.ReplaceAll(s, "±", "+-")
}

// spreadText writes the interval of a median as benchstat does, as the part of it by which
// the farther end is away.
func spreadText(v *compare.Values) string {
	switch {
	case len(v.X) == 0:
		return ""
	case v.Confidence == 0:
		return "± ?"
	case v.Median == 0:
		return ""
	}
	part := max(v.High-v.Median, v.Median-v.Low) / math.Abs(v.Median)
	if part >= 9.995 {
		return "±>999%"
	}
	return fmt.Sprintf("±%.0f%%", 100*part)
}

// footnotes say what marks mean, and how to read p.
func (t *compareText) footnotes() {
	n, m := len(t.c.Base.Traces), len(t.c.Cand.Traces)
	if slices.ContainsFunc(t.c.Rows, func(r compare.Row) bool { return r.Few > 0 }) {
		t.note("*: in some traces fewer than 10 waits lie beyond, so that a few decide.")
	}
	if t.c.Single() {
		return
	}
	s := "Values are medians over traces; " + t.plusMinus("±") + " is how far the interval of the median reaches"
	if min(n, m) < compare.EnoughForInterval() {
		s += fmt.Sprintf(" (?: that takes %d traces)", compare.EnoughForInterval())
	}
	t.note("%s. %s ~: no difference shown; p is two-sided, exact (Mann and Whitney).", s, compare.ChangeHelp)
	if !compare.CanDiffer(n, m) {
		t.note("No row can have p < %g: that takes %s.", compare.Alpha, compare.EnoughText())
		return
	}
	all, differ := t.c.Tested()
	s = fmt.Sprintf("%s compared, %d of them with p < %g. By chance alone one in twenty would be, about %.1f here",
		textui.Plural(all, "row"), differ, compare.Alpha, compare.Alpha*float64(all))
	if slices.ContainsFunc(t.c.Rows, func(r compare.Row) bool { return r.Chosen }) {
		s += "; more of those that are shown because they changed most"
	}
	t.note("%s.", s)
}

// where prints the parts of totals.
func (t *compareText) where() {
	classes := t.parts("Where goroutines waited to run", &t.c.Waits, []string{"goroutine", "stopped in", "woken by"}, func(p *compare.Part) []string {
		return []string{funcCell(p.Func), placeCell(p.At), wakerCell(p)}
	})
	if classes {
		t.note("By start function, the program's own frame in which it last stopped, and that of who woke it: no goroutine if a timer, the network or the runtime did, if it was preempted, or if the trace does not tell.")
	}
	t.parts("What the waiting was lost to", &t.c.Causes, []string{"cause"}, func(p *compare.Part) []string { return []string{textui.Clean(p.Detail)} })
	behind := t.parts("What stood in the way", &t.c.Behind, []string{"goroutine", "what it did", "turns ended in"}, func(p *compare.Part) []string {
		return []string{funcCell(p.Func), textui.Clean(p.Detail), placeCell(p.At)}
	})
	if behind {
		t.note("What was lost behind others, of waits that lie in the window as a whole.")
	}
	t.parts("What goroutines were blocked on", &t.c.Blocked, []string{"reason"}, func(p *compare.Part) []string { return []string{textui.Clean(p.Detail)} })
}

// parts prints the parts of a total and reports whether there are any.
func (t *compareText) parts(title string, ps *compare.Parts, names []string, cells func(*compare.Part) []string) bool {
	if len(ps.Parts) == 0 {
		return false
	}
	t.section(title, "")
	means := "means over traces, "
	if len(t.c.Base.Traces)+len(t.c.Cand.Traces) == 2 {
		means = ""
	}
	t.note("%s per %s in %s, %s in %s; "+means+"the greatest change first.", figure(ps.Base, rule.Nanoseconds), t.c.Unit(), textui.Clean(t.c.Base.Name),
		figure(ps.Cand, rule.Nanoseconds), textui.Clean(t.c.Cand.Name))
	if total := t.c.TotalOf(ps); total != nil && total.P != nil && !total.Differs && t.c.tooFew() == "" && (ps == &t.c.Waits || ps == &t.c.Blocked) {
		t.note("The total does not differ more than chance explains; parts of it may.")
	}
	shares := t.c.Shares(ps)
	head := append([]string{nameCell(&t.c.Base), nameCell(&t.c.Cand), "change"}, names...)
	if shares {
		head = slices.Insert(head, 3, "of it")
	}
	tb := t.table(strings.Repeat("r", len(head)-len(names))+strings.Repeat("L", len(names)), head...)
	tb.Even, tb.Short = true, shortPlace
	if len(names) > 2 { // a narrow terminal goes without the place where it stopped
		tb.Drop = [][]int{{len(head) - len(names) + slices.IndexFunc(names, isPlace)}}
	}
	shown := t.shown(ps)
	for _, p := range shown {
		row := append([]string{figure(p.Base, rule.Nanoseconds), figure(p.Cand, rule.Nanoseconds), signedFigure(p.Change(), rule.Nanoseconds)}, cells(p)...)
		if shares {
			row = slices.Insert(row, 3, wholePercent(ps.ShareOf(p)))
		}
		tb.Row(row...)
	}
	t.printf("%s", tb.String())
	t.more(len(shown), len(ps.Parts))
	return true
}

// shown returns the parts to be shown: the first ones, and always those of waits that the
// window cuts, by which causes add up to what was waited.
func (t *compareText) shown(ps *compare.Parts) []*compare.Part {
	var list []*compare.Part
	n := t.limit(len(ps.Parts))
	for i := range ps.Parts {
		if i < n || ps.Parts[i].Detail == compare.CutWaits {
			list = append(list, &ps.Parts[i])
		}
	}
	return list
}

// wholePercent writes a share without digits behind the point, nothing if it is little.
func wholePercent(share float64) string {
	if math.Abs(share) < 0.005 {
		return ""
	}
	return fmt.Sprintf("%.0f%%", 100*share)
}

// shortPlace shortens a place such that its file and line stay whole.
func shortPlace(cell string, width int) string {
	i := strings.LastIndex(cell, " (")
	if rest := width - textui.Width(cell[max(i, 0):]); i > 0 && strings.HasSuffix(cell, ")") && rest >= 2 {
		return ending(cell[:i], rest) + cell[i:]
	}
	return textui.Shorten(cell, width)
}

// ending returns the end of a name, which tells more than its beginning, in at most so many
// columns.
func ending(name string, width int) string {
	if textui.Width(name) <= width {
		return name
	}
	runes := []rune(name)
	i, used := len(runes), 1 // the …
	for ; i > 0; i-- {
		used += textui.Width(string(runes[i-1]))
		if used > width {
			break
		}
	}
	return "…" + string(runes[i:])
}

// isPlace reports whether a column is the one to do without.
func isPlace(name string) bool { return name == "stopped in" || name == "turns ended in" }

func funcCell(name string) string { return textui.Clean(textui.ShortFunc(name)) }

// wakerCell says who woke those of a class.
func wakerCell(p *compare.Part) string {
	if p.By == nil && p.Func != sample.Others {
		return "(no goroutine)"
	}
	return placeCell(p.By)
}

func placeCell(f *sample.Frame) string {
	if f == nil {
		return "-"
	}
	return compare.FrameText(f.Func, f.File, f.Line)
}

// end says what else there is.
func (t *compareText) end() {
	t.printf("\n")
	for _, h := range t.c.Hints {
		t.wrap("", "%s", h)
	}
	t.wrap("", "This describes; schedscope gate judges, with guards and a known error rate. Pictures: -o compare.png.")
}
