package textui

import "strings"

// Table is a table of text: columns two blanks apart, no lines, headings
// unless all are empty. The zero value is not useful; see [NewTable].
type Table struct {
	Indent string
	// Limit is the most columns of the terminal to take, 0 for no limit.
	Limit int
	// Drop are groups of columns that are left out, one group after the other, while the
	// table is wider than its Limit.
	Drop [][]int
	// Short shortens cells that are wider than their flexible column; nil: [Shorten].
	Short func(cell string, width int) string

	align    string
	head     []string
	rows     [][]string
	headings map[int]string // that stand before a row
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

// Heading adds a line for the rows that follow. It is as wide as it needs to be, and
// wrapped at the Limit.
func (t *Table) Heading(text string) {
	if t.headings == nil {
		t.headings = map[int]string{}
	}
	t.headings[len(t.rows)] = text
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
	for _, group := range t.Drop {
		if t.Limit <= 0 || t.least(widths) <= t.Limit {
			break
		}
		for _, i := range group {
			widths[i] = hidden
		}
	}
	t.fit(widths)
	var b strings.Builder
	for i, row := range all {
		if h, ok := t.headings[i-(len(all)-len(t.rows))]; ok {
			b.WriteString(t.heading(h))
		}
		b.WriteString(t.line(row, widths))
	}
	return b.String()
}

func (t *Table) heading(text string) string {
	if limit := t.Limit - len(t.Indent); t.Limit > 0 && Width(text) > limit {
		text = Columns(text, max(shortest, limit), t.Indent+"  ")
	}
	return t.Indent + text + "\n"
}

// hidden is the width of a column that is left out.
const hidden = -1

// least returns how wide the table is with all flexible columns as short as they may be.
func (t *Table) least(widths []int) int {
	total := len(t.Indent) - 2
	for i, w := range widths {
		if t.align[i] == 'L' {
			w = min(w, shortest)
		}
		if w != hidden {
			total += 2 + w
		}
	}
	return total
}

// fit makes the widest flexible column narrower, again and again, until the table is within
// its limit.
func (t *Table) fit(widths []int) {
	if t.Limit <= 0 {
		return
	}
	total := len(t.Indent) - 2
	for _, w := range widths {
		if w != hidden {
			total += 2 + w
		}
	}
	for ; total > t.Limit; total-- {
		widest := -1
		for i, w := range widths {
			if t.align[i] == 'L' && w > shortest && (widest < 0 || w > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		widths[widest]--
	}
}

func (t *Table) line(row []string, widths []int) string {
	var b strings.Builder
	b.WriteString(t.Indent)
	first := true
	for i, w := range widths {
		if w == hidden {
			continue
		}
		cell := ""
		if i < len(row) {
			cell = row[i]
		}
		if t.align[i] == 'L' {
			cell = t.short(cell, w)
		}
		gap := strings.Repeat(" ", max(0, w-Width(cell)))
		if !first {
			b.WriteString("  ")
		}
		first = false
		if t.align[i] == 'r' {
			b.WriteString(gap + cell)
		} else {
			b.WriteString(cell + gap)
		}
	}
	return strings.TrimRight(b.String(), " ") + "\n"
}

func (t *Table) short(cell string, width int) string {
	if t.Short != nil && Width(cell) > width {
		return t.Short(cell, width)
	}
	return Shorten(cell, width)
}
