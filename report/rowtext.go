package report

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/savedfile"
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
	w      *bufio.Writer
	format RowFormat
	units  []string // by column
	keys   []string // what is before a cell; in NDJSON `{"goroutine":`, `,"function":`
	line   []byte
	err    error
	names  []string // by number, as they are written, quotes included; "": not met yet, or empty
}

func newTextRows(w io.Writer, format RowFormat, columns []Column) *textRows {
	r := &textRows{w: bufio.NewWriterSize(w, 64<<10), format: format}
	var header []string
	for i, c := range columns {
		lead, key := ",", ""
		if i == 0 {
			lead = ""
		}
		if format == NDJSON {
			lead, key = cmp.Or(lead, "{"), strconv.Quote(c.Name)+":"
		}
		r.units, r.keys, header = append(r.units, c.Unit), append(r.keys, lead+key), append(header, c.Name)
	}
	if format == CSV {
		r.write([]byte(strings.Join(header, ",") + "\n"))
	}
	return r
}

func (r *textRows) write(p []byte) {
	if r.err == nil {
		_, r.err = r.w.Write(p)
	}
}

// Rows implements [Sink]. A cell without a value is empty in CSV, null in JSON.
func (r *textRows) Rows(rows *Rows) {
	if width := len(r.units); len(rows.Cells) != width*len(rows.Nulls) {
		panic(fmt.Sprintf("report: %d rows of %d cells in a table of %d columns", len(rows.Nulls), len(rows.Cells), width))
	}
	cells := rows.Cells
	for i, nulls := range rows.Nulls {
		r.row(cells[:len(r.units)], rows.Names, nulls, rows.Wide[i])
		cells = cells[len(r.units):]
	}
	rows.Clear()
}

func (r *textRows) row(cells []int64, names []string, nulls, wide uint64) {
	line := r.line[:0]
	for i, n := range cells {
		line = append(line, r.keys[i]...)
		switch {
		case r.units[i] == "name":
			line = append(line, r.name(names, int(n))...)
		case r.units[i] == "bool":
			line = strconv.AppendBool(line, n != 0)
		case nulls>>i&1 != 0 && r.format == CSV:
		case nulls>>i&1 != 0:
			line = append(line, "null"...)
		case wide>>i&1 != 0:
			line = strconv.AppendUint(line, uint64(n), 10)
		default:
			line = strconv.AppendInt(line, n, 10)
		}
	}
	if r.format == NDJSON {
		line = append(line, '}')
	}
	r.line = append(line, '\n')
	r.write(r.line)
}

// name returns a name as it is written.
func (r *textRows) name(all []string, i int) string {
	name := result.Slot(&r.names, i)
	if *name == "" && (all[i] != "" || r.format == NDJSON) {
		*name = r.quote(all[i])
	}
	return *name
}

func (r *textRows) quote(s string) string {
	if r.format == NDJSON {
		b, err := json.Marshal(s)
		if err != nil {
			panic("report: marshaling a string: " + err.Error())
		}
		return string(savedfile.Printable(b))
	}
	return textui.CSV(s)
}

// Close implements [Sink]: it flushes the buffer.
func (r *textRows) Close() error {
	if r.err == nil {
		r.err = r.w.Flush()
	}
	return r.err
}
