package report

import (
	"fmt"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// Sink receives the rows of a table, in batches. It keeps errors until Close.
type Sink interface {
	// Rows takes rows and leaves room for others, which may be the same, emptied.
	Rows(*Rows)
	// Close finishes the table. It returns the first error of writing.
	Close() error
}

// Rows are rows of a table that follow each other.
type Rows struct {
	// Cells are those of the first row, a cell for each column, then those of the next. They are
	// numbers, of columns of bool 0 or 1, of columns of names the place in Names.
	Cells []int64
	// Names are all that the table has had so far, each once. One is "" if it is not known,
	// and may be any bytes.
	Names []string
	// Nulls has for each row a bit for each cell that has no value, or one that is not known,
	// Wide one for each whose number is a uint64 instead.
	Nulls, Wide []uint64
}

// Clear removes all rows.
func (r *Rows) Clear() { r.Cells, r.Nulls, r.Wide = r.Cells[:0], r.Nulls[:0], r.Wide[:0] }

// sinkRows is the number of rows that a [Sink] gets at a time, except for the last.
const sinkRows = 256

// rows collects the rows of one table and hands them to a sink. The methods that add a cell
// must be called once for each column, then end.
type rows struct {
	Rows
	names       []string // all
	nulls, wide uint64   // of the row
	begin       int      // where the row begins
	sink        Sink
	count       int64
	tables      *model.Tables
	origin      model.Time // the beginning of the trace
	rowWindow
	noLabels bool
	numbers  map[string]int32 // of names
	recent   [128]int32       // numbers of the latest names, which are asked for again and again
	words    [64][]int32      // by column and value: the number of the word and 1; 0: not met yet
	strs     []int32          // by StringID: the number of the name and 1; 0: not met yet
	tops     []int32          // the same by StackID, of the function at the top
}

func newRows(sink Sink) *rows {
	return &rows{sink: sink, rowWindow: allRows, numbers: map[string]int32{}}
}

// end finishes the row.
func (r *rows) end() {
	r.Nulls, r.Wide = append(r.Nulls, r.nulls), append(r.Wide, r.wide)
	r.nulls, r.wide, r.begin = 0, 0, len(r.Cells)
	r.count++
	if len(r.Nulls) == sinkRows {
		r.flush()
	}
}

// flush hands over the rows that are complete.
func (r *rows) flush() {
	r.Names = r.names
	r.sink.Rows(&r.Rows)
	r.begin = 0
}

func (r *rows) bool(b bool) {
	n := 0
	if b {
		n = 1
	}
	num(r, n)
}

// uint adds a number that may be beyond what other cells can be.
func (r *rows) uint(n uint64) {
	if int64(n) < 0 {
		r.wide |= 1 << (len(r.Cells) - r.begin)
	}
	num(r, int64(n))
}

// integer is what numbers of a table are: points and lengths of time in nanoseconds, ids
// and counts.
type integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint64
}

// num adds a number.
func num[N integer](r *rows, n N) { r.Cells = append(r.Cells, int64(n)) }

// numIf adds a number if it is known.
func numIf[N integer](r *rows, known bool, n N) {
	if !known {
		r.nulls |= 1 << (len(r.Cells) - r.begin)
		n = 0
	}
	num(r, n)
}

// id adds a number that may be absent, as model.NoGoroutine and its like are.
func id[N integer](r *rows, n N) { numIf(r, n >= 0, n) }

// text adds a string that is not interned.
func (r *rows) text(s string) { num(r, r.number(s)) }

// word adds the word for a value of a type that has few. All values of a column are of one type.
func word[W interface {
	~uint8
	fmt.Stringer
}](r *rows, w W) {
	n := result.Slot(&r.words[len(r.Cells)-r.begin], int(w))
	if *n == 0 {
		*n = 1 + r.number(w.String())
	}
	num(r, *n-1)
}

// str adds an interned string.
func (r *rows) str(id model.StringID) {
	n := result.Slot(&r.strs, int(id))
	if *n == 0 {
		*n = 1 + r.number(r.tables.String(id))
	}
	num(r, *n-1)
}

// frame adds the function at the top of a stack, where the goroutine was.
func (r *rows) frame(id model.StackID) {
	n := result.Slot(&r.tops, int(id))
	if *n == 0 {
		name := ""
		if frames := r.tables.Stack(id); len(frames) > 0 {
			name = frames[0].Func
		}
		*n = 1 + r.number(name)
	}
	num(r, *n-1)
}

// number returns the number of a name, a new one at first sight.
func (r *rows) number(s string) int32 {
	recent := &r.recent[0]
	if s != "" {
		recent = &r.recent[(len(s)+7*int(s[0])+31*int(s[len(s)-1]))%len(r.recent)]
	}
	if n := int(*recent); n < len(r.names) && r.names[n] == s {
		return *recent
	}
	n, ok := r.numbers[s]
	if !ok {
		n = int32(len(r.names))
		r.names = append(r.names, s)
		r.numbers[s] = n
	}
	*recent = n
	return n
}
