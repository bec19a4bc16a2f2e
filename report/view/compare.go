package view

import (
	"cmp"
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
	"github.com/schedscope/schedscope/report/document"
)

// compareView makes sections of a comparison.
type compareView struct {
	*compare.Result
	plusMinus string // ±; in ASCII not ~, which is the mark of no difference
}

// CompareText writes a comparison for people: what to know first, a table of quantities,
// and where the difference is.
func CompareText(w io.Writer, c *compare.Result, o document.TextOptions) error {
	v := compareView{c, "+-"}
	if o.Unicode {
		v.plusMinus = "±"
	}
	return document.Text(w, v.document(), o)
}

// CompareMarkdown writes a comparison for a page that renders Markdown.
func CompareMarkdown(w io.Writer, c *compare.Result) error {
	return document.Markdown(w, compareView{c, "±"}.document())
}

// document makes sections of a comparison: what to know first, what is compared, the
// quantities, and the parts of totals.
func (v compareView) document() *document.Document {
	d := &document.Document{}
	head := document.New("headline", "")
	head.Add(document.Paragraph{Strong: v.Verdict, Text: "  " + v.Headline})
	head.Paragraphs(v.Part)
	head.Paragraphs(v.Only...)
	head.Paragraphs(v.Scope)
	if v.Why != "" {
		head.Text("also beyond chance: %s", v.Why)
	}
	for _, w := range v.Warnings {
		head.Text("warning: %s", w.Text)
	}
	for _, s := range v.Skipped {
		head.Text("skipped: %s", s.Cause)
	}
	d.Add(head)
	n := 0
	for n < len(v.Rows) && v.Rows[n].Section == compare.SectionRequests {
		n++
	}
	if n > 0 {
		d.Add(v.quantities("requests", "Requests ("+v.RequestKind+")", v.Rows[:n]))
	}
	detail := func(p *compare.Part) []any { return []any{p.Detail} }
	if v.OfRequests() {
		if ps := v.Changed(); ps == &v.Usual {
			d.Add(v.parts("usual-requests", "What "+v.Of()+" of about median length did", ps, "", detail, document.Words("part")))
		} else {
			d.Add(v.parts("slowest-requests", "What the slowest of "+v.Of()+" did", ps, "Of the slowest 1 % of each trace, of the slowest five if there are fewer than 500.", detail, document.Words("part")))
		}
		d.Add(v.parts("request-time", "What requests did", &v.Requests, "By their critical paths: while a request waited, what they did who ended that.", detail, document.Words("kind of time")))
	}
	d.Add(v.sides(), v.quantities("quantities", "Medians over traces", v.Rows[n:]))
	d.Add(v.parts("waits", "Where goroutines waited to run", &v.Waits,
		"By start function, the program's own frame in which it last stopped, and that of who woke it: no goroutine if a timer, the network or the runtime did, if it was preempted, or if the trace does not say.",
		func(p *compare.Part) []any { return []any{p.Func, placeCell(p.At), wakerCell(p)} },
		document.Function("goroutine"), document.Words("stopped in").Drop(1), document.Words("woken by")))
	d.Add(v.parts("causes", "What the waiting was lost to", &v.Causes, "", detail, document.Words("cause")))
	d.Add(v.parts("behind", "Which code ran while goroutines waited", &v.Behind,
		"What was lost behind others, of waits that lie in the window as a whole.",
		func(p *compare.Part) []any { return []any{codeCell(p), p.Detail} },
		document.Words("code"), document.Words("cause").Drop(1)))
	d.Add(v.parts("blocked", "What goroutines were blocked on", &v.Blocked, "", detail, document.Words("reason")))
	end := document.New("end", "See also", v.Hints...)
	end.Text("This describes; schedscope gate judges, with guards and a known error rate. Pictures: -o compare.png.")
	d.Add(end)
	return d
}

// sideName returns the name of a side as headings have it.
func sideName(s *compare.Side) string { return textui.Shorten(textui.Clean(s.Name), 32) }

