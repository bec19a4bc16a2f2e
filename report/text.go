package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// DefaultTop is the usual number of rows of tables in the text.
const DefaultTop = 10

// Options say how a text is laid out.
type Options struct {
	Color   bool // emphasis by ANSI escape sequences
	Width   int  // columns of the terminal; 0 if it is none
	Unicode bool // false: ASCII only
	Top     int  // most rows of the tables of details; 0 for all
}

// How wide text is that does not go to a terminal: paragraphs and tables.
const (
	noWidth      = 100
	noTableWidth = 120
)

// Text writes the report for people: a summary of a screen, then details.
func Text(w io.Writer, d *Document, o Options) error {
	t := newText(o)
	t.doc, t.r = d, d.Report
	t.summary()
	t.details()
	return t.write(w)
}

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

// text is a report while it is written.
type text struct {
	b          strings.Builder
	doc        *Document
	r          *analyze.Report
	o          Options
	width      int // of paragraphs
	tableWidth int
	blockers   []analyze.AntagonistRow // see antagonists
	names      []string                // of traces, short
}

func (t *text) printf(format string, args ...any) { fmt.Fprintf(&t.b, format, args...) }

// wrap prints a paragraph, all lines but the first indented.
func (t *text) wrap(indent, format string, args ...any) {
	t.printf("%s\n", textui.Columns(fmt.Sprintf(format, args...), t.width-len(indent), indent))
}

// bold is for what is to be seen first. Nothing is said by it alone.
func (t *text) bold(s string) string {
	if !t.o.Color {
		return s
	}
	return "\x1b[1m" + s + "\x1b[0m"
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

// distHead and distCells are the columns of a distribution.
var distHead = []string{"count", "total", "p50", "p90", "p99", "p99.9", "max", "at"}

const distAlign = "rrrrrrrr"

func distCells(d *dist.Dist) []string {
	if d.Count() == 0 {
		return []string{"0"}
	}
	q := d.Quantiles(0.5, 0.9, 0.99, 0.999)
	return []string{textui.Count(d.Count()), textui.Duration(d.Total()),
		textui.Duration(q[0]), textui.Duration(q[1]), textui.Duration(q[2]), textui.Duration(q[3]),
		textui.Duration(d.Max()), textui.Instant(d.MaxAt())}
}

// distTable returns a table of distributions under a name.
func (t *text) distTable(name string) *textui.Table {
	return t.table("L"+distAlign, append([]string{name}, distHead...)...)
}

func distRow(tb *textui.Table, name string, d *dist.Dist) {
	tb.Row(append([]string{textui.Clean(name)}, distCells(d)...)...)
}

// distRows prints the distributions that have samples, the first few.
func (t *text) distRows(name string, rows []analyze.DistRow) {
	tb := t.distTable(name)
	shown := t.limit(len(rows))
	for _, row := range rows[:shown] {
		distRow(tb, row.Name, row.Dist)
	}
	t.b.WriteString(tb.String())
	t.more(shown, len(rows))
}

// funcRows is distRows of functions.
func (t *text) funcRows(rows []analyze.DistRow) {
	short := make([]analyze.DistRow, len(rows))
	for i, row := range rows {
		short[i] = analyze.DistRow{Name: textui.ShortFunc(row.Name), Dist: row.Dist}
	}
	t.distRows("function", short)
}

// goName names a goroutine of a trace.
func (t *text) goName(trace int, g model.GoID, fn string) string {
	s := fmt.Sprintf("goroutine %d", g)
	if fn != "" && fn != analyze.NoName {
		s += " " + t.name(fn)
	}
	if t.r.Totals.Traces > 1 {
		s += fmt.Sprintf(" of trace %d", trace+1)
	}
	return s
}

// name returns the untrusted name of a function, printable and not too long.
func (t *text) name(fn string) string { return shortName(fn, 48) }

func procName(p model.ProcID) string {
	if p == model.NoProc {
		return "no proc"
	}
	return fmt.Sprintf("proc %d", p)
}
