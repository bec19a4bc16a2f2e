package document

import (
	"fmt"
	"io"
	"strings"

	"github.com/schedscope/schedscope/internal/textui"
)

// Rows that tables of Markdown have at most: where they are seen at once, and folded.
const (
	markdownRows   = 8
	markdownFolded = 12
	markdownName   = 120 // columns of a name
)

// Markdown writes a document for a job or a pull request. Sections that are folded show
// their title only, and lists that may be long end after some rows.
func Markdown(w io.Writer, d *Document) error {
	m := &markdown{rows: markdownRows}
	if d.Title != "" {
		m.printf("## %s\n\n", strings.TrimSpace(d.About+" "+code(d.Title)))
	}
	for _, s := range d.Sections {
		m.section(s)
	}
	_, err := io.WriteString(w, m.String())
	return err
}

type markdown struct {
	strings.Builder
	rows int // that tables have at most
}

func (m *markdown) printf(format string, args ...any) { fmt.Fprintf(m, format, args...) }

// plain returns a text of which nothing is markup.
func plain(s string) string { return textui.Markdown(textui.Clean(s)) }

// code returns a name in the type of code.
func code(s string) string {
	if s == "" {
		return ""
	}
	return textui.MarkdownCode(textui.Shorten(textui.Clean(s), markdownName))
}

func (m *markdown) section(s *Section) {
	switch {
	case s.Fold:
		m.printf("<details><summary>%s</summary>\n\n", plain(s.Title))
		m.rows = markdownFolded
		defer func() {
			m.printf("</details>\n\n")
			m.rows = markdownRows
		}()
	case s.Title != "" && s.Inferred:
		m.printf("### %s (inferred)\n\n", plain(s.Title))
	case s.Title != "":
		m.printf("### %s\n\n", plain(s.Title))
	}
	for _, b := range s.Blocks {
		switch b := b.(type) {
		case Paragraph:
			if b.Strong != "" {
				m.printf("**%s**", plain(b.Strong))
			}
			m.printf("%s\n\n", plain(b.Text))
		case List:
			m.list(b)
		case Facts:
			for _, f := range b {
				m.printf("- %s\n", strings.TrimPrefix(plain(f.Name)+": ", ": ")+plain(f.Value))
			}
			m.printf("\n")
		case Cards:
			m.cards(b)
		case *Table:
			if !b.Extra {
				m.table(b)
			}
		}
	}
}

// marks draw attention to what is severe.
var marks = map[string]string{"serious": "❌ ", "notable": "⚠️ "}

func (m *markdown) list(list List) {
	for i := range list {
		strong := textui.If(list[i].Strong, "**")
		m.printf("- %s%s%s%s\n", marks[list[i].Severity], strong, plain(list[i].words()), strong)
	}
	m.printf("\n")
}

// cards writes a line for each, with its paragraphs.
func (m *markdown) cards(list Cards) {
	for i := range list[:min(markdownFolded, len(list))] {
		c := &list[i]
		m.printf("- %s**%s**%s", marks[c.Severity], plain(c.Title), plain((&Item{Text: c.Summary, Grade: c.Grade}).words()))
		for _, text := range c.Text {
			m.printf(". %s", plain(strings.TrimSuffix(text, ".")))
		}
		m.printf(".\n")
		for _, f := range c.Facets {
			if c.Grade == "" && f.Text != "" && !f.HTMLOnly {
				m.printf("%s- %s\n", strings.Repeat("  ", f.Depth+1), plain(strings.TrimSpace(f.Label+" "+f.Text)))
			}
		}
	}
	m.printf("\n")
	m.more(len(list) - markdownFolded)
}

// more says how many rows were left out.
func (m *markdown) more(left int) {
	if left > 0 {
		m.printf("%s more are in the JSON.\n\n", textui.Count(left))
	}
}

// table writes the first rows, and totals.
func (m *markdown) table(t *Table) {
	if t.Heading != "" {
		m.printf("**%s**\n\n", plain(t.Heading))
	}
	var columns []int
	var head, rule []string
	for i, c := range t.Columns {
		if c.extra || c.Kind == KindBar {
			continue
		}
		columns = append(columns, i)
		head = append(head, plain(c.Name))
		rule = append(rule, textui.Either(c.IsWords(), "---", "--:"))
	}
	m.printf("| %s |\n|%s|\n", strings.Join(head, " | "), strings.Join(rule, "|"))
	shown, left, most := 0, 0, m.rows
	if t.Most > 0 {
		most = min(most, t.Most)
	}
	for n := range t.Rows {
		r := &t.Rows[n]
		if r.Heading != "" {
			m.printf("| **%s** |%s\n", plain(r.Heading), strings.Repeat(" |", len(columns)-1))
			continue
		}
		if shown++; shown > most && !t.Fixed && !r.Total {
			left++
			continue
		}
		var cells []string
		for k, i := range columns {
			c := &r.Cells[i]
			cell := plain(c.String())
			if c.is == words && (c.kind == KindName || c.kind == KindFunction) {
				cell = code(c.text) // of functions the whole name
			}
			if k == 0 && r.Indent {
				cell = "&nbsp; " + cell
			}
			cells = append(cells, cell)
		}
		m.printf("| %s |\n", strings.Join(cells, " | "))
	}
	m.printf("\n")
	m.more(left)
}
