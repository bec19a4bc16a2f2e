package parquet

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/schedscope/schedscope/report"
)

// column is a column of a file: the values of the page that is being filled, and the pages of
// the row group before it.
//
// Numbers are written as differences of those that follow each other, in as few bits as the
// greatest of 32 needs, booleans as bits, names as their places in a dictionary of the row group.
// Only numbers may be null, and what is of the origin. All that leaves little to compress.
type column struct {
	schema format.SchemaElement

	// Of the page.
	values []int64 // numbers, booleans as 0 and 1
	names  []int32 // places in the dictionary
	runs   []run   // of the origin, in place of names
	levels []byte  // 0 for each row that is null, else 1; rows behind them are not null

	// Of the row group.
	chunk       format.ColumnMetaData
	least, most int64  // value
	pages       []byte // with their headers
	dictionary  []byte
	places      []int32          // by number of a name: its place in the dictionary and 1; 0: not looked up
	known       map[string]int32 // places by name, of all traces
}

// run is a name that so many rows have.
type run struct {
	place int32
	rows  int
}

// newColumn returns a column of values with a unit of [report.Column], or of a timestamp.
func newColumn(name, unit string) *column {
	c := &column{known: map[string]int32{}, schema: format.SchemaElement{Name: name, Type: thrift.New(format.Int64), RepetitionType: thrift.New(format.Optional)}}
	s := &c.schema
	s.LogicalType.Value = &format.IntType{BitWidth: 64, IsSigned: true}
	c.chunk.PathInSchema, c.chunk.Codec = []string{name}, format.Snappy
	c.chunk.Encoding = []format.Encoding{format.DeltaBinaryPacked, format.RLE}
	switch unit {
	case "name":
		s.Type, s.RepetitionType = thrift.New(format.ByteArray), thrift.New(format.Required)
		s.ConvertedType, s.LogicalType.Value = thrift.New(deprecated.UTF8), &format.StringType{}
		c.chunk.Encoding = []format.Encoding{format.RLEDictionary, format.Plain}
	case "timestamp":
		s.ConvertedType = thrift.New(deprecated.TimestampMicros)
		s.LogicalType.Value = &format.TimestampType{IsAdjustedToUTC: true, Unit: format.TimeUnit{Value: &format.MicroSeconds{}}}
	case "bool":
		s.Type, s.RepetitionType, s.LogicalType.Value = thrift.New(format.Boolean), thrift.New(format.Required), nil
		c.chunk.Encoding = []format.Encoding{format.Plain}
	}
	c.chunk.Type = s.Type.V
	c.end()
	return c
}

// end ends a row group and returns what is to be known of it.
func (c *column) end() format.ColumnMetaData {
	m := c.chunk
	if m.Type == format.Int64 && c.least <= c.most {
		m.Statistics.MinValue = binary.LittleEndian.AppendUint64(nil, uint64(c.least))
		m.Statistics.MaxValue = binary.LittleEndian.AppendUint64(nil, uint64(c.most))
	}
	c.chunk = format.ColumnMetaData{Type: m.Type, Encoding: m.Encoding, PathInSchema: m.PathInSchema, Codec: m.Codec}
	c.least, c.most, c.pages = math.MaxInt64, math.MinInt64, c.pages[:0]
	c.dictionary = c.dictionary[:0]
	clear(c.places)
	clear(c.known)
	return m
}

// add adds cell i of each row, of so many, behind so many rows of the page. If any of the cells is
// null its bit in Nulls is set.
func (c *column) add(r *report.Rows, i, of, behind int, null bool) {
	switch {
	case c.chunk.Type == format.ByteArray:
		c.places = append(c.places, make([]int32, max(0, len(r.Names)-len(c.places)))...)
		names := c.names
		for ; i < len(r.Cells); i += of {
			place := &c.places[r.Cells[i]]
			if *place == 0 {
				*place = c.place(r.Names[r.Cells[i]]) + 1
			}
			names = append(names, *place-1)
		}
		c.names = names
	case null:
		c.levels = c.present(behind)
		for k, nulls := range r.Nulls {
			n, level := r.Cells[k*of+i], 1-byte(nulls>>i&1)
			c.levels = append(c.levels, level)
			if level > 0 {
				c.values = append(c.values, n)
				c.least, c.most = min(c.least, n), max(c.most, n)
			}
		}
	default:
		have := len(c.values)
		c.values = slices.Grow(c.values, len(r.Nulls))[:have+len(r.Nulls)]
		least, most := c.least, c.most
		for k := range c.values[have:] {
			n := r.Cells[i]
			c.values[have+k] = n
			least, most = min(least, n), max(most, n)
			i += of
		}
		c.least, c.most = least, most
	}
}

