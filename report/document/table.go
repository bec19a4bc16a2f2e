package document

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/schedscope/schedscope/internal/textui"
)

// Kind is the type of a column's cells. It determines how they are formatted.
type Kind int

// Kinds of columns: first those of words, then those of numbers.
const (
	KindWord     Kind = iota // words of the program's own
	KindText                 // a sentence, or words of unknown length
	KindName                 // a name from a trace or from outside
	KindFunction             // a function, shown without the directories of its package
	KindList                 // short items, of which text shows as many as there is room for
	KindBar                  // parts of a whole; HTML only
	KindCount
	KindDuration // nanoseconds
	KindInstant  // a point in time, nanoseconds from the beginning of its trace
	KindShare    // a part of 1
	KindBytes
	KindNumber // with as many digits as the column says
	KindChange // nanoseconds with their sign
	KindFigure // numbers of different kinds, each made by As
)

// Column is a column of a table. Its methods return a changed copy.
type Column struct {
	Name string
	Kind Kind
	Help string // what its cells are, for those who ask

	term   string // what text explains by Help above the table
	digits int    // of KindNumber
	width  int    // most columns of a name in text
	drop   int
	extra  bool
}

// Constructors of columns, by what they hold.
func Word(name string) Column     { return Column{Name: name, Kind: KindWord} }
func Words(name string) Column    { return Column{Name: name, Kind: KindText} }
func Name(name string) Column     { return Column{Name: name, Kind: KindName} }
func Function(name string) Column { return Column{Name: name, Kind: KindFunction} }
func Items(name string) Column    { return Column{Name: name, Kind: KindList} }
func Bar(name string) Column      { return Column{Name: name, Kind: KindBar} }
func Count(name string) Column    { return Column{Name: name, Kind: KindCount} }
func Duration(name string) Column { return Column{Name: name, Kind: KindDuration} }
func Instant(name string) Column  { return Column{Name: name, Kind: KindInstant} }
func Share(name string) Column    { return Column{Name: name, Kind: KindShare} }
func Bytes(name string) Column    { return Column{Name: name, Kind: KindBytes} }
func Change(name string) Column   { return Column{Name: name, Kind: KindChange} }
func Figure(name string) Column   { return Column{Name: name, Kind: KindFigure} }

// Number returns a column of numbers with so many digits after the point.
func Number(name string, digits int) Column {
	return Column{Name: name, Kind: KindNumber, digits: digits}
}

// Doc sets the column's help.
func (c Column) Doc(help string) Column { c.Help = help; return c }

// Explain is Doc that text prints above the table, as the meaning of a term in headings.
func (c Column) Explain(term, help string) Column { c.term, c.Help = term, help; return c }

// AtMost limits the width of names in text.
func (c Column) AtMost(width int) Column { c.width = width; return c }

// Drop makes the column optional on a narrow terminal. Text drops columns of lower rank first.
// Ranks begin with 1.
func (c Column) Drop(rank int) Column { c.drop = rank; return c }

// Extra limits the column to HTML, which has room for it.
func (c Column) Extra() Column { c.extra = true; return c }

// IsWords reports whether the cells are words and not numbers.
func (c Column) IsWords() bool { return c.Kind < KindCount }

// Table is a table. Rows are complete: renderers show as many as there is room for.
type Table struct {
	ID      string // equal in all versions of the program
	Caption string // what it shows; the section's title if it is empty
	Heading string // above the table, where a section has several
	Columns []Column
	Rows    []Row
	Fixed   bool // the rows are few by nature: text and Markdown show them all
	Fold    bool // HTML shows only the caption at first
	Extra   bool // only HTML shows it, which has room for it
	Most    int  // rows that text and Markdown show at most unless all are asked for; 0: as many as of others
}

// Row is a row of a table, or a heading of the rows below it.
type Row struct {
	Cells   []Cell
	Heading string
	Indent  bool // it is a part of the last row that is not indented
	Total   bool // it is the sum of the others; HTML has it stay below them
}

// Row adds a row. Missing cells are empty. The row may be changed until the next is added.
func (t *Table) Row(cells ...any) *Row {
	if len(cells) > len(t.Columns) {
		panic(fmt.Sprintf("document: row of %d cells in table %s of %d columns", len(cells), t.ID, len(t.Columns)))
	}
	r := Row{Cells: make([]Cell, len(t.Columns))}
	for i, v := range cells {
		r.Cells[i] = t.Columns[i].cell(v)
	}
	t.Rows = append(t.Rows, r)
	return &t.Rows[len(t.Rows)-1]
}

// Section adds a heading for the rows below it.
func (t *Table) Section(heading string) {
	t.Rows = append(t.Rows, Row{Heading: heading})
}

