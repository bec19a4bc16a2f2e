package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/report/document"
	"github.com/schedscope/schedscope/report/view"
)

// DefaultTop is the usual number of rows of tables in the text.
const DefaultTop = 10

// Options say how a text is laid out.
type Options = document.TextOptions

// How wide text is that does not go to a terminal: paragraphs and tables.
const (
	noWidth      = 100
	noTableWidth = 120
)

// newText returns an empty text.
func newText(o Options) *text {
	t := &text{o: o, width: noWidth, tableWidth: noTableWidth}
	if o.Width > 0 {
		t.tableWidth = max(o.Width, 60)
		t.width = min(t.tableWidth, noWidth)
	}
	return t
}

// write writes the finished text.
func (t *text) write(w io.Writer) error {
	out := t.b.String()
	if !t.o.Unicode {
		out = textui.ASCII(out)
	}
	_, err := io.WriteString(w, out)
	return err
}

// text is a report of replaying or comparing while it is written.
type text struct {
	b          strings.Builder
	doc        *Document
	o          Options
	width      int // of paragraphs
	tableWidth int
}

func (t *text) printf(format string, args ...any) { fmt.Fprintf(&t.b, format, args...) }

// bold is for what is to be seen first. Nothing is said by it alone.
func (t *text) bold(s string) string {
	if !t.o.Color {
		return s
	}
	return "\x1b[1m" + s + "\x1b[0m"
}

// wrap prints a paragraph, all lines but the first indented.
func (t *text) wrap(indent, format string, args ...any) {
	t.printf("%s\n", textui.Columns(fmt.Sprintf(format, args...), t.width-len(indent), indent))
}

// section begins a part of the details. Notes follow the title.
func (t *text) section(title, format string, args ...any) {
	t.printf("\n%s\n", t.bold(title))
	if format != "" {
		t.note(format, args...)
	}
}

// note prints an indented paragraph.
func (t *text) note(format string, args ...any) {
	t.printf("  %s\n", textui.Columns(fmt.Sprintf(format, args...), t.width-2, "  "))
}

// labelled prints a line of the summary that begins with a label.
func (t *text) labelled(label, format string, args ...any) {
	indent := strings.Repeat(" ", 11)
	t.printf("%-10s %s\n", label, textui.Columns(fmt.Sprintf(format, args...), t.width-len(indent), indent))
}

// table returns a table that fits the width.
func (t *text) table(align string, head ...string) *textui.Table {
	tb := textui.NewTable(align, head...)
	tb.Limit = t.tableWidth
	return tb
}

// limit returns how many of n rows to print.
func (t *text) limit(n int) int {
	if t.o.Top > 0 {
		return min(n, t.o.Top)
	}
	return n
}

// more prints how many rows were left out.
func (t *text) more(shown, all int) {
	if all > shown {
		t.printf("  … and %s more; --top 0 shows all\n", textui.Count(all-shown))
	}
}

// read is what was read, in the form of a result.
func (d *Document) read() *result.Report {
	return &result.Report{Traces: result.Each(d.Traces, traceResult), Skipped: result.Each(d.Skipped, func(s *Skipped) result.Skipped { return result.Skipped(*s) })}
}

// completeness says in one line whether all was read.
func (t *text) completeness() {
	if s := view.Completeness(t.doc.read()); s != "" {
		t.wrap("  ", "%s", s)
	}
}

func describeTrace(tr *Trace) string {
	v := traceResult(tr)
	return view.Describe(&v)
}

func (t *text) formats() string { return view.Formats(t.doc.read()) }
