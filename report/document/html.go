package document

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
)

//go:embed html.tmpl
var htmlText string

// htmlTemplates are the forms of blocks.
var htmlTemplates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"clean": textui.Clean, "severity": knownSeverity, "bar": bar, "path": framePath, "short": shortPath,
		"findings": func(list List) bool { return slices.ContainsFunc(list, func(x Item) bool { return x.Severity != "" }) },
		"summary":  func(c Card) string { return strings.TrimLeft(textui.Clean(c.Summary), ",:; ") },
		"text":     func(f Facet) string { return f.branch() + textui.Clean(f.Text) },
	}).Parse(htmlText))
})

// HTMLOptions configures HTML.
type HTMLOptions struct {
	// Link returns where a moment is shown, "" if it is not.
	Link func(Moment) string
	// Open cards show their facets at once, those that name a command only without a link.
	Open bool
}

// HTML writes the blocks of a section, without its heading: tables with raw values in
// data-v, by which scripts sort them, lists, and cards.
func HTML(w io.Writer, s *Section, o HTMLOptions) error {
	lead := true
	for _, b := range s.Blocks {
		var data any = b
		name := ""
		switch b := b.(type) {
		case Paragraph:
			name, data = "text", map[string]any{"Strong": b.Strong, "Text": b.Text, "Lead": lead && s.Title != "", "Good": b.Good}
		case List:
			name = "list"
		case Facts:
			name = "pairs"
		case Cards:
			name, data = "cards", htmlCards{b, o.Open, o}
		case Parts:
			name, data = "bar", bar(b)
		case *Table:
			name, data = "table", o.table(s, b)
		}
		lead = false
		if err := htmlTemplates().ExecuteTemplate(w, name, data); err != nil {
			return fmt.Errorf("rendering section %s: %w", s.ID, err)
		}
	}
	return nil
}

// The types below are blocks as templates take them.
type (
	htmlTable struct {
		*Table
		Caption      string
		Rows, Totals []htmlRow
	}

	htmlRow struct {
		Heading string
		Indent  bool
		Span    int
		Cells   []htmlCell
	}

	htmlCell struct {
		Text, Title, Value, Link, Swatch string
		Parts                            []htmlPart
	}

	// htmlPart is a part of a bar, in thousandths.
	htmlPart struct {
		Class, Label, Share string
		From, Width         int
	}

	htmlCards struct {
		Cards Cards
		Open  bool
		o     HTMLOptions
	}
)

// DataKind returns the column's data type, by which scripts read its cells.
func (c Column) DataKind() string {
	return map[Kind]string{KindCount: "n", KindDuration: "ns", KindInstant: "at", KindShare: "share",
		KindBytes: "bytes", KindNumber: "mean", KindChange: "ns"}[c.Kind]
}

func (o *HTMLOptions) link(m *Moment) string {
	if m == nil || o.Link == nil {
		return ""
	}
	return o.Link(*m)
}

func (o *HTMLOptions) table(s *Section, t *Table) htmlTable {
	out := htmlTable{Table: t, Caption: cmp.Or(t.Caption, s.Title)}
	for i := range t.Rows {
		r := &t.Rows[i]
		row := htmlRow{Heading: textui.Clean(r.Heading), Indent: r.Indent, Span: len(t.Columns), Cells: result.Each(r.Cells, o.cell)}
		if r.Total {
			out.Totals = append(out.Totals, row)
			continue
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}

// htmlName is how long names are at most; the whole one is in the title.
const htmlName = 60

func (o *HTMLOptions) cell(c *Cell) htmlCell {
	out := htmlCell{Text: c.String(), Title: textui.Clean(c.Note), Swatch: c.Swatch, Link: o.link(c.Moment), Parts: bar(c.Parts)}
	if out.Link == "" && c.Target != "" {
		out.Link = "#" + c.Target
	}
	if _, ok := c.Value(); ok {
		out.Value = c.raw()
	}
	if c.is == words && (c.kind == KindName || c.kind == KindFunction) {
		out.Text = textui.Shorten(out.Text, htmlName)
		if whole := textui.Clean(c.text); whole != out.Text && out.Title == "" {
			out.Title = whole
		}
	}
	return out
}

// Short reports whether the text is to stay in one line if there is room.
func (c htmlCell) Short() bool { return c.Value == "" && c.Text != "" && len(c.Text) <= 48 }

// Long reports whether the text is a sentence or a list.
func (c htmlCell) Long() bool { return c.Value == "" && len(c.Text) > 48 }

// bar divides a whole by its parts. In float64, as integers would overflow at some months.
func bar(parts []Part) []htmlPart {
	whole, before := result.Sum(parts, func(p *Part) int64 { return max(p.Size, 0) }), int64(0)
	var out []htmlPart
	for _, p := range parts {
		if p.Size > 0 {
			from := int(1000 * float64(before) / float64(whole))
			before += p.Size
			out = append(out, htmlPart{p.Class, p.Label, textui.Ratio(p.Size, whole), from, int(1000*float64(before)/float64(whole)) - from})
		}
	}
	return out
}

// known returns a severity for which there are styles: a saved report may have anything.
func knownSeverity(s string) string {
	return textui.Either(s == "notable" || s == "serious", s, "info")
}

// Link returns where a moment of a card is shown.
func (c htmlCards) Link(m *Moment) string { return c.o.link(m) }

// framePath returns the file and line of a frame, "" if they are not known.
func framePath(f Frame) string {
	return textui.If(f.File != "", fmt.Sprintf("%s:%d", textui.Clean(f.File), f.Line))
}

// shortPath returns the last two elements of a path.
func shortPath(path string) string {
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		return path[strings.LastIndexByte(path[:i], '/')+1:]
	}
	return path
}
