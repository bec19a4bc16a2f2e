package parquet

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"hash/crc32"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/plain"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

const (
	pageBytes  = 128 << 10 * 98 / 100 // of a page, as chunk.size counts
	dictionary = 4 << 20              // most bytes of names in a row group; beyond, they are written out
	boundBytes = 16                   // most of a name in the index of pages
)

// kind is what the cells of a column are.
type kind uint8

const (
	numberKind kind = iota
	nameKind
	boolKind
)

var (
	kindTypes     = [...]parquet.Type{parquet.Int64Type, parquet.String().Type(), parquet.BooleanType}
	kindEncodings = [...]format.Encoding{format.DeltaBinaryPacked, format.RLEDictionary, format.Plain}
)

// chunk is a column of a row group: its pages, as bytes, and the page that is filled.
type chunk struct {
	kind       kind
	optional   bool     // cells may have no value
	bounded    bool     // the least and the greatest value stand in the index
	fixed      []int64  // of a column that is the same in all rows: its cells
	fixedNulls []uint64 // and that they have no value

	rows    int // of the page
	levels  []byte
	values  []int64 // numbers
	bits    []byte
	indexes []int32 // of names: places in the dictionary or, spelled out, numbers
	spelled int     // bytes of names spelled out

	names     *[][]byte // by number
	places    []int32   // by number of a name: its place in the dictionary, from 1
	dict      []int32   // numbers of the names in the dictionary
	dictBytes int
	full      bool // names are spelled out from now on

	pages     []byte
	before    int64 // rows before the page
	meta      format.ColumnMetaData
	offsets   format.OffsetIndex
	index     parquet.ColumnIndexer
	histogram []int64 // for each page, how many cells have no value and have one
}

func newChunk(name string, k kind, optional bool, names *[][]byte) *chunk {
	// Bounds of names are dear, and good for no query.
	c := &chunk{kind: k, optional: optional, bounded: k != nameKind, names: names}
	c.meta = format.ColumnMetaData{Type: format.Type(kindTypes[k].Kind()), PathInSchema: []string{name}, Codec: format.Zstd,
		Encoding: []format.Encoding{kindEncodings[k]}}
	if k == nameKind {
		c.meta.Encoding = append(c.meta.Encoding, format.Plain)
	}
	if optional {
		c.meta.Encoding = append(c.meta.Encoding, format.RLE)
	}
	slices.Sort(c.meta.Encoding)
	c.index = kindTypes[k].NewColumnIndexer(boundBytes)
	return c
}

// reset begins the next row group.
func (c *chunk) reset() {
	clear(c.places)
	c.dict, c.dictBytes, c.full = c.dict[:0], 0, false
	c.pages, c.before, c.histogram, c.offsets = c.pages[:0], 0, nil, format.OffsetIndex{}
	m := &c.meta
	c.meta = format.ColumnMetaData{Type: m.Type, PathInSchema: m.PathInSchema, Codec: m.Codec, Encoding: m.Encoding}
	c.index.Reset()
}

// add adds cells to the page. Those for which the bit of nulls is set have no value.
func (c *chunk) add(cells []int64, nulls []uint64, bit int) {
	if nulls == nil {
		c.put(cells)
	} else {
		for row := range cells {
			if nulls[row]>>bit&1 != 0 {
				c.levels = append(c.levels, 0)
			} else {
				c.put(cells[row : row+1])
			}
		}
	}
	c.rows += len(cells)
}

// put adds cells that have values.
func (c *chunk) put(cells []int64) {
	if c.optional {
		c.levels = append(c.levels, defined[:len(cells)]...)
	}
	switch c.kind {
	case numberKind:
		c.values = append(c.values, cells...)
	case nameKind:
		for _, n := range cells {
			c.indexes = append(c.indexes, c.place(n))
		}
	case boolKind: // there are no others in the column
		for i, x := range cells {
			at := (c.rows + i) & 7
			if at == 0 {
				c.bits = append(c.bits, 0)
			}
			c.bits[len(c.bits)-1] |= byte(x) << at
		}
	}
}

// defined are the levels of cells that have a value.
var defined = bytes.Repeat([]byte{1}, batchRows)