// Cell is a value of a table. The zero value is empty.
type Cell struct {
	kind   Kind // with digits: how it is written
	digits int
	is     is
	n      int64
	x      float64 // also of wholes
	text   string
	list   []string
	low    float64
	high   float64
	hasEnd bool // low and high are known

	Moment *Moment
	Parts  []Part // of KindBar
	Swatch string // class of a colour that stands before the text
	Note   string // for those who ask
	Target string // an ID in the same document to which HTML links
}

// is says what a cell has.
type is int

const (
	empty is = iota
	words
	whole    // n
	fraction // x
	unknown
	shown // text for people, x for sorting
)

// Unknown is the cell of a value that there should be but that is not known.
var Unknown = Cell{is: unknown, Note: "not known"}

// If returns v, or Unknown if that is not known.
func If(known bool, v any) any { return textui.Either[any](known, v, Unknown) }

// As returns a cell of another kind than its column's.
func As(kind Kind, v any) Cell { return Column{Kind: kind}.cell(v) }

// Shown returns a cell that shows text in place of its value.
func Shown(text string, value float64) Cell { return Cell{is: shown, text: text, x: value} }

// Range returns a cell with a value between two others.
func Range(mid, low, high float64) Cell {
	return Cell{is: fraction, x: mid, low: low, high: high, hasEnd: true}
}

// Link returns a cell that links to a moment.
func Link(v any, m Moment) Cell {
	c := toCell(v)
	c.Moment = &m
	return c
}

// cell makes a cell of a value in this column.
func (c Column) cell(v any) Cell {
	x := toCell(v)
	if _, made := v.(Cell); !made || x.kind == KindWord {
		x.kind, x.digits = c.Kind, c.digits
	}
	return x
}

// toCell makes a cell of a value whose kind is not known yet.
func toCell(v any) Cell {
	switch v := v.(type) {
	case nil:
		return Cell{}
	case Cell:
		return v
	case string:
		return Cell{is: words, text: v}
	case []string:
		return Cell{is: words, list: v}
	case []Part:
		return Cell{is: words, Parts: v}
	}
	switch r := reflect.ValueOf(v); {
	case r.CanInt():
		return Cell{is: whole, n: r.Int(), x: float64(r.Int())}
	case r.CanUint():
		n := min(r.Uint(), math.MaxInt64)
		return Cell{is: whole, n: int64(n), x: float64(n)}
	case r.CanFloat():
		return Cell{is: fraction, x: r.Float()}
	}
	panic(fmt.Sprintf("document: cell of a %T", v))
}

// Value returns the sort key of a cell of a number, and whether it has one.
func (c *Cell) Value() (float64, bool) {
	return c.x, c.is == whole || c.is == fraction || c.is == shown
}

// raw returns the value with all its digits, "" if there is none.
func (c *Cell) raw() string {
	switch {
	case c.is == whole:
		return strconv.FormatInt(c.n, 10)
	case c.is == fraction || c.is == shown:
		if math.IsNaN(c.x) || math.IsInf(c.x, 0) {
			return ""
		}
		return strconv.FormatFloat(c.x, 'g', -1, 64)
	case len(c.list) > 0:
		return strings.Join(c.list, "; ")
	}
	return c.text
}

// String returns the cell as text shows it.
func (c *Cell) String() string {
	switch c.is {
	case empty:
		return ""
	case unknown:
		return "-"
	case shown:
		return c.text
	case words:
		if c.kind == KindFunction {
			return textui.Clean(textui.ShortFunc(c.text))
		}
		if c.list != nil {
			return textui.Clean(strings.Join(c.list, "; "))
		}
		return textui.Clean(c.text)
	}
	if math.IsNaN(c.x) || math.IsInf(c.x, 0) {
		return "-"
	}
	s := c.text + c.number(c.x)
	if low, high := c.number(c.low), c.number(c.high); c.hasEnd && low != high {
		s += " (" + low + ".." + high + ")"
	}
	return s
}

// number writes a number of the cell's kind.
func (c *Cell) number(x float64) string {
	n := textui.Either(c.is == fraction, int64(math.Round(x)), c.n)
	switch c.kind {
	case KindDuration:
		return textui.Duration(n)
	case KindInstant:
		return textui.Instant(n)
	case KindShare:
		return textui.Percent(x)
	case KindBytes:
		return textui.Bytes(n)
	case KindNumber:
		return strconv.FormatFloat(x, 'f', c.digits, 64)
	case KindChange:
		if n < 0 {
			return textui.Duration(n)
		}
		return "+" + textui.Duration(n)
	}
	return textui.Count(n)
}
