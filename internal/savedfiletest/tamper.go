// Package savedfiletest is for tests of files that are saved and read again: it changes what is in
// them, and generates their schemas.
package savedfiletest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/internal/savedfile"
)

var sumKey = regexp.MustCompile(`,\s*"sum":\s*"[0-9a-f]*"|\s*"sum":\s*"[0-9a-f]*",?`)

// Unsealed returns JSON without its sum.
func Unsealed(data []byte) []byte { return sumKey.ReplaceAll(data, nil) }

// Sealed returns JSON with a sum of its contents.
func Sealed(data []byte) []byte {
	data = Unsealed(data)
	return bytes.Replace(data, []byte("{"), fmt.Appendf(nil, `{"sum":%q,`, savedfile.Sum(json.RawMessage(data))), 1)
}

// Tamper calls try with JSON in which one thing is changed, for each thing and change, and with its
// place: a field or element of a list is deleted, or null; a number or bool is negated. Of a list it
// looks into the first and the last element: those between are of the same type.
//
// Each change is cut into the text, as encoding all of it again costs more than most reads of it.
func Tamper(t testing.TB, data []byte, try func(what string, changed []byte)) {
	t.Helper()
	// In the text keys are sorted, and nothing is between the tokens.
	text := encode(t, decode[any](t, data))
	splice := func(what string, from, to int, by string) {
		try(what, slices.Concat(text[:from], []byte(by), text[to:]))
	}
	// each makes the changes of the value from one byte to another.
	each := func(place string, from, to int) {
		old := string(text[from:to])
		if old != "null" {
			splice("null for "+place, from, to, "null")
		}
		switch {
		case old == "true" || old == "false":
			splice("negated "+place, from, to, strconv.FormatBool(old == "false"))
		case strings.Contains("-0123456789", old[:1]):
			splice("negative "+place, from, to, strings.TrimPrefix("-"+old, "--"))
		}
	}
	var walk func(place string, from, to int)
	// part makes the changes of an element of what walk looks into, from its key on if it has one.
	part := func(place string, from, value, to int) {
		begin, end := from, to
		if text[to] == ',' {
			end++
		} else if text[from-1] == ',' {
			begin--
		}
		splice("without "+place, begin, end, "")
		each(place, value, to)
		walk(place, value, to)
	}
	walk = func(place string, from, to int) {
		at := from + 1 // where the next element begins
		switch text[from] {
		case '[':
			list := decode[[]json.RawMessage](t, text[from:to])
			for i, x := range list {
				if i == 0 || i == len(list)-1 {
					part(fmt.Sprintf("%s[%d]", place, i), at, at, at+len(x))
				}
				at += len(x) + len(",")
			}
		case '{':
			fields := decode[map[string]json.RawMessage](t, text[from:to])
			for _, key := range slices.Sorted(maps.Keys(fields)) {
				value := at + len(encode(t, key)) + len(":")
				part(place+"."+key, at, value, value+len(fields[key]))
				at = value + len(fields[key]) + len(",")
			}
		}
	}
	walk("", 0, len(text))
}

func decode[T any](t testing.TB, data []byte) (v T) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func encode(t testing.TB, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
