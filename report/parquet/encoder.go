package parquet

import (
	"encoding/binary"
	"hash/crc32"
	"io"

	"github.com/golang/snappy"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/report"
)

// Schema is the format of the files. Within it columns are only ever added.
const Schema = "schedscope.tables/v1"

const (
	groupRows       = 1 << 18 // most rows of a row group: what engines read in parallel
	pageRows        = 1 << 14 // most rows of a page
	dictionaryBytes = 4 << 20 // of the names of a column: with more, a row group ends
)

// encoder writes rows as a file: row groups, each column after column in pages, and behind them
// what is where. See https://parquet.apache.org/docs/file-format.
type encoder struct {
	w             io.Writer
	err           error     // of w, the first
	offset        int64     // bytes written
	columns       []*column // of the table, then of the origin
	table, origin []*column // parts of these
	about         *Origin   // of the last rows
	page, group   int       // rows in the page, and in the pages of the row group before
	filled        int       // rows of the page that have an origin: the others are about's
	file          format.FileMetaData
	protocol      thrift.CompactProtocol
	room, small   []byte // for a page, and for it compressed
}

func newEncoder(w io.Writer, columns []report.Column) *encoder {
	e := &encoder{w: w, columns: result.Each(columns, func(c *report.Column) *column { return newColumn(c.Name, c.Unit) })}
	for _, name := range OriginColumns {
		unit := textui.Either(name == "recorded", "timestamp", "name")
		c := newColumn(name, unit)
		c.schema.RepetitionType = thrift.New(format.Optional)
		c.chunk.Encoding = append(c.chunk.Encoding, format.RLE)
		e.columns = append(e.columns, c)
	}
	e.table, e.origin = e.columns[:len(columns)], e.columns[len(columns):]
	e.file = format.FileMetaData{
		Version:          2,
		CreatedBy:        "schedscope version 1(build 0)", // the same whatever wrote it: equal rows are equal bytes, see TestBytes
		KeyValueMetadata: []format.KeyValue{{Key: "schema", Value: Schema}},
		Schema: []format.SchemaElement{{
			Name: "schedscope", RepetitionType: thrift.New(format.Required), NumChildren: thrift.New(int32(len(e.columns))),
		}},
	}
	for _, c := range e.columns {
		e.file.Schema = append(e.file.Schema, c.schema)
		e.file.ColumnOrders = append(e.file.ColumnOrders, format.ColumnOrder{Value: &format.TypeDefinedOrder{}})
	}
	e.write([]byte("PAR1"))
	return e
}

func (e *encoder) write(data []byte) {
	if e.err == nil {
		_, e.err = e.w.Write(data)
	}
	e.offset += int64(len(data))
}

// must returns what was encoded. No value makes that fail.
func must(data []byte, err error) []byte {
	if err != nil {
		panic("parquet: " + err.Error())
	}
	return data
}

// rows adds rows of the table. What the engines' 64-bit integers do not hold is null.
func (e *encoder) rows(r *report.Rows, origin *Origin) {
	if len(r.Nulls) == 0 {
		return
	}
	if origin != e.about { // names have other numbers
		e.fill()
		for _, c := range e.table {
			clear(c.places)
		}
	}
	e.about = origin
	absent, full := uint64(0), false
	for i := range r.Nulls {
		r.Nulls[i] |= r.Wide[i]
		absent |= r.Nulls[i]
	}
	for i, c := range e.table {
		c.add(r, i, len(e.table), e.page, absent>>i&1 != 0)
		full = full || len(c.dictionary) > dictionaryBytes
	}
	if e.page += len(r.Nulls); e.page >= pageRows || full {
		e.endPage()
	}
	if e.group >= groupRows || full {
		e.endGroup()
	}
}

// fill adds the origin of the last rows, as many as have none.
func (e *encoder) fill() {
	if e.filled < e.page {
		for i, v := range e.about.values() {
			e.origin[i].fill(v, e.page-e.filled, e.filled)
		}
		e.filled = e.page
	}
}

// endPage adds the page to the row group.
func (e *encoder) endPage() {
	e.fill()
	for _, c := range e.columns {
		e.room = c.encode(e.room[:0], e.page)
		c.chunk.NumValues += int64(e.page)
		c.pages = e.appendPage(c.pages, c, e.room, format.PageHeader{DataPageHeader: thrift.New(format.DataPageHeader{
			NumValues: int32(e.page), Encoding: c.chunk.Encoding[0], DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE,
		})})
	}
	e.group += e.page
	e.page, e.filled = 0, 0
}

// appendPage adds a page to those of a column. If compression does not save a quarter of the first
// one, none is compressed: some readers take what the first row group has for that of all.
func (e *encoder) appendPage(dst []byte, c *column, body []byte, h format.PageHeader) []byte {
	data := body
	if c.chunk.Codec == format.Snappy {
		e.small = snappy.Encode(e.small[:cap(e.small)], body)
		if data = e.small; len(c.pages)+len(e.file.RowGroups) == 0 && 4*len(data) > 3*len(body) {
			c.chunk.Codec, data = format.Uncompressed, body
		}
	}
	h.UncompressedPageSize, h.CompressedPageSize, h.CRC = int32(len(body)), int32(len(data)), int32(crc32.ChecksumIEEE(data))
	header := must(thrift.Marshal(&e.protocol, &h))
	c.chunk.TotalUncompressedSize += int64(len(header) + len(body))
	c.chunk.TotalCompressedSize += int64(len(header) + len(data))
	return append(append(dst, header...), data...)
}

// endGroup writes the row group.
func (e *encoder) endGroup() {
	g := format.RowGroup{NumRows: int64(e.group), FileOffset: e.offset, Ordinal: int16(len(e.file.RowGroups))}
	for _, c := range e.columns {
		if c.chunk.Encoding[0] == format.RLEDictionary {
			c.chunk.DictionaryPageOffset = e.offset
			e.write(e.appendPage(nil, c, c.dictionary, format.PageHeader{
				Type: format.DictionaryPage, DictionaryPageHeader: thrift.New(format.DictionaryPageHeader{NumValues: int32(len(c.known))}),
			}))
		}
		c.chunk.DataPageOffset = e.offset
		e.write(c.pages)
		g.TotalByteSize += c.chunk.TotalUncompressedSize
		g.TotalCompressedSize += c.chunk.TotalCompressedSize
		g.Columns = append(g.Columns, format.ColumnChunk{MetaData: c.end()})
	}
	e.file.RowGroups = append(e.file.RowGroups, g)
	e.file.NumRows += g.NumRows
	e.group = 0
}

// size returns how many bytes are written, or will be.
func (e *encoder) size() int64 {
	n := e.offset
	for _, c := range e.table {
		n += int64(len(c.pages) + len(c.dictionary))
	}
	return n
}

// close ends the file.
func (e *encoder) close() {
	if e.page > 0 {
		e.endPage()
	}
	if e.group > 0 {
		e.endGroup()
	}
	footer := must(thrift.Marshal(&e.protocol, &e.file))
	e.write(append(binary.LittleEndian.AppendUint32(footer, uint32(len(footer))), "PAR1"...))
}
