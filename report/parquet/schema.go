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
	Trace         string    // [TraceID]
}

// OriginColumns are the names of an Origin's columns.
var OriginColumns = []string{"host", "service", "go_version", "file", "recorded", "trace"}

// values returns the values of OriginColumns.
func (o *Origin) values() []parquet.Value {
	name := func(s string) parquet.Value {
		if s == "" {
			return parquet.NullValue()
		}
		return nameValue(s).Level(0, 1, 0)
	}
	recorded := parquet.NullValue()
	if !o.Recorded.IsZero() {
		recorded = numberValue(o.Recorded.UnixMicro())
	}
	return []parquet.Value{name(o.Host), name(o.Service), name(o.GoVersion), name(o.File), recorded, name(o.Trace)}
}

func numberValue(n int64) parquet.Value { return parquet.Int64Value(n).Level(0, 1, 0) }

// nameValue returns a name, in which U+FFFD stands for each byte that is not UTF-8.
func nameValue(s string) parquet.Value { return parquet.ByteArrayValue([]byte(string([]rune(s)))) }

// Encodings. Times and ids of neighbouring rows are near each other; names are few.

var nameNode = parquet.Encoded(parquet.String(), &parquet.RLEDictionary)

func numberNode(n parquet.Node) parquet.Node {
	return parquet.Optional(parquet.Encoded(n, &parquet.DeltaBinaryPacked))
}

// schemaOf returns the schema of a file: the columns of the table, then OriginColumns.
func schemaOf(columns []report.Column) *parquet.Schema {
	g := group{Group: parquet.Group{}}
	add := func(name string, n parquet.Node) {
		g.Group[name] = n
		g.order = append(g.order, name)
	}
	for _, c := range columns {
		switch c.Unit {
		case "name":
			add(c.Name, nameNode)
		case "bool":
			add(c.Name, parquet.Leaf(parquet.BooleanType))
		default:
			add(c.Name, numberNode(parquet.Leaf(parquet.Int64Type)))
		}
	}
	for _, name := range OriginColumns {
		if name == "recorded" {
			add(name, numberNode(parquet.Timestamp(parquet.Microsecond)))
			continue
		}
		add(name, parquet.Optional(nameNode))
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
