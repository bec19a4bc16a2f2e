package document

import (
	"fmt"
	"io"
	"strings"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
)

// TextOptions configures Text.
type TextOptions struct {
	Color   bool // emphasis by ANSI escape sequences
	Width   int  // columns of the terminal; 0 if it is none
	Unicode bool // false: ASCII only
	Top     int  // most rows of tables and cards; 0 for all
}

// How wide text is at most: paragraphs always, tables where there is no terminal.
const (
	textWidth  = 100
	tableWidth = 120
)

// Text writes a document for people.
func Text(w io.Writer, d *Document, o TextOptions) error {
	t := NewTextWriter(o)
	if d.Title != "" {
		t.Printf("%s\n", strings.TrimSuffix(t.Bold(textui.Clean(d.Title))+": "+d.About, ": "))
	}
	t.Sections(d.Sections...)
	return t.Flush(w)
}

// TextWriter writes sections as text, and the lines of a summary that are not part of a
// section.
type TextWriter struct {
	b strings.Builder
	o TextOptions
	// Width is that of paragraphs, TableWidth that of tables.
	Width, TableWidth int
}

// NewTextWriter returns a writer without text.
func NewTextWriter(o TextOptions) *TextWriter {
	t := &TextWriter{o: o, Width: textWidth, TableWidth: tableWidth}
	if o.Width > 0 {
		t.TableWidth = max(o.Width, 60)
		t.Width = min(t.TableWidth, textWidth)
	}
	return t
}

// Like returns a writer without text that lays out as t does.
func (t *TextWriter) Like() *TextWriter {
	return &TextWriter{o: t.o, Width: t.Width, TableWidth: t.TableWidth}
}

// Append adds the text of another writer.
func (t *TextWriter) Append(o *TextWriter) { t.b.WriteString(o.b.String()) }

// Lines returns the number of lines so far.
func (t *TextWriter) Lines() int { return strings.Count(t.b.String(), "\n") }

// Flush writes the finished text.
func (t *TextWriter) Flush(w io.Writer) error {
	out := t.b.String()
	if !t.o.Unicode {
		out = textui.ASCII(out)
	}
	_, err := io.WriteString(w, out)
	return err
}

// Printf prints as it is.
func (t *TextWriter) Printf(format string, args ...any) { fmt.Fprintf(&t.b, format, args...) }

// Bold returns s in bold, for emphasis only.
func (t *TextWriter) Bold(s string) string { return t.style("1", s) }

// Good returns s in bold green, for good news.
func (t *TextWriter) Good(s string) string { return t.style("1;32", s) }

func (t *TextWriter) style(how, s string) string {
	if !t.o.Color || s == "" {
		return s
	}
	return "\x1b[" + how + "m" + s + "\x1b[0m"
}

// Wrap prints a paragraph after a prefix. Its further lines are indented.
func (t *TextWriter) Wrap(prefix, indent, s string) {
	t.Printf("%s%s\n", prefix, textui.Columns(textui.Clean(s), t.Width-len(indent), indent))
}

// Sections prints sections.
func (t *TextWriter) Sections(list ...*Section) {
	for _, s := range list {
		if s != nil {
			t.section(s)
		}
	}
}

// section prints a title, and what is below it indented by two columns. Tables after the
// first stand apart from what is before them.
func (t *TextWriter) section(s *Section) {
	indent := ""
	if s.Title != "" {
		title := s.Title + textui.If(s.Inferred, " (inferred)")
		t.Printf("\n%s\n", t.Bold(title))
		indent = "  "
	}
	tables := 0
	for _, b := range s.Blocks {
		switch b := b.(type) {
		case Paragraph:
			text := textui.Columns(textui.Clean(b.Strong+b.Text), t.Width-len(indent), indent)
			if strong := textui.Clean(b.Strong); b.Strong != "" && strings.HasPrefix(text, strong) {
				text = t.Bold(strong) + text[len(strong):]
			}
			t.Printf("%s%s\n", indent, text)
		case List:
			t.list(indent, b)
		case Facts:
			t.Facts(b)
		case Cards:
			t.cards(b)
		case *Table:
			if b.Extra {
				continue
			}
			if tables++; tables > 1 {
				t.Printf("\n")
			}
			t.Table(b)
		}
	}
}

