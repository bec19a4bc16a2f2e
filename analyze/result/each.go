package result

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// badValue is a value that cannot be, and where it stands: "latency.by_origin[2].count".
type badValue struct{ path, text string }

func (e *badValue) Error() string { return strings.TrimPrefix(e.path, ".") + " " + e.text }

// each calls f with v and all that is in it, by the tag of the field in JSON, until that fails. A badValue
// gets its place.
func each(v reflect.Value, tag string, f func(v reflect.Value, tag string) error) error {
	if err := f(v, tag); err != nil {
		return err
	}
	in := func(place string, err error) error {
		if bad, ok := errors.AsType[*badValue](err); ok {
			bad.path = place + bad.path
		}
		return err
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			return each(v.Elem(), tag, f)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if err := each(v.Index(i), tag, f); err != nil {
				return in(fmt.Sprintf("[%d]", i), err)
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			field := v.Type().Field(i)
			if !field.IsExported() {
				continue
			}
			tag := field.Tag.Get("json")
			if err := each(v.Field(i), tag, f); err != nil {
				if field.Anonymous {
					return err
				}
				name, _, _ := strings.Cut(tag, ",")
				return in("."+name, err)
			}
		}
	}
	return nil
}
