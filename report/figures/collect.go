package figures

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// collector collects figures. By and of are those of what is added.
//
// Figures are the fields of the types of package result that have a tag such as
//
//		figure:"latency lower by=origin: scheduling latency, runnable until running"
//
//	 1. Before the colon are the name of the figure and: lower, if it is better then; share,
//	    for fractions that are one; of=WORD, what a single value is of; if=FIELD, without
//	    which there is none. Behind it is what the figure is.
//	 2. A distribution or a tally becomes several figures, see [collector.dist].
//	 3. The number of a list is a figure, unless the tag has by=KIND: then each element has
//	    figures, of what its field tagged key:"" names. With a name they are those of the
//	    last field of the element (as in [result.Named]), else those of its own tags.
//	 4. Structs without a tag are looked into, lists without one are not.
//	 5. Figures of single traces come last.
type collector struct {
	list   []Figure
	by, of string
}

// tag is a parsed tag.
type tag struct {
	name, doc, by, of, given string
	better                   Better
	real                     Unit // of fractions
}

func parseTag(s string) tag {
	t := tag{real: Number}
	var head string
	head, t.doc, _ = strings.Cut(s, ": ")
	for _, word := range strings.Fields(head) {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "lower":
			t.better = Lower
		case "share":
			t.real = Share
		case "by":
			t.by = value
		case "of":
			t.of = value
		case "if":
			t.given = value
		default:
			t.name = word
		}
	}
	return t
}

// fields adds the figures in a struct.
func (c *collector) fields(v reflect.Value) {
	if q, ok := v.Interface().(result.Queues); ok && q.Refused != "" && q.Starts == 0 {
		return
	}
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if s, ok := f.Tag.Lookup("figure"); ok {
			t := parseTag(s)
			if t.given == "" || !v.FieldByName(t.given).IsZero() {
				c.value(t, v.Field(i))
			}
		} else if f.IsExported() && f.Type.Kind() == reflect.Struct {
			c.fields(v.Field(i))
		}
	}
}

// value adds the figures of a value with a tag.
func (c *collector) value(t tag, v reflect.Value) {
	if t.by != "" {
		defer func() { c.by, c.of = "", "" }()
		c.by, c.of = t.by, t.of
	}
	switch x := v.Interface().(type) {
	case result.Dist:
		c.dist(t, &x)
		return
	case result.Sizes:
		c.number(t, "", "", Count, x.Total)
		return
	case result.Tally:
		c.number(t, "_samples", ": number", Count, x.Count)
		c.number(t, "_total", ": sum", Nanoseconds, int64(x.Total))
		if x.Count > 0 {
			c.number(t, "_max", ": longest", Nanoseconds, int64(x.Max))
		}
		return
	case result.Uses:
		for use, name := range result.UseFields {
			c.of = name
			c.number(t, "", "", Nanoseconds, int64(x[use]))
		}
		return
	case model.Duration:
		c.number(t, "", "", Nanoseconds, int64(x))
		return
	}
	switch {
	case v.Kind() == reflect.Struct:
		c.fields(v)
	case v.Kind() == reflect.Float64:
		c.add(Figure{Name: t.name, Doc: t.doc, Unit: t.real, Real: v.Float(), Better: t.better})
	case v.Kind() != reflect.Slice:
		c.number(t, "", "", Count, v.Int())
	case t.by == "":
		c.number(t, "", "", Count, int64(v.Len()))
	default:
		for i := range v.Len() {
			c.by, c.of = t.by, nameOf(v.Index(i))
			if t.name == "" {
				c.fields(v.Index(i))
				continue
			}
			of := t
			of.by = ""
			c.value(of, v.Index(i).Field(v.Index(i).NumField()-1))
		}
	}
}

// nameOf returns what an element of a list is called: its key, of a number with its name.
func nameOf(v reflect.Value) string {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if _, ok := f.Tag.Lookup("key"); !ok {
			continue
		}
		if v.Field(i).Kind() == reflect.String {
			return v.Field(i).String()
		}
		return fmt.Sprintf("%s %d", f.Tag.Get("json"), v.Field(i).Int())
	}
	return ""
}

func (c *collector) add(f Figure) {
	f.By, f.Of = c.by, c.of
	c.list = append(c.list, f)
}

// number adds an integer, whose name and meaning go on like that. Sums and lengths are
// better if the whole is, counts of samples are not.
func (c *collector) number(t tag, name, doc string, u Unit, n int64) {
	better := textui.Either(name == "_samples", Neither, t.better)
	c.add(Figure{Name: t.name + name, Doc: t.doc + doc, Unit: u, Int: n, Better: better})
}

// dist adds a distribution. Percentiles that are not known are left out, and those of
// nothing, as the greatest.
func (c *collector) dist(t tag, d *result.Dist) {
	c.number(t, "_samples", ": number", Count, d.Count)
	c.number(t, "_total", ": sum", Nanoseconds, int64(d.Total))
	if d.Count == 0 {
		return
	}
	if !d.Unknown {
		c.number(t, "_p50", ": median", Nanoseconds, int64(d.P50))
		c.number(t, "_p90", ": 90th percentile", Nanoseconds, int64(d.P90))
		c.number(t, "_p99", ": 99th percentile", Nanoseconds, int64(d.P99))
		c.number(t, "_p99_9", ": 99.9th percentile", Nanoseconds, int64(d.P999))
	}
	c.number(t, "_max", ": longest", Nanoseconds, int64(d.Max))
}

// byTrace is By of what is of one of several traces.
const byTrace = "trace"

// Help lists the figures with their descriptions from the tags.
func Help() string {
	var b strings.Builder
	seen := map[string]bool{}
	var walk func(t reflect.Type, name, doc string)
	walk = func(t reflect.Type, name, doc string) {
		for t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if name != "" && !seen[name] {
			seen[name] = true
			fmt.Fprintf(&b, "  %-36s %s\n", name, doc)
		}
		if t.Kind() != reflect.Struct {
			return
		}
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() {
				x := tag{}
				if s, ok := f.Tag.Lookup("figure"); ok {
					x = parseTag(s)
				}
				walk(f.Type, x.name, x.doc)
			}
		}
	}
	walk(reflect.TypeFor[result.Report](), "", "")
	return b.String()
}