// fill adds a value of an origin for so many rows, behind so many rows of the page.
func (c *column) fill(v value, rows, behind int) {
	null := v == value{}
	if null || len(c.levels) > 0 {
		c.levels = append(c.present(behind), slices.Repeat([]byte{1}, rows)...)
	}
	switch s := &c.chunk.Statistics; {
	case null:
		clear(c.levels[behind:])
	case c.chunk.Type == format.Int64:
		c.values = append(c.values, slices.Repeat([]int64{v.number}, rows)...)
		c.least, c.most = min(c.least, v.number), max(c.most, v.number)
	default:
		c.runs = append(c.runs, run{c.place(v.text), rows})
		name := nameValue(v.text)
		if s.MinValue == nil || bytes.Compare(name, s.MinValue) < 0 {
			s.MinValue = name
		}
		if bytes.Compare(name, s.MaxValue) > 0 {
			s.MaxValue = name
		}
	}
}

// present returns the levels of so many rows, of which those behind the ones so far are not null.
func (c *column) present(rows int) []byte {
	return append(c.levels, slices.Repeat([]byte{1}, rows-len(c.levels))...)
}

// place returns the place of a name in the dictionary, to which it adds it at need.
func (c *column) place(name string) int32 {
	place, ok := c.known[name]
	if !ok {
		place = int32(len(c.known))
		c.known[name] = place
		value := nameValue(name)
		c.dictionary = append(binary.LittleEndian.AppendUint32(c.dictionary, uint32(len(value))), value...)
	}
	return place
}

var (
	packed delta.BinaryPackedEncoding
	level  = rle.Encoding{BitWidth: 1}
)

// encode appends the body of a page of so many rows to dst and empties the page.
func (c *column) encode(dst []byte, rows int) []byte {
	if c.schema.RepetitionType.V == format.Optional {
		given := len(c.values)
		for _, r := range c.runs {
			given += r.rows
		}
		c.chunk.Statistics.NullCount += int64(rows - given)
		levels := append(binary.AppendUvarint(nil, uint64(rows)<<1), 1) // a run of ones
		if len(c.levels) > 0 {
			levels = must(level.EncodeLevels(nil, c.present(rows)))
		}
		dst = append(binary.LittleEndian.AppendUint32(dst, uint32(len(levels))), levels...)
	}
	switch c.chunk.Type {
	case format.Int64:
		dst = append(dst, must(packed.EncodeInt64(dst[len(dst):], c.values))...) // already there, if there was room
	case format.ByteArray:
		greatest := int32(0)
		for _, r := range c.runs {
			greatest = max(greatest, r.place)
		}
		for _, place := range c.names {
			greatest = max(greatest, place)
		}
		width := bits.Len32(uint32(greatest))
		dst = appendPlaces(dst, c.names, width)
		for _, r := range c.runs {
			dst = appendRun(dst, r, width)
		}
	case format.Boolean:
		dst = append(dst, make([]byte, (rows+7)/8)...)
		for i, n := range c.values {
			dst[i/8] |= byte(n) << (i % 8)
		}
	}
	c.values, c.names, c.runs, c.levels = c.values[:0], c.names[:0], c.runs[:0], c.levels[:0]
	return dst
}

// appendPlaces appends places in a dictionary, of so many bits: a run of those that are equal to the
// end or for 8 and more, packed in groups of 8 of the others. What the library makes of them depends
// on the processor.
func appendPlaces(dst []byte, list []int32, width int) []byte {
	dst = append(dst, byte(width))
	for len(list) > 0 {
		n := equal(list)
		if n >= 8 || n == len(list) {
			dst, list = appendRun(dst, run{list[0], n}, width), list[n:]
			continue
		}
		for n = 8; n+8 <= len(list) && equal(list[n:n+8]) < 8; n += 8 {
		}
		dst = binary.AppendUvarint(dst, uint64(n/8)<<1|1)
		var room uint64
		used := 0
		for _, place := range list[:min(n, len(list))] {
			room |= uint64(place) << used
			if used += width; used >= 32 {
				dst = binary.LittleEndian.AppendUint32(dst, uint32(room))
				room, used = room>>32, used-32
			}
		}
		for used += max(0, n-len(list)) * width; used > 0; used -= 8 {
			dst, room = append(dst, byte(room)), room>>8
		}
		list = list[min(n, len(list)):]
	}
	return dst
}

func appendRun(dst []byte, r run, width int) []byte {
	dst = binary.AppendUvarint(dst, uint64(r.rows)<<1)
	for k := 0; k < width; k += 8 {
		dst = append(dst, byte(r.place>>k))
	}
	return dst
}

// equal returns how many places at the beginning of a list are the same.
func equal(list []int32) int {
	for i, place := range list {
		if place != list[0] {
			return i
		}
	}
	return len(list)
}