// sides has a row for each side: medians over its traces.
func (v compareView) sides() *document.Section {
	s := document.New("sides", "What is compared")
	count := textui.Either(v.PerOp(), "ops/s", "events")
	t := s.Table("t-sides", document.Name(""), document.Count("traces"), document.Instant("from"), document.Duration("length"), document.Count(count), document.Count("GOMAXPROCS"), document.Share("running"), document.Words("go"))
	later := false
	for _, side := range []*compare.Side{&v.Base, &v.Cand} {
		var from, length, number, busy []float64
		var procs, versions []string
		for _, x := range side.Traces {
			from = append(from, float64(x.Sample.From))
			length = append(length, float64(x.Sample.To-x.Sample.From))
			if v.PerOp() {
				number = append(number, float64(x.Sample.Ops)/compare.Seconds(x.Sample))
			} else {
				number = append(number, float64(x.Sample.Events))
			}
			if b := compare.Busy(x.Sample); b != nil {
				busy = append(busy, *b)
			}
			procs, versions = append(procs, fmt.Sprint(x.Sample.Identity.MaxProcs)), append(versions, textui.Clean(x.Sample.Identity.Go))
		}
		counted := stat.Median(number)
		if !v.PerOp() {
			counted = math.Trunc(counted)
		}
		later = later || slices.Max(from) > 0
		t.Row(sideName(side), len(side.Traces), figureCell(stat.Median(from), rule.Nanoseconds), figureCell(stat.Median(length), rule.Nanoseconds), figureCell(counted, rule.Number),
			document.Shown(distinct(procs), 0), figureCell(stat.Median(busy), rule.Fraction), distinct(versions))
	}
	if later && v.Window == "" {
		s.Text("A trace counts from its region %s on or, if it has none, without its first tenth; --window all compares all of it.", sample.WindowRegion)
	}
	return s
}

// distinct joins the different ones of some texts.
func distinct(list []string) string {
	list = slices.Clone(list)
	slices.Sort(list)
	return strings.Join(slices.Compact(list), ", ")
}

// figureCell is a cell of a value that may be unknown.
func figureCell(x float64, u rule.Unit) any {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return document.Unknown
	}
	return document.Shown(rule.FormatValue(x, u), x)
}

// quantities has rows in one table, so that columns are in line, and what marks and p mean.
func (v compareView) quantities(id, title string, rows []compare.Row) *document.Section {
	s := document.New(id, title)
	titles := map[string]string{
		compare.SectionLatency: "Waits to run",
		compare.SectionOps:     "Ops",
		compare.SectionTotals:  "Per " + v.Per,
	}
	least := compare.Confidence // of intervals of changes: with few traces it is less than asked for
	for i := range rows {
		if x := cmp.Or(rows[i].Ratio, rows[i].Difference); x != nil && x.Confidence > 0 {
			least = min(least, x.Confidence)
		}
	}
	number := func(name string) document.Column { return document.Number(name, 0) }
	columns := []document.Column{document.Name("quantity"), number(sideName(&v.Base)), number(sideName(&v.Cand)), number("change")}
	if !v.Single() { // a narrow terminal goes without intervals: of medians, then of changes
		columns = []document.Column{columns[0], columns[1], number("").Drop(1), columns[2], number("").Drop(1), number("pairwise"), number(textui.Percent(least) + " interval").Drop(2), number("p")}
	}
	t := s.Table("t-"+id, columns...)
	section := ""
	for _, row := range rows {
		if of := row.Section + row.Group; of != section {
			section = of
			t.Section(textui.Either(row.Group != "", v.Name(&row), titles[row.Section]))
		}
		name := row.Label() + textui.If(row.Few > 0, " *")
		base, cand := figureCell(float64(row.Base.Median), row.Unit), figureCell(float64(row.Cand.Median), row.Unit)
		change, interval := changeText(&row)
		cells := []any{name, base, cand, change}
		if !v.Single() {
			cells = []any{name, base, v.spreadText(&row.Base), cand, v.spreadText(&row.Cand), change}
		}
		switch {
		case row.Ratio == nil && row.Difference == nil: // one side has none
		case row.P == nil:
			cells[len(cells)-1] = "~ " + change // nothing is known of chance
		default:
			if !row.Differs {
				cells[5] = "~"
			}
			cells = append(cells, interval, strings.TrimLeft(compare.PText(*row.P), "p="))
		}
		t.Row(cells...).Indent = true
	}
	t.Fixed = true
	if id == "quantities" {
		s.Paragraphs(v.footnotes()...)
	}
	return s
}

// changeText writes by how much a row changed, and between which bounds.
func changeText(row *compare.Row) (change, interval string) {
	switch {
	case row.Ratio != nil:
		return compare.TimesText(row.Ratio.Est), boundText(row.Ratio.Low) + " to " + boundText(row.Ratio.High)
	case row.Difference != nil:
		d := row.Difference
		return compare.SignedValue(d.Est, row.Unit), compare.SignedValue(d.Low, row.Unit) + " to " + compare.SignedValue(d.High, row.Unit)
	}
	return "-", ""
}

// boundText writes an end of a ratio's interval. Where it is that far, how far says nothing.
func boundText(x float64) string { return textui.Either(x >= 999.5, "x>999", compare.TimesText(x)) }

// spreadText writes the interval of a median as benchstat does, as the part of it by which
// the farther end is away.
func (v compareView) spreadText(x *compare.Values) string {
	switch {
	case len(x.X) == 0:
		return ""
	case x.Confidence == 0:
		return v.plusMinus + " ?"
	case x.Median == 0:
		return ""
	}
	part := float64(max(x.High-x.Median, x.Median-x.Low)) / math.Abs(float64(x.Median))
	return v.plusMinus + textui.Either(part >= 9.995, ">999%", fmt.Sprintf("%.0f%%", 100*part))
}

