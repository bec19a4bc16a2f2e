package document

import (
	"math"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/internal/textui"
)

// A layout is a table of text: columns two blanks apart, no lines, headings unless all are empty.
type layout struct {
	indent string
	limit  int // most columns of the terminal to take
	// align is a letter for each column: r flush right, l flush left, L flush left and shortened where
	// the table is too wide.
	align string
	drop  []int // ranks of the columns that are left out where it still is, 1 first; 0 is never
	head  []string
	rows  []textRow
}

// textRow is a row, or a heading of the rows below it, which is as wide as it needs to be, and wrapped.
type textRow struct {
	heading string
	cells   []string
}

// shortest is the width below which a flexible column is not shortened.
const shortest = 24

// hidden is the width of a column that is left out.
const hidden = -1

// String returns the table, each line ended.
func (l *layout) String() string {
	widths := make([]int, len(l.align))
	all := l.rows
	if strings.Join(l.head, "") != "" {
		all = slices.Insert(slices.Clone(all), 0, textRow{cells: l.head})
	}
	for _, row := range all {
		for i, c := range row.cells {
			widths[i] = max(widths[i], textui.Width(c))
		}
	}
	for rank := 1; l.width(widths, shortest) > l.limit && rank <= slices.Max(append(l.drop, 0)); rank++ {
		for i, r := range l.drop {
			if r == rank {
				widths[i] = hidden
			}
		}
	}
	l.fit(widths)
	var b strings.Builder
	for _, row := range all {
		if row.heading != "" {
			text := row.heading
			if room := l.limit - len(l.indent); textui.Width(text) > room {
				text = textui.Columns(text, max(shortest, room), l.indent+"  ")
			}
			b.WriteString(l.indent + text + "\n")
			continue
		}
		b.WriteString(l.line(row.cells, widths))
	}
	return b.String()
}

// width returns how wide the table is if no flexible column is wider than most.
func (l *layout) width(widths []int, most int) int {
	total := len(l.indent) - 2
	for i, w := range widths {
		if l.align[i] == 'L' {
			w = min(w, most)
		}
		if w != hidden {
			total += 2 + w
		}
	}
	return total
}

// fit makes the widest flexible column narrower, again and again, until the table is within
// its limit.
func (l *layout) fit(widths []int) {
	for total := l.width(widths, math.MaxInt); total > l.limit; total-- {
		widest := -1
		for i, w := range widths {
			if l.align[i] == 'L' && w > shortest && (widest < 0 || w > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		widths[widest]--
	}
}

func (l *layout) line(row []string, widths []int) string {
	var parts []string
	for i, w := range widths {
		if w == hidden {
			continue
		}
		cell := ""
		if i < len(row) {
			cell = row[i]
		}
		if l.align[i] == 'L' && textui.Width(cell) > w {
			cell = shortPlace(cell, w)
		}
		gap := strings.Repeat(" ", max(0, w-textui.Width(cell)))
		if l.align[i] == 'r' {
			cell, gap = gap+cell, ""
		}
		parts = append(parts, cell+gap)
	}
	return strings.TrimRight(l.indent+strings.Join(parts, "  "), " ") + "\n"
}

// shortPlace shortens a cell; of a place such as "main.f (main.go:12)" file and line stay.
func shortPlace(cell string, width int) string {
	i := strings.LastIndex(cell, " (")
	rest := width - textui.Width(cell[max(i, 0):])
	if i <= 0 || !strings.HasSuffix(cell, ")") || rest < 2 {
		return textui.Shorten(cell, width)
	}
	return textui.Shorten(cell[:i], rest) + cell[i:]
}
