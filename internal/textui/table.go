package textui

import "strings"

// Table is a table of text: columns two blanks apart, no lines, headings
// unless all are empty. The zero value is not useful; see [NewTable].
type Table struct {
	Indent string
	// Limit is the most columns of the terminal to take, 0 for no limit.
	Limit int

	align string
	head  []string
	rows  [][]string
}

// shortest is the width below which the flexible column is not shortened.
const shortest = 24

// NewTable returns a table of len(align) columns with these headings. Each
// letter of align is a column: r flush right, l flush left, L flush left and
// shortened in the middle if the table is wider than its Limit.
func NewTable(align string, head ...string) *Table {
	return &Table{align: align, head: head, Indent: "  "}
}

// Row adds a row. Missing cells are empty; cells beyond the columns make Row
// panic.
func (t *Table) Row(cells ...string) {
	if len(cells) > len(t.align) {
		panic("textui: Table.Row: more cells than columns")
	}
	t.rows = append(t.rows, cells)
}

// String returns the table, each line ended.
func (t *Table) String() string {
	widths := make([]int, len(t.align))
	all := t.rows
	if strings.Join(t.head, "") != "" {
		all = append([][]string{t.head}, t.rows...)
	}
	for _, row := range all {
		for i, c := range row {
			widths[i] = max(widths[i], Width(c))
		}
	}
	t.fit(widths)
	var b strings.Builder
	for _, row := range all {
		b.WriteString(t.line(row, widths))
	}
	return b.String()
}

// fit makes flexible columns narrower until the table is within its limit.
func (t *Table) fit(widths []int) {
	if t.Limit <= 0 {
		return
	}
	total := len(t.Indent) + 2*(len(widths)-1)
	for _, w := range widths {
		total += w
	}
	for i, w := range widths {
		if total > t.Limit && t.align[i] == 'L' && w > shortest {
			widths[i] = max(shortest, w-(total-t.Limit))
			total -= w - widths[i]
		}
	}
}

func (t *Table) line(row []string, widths []int) string {
	var b strings.Builder
	b.WriteString(t.Indent)
	for i, w := range widths {
		cell := ""
		if i < len(row) {
			cell = row[i]
		}
		if t.align[i] == 'L' {
			cell = Shorten(cell, w)
		}
		gap := strings.Repeat(" ", max(0, w-Width(cell)))
		if i > 0 {
			b.WriteString("  ")
		}
		if t.align[i] == 'r' {
			b.WriteString(gap + cell)
		} else {
			b.WriteString(cell + gap)
		}
	}
	return strings.TrimRight(b.String(), " ") + "\n"
}