// footnotes say what marks mean, and how to read p.
func (v compareView) footnotes() (notes []string) {
	n, m := len(v.Base.Traces), len(v.Cand.Traces)
	if slices.ContainsFunc(v.Rows, func(r compare.Row) bool { return r.Few > 0 }) {
		notes = append(notes, "*: in some traces fewer than 10 values lie beyond, so that a few decide.")
	}
	if v.Single() {
		return append(notes, "~: no difference shown; with one trace on a side none can be.")
	}
	s := "Values are medians over traces; " + v.plusMinus + " is how far the interval of the median reaches" +
		textui.If(min(n, m) < compare.EnoughForInterval(), fmt.Sprintf(" (?: that takes %d traces)", compare.EnoughForInterval()))
	notes = append(notes, fmt.Sprintf("%s. %s ~: no difference shown; p is two-sided, exact (Mann and Whitney).", s, compare.ChangeHelp))
	if !compare.CanDiffer(n, m) {
		return append(notes, fmt.Sprintf("No row can have p < %g: that takes %s.", compare.Alpha, compare.EnoughText()))
	}
	s = fmt.Sprintf("%s compared, %d of them with p < %g. By chance alone one in twenty would be, about %.1f here",
		textui.Plural(v.Tested, "row"), v.Differ, compare.Alpha, compare.Alpha*float64(v.Tested))
	return append(notes, s+".")
}

// parts has the parts of a total. Those of waits that the window cuts are always shown: with
// them causes add up to what was waited.
func (v compareView) parts(id, title string, ps *compare.Parts, note string, cells func(*compare.Part) []any, names ...document.Column) *document.Section {
	s := document.New(id, title)
	s.Fold = true
	means, per := "means over traces, ", v.Per
	if ps == &v.Requests || ps == &v.Slowest || ps == &v.Usual {
		per = "request"
	}
	total := v.TotalOf(ps)
	whole := ps == &v.Waits || ps == &v.Blocked
	switch {
	case len(v.Base.Traces)+len(v.Cand.Traces) == 2:
		means = ""
	case v.Saved():
		means = "of all traces together, "
	case whole && total != nil && len(total.Base.X) > 0 && len(total.Cand.X) > 0:
		means = fmt.Sprintf("means over traces, whose medians are %s and %s, ", rule.FormatValue(float64(total.Base.Median), rule.Nanoseconds), rule.FormatValue(float64(total.Cand.Median), rule.Nanoseconds))
	}
	s.Text("%s per %s in %s, %s in %s; "+means+"the greatest change first.", rule.FormatValue(ps.Base, rule.Nanoseconds), per, v.Base.Name,
		rule.FormatValue(ps.Cand, rule.Nanoseconds), v.Cand.Name)
	if total != nil && total.P != nil && !total.Differs && !v.TooFew() && whole {
		s.Text("The total does not differ more than chance explains; parts of it may.")
	}
	columns := []document.Column{document.Number(sideName(&v.Base), 0), document.Number(sideName(&v.Cand), 0), document.Number("change", 0)}
	shares := v.Shares(ps)
	if shares {
		columns = append(columns, document.Number("of it", 0))
	}
	t := s.Table("t-"+id, append(columns, names...)...)
	for _, p := range ps.Parts {
		row := []any{figureCell(p.Base, rule.Nanoseconds), figureCell(p.Cand, rule.Nanoseconds), document.Shown(compare.SignedValue(p.Change(), rule.Nanoseconds), p.Change())}
		if share := ps.ShareOf(&p); shares && math.Abs(share) >= 0.005 {
			row = append(row, document.Shown(fmt.Sprintf("%.0f%%", 100*share), share))
		} else if shares {
			row = append(row, nil)
		}
		t.Row(append(row, cells(&p)...)...).Total = p.Detail == compare.CutWaits
	}
	if s.OrNil() == nil {
		return nil
	}
	s.Paragraphs(note)
	return s
}

// wakerCell says who woke those of a class.
func wakerCell(p *compare.Part) string {
	if p.By == nil && p.Func != sample.Others {
		return "(no goroutine)"
	}
	return placeCell(p.By)
}

// codeCell names the code that ran, or whose it was.
func codeCell(p *compare.Part) string {
	switch {
	case p.At != nil:
		return compare.FrameText(p.At)
	case p.Func == sample.Others:
		return p.Func
	}
	return "not known, in " + textui.ShortFunc(p.Func)
}

func placeCell(f *sample.Frame) string {
	if f == nil {
		return "-"
	}
	return compare.FrameText(f)
}
