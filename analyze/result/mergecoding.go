package result

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"reflect"

	"github.com/schedscope/schedscope/internal/hdr"
	"github.com/schedscope/schedscope/internal/textui"
)

// MarshalBinary returns the state of the Merger, for UnmarshalBinary of the same version of
// this program. The Merger remains usable.
func (m *Merger) MarshalBinary() ([]byte, error) {
	p := m.joinAll()
	c := coder{seen: map[string]uint64{}}
	c.merger(&m.skipped, &p)
	return c.data, nil
}

// UnmarshalBinary sets the Merger to one that MarshalBinary returned.
func (m *Merger) UnmarshalBinary(data []byte) error {
	*m = Merger{}
	var p mergerPart
	c := coder{reads: true, data: data}
	c.merger(&m.skipped, &p)
	if c.bad || len(c.data) > 0 || p.v != nil && !p.valid() {
		return errors.New("merged reports are damaged")
	}
	if p.v != nil {
		m.parts = []mergerPart{p}
	}
	return nil
}

// valid reports whether a part that was read has what merging relies on.
func (p *mergerPart) valid() bool {
	ok := p.sums.Reports > 0 && p.sums.Least >= 0
	renumber(p.v, func(at int) int {
		ok = ok && 0 <= at && at < len(p.v.Traces)
		return at
	})
	return ok && errors.Join(validSeries(p.v), validHeat(p.v), validCauseSeries(p.v)) == nil
}

// coder writes values to data, or reads them from there: the same walk does both. Numbers are
// varints, and a text that was there before is its place among those.
type coder struct {
	reads bool
	data  []byte
	bad   bool // what was read is not what was written

	seen  map[string]uint64
	texts []string
}

func (c *coder) merger(skipped *[]Skipped, p *mergerPart) {
	for _, x := range []any{skipped, &p.sums, &p.v} {
		c.value(reflect.ValueOf(x).Elem())
	}
}

// duplicate sets to, which is empty, to what from is. They share nothing.
func duplicate[T any](to, from *T) {
	c := coder{seen: map[string]uint64{}}
	c.value(reflect.ValueOf(from).Elem())
	c = coder{reads: true, data: c.data}
	c.value(reflect.ValueOf(to).Elem())
}

// number writes n, or returns what it reads.
func (c *coder) number(n uint64) uint64 {
	if !c.reads {
		c.data = binary.AppendUvarint(c.data, n)
		return n
	}
	n, k := binary.Uvarint(c.data)
	if k <= 0 {
		n, k, c.bad = 0, len(c.data), true
	}
	c.data = c.data[k:]
	return n
}

// length is number for the length of something of which each part takes a byte or more.
func (c *coder) length(n int) int {
	got := c.number(uint64(n))
	if c.reads && got > uint64(len(c.data)) {
		got, c.data, c.bad = 0, nil, true
	}
	return int(got)
}

func (c *coder) bytes(b []byte) []byte {
	n := c.length(len(b))
	if !c.reads {
		c.data = append(c.data, b...)
		return b
	}
	b, c.data = c.data[:n], c.data[n:]
	return b
}

func (c *coder) text(s string) string {
	if at, ok := c.seen[s]; ok {
		c.number(at)
		return s
	}
	if at := c.number(0); at > uint64(len(c.texts)) {
		c.bad = true
		return ""
	} else if at > 0 {
		return c.texts[at-1]
	}
	if s = string(c.bytes([]byte(s))); c.reads {
		c.texts = append(c.texts, s)
	} else {
		c.seen[s] = uint64(len(c.seen) + 1)
	}
	return s
}

// value writes or sets v.
func (c *coder) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		n := textui.Either[uint64](v.Bool(), 1, 0)
		v.SetBool(c.number(n) != 0)
	case reflect.Int, reflect.Int32, reflect.Int64:
		n := c.number(uint64(v.Int()<<1) ^ uint64(v.Int()>>63))
		v.SetInt(int64(n>>1) ^ -int64(n&1))
	case reflect.Uint8, reflect.Uint64:
		v.SetUint(c.number(v.Uint()))
	case reflect.Float64:
		n := bits.ReverseBytes64(math.Float64bits(v.Float())) // most end in zeros
		v.SetFloat(math.Float64frombits(bits.ReverseBytes64(c.number(n))))
	case reflect.String:
		v.SetString(c.text(v.String()))
	case reflect.Array:
		for i := range v.Len() {
			c.value(v.Index(i))
		}
	case reflect.Slice:
		n := 0 // of nil
		if !v.IsNil() {
			n = v.Len() + 1
		}
		if n = c.length(n); c.reads && n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n-1, n-1))
		}
		for i := range v.Len() {
			c.value(v.Index(i))
		}
	case reflect.Pointer:
		n := textui.Either[uint64](v.IsNil(), 0, 1)
		if c.number(n) == 0 {
			return
		}
		if c.reads {
			v.Set(reflect.New(v.Type().Elem()))
		}
		c.value(v.Elem())
	case reflect.Struct:
		d := distOf(v)
		if d != nil && d.sketch().values != nil {
			complete(d)
		}
		for _, i := range plans()[v.Type()].exported {
			c.value(v.Field(i))
		}
		if row, ok := v.Addr().Interface().(interface{ leads() []lead }); ok {
			for i, l := range row.leads() {
				row.leads()[i] = lead(c.number(uint64(l)))
			}
		}
		if d != nil {
			c.counts(d)
		}
	default:
		panic("result: " + v.Type().String() + " cannot be coded")
	}
}

// counts writes or reads the counts of a distribution that was merged.
func (c *coder) counts(d distribution) {
	s := d.sketch()
	data := c.bytes(s.counts.Bytes())
	if !c.reads || len(data) == 0 {
		return
	}
	count, _, _, _, _ := d.extremes()
	var err error
	if s.counts, err = hdr.Counts(bytes.Clone(data)); err != nil || s.counts.Total != *count {
		c.bad = true
	}
}
