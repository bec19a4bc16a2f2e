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
	about   *Origin
	fixed   [][]parquet.Value // of OriginColumns, as many as a batch has rows
	grouped int               // rows in the row group
}

func newEncoder(w io.Writer, columns []report.Column, origin *Origin) *encoder {
	options := []parquet.WriterOption{schemaOf(columns),
		parquet.CreatedBy("schedscope", "1", "0"), // the same whatever wrote it: equal rows are equal bytes
		parquet.KeyValueMetadata("schema", Schema),
		parquet.Compression(&zstd.Codec{Level: zstd.SpeedFastest, Concurrency: 1}),
		parquet.DataPageStatistics(false), // the bounds of pages are in the column index
		parquet.DataPageVersion(1),        // what every engine reads
		parquet.PageBufferSize(pageBytes),
		parquet.DictionaryMaxBytes(dictionaryBytes)}
	for _, c := range columns {
		if c.Unit == "name" {
			options = append(options, parquet.SkipPageBounds(c.Name)) // dear, and good for no query
		}
	}
	return &encoder{w: parquet.NewGenericWriter[any](w, options...), about: origin}
}

// write adds the rows of a batch, column by column: first those of the table, then those of
// the origin, which are the same in all rows.
func (e *encoder) write(b batch) error {
	rows := len(b[0])
	if rows == 0 {
		return nil
	}
	if e.fixed == nil {
		for _, v := range e.about.values() {
			e.fixed = append(e.fixed, slices.Repeat([]parquet.Value{v}, batchRows))
		}
	}
	columns := e.w.ColumnWriters()
	for i, values := range slices.Concat(b, e.fixed) {
		if _, err := columns[i].WriteRowValues(values[:rows]); err != nil {
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
