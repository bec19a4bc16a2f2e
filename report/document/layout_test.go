package document

import (
	"strings"
	"testing"

	"github.com/schedscope/schedscope/internal/textui"
)

func TestLayout(t *testing.T) {
	tb := layout{indent: "  ", limit: 100, align: "Lrr", head: []string{"origin", "count", "p50"}, rows: []textRow{
		{cells: []string{"all", "12,345", "1.20µs"}},
		{cells: []string{"github.com/example/module/v2.(*Server).serve", "7", "64ns"}},
	}}
	want := `  origin                                         count     p50
  all                                           12,345  1.20µs
  github.com/example/module/v2.(*Server).serve       7    64ns
`
	if got := tb.String(); got != want {
		t.Errorf("table:\n%s\nwant:\n%s", got, want)
	}
	tb.limit = 50
	want = `  origin                             count     p50
  all                               12,345  1.20µs
  github.com/ex…v2.(*Server).serve       7    64ns
`
	if got := tb.String(); got != want {
		t.Errorf("table of 50 columns:\n%s\nwant:\n%s", got, want)
	}
	tb.limit, tb.drop = 37, []int{0, 1, 2}
	want = `  origin                          p50
  all                          1.20µs
  github.com/…(*Server).serve    64ns
`
	if got := tb.String(); got != want {
		t.Errorf("table of 37 columns:\n%s\nwant:\n%s", got, want)
	}
	tb.limit = 20
	if got := tb.String(); strings.Contains(got, "p50") || strings.Contains(got, "count") || !strings.Contains(got, "Server") {
		t.Errorf("table of 20 columns:\n%s", got)
	}
}

// TestLayoutHeadings checks that headings are never shortened and take no column's room, and
// that columns are narrowed evenly.
func TestLayoutHeadings(t *testing.T) {
	a, b := strings.Repeat("a", 40), strings.Repeat("b", 30)
	tb := layout{limit: 60, align: "LL", head: []string{"", ""}, rows: []textRow{
		{heading: "a heading that is longer than any cell"}, {cells: []string{a, b}},
		{heading: strings.Repeat("word ", 20)}, {cells: []string{"x", "y"}},
	}}
	lines := strings.Split(tb.String(), "\n")
	if lines[0] != "a heading that is longer than any cell" {
		t.Errorf("heading %q", lines[0])
	}
	if want := textui.Shorten(a, 29) + "  " + textui.Shorten(b, 29); lines[1] != want {
		t.Errorf("got %q, want %q", lines[1], want)
	}
	if len(lines) != 6 || len(lines[2]) > 60 || !strings.HasPrefix(lines[3], "  word") || lines[4] != "x"+strings.Repeat(" ", 30)+"y" {
		t.Errorf("got %q", lines)
	}
}
