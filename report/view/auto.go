package view

import (
	"reflect"
	"strings"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/report/document"
)

// Auto returns a section for each field of a report that has a tag section:"TITLE", for
// results that need no view of their own:
//
//  1. The numbers and texts of the struct are the one row of a table, a column each, named
//     as in the JSON. A distribution is four columns.
//  2. Each list of structs in it is a table of its own, a row for each element.
//  3. What has no number, text or distribution is left out, and so is an empty section.
func Auto(r any) []*document.Section {
	var list []*document.Section
	v := reflect.ValueOf(r).Elem()
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if title := f.Tag.Get("section"); title != "" {
			s := document.New(f.Tag.Get("json"), title)
			autoTables(s, f.Tag.Get("json"), v.Field(i))
			list = append(list, s.OrNil())
		}
	}
	return list
}

func autoTables(s *document.Section, id string, v reflect.Value) {
	if v.Kind() == reflect.Slice {
		if v.Type().Elem().Kind() == reflect.Struct {
			t := s.Table("t-"+id, autoColumns(v.Type().Elem())...)
			for i := range v.Len() {
				t.Row(autoCells(v.Index(i))...)
			}
		}
		return
	}
	if columns := autoColumns(v.Type()); len(columns) > 0 && !v.IsZero() {
		s.Table("t-"+id, columns...).Row(autoCells(v)...)
	}
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.Type.Kind() == reflect.Slice {
			autoTables(s, id+"-"+f.Tag.Get("json"), v.Field(i))
		}
	}
}

// autoColumns returns the columns of a struct.
func autoColumns(t reflect.Type) []document.Column {
	var list []document.Column
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		name = strings.ReplaceAll(strings.TrimSuffix(name, "_ns"), "_", " ")
		switch reflect.Zero(f.Type).Interface().(type) {
		case result.Dist:
			list = append(list, document.Count(strings.TrimSpace(name+" count")), document.Duration(strings.TrimSpace(name+" p50")),
				document.Duration(strings.TrimSpace(name+" p99")), document.Duration(strings.TrimSpace(name+" max")))
			continue
		case model.Duration:
			list = append(list, document.Duration(name))
			continue
		case model.Time:
			list = append(list, document.Instant(name))
			continue
		}
		switch f.Type.Kind() {
		case reflect.String:
			list = append(list, document.Name(name))
		case reflect.Int, reflect.Int64:
			list = append(list, document.Count(name))
		case reflect.Float64:
			list = append(list, document.Number(name, 2))
		}
	}
	return list
}

// autoCells returns the cells of a struct, those of autoColumns.
func autoCells(v reflect.Value) []any {
	var cells []any
	for i := range v.NumField() {
		switch x := v.Field(i).Interface().(type) {
		case result.Dist:
			cells = append(cells, x.Count, known(&x, x.P50), known(&x, x.P99), x.Max)
			continue
		}
		switch v.Field(i).Kind() {
		case reflect.String, reflect.Int, reflect.Int64, reflect.Float64:
			cells = append(cells, v.Field(i).Interface())
		}
	}
	return cells
}
