package parquet

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/schedscope/schedscope/report"
)

// Schema names the form of the files. Within it columns are only ever added.
const Schema = "schedscope.tables/v1"

// groupRows is the number of rows of a row group: what engines read in parallel.
const groupRows = 1 << 18

// encoder writes batches as a file. It makes pages and row groups itself: the writer of
// parquet-go takes each cell as a value of 24 bytes, and looks each name up.
//
//  1. A batch goes to the chunks of its columns, as numbers, and numbers of names.
//  2. A chunk with enough of them makes a page: encoded, compressed, with its bounds.
//  3. After enough rows, the pages of all chunks are written as a row group.
//  4. The end of the file says where everything is. What it says of the schema is what
//     parquet-go writes into an empty file.
type encoder struct {
	w       io.Writer
	offset  int64
	columns []report.Column
	about   *Origin
	names   [][]byte // by number
	chunks  []*chunk // of columns, then of the Origin
	rows    int      // in the row group
	pages   pageWriter
	footer  format.FileMetaData
	indexes [][]format.ColumnIndex // by row group and column
	offsets [][]format.OffsetIndex
}

func newEncoder(w io.Writer, columns []report.Column, origin *Origin) *encoder {
	return &encoder{w: w, columns: columns, about: origin, pages: newPageWriter()}
}

// begin begins the file, now that the Origin is known.
func (e *encoder) begin() error {
	var empty bytes.Buffer
	w := parquet.NewGenericWriter[any](&empty, schemaOf(e.columns),
		parquet.CreatedBy("schedscope", "1", "0"), // the same whatever wrote it: equal rows are equal bytes
		parquet.KeyValueMetadata("schema", Schema))
	if err := w.Close(); err != nil {
		return err
	}
	f, err := parquet.OpenFile(bytes.NewReader(empty.Bytes()), int64(empty.Len()))
	if err != nil {
		return err
	}
	e.footer = *f.Metadata()
	for _, c := range e.columns {
		switch c.Unit {
		case "name":
			e.chunks = append(e.chunks, newChunk(c.Name, nameKind, false, &e.names))
		case "bool":
			e.chunks = append(e.chunks, newChunk(c.Name, boolKind, false, nil))
		default:
			e.chunks = append(e.chunks, newChunk(c.Name, numberKind, true, nil))
		}
	}
	for i, v := range e.about.values() {
		k := nameKind
		if OriginColumns[i] == "recorded" {
			k = numberKind
		}
		c := newChunk(OriginColumns[i], k, true, &[][]byte{v.Bytes()})
		c.bounded = true
		c.fixed = make([]int64, batchRows)
		if v.IsNull() {
			c.fixedNulls = make([]uint64, batchRows)
			for row := range c.fixedNulls {
				c.fixedNulls[row] = 1
			}
		} else if k == numberKind {
			for row := range c.fixed {
				c.fixed[row] = v.Int64()
			}
		}
		e.chunks = append(e.chunks, c)
	}
	return e.put([]byte("PAR1"))
}

func (e *encoder) put(p []byte) error {
	n, err := e.w.Write(p)
	e.offset += int64(n)
	return err
}

// write adds the rows of a batch.
func (e *encoder) write(b *batch) error {
	for _, s := range b.names {
		e.names = append(e.names, nameBytes(s))
	}
	if b.rows == 0 {
		return nil
	}
	if e.chunks == nil {
		if err := e.begin(); err != nil {
			return err
		}
	}
	for i, c := range e.chunks {
		cells, nulls, bit := c.fixed, c.fixedNulls, 0
		if cells == nil {
			cells, bit = b.cells[i*batchStride:], i
			if b.anyNull>>i&1 != 0 {
				nulls = b.nulls
			}
		}
		if c.add(cells[:b.rows], nulls, bit); c.size() < pageBytes {
			continue
		}
		if err := e.pages.write(c); err != nil {
			return err
		}
	}
	if e.rows += b.rows; e.rows >= groupRows {
		return e.endGroup()
	}
	return nil
}

// endGroup writes the row group.
func (e *encoder) endGroup() error {
	if e.rows == 0 {
		return nil
	}
	n := len(e.footer.RowGroups)
	g := format.RowGroup{NumRows: int64(e.rows), FileOffset: e.offset, Ordinal: int16(n), SortingColumns: []format.SortingColumn{}}
	var indexes []format.ColumnIndex
	var offsets []format.OffsetIndex
	for _, c := range e.chunks {
		if err := e.pages.write(c); err != nil {
			return err
		}
		dict, err := e.pages.dictionary(c)
		if err != nil {
			return err
		}
		m := &c.meta
		if dict != nil {
			m.DictionaryPageOffset = e.offset
		}
		m.DataPageOffset = e.offset + int64(len(dict))
		for i := range c.offsets.PageLocations {
			c.offsets.PageLocations[i].Offset += m.DataPageOffset
		}
		if err := cmp.Or(e.put(dict), e.put(c.pages)); err != nil {
			return err
		}
		index := c.index.ColumnIndex()
		index.DefinitionLevelHistogram = c.histogram
		if nulls := m.Statistics.NullCount; c.optional {
			m.SizeStatistics.DefinitionLevelHistogram = []int64{nulls, m.NumValues - nulls}
		}
		g.Columns = append(g.Columns, format.ColumnChunk{MetaData: *m})
		g.TotalByteSize += m.TotalUncompressedSize
		g.TotalCompressedSize += m.TotalCompressedSize
		indexes, offsets = append(indexes, index), append(offsets, c.offsets)
		c.reset()
	}
	e.footer.RowGroups = append(e.footer.RowGroups, g)
	e.footer.NumRows += g.NumRows
	e.indexes, e.offsets = append(e.indexes, indexes), append(e.offsets, offsets)
	e.rows = 0
	return nil
}

// close ends the file.
func (e *encoder) close() error {
	if err := e.finish(); err != nil {
		return fmt.Errorf("writing parquet: %w", err)
	}
	return nil
}

func (e *encoder) finish() error {
	if e.chunks == nil {
		if err := e.begin(); err != nil {
			return err
		}
	}
	if err := e.endGroup(); err != nil {
		return err
	}
	for g, list := range e.indexes {
		for i := range list {
			c := &e.footer.RowGroups[g].Columns[i]
			c.ColumnIndexOffset = e.offset
			n, err := e.thrift(&list[i])
			if err != nil {
				return err
			}
			c.ColumnIndexLength = int32(n)
		}
	}
	for g, list := range e.offsets {
		for i := range list {
			c := &e.footer.RowGroups[g].Columns[i]
			c.OffsetIndexOffset = e.offset
			n, err := e.thrift(&list[i])
			if err != nil {
				return err
			}
			c.OffsetIndexLength = int32(n)
		}
	}
	n, err := e.thrift(&e.footer)
	if err != nil {
		return err
	}
	return e.put(append(binary.LittleEndian.AppendUint32(nil, uint32(n)), "PAR1"...))
}

// thrift writes a structure and returns the number of its bytes.
func (e *encoder) thrift(v any) (int, error) {
	b, err := thrift.Marshal(new(thrift.CompactProtocol), v)
	if err != nil {
		return 0, err
	}
	return len(b), e.put(b)
}