// place returns what stands for a name.
func (c *chunk) place(n int64) int32 {
	if n < int64(len(c.places)) && c.places[n] > 0 {
		return c.places[n] - 1
	}
	return c.newPlace(n)
}

func (c *chunk) newPlace(n int64) int32 {
	if c.full {
		c.spelled += len((*c.names)[n])
		return int32(n)
	}
	if n >= int64(len(c.places)) {
		c.places = append(c.places, make([]int32, len(*c.names)-len(c.places))...)
	}
	c.dict = append(c.dict, int32(n))
	c.places[n] = int32(len(c.dict))
	c.dictBytes += len((*c.names)[n])
	return c.places[n] - 1
}

// size is about how many bytes the page takes before it is compressed.
func (c *chunk) size() int {
	n := 5*len(c.levels) + 8*len(c.values) + len(c.bits) + 4*len(c.indexes)
	if c.full {
		n += c.spelled + 4
	}
	return n
}

// name returns the name that an index stands for.
func (c *chunk) name(i int32) []byte {
	if !c.full {
		i = c.dict[i]
	}
	return (*c.names)[i]
}

// bounds returns the least and the greatest value of the page, null if there is none.
func (c *chunk) bounds() (least, greatest parquet.Value) {
	switch {
	case c.kind == numberKind && len(c.values) > 0:
		low, high := c.values[0], c.values[0]
		for _, x := range c.values {
			low, high = min(low, x), max(high, x)
		}
		return parquet.Int64Value(low), parquet.Int64Value(high)
	case c.kind == boolKind:
		ones := 0
		for i := range c.rows {
			ones += int(c.bits[i/8] >> (i & 7) & 1)
		}
		return parquet.BooleanValue(ones == c.rows), parquet.BooleanValue(ones > 0)
	case len(c.indexes) > 0:
		low, high := c.name(c.indexes[0]), c.name(c.indexes[0])
		seen := make([]bool, len(*c.names))
		for _, i := range c.indexes {
			if seen[i] {
				continue
			}
			seen[i] = true
			if x := c.name(i); bytes.Compare(x, low) < 0 {
				low = x
			} else if bytes.Compare(x, high) > 0 {
				high = x
			}
		}
		return parquet.ByteArrayValue(low), parquet.ByteArrayValue(high)
	}
	return least, greatest
}

// widen makes the bounds of the chunk hold those of a page.
func (c *chunk) widen(least, greatest parquet.Value) {
	s, t := &c.meta.Statistics, kindTypes[c.kind]
	if s.MinValue == nil || t.Compare(least, t.Kind().Value(s.MinValue)) < 0 {
		s.MinValue = append([]byte{}, least.Bytes()...)
	}
	if s.MaxValue == nil || t.Compare(greatest, t.Kind().Value(s.MaxValue)) > 0 {
		s.MaxValue = append([]byte{}, greatest.Bytes()...)
	}
}

// pageWriter encodes pages, one at a time.
type pageWriter struct {
	zip                   zstd.Codec
	body, part, page, out []byte
}

func newPageWriter() pageWriter {
	return pageWriter{zip: zstd.Codec{Level: zstd.SpeedFastest, Concurrency: 1}}
}

