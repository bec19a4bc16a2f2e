// Package savedfile reads small files that were saved earlier: they may be damaged since, or
// not be what they are taken for.
package savedfile

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// ReadFile returns the content of a file of at most limit bytes. Whatever is wrong is an
// [*fs.PathError].
func ReadFile(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := ReadAll(f, limit)
	if _, named := err.(*fs.PathError); err != nil && !named {
		err = &fs.PathError{Op: "read", Path: path, Err: err}
	}
	return data, err
}

// ReadAll returns what r has, which is an error if it is more than limit bytes.
func ReadAll(r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("larger than the limit of %d bytes", limit)
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}

// CheckNumbers returns an error if JSON that was decoded into v lacks a number, has null
// for it, or has a negative one. Decoding makes 0 of what is not there. A number that may be
// absent has omitempty.
func CheckNumbers(data []byte, v any) error {
	if where, what := fault(data, reflect.TypeOf(v)); what != "" {
		return fmt.Errorf("%s is %s", where, what)
	}
	return nil
}

// fault returns the first number that is wrong in the JSON of a t, by the names that lead
// to it, and what is wrong with it. Both are "" if none is.
func fault(data json.RawMessage, t reflect.Type) (where, what string) {
	null := data == nil || string(data) == "null"
	switch kind := t.Kind(); {
	case kind >= reflect.Int && kind <= reflect.Float64:
		if null {
			return "", "missing"
		}
		if data[0] == '-' {
			return "", "negative"
		}
	case kind == reflect.Pointer && !null:
		return fault(data, t.Elem())
	case kind == reflect.Slice:
		var list []json.RawMessage
		json.Unmarshal(data, &list) // an error: it is null
		for i, x := range list {
			if where, what := fault(x, t.Elem()); what != "" {
				return within(label(x, i), where), what
			}
		}
	case kind == reflect.Map:
		m := object(data)
		for _, key := range slices.Sorted(maps.Keys(m)) {
			if where, what := fault(m[key], t.Elem()); what != "" {
				return within(strconv.Quote(key), where), what
			}
		}
	case kind == reflect.Struct:
		m := object(data)
		for _, f := range reflect.VisibleFields(t) {
			name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" || name == "-" || option == "omitempty" && m[name] == nil {
				continue
			}
			if where, what := fault(m[name], f.Type); what != "" {
				return within(name, where), what
			}
		}
	}
	return "", ""
}

func object(data json.RawMessage) map[string]json.RawMessage {
	var m map[string]json.RawMessage
	json.Unmarshal(data, &m) // an error: it is null
	return m
}

// label returns the name of a list's element, its place if it has none.
func label(data json.RawMessage, i int) string {
	var name string
	if json.Unmarshal(object(data)["name"], &name); name != "" {
		return strconv.Quote(name)
	}
	return strconv.Itoa(i + 1)
}

func within(name, where string) string {
	if where == "" {
		return name
	}
	return name + ": " + where
}
