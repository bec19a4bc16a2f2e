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
	"strings"
	"testing"

	"github.com/schedscope/schedscope/internal/savedfile"
)

var sumKey = regexp.MustCompile(`,\s*"sum":\s*"[0-9a-f]*"|\s*"sum":\s*"[0-9a-f]*",?`)

// Unsealed returns JSON without its sum.
func Unsealed(data []byte) []byte { return sumKey.ReplaceAll(data, nil) }

// Sealed returns JSON with a sum of what it holds, for what only changes with a sum that is right.
func Sealed(data []byte) []byte {
	data = Unsealed(data)
	return bytes.Replace(data, []byte("{"), fmt.Appendf(nil, `{"sum":%q,`, savedfile.Sum(json.RawMessage(data))), 1)
}

// Tamper calls try with JSON in which one thing is changed, for each thing and change, and with its
// place: a field or element of a list is deleted, or null; a number or bool is negated. Of a list it
// looks into the first and the last element: those between are of the same type.
func Tamper(t testing.TB, data []byte, try func(what string, changed []byte)) {
	t.Helper()
	var doc any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	send := func(what string) {
		changed, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		try(what, changed)
	}
	// each has the changes of the value at a place, which put sets.
	each := func(place string, old any, put func(any)) {
		if put(nil); old != nil {
			send("null for " + place)
		}
		switch x := old.(type) {
		case json.Number:
			put(json.Number(strings.TrimPrefix("-"+x.String(), "--")))
			send("negative " + place)
		case bool:
			put(!x)
			send("negated " + place)
		}
		put(old)
	}
	var walk func(v any, place string, put func(any))
	walk = func(v any, place string, put func(any)) {
		switch v := v.(type) {
		case []any:
			for i := range v {
				if i > 0 && i < len(v)-1 {
					continue
				}
				at := fmt.Sprintf("%s[%d]", place, i)
				put(slices.Delete(slices.Clone(v), i, i+1))
				send("without " + at)
				put(v)
				each(at, v[i], func(x any) { v[i] = x })
				walk(v[i], at, func(x any) { v[i] = x })
			}
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(v)) {
				old, at := v[key], place+"."+key
				delete(v, key)
				send("without " + at)
				each(at, old, func(x any) { v[key] = x })
				walk(old, at, func(x any) { v[key] = x })
			}
		}
	}
	walk(doc, "", func(x any) { doc = x })
}
