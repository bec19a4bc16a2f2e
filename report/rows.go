package report

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// RowFormat is a format of tables.
type RowFormat int

// Formats of tables.
const (
	CSV    RowFormat = iota // RFC 4180 with a line of headings; lines end in \n
	NDJSON                  // one JSON object per line
)

// rows writes the rows of one table as they come, without keeping any. The
// methods that add a cell must be called once for each column, then end.
type rows struct {
	w       *bufio.Writer
	format  RowFormat
	columns []string
	keys    []string // NDJSON: `{"goroutine":`, `,"function":`
	line    []byte
	cell    int
	count   int64
	err     error
	tables  *model.Tables
	rowWindow
	names map[model.StringID]string // as they are written, quotes included
}

func newRows(w io.Writer, format RowFormat, columns []string) *rows {
	r := &rows{w: bufio.NewWriterSize(w, 64<<10), format: format, columns: columns, rowWindow: allRows, names: map[model.StringID]string{}}
	for i, c := range columns {
		lead := ","
		if i == 0 {
			lead = "{"
		}
		r.keys = append(r.keys, lead+strconv.Quote(c)+":")
	}
	if format == CSV {
		r.write([]byte(strings.Join(columns, ",") + "\n"))
	}
	return r
}

func (r *rows) write(p []byte) {
	if r.err == nil {
		_, r.err = r.w.Write(p)
	}
}

// next begins a cell.
func (r *rows) next() {
	if r.format == NDJSON {
		r.line = append(r.line, r.keys[r.cell]...)
	} else if r.cell > 0 {
		r.line = append(r.line, ',')
	}
	r.cell++
}

// end finishes the row.
func (r *rows) end() {
	if r.cell != len(r.columns) {
		panic(fmt.Sprintf("report: row of %d cells in a table of %d columns", r.cell, len(r.columns)))
	}
	if r.format == NDJSON {
		r.line = append(r.line, '}')
	}
	r.write(append(r.line, '\n'))
	r.line, r.cell = r.line[:0], 0
	r.count++
}

func (r *rows) int(n int64) {
	r.next()
	r.line = strconv.AppendInt(r.line, n, 10)
}

// none adds a cell without a value: empty in CSV, null in JSON.
func (r *rows) none() {
	r.next()
	if r.format == NDJSON {
		r.line = append(r.line, "null"...)
	}
}

// id adds a number that may be absent, as model.NoGoroutine and its like are.
func (r *rows) id(n int64) {
	if n < 0 {
		r.none()
		return
	}
	r.int(n)
}

// time adds a point in time, in nanoseconds of the trace's clock.
func (r *rows) time(t model.Time) { r.int(int64(t)) }

// timeIf adds a point in time if it is known.
func (r *rows) timeIf(known bool, t model.Time) {
	if !known {
		r.none()
		return
	}
	r.time(t)
}

// dur adds a length of time in nanoseconds.
func (r *rows) dur(d model.Duration) { r.int(int64(d)) }

func (r *rows) bool(b bool) {
	r.next()
	r.line = strconv.AppendBool(r.line, b)
}

// str adds an interned string.
func (r *rows) str(id model.StringID) {
	s, ok := r.names[id]
	if !ok {
		s = r.quote(r.tables.String(id))
		r.names[id] = s
	}
	r.next()
	r.line = append(r.line, s...)
}

// text adds a string that is not interned.
func (r *rows) text(s string) {
	r.next()
	r.line = append(r.line, r.quote(s)...)
}

// frame adds the function at the top of a stack, where the goroutine was.
func (r *rows) frame(id model.StackID) {
	frames := r.tables.Stack(id)
	if len(frames) == 0 {
		r.text("")
		return
	}
	r.text(frames[0].Func)
}

func (r *rows) quote(s string) string {
	if r.format == NDJSON {
		b, err := json.Marshal(s)
		if err != nil {
			panic("report: marshaling a string: " + err.Error())
		}
		return string(b)
	}
	s = textui.Clean(s)
	// Spreadsheets run what begins so, quoted or not (owasp.org: CSV Injection).
	if s != "" && strings.Contains("=+-@", s[:1]) {
		s = "'" + s
	}
	if strings.ContainsAny(s, "\",") || strings.HasPrefix(s, " ") {
		s = `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
	}
	return s
}

// flush writes what is buffered and returns the first error of writing.
func (r *rows) flush() error {
	if r.err == nil {
		r.err = r.w.Flush()
	}
	return r.err
}