func (t *TextWriter) list(indent string, list List) {
	for i := range list {
		text := textui.Columns(list[i].words(), t.Width-len(indent)-2, indent+"  ")
		t.Printf("%s- %s\n", indent, textui.Either(list[i].Strong, t.Bold(text), text))
	}
}

// words is the statement with its grade, unless that is certain.
func (i *Item) words() string {
	return textui.Clean(i.Text) + textui.If(i.Grade == "inferred", " (inferred)")
}

// Facts prints labelled lines.
func (t *TextWriter) Facts(list Facts) {
	width := 10
	for _, f := range list {
		width = max(width, textui.Width(f.Name))
	}
	indent := strings.Repeat(" ", width+1)
	for _, f := range list {
		text := fmt.Sprintf("%s%s %s", f.Name, strings.Repeat(" ", width-textui.Width(f.Name)), textui.Columns(textui.Clean(f.Value), t.Width-len(indent), indent))
		t.Printf("%s\n", textui.Either(f.Good, t.style("32", text), text))
	}
}

// limit returns how many of n rows to print.
func (t *TextWriter) limit(n int) int {
	if t.o.Top > 0 {
		return min(n, t.o.Top)
	}
	return n
}

// more prints how many rows were left out.
func (t *TextWriter) more(left int) {
	if left > 0 {
		t.Printf("  … and %s more; --top 0 shows all\n", textui.Count(left))
	}
}

// Table prints a table, the first rows of it.
func (t *TextWriter) Table(x *Table) {
	// 1. What its terms mean.
	var terms []string
	for _, c := range x.Columns {
		if c.term != "" {
			terms = append(terms, c.term+": "+c.Help)
		}
	}
	if len(terms) > 0 {
		t.Wrap("  ", "  ", strings.Join(terms, "; "))
	}
	// 2. Which columns there are, and which to drop first.
	tb := layout{indent: "  ", limit: t.TableWidth}
	var columns []int
	for i, c := range x.Columns {
		if c.extra || c.Kind == KindBar {
			continue
		}
		columns = append(columns, i)
		tb.align += c.align()
		tb.head = append(tb.head, c.Name)
		if t.o.Width > 0 { // a file has them all
			tb.drop = append(tb.drop, c.drop)
		}
	}
	// 3. The first rows. Totals and headings are always there.
	left, most := 0, len(x.Rows)
	if !x.Fixed {
		most = t.limit(len(x.Rows))
	}
	if x.Most > 0 && t.o.Top > 0 {
		most = min(most, x.Most)
	}
	var rows []*Row
	for r := range result.Refs(x.Rows) {
		if r.Heading == "" && !r.Total {
			if most == 0 {
				left++
				continue
			}
			most--
		}
		rows = append(rows, r)
	}
	tb.rows = t.cells(x, columns, rows)
	t.b.WriteString(tb.String())
	t.more(left)
}

// align is the letter of a column in a layout.
func (c Column) align() string {
	switch {
	case !c.IsWords():
		return "r"
	case c.Kind == KindWord:
		return "l"
	}
	return "L"
}

// cells returns rows as text. Lists, which must be in the last column, have as many whole
// items as there is room for.
func (t *TextWriter) cells(x *Table, columns []int, rows []*Row) []textRow {
	out := make([]textRow, len(rows))
	widths := make([]int, len(columns))
	for k, i := range columns {
		widths[k] = textui.Width(x.Columns[i].Name)
	}
	for n, r := range rows {
		if r.Heading != "" {
			out[n].heading = textui.Clean(r.Heading)
			continue
		}
		for k, i := range columns {
			cell := r.Cells[i].String()
			if w := x.Columns[i].width; w > 0 {
				cell = shortPlace(cell, w)
			}
			if k == 0 && r.Indent {
				cell = "  " + cell
			}
			widths[k] = max(widths[k], textui.Width(cell))
			out[n].cells = append(out[n].cells, cell)
		}
	}
	last := len(columns) - 1
	if last < 0 || x.Columns[columns[last]].Kind != KindList {
		return out
	}
	room := t.TableWidth - 2
	for _, w := range widths[:last] {
		room -= w + 2
	}
	for n, r := range rows {
		if r.Heading == "" {
			out[n].cells[last] = fit(r.Cells[columns[last]].list, room)
		}
	}
	return out
}