// write moves the page of a chunk to its pages, if it has rows.
func (w *pageWriter) write(c *chunk) error {
	if c.rows == 0 {
		return nil
	}
	nulls := 0
	if c.optional {
		nulls = c.rows - len(c.values) - len(c.indexes)
	}
	encoding := kindEncodings[c.kind]
	if c.full {
		encoding = format.Plain
	}
	if err := w.encode(c); err != nil {
		return err
	}
	least, greatest := c.bounds()
	header := format.DataPageHeader{NumValues: int32(c.rows), Encoding: encoding, DefinitionLevelEncoding: format.RLE,
		RepetitionLevelEncoding: format.RLE, Statistics: format.Statistics{Min: least.Bytes(), Max: greatest.Bytes(), MinValue: least.Bytes(),
			MaxValue: greatest.Bytes(), NullCount: int64(nulls)}}
	at := c.meta.TotalCompressedSize
	page, err := w.compress(c, &format.PageHeader{Type: format.DataPage, DataPageHeader: thrift.New(header)}, encoding)
	if err != nil {
		return err
	}
	c.pages = append(c.pages, page...)
	c.offsets.PageLocations = append(c.offsets.PageLocations, format.PageLocation{Offset: at, CompressedPageSize: int32(len(page)), FirstRowIndex: c.before})
	if c.optional {
		c.histogram = append(c.histogram, int64(nulls), int64(c.rows-nulls))
	}
	if !c.bounded {
		least, greatest = parquet.Value{}, parquet.Value{}
	} else if nulls < c.rows {
		c.widen(least, greatest)
	}
	c.index.IndexPage(int64(c.rows), int64(nulls), least, greatest)
	c.meta.NumValues += int64(c.rows)
	c.meta.Statistics.NullCount += int64(nulls)
	c.meta.SizeStatistics.UnencodedByteArrayDataBytes += int64(c.spelled)
	c.before += int64(c.rows)
	if c.dictBytes > dictionary {
		c.full = true
		clear(c.places)
	}
	c.rows, c.spelled = 0, 0
	c.levels, c.values, c.bits, c.indexes = c.levels[:0], c.values[:0], c.bits[:0], c.indexes[:0]
	return nil
}

// encode encodes the page of a chunk.
func (w *pageWriter) encode(c *chunk) (err error) {
	w.body = w.body[:0]
	if c.optional {
		if w.part, err = (&rle.Encoding{BitWidth: 1}).EncodeLevels(w.part, c.levels); err != nil {
			return err
		}
		w.body = append(binary.LittleEndian.AppendUint32(w.body, uint32(len(w.part))), w.part...)
	}
	switch {
	case c.kind == boolKind:
		w.body = append(w.body, c.bits...)
		return nil
	case c.kind == numberKind:
		w.part, err = new(delta.BinaryPackedEncoding).EncodeInt64(w.part, c.values)
	case !c.full:
		w.part, err = new(rle.DictionaryEncoding).EncodeInt32(w.part, c.indexes)
	default:
		w.part = w.part[:0]
		for _, i := range c.indexes {
			w.part = plain.AppendByteArray(w.part, c.name(i))
		}
	}
	w.body = append(w.body, w.part...)
	return err
}

// dictionary returns the page of the chunk's dictionary; nil: it has none.
func (w *pageWriter) dictionary(c *chunk) ([]byte, error) {
	if c.kind != nameKind {
		return nil, nil
	}
	w.body = w.body[:0]
	for _, n := range c.dict {
		w.body = plain.AppendByteArray(w.body, (*c.names)[n])
	}
	header := format.DictionaryPageHeader{NumValues: int32(len(c.dict)), Encoding: format.Plain}
	return w.compress(c, &format.PageHeader{Type: format.DictionaryPage, DictionaryPageHeader: thrift.New(header)}, format.Plain)
}

// compress returns the body as a page with its header, and counts it.
func (w *pageWriter) compress(c *chunk, h *format.PageHeader, e format.Encoding) (page []byte, err error) {
	if w.out, err = w.zip.Encode(w.out[:0], w.body); err != nil {
		return nil, err
	}
	h.UncompressedPageSize, h.CompressedPageSize, h.CRC = int32(len(w.body)), int32(len(w.out)), int32(crc32.ChecksumIEEE(w.out))
	head, err := thrift.Marshal(new(thrift.CompactProtocol), h)
	if err != nil {
		return nil, err
	}
	w.page = append(append(w.page[:0], head...), w.out...)
	m := &c.meta
	m.TotalUncompressedSize += int64(len(head) + len(w.body))
	m.TotalCompressedSize += int64(len(w.page))
	pages := format.PageEncodingStats{PageType: h.Type, Encoding: e}
	i, found := slices.BinarySearchFunc(m.EncodingStats, pages, func(a, b format.PageEncodingStats) int {
		return cmp.Or(cmp.Compare(a.PageType, b.PageType), cmp.Compare(a.Encoding, b.Encoding))
	})
	if !found {
		m.EncodingStats = slices.Insert(m.EncodingStats, i, pages)
	}
	m.EncodingStats[i].Count++
	return w.page, nil
}
