package savedfile

import (
	"encoding"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Object is an array that JSON has as an object, with a field for each element.
type Object interface{ JSONFields() []string }

// Range is what a number may be.
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

// field is a key of an object.
type field struct {
	name     string
	typ      reflect.Type
	in       Range
	required bool
}

// checker walks through JSON that is valid, together with the type that it is for.
type checker struct {
	data   []byte
	at     int // in data
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
	if f != nil {
		f.path = place + f.path
	}
	return f
}

// check returns an error unless data, which is valid JSON, is as [Decode] wants it for v.
func check(data []byte, v any) error {
	c := &checker{data: data, fields: map[reflect.Type][]field{}}
	if f := c.value(reflect.TypeOf(v), Range{0, math.Inf(1)}); f != nil {
		return f
	}
	return nil
}

// next returns the next character that is not white space, and stays at it.
func (c *checker) next() byte {
	for strings.IndexByte(" \t\r\n", c.data[c.at]) >= 0 {
		c.at++
	}
	return c.data[c.at]
}

// token returns the text or word at the next character, as JSON has it.
func (c *checker) token() []byte {
	if c.next() == '"' {
		start := c.at
		for c.at++; c.data[c.at] != '"'; c.at++ {
			if c.data[c.at] == '\\' {
				c.at++
			}
		}
		c.at++
		return c.data[start:c.at]
	}
	start := c.at
	for c.at < len(c.data) && strings.IndexByte(",:]} \t\r\n", c.data[c.at]) < 0 {
		c.at++
	}
	return c.data[start:c.at]
}

// each calls do at each element of the list or object at the next character.
func (c *checker) each(do func(i int) *fault) *fault {
	c.at++
	for i := 0; ; i++ {
		switch c.next() {
		case ']', '}':
			c.at++
			return nil
		case ',':
			c.at++
		}
		if f := do(i); f != nil {
			return f
		}
	}
}

// member calls do with each key of the object at the next character, at its value.
func (c *checker) member(do func(key string) *fault) *fault {
	return c.each(func(int) *fault {
		var key string
		json.Unmarshal(c.token(), &key) // valid
		c.next()
		c.at++ // the colon
		return do(key)
	})
}

// A kind is one of values, by how they begin.
func kindOf(first byte) string {
	switch first {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a text"
	case 't', 'f':
		return "a bool"
	case 'n':
		return "null"
	}
	return "a number"
}

// value checks the next value, of a type and in a range.
func (c *checker) value(t reflect.Type, in Range) *fault {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	want, kind := "", t.Kind()
	obj, object := reflect.Zero(t).Interface().(Object)
	switch {
	case reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()), kind == reflect.String:
		want = "a text"
	case object, kind == reflect.Struct, kind == reflect.Map:
		want = "an object"
	case kind == reflect.Slice, kind == reflect.Array:
		want = "a list"
	case kind == reflect.Bool:
		want = "a bool"
	default:
		want = "a number"
	}
	if got := kindOf(c.next()); got != want {
		return faultf("is %s, not %s", got, want)
	}
	switch {
	case want == "a number":
		return number(string(c.token()), kind, in)
	case want == "a list":
		return c.list(t, in)
	case object:
		var fields []field
		for _, name := range obj.JSONFields() {
			fields = append(fields, field{name, t.Elem(), in, true})
		}
		return c.object(fields)
	case kind == reflect.Struct:
		return c.object(c.fieldsOf(t))
	case kind == reflect.Map:
		seen := map[string]bool{}
		return c.member(func(key string) *fault {
			place := "[" + quote(key) + "]"
			if seen[key] {
				return faultf("is there twice").in(place)
			}
			seen[key] = true
			return c.value(t.Elem(), in).in(place)
		})
	}
	c.token()
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
	n := 0
	f := c.each(func(i int) *fault {
		n++
		start := c.at
		f := c.value(t.Elem(), in)
		if f == nil {
			return nil
		}
		var named struct {
			Name string `json:"name"`
		}
		json.NewDecoder(strings.NewReader(string(c.data[start:]))).Decode(&named) // without a name it has a number
		if named.Name != "" {
			return f.in("[" + quote(named.Name) + "]")
		}
		return f.in(fmt.Sprintf("[%d]", i))
	})
	if f == nil && t.Kind() == reflect.Array && n != t.Len() {
		return faultf("is a list of %d, not of %d", n, t.Len())
	}
	return f
}

func (c *checker) object(fields []field) *fault {
	seen := make([]bool, len(fields))
	f := c.member(func(key string) *fault {
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == key })
		switch {
		case i < 0:
			return faultf("has the unknown key %s: a newer schedscope wrote it, so update this one, or it was changed", quote(key))
		case seen[i]:
			return faultf("is there twice").in("." + key)
		}
		seen[i] = true
		return c.value(fields[i].typ, fields[i].in).in("." + key)
	})
	if f != nil {
		return f
	}
	for i := range fields {
		if !seen[i] && fields[i].required {
			return faultf("is missing").in("." + fields[i].name)
		}
	}
	return nil
}

func (c *checker) fieldsOf(t reflect.Type) []field {
	if list, ok := c.fields[t]; ok {
		return list
	}
	var list []field
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" && name != "-" {
			list = append(list, field{name, f.Type, RangeOf(f), !strings.HasPrefix(options, "omit")})
		}
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