// fit joins the first of some items, as many as fit into some columns, at least one.
func fit(items []string, room int) string {
	s := ""
	for i, item := range items {
		item = textui.Clean(item)
		if i > 0 {
			if item = "; " + item; textui.Width(s+item) > room {
				break
			}
		}
		s += item
	}
	return s
}

// framesShown is how many frames of a stack text shows.
const framesShown = 4

// cards prints cards: numbered if they have no grade, else as a list.
func (t *TextWriter) cards(list Cards) {
	shown := len(list)
	if len(list) > 0 && list[0].Grade == "" {
		shown = t.limit(shown)
	}
	for i := range list[:shown] {
		c := &list[i]
		mark := fmt.Sprintf("%d.", i+1)
		title := textui.Columns(textui.Clean(c.Title+c.Summary), t.Width-5, "     ")
		if c.Grade != "" {
			mark = "-"
			title = t.Bold(textui.Columns((&Item{Text: title, Grade: c.Grade}).words(), t.Width-4, "    "))
		}
		t.Printf("  %s %s\n", mark, title)
		for _, text := range c.Text {
			t.Wrap("    ", "    ", text)
		}
		for k := range c.Facets {
			t.facet(&c.Facets[k])
		}
	}
	t.more(len(list) - shown)
}

func (t *TextWriter) facet(f *Facet) {
	if f.URL != "" && t.o.Color && t.o.Width > 0 { // OSC 8, for terminals only
		plain, bare := *f, t.Like()
		plain.URL = ""
		bare.facet(&plain)
		t.b.WriteString(strings.Replace(bare.b.String(), f.Place, "\x1b]8;;"+f.URL+"\x1b\\"+f.Place+"\x1b]8;;\x1b\\", 1))
		return
	}
	pairs := f.Pairs
	if f.Most > 0 {
		pairs = pairs[:min(f.Most, len(pairs))]
	}
	switch {
	case f.HTMLOnly:
	case len(f.Stack) > 0:
		parts := result.Each(f.Stack[:min(framesShown, len(f.Stack))], func(x *Frame) string { return textui.Shorten(textui.Clean(textui.ShortFunc(x.Func)), 48) })
		if n := len(f.Stack) - framesShown; n > 0 {
			parts = append(parts, fmt.Sprintf("%d more", n))
		}
		t.Printf("    %s %s\n", f.Label, textui.Columns(strings.Join(parts, " ← "), t.Width-6-len(f.Label), "      "))
	case f.Rows:
		tb := layout{indent: "      ", limit: t.TableWidth, align: "lr", rows: result.Each(pairs, func(p *Pair) textRow {
			return textRow{cells: []string{textui.Clean(p.Name), textui.Clean(p.Value)}}
		})}
		t.b.WriteString(tb.String())
	case len(pairs) > 0:
		parts := result.Each(pairs, func(p *Pair) string { return strings.TrimSpace(p.Name + " " + p.Value) })
		if n := len(f.Pairs) - len(pairs); n > 0 {
			parts = append(parts, fmt.Sprintf("%d more", n))
		}
		t.Wrap("    ", "    ", f.Label+": "+strings.Join(parts, "; "))
	case f.Depth > 0:
		indent := strings.Repeat("  ", f.Depth+2)
		t.Wrap(indent+"└ ", indent+"  ", f.Text)
	case f.Label == "" && f.Text != "": // as the pairs of rows
		t.Wrap("      ", "        ", f.Text)
	case f.Label == "see":
		t.Printf("    %s\n", textui.Command(f.Label+" "+textui.Clean(f.Text), t.Width-4, "    "))
	case f.Text != "":
		t.Wrap("    ", "    ", f.Label+" "+f.Text)
	}
}
