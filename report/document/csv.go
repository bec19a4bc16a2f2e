package document

import (
	"bufio"
	"io"
	"strings"

	"github.com/schedscope/schedscope/internal/textui"
)

// CSV writes the rows of a table under a line of headings, values with all their digits:
// lengths and points of time in nanoseconds, shares as parts of 1. What is not known is
// empty. Headings of rows and totals are left out.
func CSV(w io.Writer, t *Table) error {
	b := bufio.NewWriter(w)
	line := func(n int, cell func(i int) string) {
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(cell(i))
		}
		b.WriteByte('\n')
	}
	line(len(t.Columns), func(i int) string { return t.Columns[i].csvKey() })
	for n := range t.Rows {
		if r := &t.Rows[n]; r.Heading == "" && !r.Total {
			line(len(r.Cells), func(i int) string { return r.Cells[i].csv() })
		}
	}
	return b.Flush()
}

// csv is the raw value of a cell; words are quoted where they need it.
func (c *Cell) csv() string {
	if c.is == words {
		return textui.CSV(c.raw())
	}
	return c.raw()
}

// units end the headings of columns of CSV.
var units = map[Kind]string{KindDuration: "_ns", KindInstant: "_ns", KindChange: "_ns", KindBytes: "_bytes"}

// csvKey is the heading of a column.
func (c Column) csvKey() string {
	if c.key != "" {
		return c.key
	}
	return strings.NewReplacer(" ", "_", ".", "_", ",", "").Replace(strings.ToLower(c.Name)) + units[c.Kind]
}
