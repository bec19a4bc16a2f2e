package parquet

import (
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
)

// cells are what is to be written into a column: numbers, or the numbers of names. The library
// takes a parquet.Value of 24 bytes for each, and looks each name up. Here the values only say
// which cells there are, and its buffers take the cells from this list.
type cells struct {
	next  []int64
	names []parquet.Value // by number
}

// take returns the next n cells.
func (c *cells) take(n int) []int64 {
	list := c.next[:n]
	c.next = c.next[n:]
	return list
}

// cellType is the type of a column of cells.
type cellType struct {
	parquet.Type
	from *cells
}

func (t cellType) NewColumnBuffer(column, n int) parquet.ColumnBuffer {
	return cellBuffer{t.Type.NewColumnBuffer(column, n), t.from}
}

func (t cellType) NewDictionary(column, n int, data encoding.Values) parquet.Dictionary {
	return &dictionary{Dictionary: t.Type.NewDictionary(column, n, data), cellType: t}
}

type cellBuffer struct {
	parquet.ColumnBuffer
	from *cells
}

func (b cellBuffer) WriteValues(values []parquet.Value) (int, error) {
	list := b.from.take(len(values))
	if w, ok := b.ColumnBuffer.(parquet.Int64Writer); ok {
		return w.WriteInt64s(list)
	}
	for i, n := range list { // a name that no dictionary has room for
		if _, err := b.ColumnBuffer.WriteValues(b.from.names[n : n+1]); err != nil {
			return i, err
		}
	}
	return len(list), nil
}

// dictionary is that of a column of names, in a row group.
type dictionary struct {
	parquet.Dictionary
	cellType cellType
	places   []int32 // by number of a name: its place from 1; 0: it is not in the dictionary
}

func (d *dictionary) Type() parquet.Type { return placeType{d.Dictionary.Type(), d} }

func (d *dictionary) Reset() {
	d.Dictionary.Reset()
	clear(d.places)
}

// place returns the place of a name, which it makes at need.
func (d *dictionary) place(n int64) int32 {
	if n >= int64(len(d.places)) || d.places[n] == 0 {
		d.add(n)
	}
	return d.places[n] - 1
}

func (d *dictionary) add(n int64) {
	names := d.cellType.from.names
	d.places = append(d.places, make([]int32, len(names)-len(d.places))...)
	d.Insert(d.places[n:n+1], names[n:n+1])
	d.places[n]++
}

// placeType is the type of names that stand in a dictionary.
type placeType struct {
	parquet.Type
	dict *dictionary
}

func (t placeType) NewColumnBuffer(column, n int) parquet.ColumnBuffer {
	if t.dict.Size() > dictionaryBytes {
		return t.dict.cellType.NewColumnBuffer(column, n)
	}
	return &placeBuffer{ColumnBuffer: t.Type.NewColumnBuffer(column, 0), placeType: t, column: column}
}

// placeBuffer has the places of names in place of a buffer of the library, which stays empty.
type placeBuffer struct {
	parquet.ColumnBuffer
	placeType placeType
	column    int
	places    []int32
}

func (b *placeBuffer) WriteValues(values []parquet.Value) (int, error) {
	d := b.placeType.dict
	for _, n := range d.cellType.from.take(len(values)) {
		b.places = append(b.places, d.place(n))
	}
	return len(values), nil
}

func (b *placeBuffer) Page() parquet.Page {
	return b.placeType.NewPage(b.column, len(b.places), encoding.Int32Values(b.places))
}

func (b *placeBuffer) Len() int    { return len(b.places) }
func (b *placeBuffer) Size() int64 { return 4 * int64(len(b.places)) }
func (b *placeBuffer) Reset()      { b.places = b.places[:0] }
