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
	groupRows  = 1 << 18 // rows of a row group: what engines read in parallel
	pageBytes  = 128 << 10
	dictionary = 4 << 20 // most bytes of names in a row group; beyond, they are written out
)

// encoder writes batches as a file.
type encoder struct {
	w       *parquet.GenericWriter[any]
	units   []string
	about   *Origin
	origin  [][]parquet.Value // its values by OriginColumns, as many as a batch has rows
	names   []parquet.Value   // by number
	column  []parquet.Value   // of a batch
	grouped int               // rows in the row group
}

func newEncoder(w io.Writer, columns []report.Column, origin *Origin) *encoder {
	e := &encoder{about: origin}
	options := []parquet.WriterOption{schemaOf(columns),
		parquet.CreatedBy("schedscope", "1", "0"), // the same whatever wrote it: equal rows are equal bytes
		parquet.KeyValueMetadata("schema", Schema),
		parquet.Compression(&zstd.Codec{Level: zstd.SpeedFastest, Concurrency: 1}),
		parquet.DataPageVersion(1), // what every engine reads
		parquet.PageBufferSize(pageBytes),
		parquet.DictionaryMaxBytes(dictionary)}
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
		e.names = append(e.names, nameValue(s))
	}
	rows, width := len(b.nulls), len(e.units)
	if rows == 0 {
		return nil
	}
	columns := e.w.ColumnWriters()
	for i, unit := range e.units {
		e.column = e.column[:0]
		isName, isBool := unit == "name", unit == "bool"
		for row, nulls := range b.nulls {
			switch x := b.cells[row*width+i]; {
			case isName:
				e.column = append(e.column, e.names[x])
			case isBool:
				e.column = append(e.column, parquet.BooleanValue(x != 0))
			case nulls>>i&1 != 0:
				e.column = append(e.column, parquet.NullValue().Level(0, 0, i))
			default:
				e.column = append(e.column, parquet.Int64Value(x).Level(0, 1, i))
			}
		}
		if _, err := columns[i].WriteRowValues(e.column); err != nil {
			return err
		}
	}
	if e.origin == nil {
		for k, v := range e.about.values() {
			defined := 1
			if v.IsNull() {
				defined = 0
			}
			e.origin = append(e.origin, slices.Repeat([]parquet.Value{v.Level(0, defined, width+k)}, batchRows))
		}
	}
	for k, values := range e.origin {
		if _, err := columns[width+k].WriteRowValues(values[:rows]); err != nil {
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
