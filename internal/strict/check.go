package strict

import (
	"bytes"
	"encoding"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Object is an array that is an object in JSON, with a field for each element.
type Object interface{ JSONFields() []string }

// Range is a range of numbers, both bounds included.
type Range struct{ Least, Most float64 }

// RangeOf returns the range that a field declares: "LEAST..MOST", of which either may be left
// out; from 0 on if it declares none. Without a bound it is infinite. ">0.." is above 0.
func RangeOf(f reflect.StructField) Range {
	r := Range{0, math.Inf(1)}
	text, ok := f.Tag.Lookup("range")
	if !ok {
		return r
	}
	if text, ok = strings.CutPrefix(text, ">"); ok {
		text = fmt.Sprint(math.SmallestNonzeroFloat64) + strings.TrimPrefix(text, "0")
	}
	least, most, _ := strings.Cut(text, "..")
	for _, x := range []struct {
		to   *float64
		text string
		none float64
	}{{&r.Least, least, math.Inf(-1)}, {&r.Most, most, math.Inf(1)}} {
		if *x.to = x.none; x.text != "" {
			*x.to, _ = strconv.ParseFloat(x.text, 64) // checked by TestRanges
		}
	}
	return r
}

// String returns the range in words.
func (r Range) String() string {
	if r.Least == math.SmallestNonzeroFloat64 {
		return strings.TrimSuffix(fmt.Sprintf("above 0 and at most %v", r.Most), " and at most +Inf")
	}
	if math.IsInf(r.Most, 1) {
		return fmt.Sprintf("%v or more", r.Least)
	}
	return fmt.Sprintf("%v to %v", r.Least, r.Most)
}

// field is a member of an object.
type field struct {
	name     string
	typ      reflect.Type
	in       Range
	required bool
}

// checker walks through JSON that is valid together with the type that it is for, which has no maps.
// [json.Unmarshal] knows neither ranges nor what must be there, and it makes large values of little
// text before anything can be refused.
type checker struct {
	*jsontext.Decoder
	data   []byte
	fields map[reflect.Type][]field
}

// fault is what is wrong, and where: ".traces[0].name".
type fault struct{ path, text string }

func (f *fault) Error() string {
	if f.path == "" {
		return "it " + f.text
	}
	return strings.TrimPrefix(f.path, ".") + " " + f.text
}

func faultf(format string, args ...any) *fault { return &fault{text: fmt.Sprintf(format, args...)} }

// in puts the place of a fault in front of it.
func (f *fault) in(place string) *fault {
	f.path = place + f.path
	return f
}

var kinds = map[jsontext.Kind]string{'{': "an object", '[': "a list", '"': "a text", 't': "a bool", 'f': "a bool", 'n': "null", '0': "a number"}

var textType = reflect.TypeFor[encoding.TextUnmarshaler]()

// value checks the next value, of a type and in a range.
func (c *checker) value(t reflect.Type, in Range) *fault {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	kind, want, fields := t.Kind(), jsontext.Kind('0'), []field(nil)
	switch {
	case kind == reflect.String, reflect.PointerTo(t).Implements(textType):
		want = '"'
	case kind == reflect.Struct, kind == reflect.Array:
		if fields = c.fieldsOf(t, in); fields != nil {
			want = '{'
			break
		}
		fallthrough
	case kind == reflect.Slice:
		want = '['
	case kind == reflect.Bool:
		want = 't'
	}
	if got := c.PeekKind(); kinds[got] != kinds[want] {
		return faultf("is %s, not %s", kinds[got], kinds[want])
	}
	switch want {
	case '0':
		text, _ := c.ReadValue()
		return number(string(text), kind, in)
	case '[':
		return c.list(t, in)
	case '{':
		return c.object(fields)
	}
	c.SkipValue()
	return nil
}

// number checks the text of one.
func number(text string, kind reflect.Kind, in Range) *fault {
	x, err := strconv.ParseFloat(text, 64)
	if kind != reflect.Float64 {
		if strings.ContainsAny(text, ".eE") {
			return faultf("is %s, not a whole number", shorten(text))
		}
		if kind == reflect.Uint64 {
			_, err = strconv.ParseUint(strings.TrimPrefix(text, "-"), 10, 64)
		} else {
			_, err = strconv.ParseInt(text, 10, 64)
		}
	}
	switch {
	case x < in.Least || x > in.Most:
		return faultf("is %s, want %s", shorten(text), in)
	case err != nil:
		return faultf("is %s, which does not fit", shorten(text))
	}
	return nil
}

func (c *checker) list(t reflect.Type, in Range) *fault {
	c.ReadToken()
	n := 0
	for ; c.PeekKind() != ']'; n++ {
		start := c.InputOffset()
		f := c.value(t.Elem(), in)
		if f == nil {
			continue
		}
		var named struct {
			Name string `json:"name"`
		}
		element := bytes.TrimLeft(c.data[start:], ", \t\r\n")
		json.UnmarshalDecode(jsontext.NewDecoder(bytes.NewBuffer(element)), &named) // without a name it has a number
		if named.Name != "" {
			return f.in("[" + quote(named.Name) + "]")
		}
		return f.in(fmt.Sprintf("[%d]", n))
	}
	c.ReadToken()
	if t.Kind() == reflect.Array && n != t.Len() {
		return faultf("is a list of %d, not of %d", n, t.Len())
	}
	return nil
}

func (c *checker) object(fields []field) *fault {
	c.ReadToken()
	seen := make([]bool, len(fields))
	for c.PeekKind() != '}' {
		key, _ := c.ReadToken()
		name := key.String()
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == name })
		switch {
		case i < 0:
			return faultf("has the unknown key %s: a newer schedscope wrote it, so update this one, or it was changed", quote(name))
		case seen[i]:
			return faultf("is there twice").in("." + name)
		}
		seen[i] = true
		if f := c.value(fields[i].typ, fields[i].in); f != nil {
			return f.in("." + name)
		}
	}
	c.ReadToken()
	for i := range fields {
		if !seen[i] && fields[i].required {
			return faultf("is missing").in("." + fields[i].name)
		}
	}
	return nil
}

// fieldsOf returns the fields of a struct or an [Object], nil of another array.
func (c *checker) fieldsOf(t reflect.Type, in Range) []field {
	if list, ok := c.fields[t]; ok {
		return list
	}
	var list []field
	if t.Kind() == reflect.Struct {
		list = []field{}
		for _, f := range reflect.VisibleFields(t) {
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name != "" && name != "-" {
				list = append(list, field{name, f.Type, RangeOf(f), !strings.HasPrefix(options, "omit")})
			}
		}
	} else if obj, ok := reflect.Zero(t).Interface().(Object); ok {
		for _, name := range obj.JSONFields() {
			list = append(list, field{name, t.Elem(), in, true})
		}
		return list // of another field it has another range
	}
	c.fields[t] = list
	return list
}

// quote returns text of the file so that it is harmless in a terminal.
func quote(s string) string { return strconv.QuoteToASCII(shorten(s)) }

func shorten(s string) string {
	if len(s) > 60 {
		return s[:60] + "..."
	}
	return s
}
