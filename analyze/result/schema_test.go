package result_test

import (
	"bytes"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	. "github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/savedfiletest"
)

// TestSchemaOfTypes checks that the schema is what the types and their comments say.
func TestSchemaOfTypes(t *testing.T) {
	savedfiletest.Schema{Name: "report", Format: Schema, Type: reflect.TypeFor[Report](), Dirs: []string{"."}, Strict: true}.Check(t)
}

func asJSON(t *testing.T, v *Report) any {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, v); err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(&b)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// TestSchemaAccepts checks the JSON of all fixtures, and of a report with a value in every
// field.
func TestSchemaAccepts(t *testing.T) {
	s := savedfiletest.Compile(t, "report")
	for name, saved := range savedFixtures(t) {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(saved))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(doc); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := s.Validate(asJSON(t, filled())); err != nil {
		t.Error(err)
	}
}

// TestSchemaRefuses breaks a good report in one place after another.
func TestSchemaRefuses(t *testing.T) {
	s := savedfiletest.Compile(t, "report")
	tests := map[string]func(doc map[string]any){
		"other version":    func(doc map[string]any) { doc["schema"] = "schedscope.report/v3" },
		"no latency":       func(doc map[string]any) { delete(doc, "latency") },
		"null for a list":  func(doc map[string]any) { doc["notes"] = nil },
		"text for number":  func(doc map[string]any) { dig(doc, "latency", "all")["p99_ns"] = "1ms" },
		"fraction of a ns": func(doc map[string]any) { dig(doc, "latency", "all")["p99_ns"] = 0.5 },
		"negative count":   func(doc map[string]any) { dig(doc, "latency", "all")["count"] = -1 },
		"share above 1":    func(doc map[string]any) { dig(doc, "procs")["utilisation"] = 1.5 },
		"cell of two":      func(doc map[string]any) { dig(doc, "heat")["cells"] = []any{[]any{1, 2}} },
		"no use":           func(doc map[string]any) { delete(dig(doc, "procs", "uses_ns"), "gc_assist") },
		"unknown severity": func(doc map[string]any) {
			doc["findings"].([]any)[0].(map[string]any)["severity"] = "deadly"
		},
	}
	for _, name := range slices.Sorted(maps.Keys(tests)) {
		doc := asJSON(t, filled()).(map[string]any)
		tests[name](doc)
		if s.Validate(doc) == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// dig returns the object at the end of a path.
func dig(doc map[string]any, path ...string) map[string]any {
	for _, name := range path {
		doc = doc[name].(map[string]any)
	}
	return doc
}

// filled returns a report in which every field has a value.
func filled() *Report {
	v := new(Report)
	fill(reflect.ValueOf(v).Elem())
	v.Schema = Schema
	v.Traces = append(v.Traces, v.Traces[0]) // places in the list are 1
	return v
}

func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint8, reflect.Uint64:
		v.SetUint(1)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i))
			}
		}
	}
}
