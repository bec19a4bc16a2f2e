package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/schedscope/schedscope/analyze/compare"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/internal/stat"
	"github.com/schedscope/schedscope/internal/textui"
)

// CompareCSV writes the quantities of a comparison, a row each, and then the causes of
// waiting, of which there are means only: these add up to what was waited. Times are
// nanoseconds; what there is not is empty.
func CompareCSV(w io.Writer, c *Comparison) error {
	r := newTextRows(w, CSV, []string{"section", "quantity", "unit",
		"base_n", "base_median", "base_low", "base_high", "cand_n", "cand_median", "cand_low", "cand_high",
		"ratio", "ratio_low", "ratio_high", "difference", "difference_low", "difference_high", "confidence", "p", "base_mean", "cand_mean"})
	for i := range c.Rows {
		row := &c.Rows[i]
		r.text(row.Section)
		r.text(row.Quantity)
		r.text(row.Unit.String())
		r.values(&row.Base, row.Unit)
		r.values(&row.Cand, row.Unit)
		r.estimate(row.Ratio, rule.Number)
		r.estimate(row.Difference, row.Unit)
		r.confidence(changeOf(row))
		if row.P == nil {
			r.None()
		} else {
			r.number(*row.P, rule.Fraction)
		}
		r.mean(&row.Base, row.Unit)
		r.mean(&row.Cand, row.Unit)
		r.End()
	}
	for i := range c.Causes.Parts {
		r.cause(&c.Causes.Parts[i])
	}
	return r.Close()
}

// number adds a value of a unit.
func (r *textRows) number(x float64, u rule.Unit) {
	r.next()
	r.line = append(r.line, unitNumber(x, u)...)
}

func (r *textRows) values(v *compare.Values, u rule.Unit) {
	r.Int(int64(len(v.X)))
	if len(v.X) == 0 {
		r.None()
	} else {
		r.number(v.Median, u)
	}
	if v.Confidence == 0 {
		r.None()
		r.None()
		return
	}
	r.number(v.Low, u)
	r.number(v.High, u)
}

func (r *textRows) mean(v *compare.Values, u rule.Unit) {
	if len(v.X) == 0 {
		r.None()
		return
	}
	sum := 0.0
	for _, x := range v.X {
		sum += x
	}
	r.number(sum/float64(len(v.X)), u)
}

// cause adds the row of a cause of waiting.
func (r *textRows) cause(p *compare.Part) {
	r.text("causes")
	r.text(p.Detail)
	r.text(rule.Nanoseconds.String())
	for _, n := range []int{p.BaseTraces, p.CandTraces} {
		r.Int(int64(n))
		for range 3 { // median and interval
			r.None()
		}
	}
	for range 8 { // ratio, difference, confidence, p
		r.None()
	}
	r.number(p.Base, rule.Nanoseconds)
	r.number(p.Cand, rule.Nanoseconds)
	r.End()
}

func (r *textRows) estimate(i *stat.Interval, u rule.Unit) {
	if i == nil {
		r.None()
		r.None()
		r.None()
		return
	}
	r.number(i.Est, u)
	if i.Confidence == 0 {
		r.None()
		r.None()
		return
	}
	r.number(i.Low, u)
	r.number(i.High, u)
}

func (r *textRows) confidence(i *stat.Interval) {
	if i == nil || i.Confidence == 0 {
		r.None()
		return
	}
	r.number(i.Confidence, rule.Fraction)
}

// CompareMarkdown writes a comparison for a page that renders Markdown: the headline, what
// is to be heeded, and the table of quantities.
func CompareMarkdown(w io.Writer, c *Comparison) error {
	m := &markdown{}
	m.printf("**%s**\n\n", m.plain(c.Headline))
	if s := c.WhyText(); s != "" {
		m.printf("%s\n\n", m.plain(s))
	}
	if s := c.scopeText(); s != "" {
		m.printf("%s\n\n", m.plain(s))
	}
	for _, x := range c.Warnings {
		m.printf("- ⚠️ %s\n", m.plain(x.Text))
	}
	for _, s := range c.Skipped {
		m.printf("- ⚠️ skipped: %s\n", m.plain(s.Cause))
	}
	if len(c.Warnings)+len(c.Skipped) > 0 {
		m.printf("\n")
	}
	m.quantities(c)
	m.classes(c)
	_, err := io.WriteString(w, m.b.String())
	return err
}

type markdown struct{ b strings.Builder }

func (m *markdown) printf(format string, args ...any) { fmt.Fprintf(&m.b, format, args...) }

// plain returns s such that nothing of it is taken for markup.
func (m *markdown) plain(s string) string { return textui.Markdown(textui.Clean(s)) }

// code returns s as code.
func (m *markdown) code(s string) string { return textui.MarkdownCode(textui.Clean(s)) }

func (m *markdown) row(cells ...string) { m.printf("| %s |\n", strings.Join(cells, " | ")) }

func (m *markdown) quantities(c *Comparison) {
	base, cand := m.plain(c.Base.Name), m.plain(c.Cand.Name)
	m.row("", fmt.Sprintf("%s (n=%d)", base, len(c.Base.Traces)), fmt.Sprintf("%s (n=%d)", cand, len(c.Cand.Traces)), "change", "interval", "p")
	m.row("---", "--:", "--:", "--:", "--:", "--:")
	for i := range c.Rows {
		row := &c.Rows[i]
		change, interval, p := changeText(row), "", ""
		if row.P != nil {
			interval, p = intervalText(row), strings.TrimPrefix(compare.PText(*row.P), "p=")
			if !row.Differs {
				change = "~"
			}
		}
		m.row(m.code(row.Quantity), m.value(&row.Base, row.Unit), m.value(&row.Cand, row.Unit), m.plain(change), m.plain(interval), m.plain(strings.TrimPrefix(p, "p")))
	}
	if all, differ := c.Tested(); all > 0 {
		m.printf("\n%s compared, %d with p &lt; %g; by chance alone about %.1f would be. %s\n", textui.Plural(all, "row"), differ, compare.Alpha, compare.Alpha*float64(all), compare.ChangeHelp)
	}
}

func (m *markdown) value(v *compare.Values, u rule.Unit) string {
	s := figure(v.Median, u)
	if len(v.X) > 1 && v.Confidence > 0 {
		s += " " + spreadText(v)
	}
	return m.plain(s)
}

// markdownClasses is how many classes of waiting are shown.
const markdownClasses = 5

// classes tells where the waiting changed.
func (m *markdown) classes(c *Comparison) {
	if len(c.Waits.Parts) == 0 {
		return
	}
	m.printf("\n<details><summary>Where goroutines waited to run, per %s</summary>\n\n", c.Unit())
	m.row("goroutine", "stopped in", "woken by", m.plain(c.Base.Name), m.plain(c.Cand.Name), "change")
	m.row("---", "---", "---", "--:", "--:", "--:")
	for i := range c.Waits.Parts[:min(len(c.Waits.Parts), markdownClasses)] {
		p := &c.Waits.Parts[i]
		m.row(m.code(funcCell(p.Func)), m.code(placeCell(p.At)), m.code(wakerCell(p)), figure(p.Base, rule.Nanoseconds), figure(p.Cand, rule.Nanoseconds),
			m.plain(signedFigure(p.Change(), rule.Nanoseconds)))
	}
	m.printf("\n</details>\n")
}
