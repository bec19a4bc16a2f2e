package report

import "github.com/schedscope/schedscope/model"

// Sink takes the rows of a table, cell by cell, each row ended by End. It keeps what
// goes wrong to itself until Close.
type Sink interface {
	Int(n int64)   // of columns of time, ns, id and count
	Uint(n uint64) // of columns of count that may be beyond what fits Int
	None()         // in place of Int and Uint: there is no value, or it is not known
	Bool(b bool)
	// Name adds a name, number i of those that the table has had so far: equal names
	// have equal numbers, the first has 0. It is "" if it is not known, and may be any
	// bytes.
	Name(i int, s string)
	End()
	// Close finishes the table. It returns the first error of writing.
	Close() error
}

// rows hands the rows of one table to a sink as they come, without keeping any. The
// methods that add a cell must be called once for each column, then end.
type rows struct {
	sink   Sink
	count  int64
	tables *model.Tables
	origin model.Time // the beginning of the trace
	rowWindow
	names   []string
	numbers map[string]int32 // of names
	strs    []int32          // by StringID: the number of the name and 1; 0: not met yet
	tops    []int32          // the same by StackID, of the function at the top
}

func newRows(sink Sink) *rows {
	return &rows{sink: sink, rowWindow: allRows, numbers: map[string]int32{}}
}

// end finishes the row.
func (r *rows) end() {
	r.sink.End()
	r.count++
}

func (r *rows) bool(b bool)   { r.sink.Bool(b) }
func (r *rows) uint(n uint64) { r.sink.Uint(n) }

// integer is what numbers of a table are: points and lengths of time in nanoseconds, ids
// and counts.
type integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint64
}

// num adds a number.
func num[N integer](r *rows, n N) { r.sink.Int(int64(n)) }

// numIf adds a number if it is known.
func numIf[N integer](r *rows, known bool, n N) {
	if !known {
		r.sink.None()
		return
	}
	num(r, n)
}

// id adds a number that may be absent, as model.NoGoroutine and its like are.
func id[N integer](r *rows, n N) { numIf(r, n >= 0, n) }

// text adds a string that is not interned.
func (r *rows) text(s string) { r.name(r.number(s)) }

// str adds an interned string.
func (r *rows) str(id model.StringID) {
	n := numberAt(r.strs, uint64(id))
	if n == 0 {
		n = 1 + r.number(r.tables.String(id))
		r.strs = setNumber(r.strs, uint64(id), n)
	}
	r.name(n - 1)
}

// frame adds the function at the top of a stack, where the goroutine was.
func (r *rows) frame(id model.StackID) {
	n := numberAt(r.tops, uint64(id))
	if n == 0 {
		name := ""
		if frames := r.tables.Stack(id); len(frames) > 0 {
			name = frames[0].Func
		}
		n = 1 + r.number(name)
		r.tops = setNumber(r.tops, uint64(id), n)
	}
	r.name(n - 1)
}

func (r *rows) name(n int32) { r.sink.Name(int(n), r.names[n]) }

// number returns the number of a name, a new one at first sight.
func (r *rows) number(s string) int32 {
	n, ok := r.numbers[s]
	if !ok {
		n = int32(len(r.names))
		r.names = append(r.names, s)
		r.numbers[s] = n
	}
	return n
}

func numberAt(list []int32, id uint64) int32 {
	if id < uint64(len(list)) {
		return list[id]
	}
	return 0
}

// setNumber sets list[id], for which it makes room. IDs are dense: those of
// [model.Tables].
func setNumber(list []int32, id uint64, n int32) []int32 {
	for uint64(len(list)) <= id {
		list = append(list, 0)
	}
	list[id] = n
	return list
}
