package parquet

import (
	"cmp"
	"slices"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/schedscope/schedscope/report"
)

// Origin says where the rows of a file come from. It becomes columns that are the same
// in each row, behind those of the table; what is "" or zero is null.
type Origin struct {
	Host, Service string
	GoVersion     string
	File          string    // name of the trace
	Recorded      time.Time // wall clock at the beginning of the trace
}

// OriginColumns are the names of an Origin's columns.
var OriginColumns = []string{"host", "service", "go_version", "file", "recorded"}

// values returns the values of OriginColumns.
func (o *Origin) values() []parquet.Value {
	var list []parquet.Value
	for _, s := range []string{o.Host, o.Service, o.GoVersion, o.File} {
		v := parquet.NullValue()
		if s != "" {
			v = nameValue(s)
		}
		list = append(list, v)
	}
	recorded := parquet.NullValue()
	if !o.Recorded.IsZero() {
		recorded = parquet.Int64Value(o.Recorded.UnixMicro())
	}
	return append(list, recorded)
}

// nameValue returns a name, in which U+FFFD stands for each byte that is not UTF-8.
func nameValue(s string) parquet.Value { return parquet.ByteArrayValue([]byte(string([]rune(s)))) }

// Encodings. Times and ids of neighbouring rows are near each other; names are few.

func nameNode(from *cells) parquet.Node {
	return parquet.Encoded(parquet.Leaf(cellType{parquet.String().Type(), from}), &parquet.RLEDictionary)
}

func numberNode(t parquet.Type, from *cells) parquet.Node {
	return parquet.Optional(parquet.Encoded(parquet.Leaf(cellType{t, from}), &parquet.DeltaBinaryPacked))
}

// schemaOf returns the schema of a file: the columns of the table, then OriginColumns. Cells
// are taken from one list or the other.
func schemaOf(columns []report.Column, table, origin *cells) *parquet.Schema {
	g := group{Group: parquet.Group{}}
	add := func(name string, n parquet.Node) {
		g.Group[name] = n
		g.order = append(g.order, name)
	}
	for _, c := range columns {
		switch c.Unit {
		case "name":
			add(c.Name, nameNode(table))
		case "bool":
			add(c.Name, parquet.Leaf(parquet.BooleanType))
		default:
			add(c.Name, numberNode(parquet.Int64Type, table))
		}
	}
	for _, name := range OriginColumns {
		if name == "recorded" {
			add(name, numberNode(parquet.Timestamp(parquet.Microsecond).Type(), origin))
			continue
		}
		add(name, parquet.Optional(nameNode(origin)))
	}
	return parquet.NewSchema("schedscope", g)
}

// group is a parquet.Group whose fields are not sorted by name.
type group struct {
	parquet.Group
	order []string
}

// Fields returns the fields in order.
func (g group) Fields() []parquet.Field {
	fields := g.Group.Fields()
	slices.SortFunc(fields, func(a, b parquet.Field) int {
		return cmp.Compare(slices.Index(g.order, a.Name()), slices.Index(g.order, b.Name()))
	})
	return fields
}
