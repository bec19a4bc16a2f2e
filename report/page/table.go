package page

import (
	"strconv"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// table is a table of the page. Scripts add sorting, and for long ones a filter.
type table struct {
	ID      string
	Caption string
	Columns []column
	Rows    []row
	Totals  []row // below the others, however those are sorted
}

// column is the head of a column. Kind says what its cells hold: "" words, "ns" a length
// of time, "at" a point in time, "n" a number, "share", "bytes", "mean" a number with a
// fraction.
type column struct{ Name, Kind, Help string }

// Words reports whether the cells are words and not numbers.
func (c column) Words() bool { return c.Kind == "" }

type row struct {
	ID     string
	Indent bool
	Cells  []cell
}

// cell is text, and the number that it shows.
type cell struct {
	Text  string
	Title string // what the text is short for
	Value string // what sorts, if it is a number
	Link  string // a fragment of this page
	Class string // colour of a swatch before the text
	Parts []part // a bar instead of text
}

// part is a part of a bar, in thousandths.
type part struct {
	Class, Title string
	From, Width  int
}

// Short reports whether the text is to stay in one line if there is room.
func (c cell) Short() bool { return c.Value == "" && c.Text != "" && len(c.Text) <= 48 }

// Long reports whether the text is a sentence or a list.
func (c cell) Long() bool { return c.Value == "" && len(c.Text) > 48 }

func words(s string) cell { return cell{Text: textui.Clean(s)} }

// function shows the name of a function without the directories of its package.
func function(name string) cell {
	short, whole := textui.Clean(textui.ShortFunc(name)), textui.Clean(name)
	c := cell{Text: textui.Shorten(short, 60)}
	if c.Text != whole {
		c.Title = whole
	}
	return c
}

func duration(ns int64) cell {
	return cell{Text: textui.Duration(ns), Value: strconv.FormatInt(ns, 10)}
}

func instant(ns int64) cell {
	return cell{Text: textui.Instant(ns), Value: strconv.FormatInt(ns, 10)}
}

func count[N ~int | ~int64](n N) cell {
	return cell{Text: textui.Count(n), Value: strconv.FormatInt(int64(n), 10)}
}

func share(part float64) cell {
	return cell{Text: textui.Percent(part), Value: strconv.FormatFloat(part, 'g', -1, 64)}
}

// ratio is the share of part in whole.
func ratio(part, whole int64) cell {
	if whole == 0 {
		return cell{}
	}
	return share(float64(part) / float64(whole))
}

func bytesOf(n uint64) cell {
	return cell{Text: textui.Bytes(int64(min(n, 1<<62))), Value: strconv.FormatUint(n, 10)}
}

func mean(v float64, digits int) cell {
	return cell{Text: strconv.FormatFloat(v, 'f', digits, 64), Value: strconv.FormatFloat(v, 'g', -1, 64)}
}

// proc names a proc; -1 is none.
func proc(p int64) cell {
	if p < 0 {
		return cell{}
	}
	return cell{Text: strconv.FormatInt(p, 10), Value: strconv.FormatInt(p, 10)}
}

// stacked are parts of a whole, one after the other.
type stacked struct {
	whole, before int64
	parts         []part
}

// add appends a part, nothing if it is empty.
func (s *stacked) add(class, label string, n int64) {
	if n <= 0 || s.whole <= 0 {
		return
	}
	from := thousandths(s.before, s.whole)
	s.before += n
	s.parts = append(s.parts, part{class, label + " " + textui.Ratio(n, s.whole), from, thousandths(s.before, s.whole) - from})
}

// thousandths does not overflow, as integers would at some months of waiting.
func thousandths(part, whole int64) int { return int(1000 * float64(part) / float64(whole)) }

// add appends a row.
func (t *table) add(cells ...cell) *row {
	t.Rows = append(t.Rows, row{Cells: cells})
	return &t.Rows[len(t.Rows)-1]
}

// total appends a row that stays below the others.
func (t *table) total(cells ...cell) { t.Totals = append(t.Totals, row{Cells: cells}) }

// The columns of a distribution, and its cells.
var distColumns = []column{{"count", "n", ""}, {"total", "ns", ""}, {"p50", "ns", ""}, {"p90", "ns", ""}, {"p99", "ns", ""},
	{"p99.9", "ns", ""}, {"max", "ns", ""}, {"max at", "at", "when the longest one ended"}}

func (p *view) distCells(d *result.Dist) []cell {
	if d.Count == 0 {
		return []cell{count(0), {}, {}, {}, {}, {}, {}, {}}
	}
	at := instant(int64(d.MaxAt))
	at.Link = p.link(0, int64(d.MaxAt-model.Time(d.Max)), int64(d.Max), -1)
	q := percentileCells(d.Unknown, int64(d.P50), int64(d.P90), int64(d.P99), int64(d.P999))
	return append(append([]cell{count(d.Count), duration(int64(d.Total))}, q...), duration(int64(d.Max)), at)
}

// notKnown stands for a percentile that merging left unknown.
var notKnown = cell{Text: "-", Title: "not known: a report without its distribution was merged"}

// percentileCells are percentiles, dashes where merging left them unknown.
func percentileCells(unknown bool, values ...int64) []cell {
	var cells []cell
	for _, v := range values {
		c := notKnown
		if !unknown {
			c = duration(v)
		}
		cells = append(cells, c)
	}
	return cells
}

// percentile is a cell with a percentile of d.
func percentile(d *result.Dist, ns int64) cell { return percentileCells(d.Unknown, ns)[0] }

// distTable returns a table of distributions under names that name makes cells of.
func (p *view) distTable(id, caption, head string, rows []result.Named, name func(string) cell) *table {
	t := &table{ID: id, Caption: caption, Columns: append([]column{{Name: head}}, distColumns...)}
	for i := range rows {
		t.add(append([]cell{name(rows[i].Name)}, p.distCells(&rows[i].Dist)...)...)
	}
	return t
}
