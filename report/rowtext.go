package report

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/schedscope/schedscope/internal/textui"
)

// RowFormat is a format of tables.
type RowFormat int

// Formats of tables.
const (
	CSV    RowFormat = iota // RFC 4180 with a line of headings; lines end in \n
	NDJSON                  // one JSON object per line
)

// textRows writes rows as text. It is a [Sink].
type textRows struct {
	w       *bufio.Writer
	format  RowFormat
	columns []string
	keys    []string // NDJSON: `{"goroutine":`, `,"function":`
	line    []byte
	cell    int
	err     error
	names   []string // by number, as they are written, quotes included; "": not met yet, or empty
}

func newTextRows(w io.Writer, format RowFormat, columns []string) *textRows {
	r := &textRows{w: bufio.NewWriterSize(w, 64<<10), format: format, columns: columns}
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

func (r *textRows) write(p []byte) {
	if r.err == nil {
		_, r.err = r.w.Write(p)
	}
}

// next begins a cell.
func (r *textRows) next() {
	if r.format == NDJSON {
		r.line = append(r.line, r.keys[r.cell]...)
	} else if r.cell > 0 {
		r.line = append(r.line, ',')
	}
	r.cell++
}

// End implements [Sink].
func (r *textRows) End() {
	if r.cell != len(r.columns) {
		panic(fmt.Sprintf("report: row of %d cells in a table of %d columns", r.cell, len(r.columns)))
	}
	if r.format == NDJSON {
		r.line = append(r.line, '}')
	}
	r.line = append(r.line, '\n')
	r.write(r.line)
	r.line, r.cell = r.line[:0], 0
}

// Int implements [Sink].
func (r *textRows) Int(n int64) {
	r.next()
	r.line = strconv.AppendInt(r.line, n, 10)
}

// Uint implements [Sink].
func (r *textRows) Uint(n uint64) {
	r.next()
	r.line = strconv.AppendUint(r.line, n, 10)
}

// None implements [Sink]: the cell is empty in CSV, null in JSON.
func (r *textRows) None() {
	r.next()
	if r.format == NDJSON {
		r.line = append(r.line, "null"...)
	}
}

// Bool implements [Sink].
func (r *textRows) Bool(b bool) {
	r.next()
	r.line = strconv.AppendBool(r.line, b)
}

// Name implements [Sink].
func (r *textRows) Name(i int, s string) {
	for len(r.names) <= i {
		r.names = append(r.names, "")
	}
	if r.names[i] == "" && (s != "" || r.format == NDJSON) {
		r.names[i] = r.quote(s)
	}
	r.next()
	r.line = append(r.line, r.names[i]...)
}

func (r *textRows) quote(s string) string {
	if r.format == NDJSON {
		b, err := json.Marshal(s)
		if err != nil {
			panic("report: marshaling a string: " + err.Error())
		}
		return string(b)
	}
	return textui.CSV(s)
}

// Close implements [Sink]: it writes what is buffered.
func (r *textRows) Close() error {
	if r.err == nil {
		r.err = r.w.Flush()
	}
	return r.err
}
