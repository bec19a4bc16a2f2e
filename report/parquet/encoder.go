package parquet

import (
	"fmt"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"github.com/schedscope/schedscope/report"
)

// Schema names the form of the files. Within it columns are only ever added.
const Schema = "schedscope.tables/v1"

const (
	groupRows       = 1 << 18 // rows of a row group: what engines read in parallel
	pageBytes       = 128 << 10
	dictionaryBytes = 4 << 20 // most bytes of names in a row group; beyond, they are written out
)

// encoder writes batches as a file.
type encoder struct {
	w       *parquet.GenericWriter[any]
	units   []string
	about   *Origin
	table   cells     // of a column of the table
	origin  cells     // of one of OriginColumns, whose values are its names
	fixed   [][]int64 // cells of OriginColumns, as many as a batch has rows
	values  []parquet.Value
	grouped int // rows in the row group
}

// Values that stand for cells: of numbers and names only whether there is one.
var (
	present = slices.Repeat([]parquet.Value{parquet.Int64Value(0).Level(0, 1, 0)}, batchRows)
	absent  = slices.Repeat([]parquet.Value{parquet.NullValue().Level(0, 0, 0)}, batchRows)
	truth   = [...]parquet.Value{parquet.BooleanValue(false), parquet.BooleanValue(true)}
)

func newEncoder(w io.Writer, columns []report.Column, origin *Origin) *encoder {
	e := &encoder{about: origin}
	options := []parquet.WriterOption{schemaOf(columns, &e.table, &e.origin),
		parquet.CreatedBy("schedscope", "1", "0"), // the same whatever wrote it: equal rows are equal bytes
		parquet.KeyValueMetadata("schema", Schema),
		parquet.Compression(&zstd.Codec{Level: zstd.SpeedFastest, Concurrency: 1}),
		parquet.DataPageStatistics(false), // the bounds of pages are in the column index
		parquet.DataPageVersion(1),        // what every engine reads
		parquet.PageBufferSize(pageBytes),
		parquet.DictionaryMaxBytes(dictionaryBytes)}
	for _, c := range columns {
		e.units = append(e.units, c.Unit)
		if c.Unit == "name" {
			options = append(options, parquet.SkipPageBounds(c.Name)) // dear, and good for no query
		}
	}
	e.w = parquet.NewGenericWriter[any](w, options...)
	return e
}

// write adds the rows of a batch, column by column: first those of the table, then those of
// the origin, which are the same in all rows.
func (e *encoder) write(b *batch) error {
	for _, s := range b.names {
		e.table.names = append(e.table.names, nameValue(s))
	}
	rows, width := len(b.nulls), len(e.units)
	if rows == 0 {
		return nil
	}
	columns := e.w.ColumnWriters()
	for i, unit := range e.units {
		e.table.next = b.cells[i]
		values := present[:rows] // false, as bools
		if unit == "bool" && slices.Contains(b.cells[i], 1) || len(b.cells[i]) < rows {
			values = append(e.values[:0], values...)
			for row := range values {
				switch {
				case b.nulls[row]>>i&1 != 0:
					values[row] = absent[0]
				case unit == "bool":
					values[row] = truth[b.cells[i][row]]
				}
			}
			e.values = values
		}
		if _, err := columns[i].WriteRowValues(values); err != nil {
			return err
		}
	}
	if e.fixed == nil {
		e.origin.names = e.about.values()
		for k, v := range e.origin.names {
			cell := int64(k)
			if v.Kind() == parquet.Int64 {
				cell = v.Int64()
			}
			e.fixed = append(e.fixed, slices.Repeat([]int64{cell}, batchRows))
		}
	}
	for k, cells := range e.fixed {
		values := present[:rows]
		if e.origin.names[k].IsNull() {
			values = absent[:rows]
		}
		e.origin.next = cells
		if _, err := columns[width+k].WriteRowValues(values); err != nil {
			return err
		}
	}
	if e.grouped += rows; e.grouped >= groupRows {
		e.grouped = 0
		return e.w.Flush()
	}
	return nil
}

// close ends the file.
func (e *encoder) close() error {
	if err := e.w.Close(); err != nil {
		return fmt.Errorf("writing parquet: %w", err)
	}
	return nil
}
