// Package strict decodes files that were saved, and records in traces: they may be damaged since, or
// not be what they are taken for. To check a report of 400 kB by its JSON Schema and to decode it then takes four times as
// long, apart from compiling the schema, and does not find keys that are there twice.
package strict

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/schedscope/schedscope/internal/savedfile"
)

// SchemaError is returned for a file of another schema or version.
type SchemaError struct{ Got, Want string }

func (e *SchemaError) Error() string {
	text := fmt.Sprintf("its schema is %s, not %q", quote(e.Got), e.Want)
	kind, version, _ := strings.Cut(e.Got, "/v")
	if wantKind, _, _ := strings.Cut(e.Want, "/v"); kind == wantKind && strings.Trim(version, "0123456789.") == "" {
		text += ": a newer schedscope wrote it, so update this one"
	}
	return text
}

// Decode decodes the JSON of a struct. It returns an error unless data is an object of the
// schema, if that is not "", and holds only what the types allow:
//
//  1. All keys of an object are fields of its struct, as they are written, and none is there twice.
//  2. All fields are there, except those with omitempty or omitzero, and none is null.
//  3. Numbers are in the range of their field, which the tag range declares ("-1..", "0..1"),
//     and not negative where it declares none. It is that of numbers in lists, too.
//  4. Lists for arrays have their length.
//  5. The sum is that of the content, see [savedfile.Sum], where there is one: what may be left out,
//     and numbers that are as good as others, are those that were written.
//  6. Its method Check has nothing against it, if it has one.
//
// An error says what is wrong and where, in one line, without the name of the file. Schemas of
// JSON have the same ranges and required keys: see [RangeOf].
func Decode[T any](data []byte, schema string) (*T, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	var keys map[string]jsontext.Value
	err := json.Unmarshal(data, &keys, jsontext.AllowDuplicateNames(true)) // they are found below, with their place
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return nil, wrongSyntax(data, syntax)
	}
	var got string
	if json.Unmarshal(keys["schema"], &got) != nil && schema != "" {
		return nil, fmt.Errorf("not a file of schedscope: it does not name a schema such as %q", schema)
	}
	if schema != "" && got != schema {
		return nil, &SchemaError{got, schema}
	}
	c := &checker{jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true)), data, map[reflect.Type][]field{}}
	if f := c.value(reflect.TypeFor[T](), Range{0, math.Inf(1)}); f != nil {
		return nil, f
	}
	v := new(T)
	if err := json.Unmarshal(data, v, jsonv1.FormatDurationAsNano(true)); err != nil {
		return nil, err
	}
	if sum := reflect.ValueOf(v).Elem().FieldByName("Sum"); sum.IsValid() && sum.String() != "" {
		delete(keys, "sum")
		content, _ := json.Marshal(keys, json.Deterministic(true), jsontext.ReorderRawObjects(true), jsontext.EscapeForHTML(true), jsontext.EscapeForJS(true))
		if sum.String() != savedfile.SumOf(content) {
			return nil, errors.New(`its content does not match its "sum": restore the original or, if the change is meant, remove that key`)
		}
		sum.SetString("")
	}
	if x, ok := any(v).(interface{ Check() error }); ok {
		if err := x.Check(); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// wrongSyntax puts into words why data is no JSON.
func wrongSyntax(data []byte, err *jsontext.SyntacticError) error {
	switch {
	case len(bytes.TrimSpace(data)) == 0:
		return errors.New("the file is empty")
	case err.ByteOffset+1 >= int64(len(data)):
		return fmt.Errorf("the JSON is cut off after %d bytes", len(data))
	}
	return fmt.Errorf("not valid JSON: %w (byte %d)", err.Err, err.ByteOffset+1)
}
