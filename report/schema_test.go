package report

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/schedscope/schedscope/fixtures"
)

// TestSchemaDescribes compares the schema with the types by reflection: it has every field
// of them and no other, requires those that are always there, and describes all.
func TestSchemaDescribes(t *testing.T) {
	var doc schemaNode
	dec := json.NewDecoder(bytes.NewReader(SchemaJSON))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	c := &schemaCheck{t: t, defs: doc.Defs, seen: map[string]bool{}}
	c.object("V1", &doc, reflect.TypeFor[V1]())
	for name := range doc.Defs {
		if !c.seen[name] {
			t.Errorf("$defs/%s is of no type", name)
		}
	}
}

// schemaNode is the part of JSON Schema that the schema uses.
type schemaNode struct {
	Schema      string                `json:"$schema"`
	ID          string                `json:"$id"`
	Title       string                `json:"title"`
	Description string                `json:"description"`
	Type        string                `json:"type"`
	Ref         string                `json:"$ref"`
	Const       string                `json:"const"`
	Enum        []string              `json:"enum"`
	Minimum     *float64              `json:"minimum"`
	Maximum     *float64              `json:"maximum"`
	MinItems    int                   `json:"minItems"`
	MaxItems    int                   `json:"maxItems"`
	Items       *schemaNode           `json:"items"`
	Required    []string              `json:"required"`
	Properties  map[string]schemaNode `json:"properties"`
	Defs        map[string]schemaNode `json:"$defs"`
}

type schemaCheck struct {
	t    *testing.T
	defs map[string]schemaNode
	seen map[string]bool
}

func (c *schemaCheck) object(path string, n *schemaNode, typ reflect.Type) {
	var required []string
	names := map[string]bool{}
	for _, f := range jsonFields(typ) {
		names[f.name] = true
		if !f.optional {
			required = append(required, f.name)
		}
		p, ok := n.Properties[f.name]
		if !ok {
			c.t.Errorf("%s.%s is not in the schema", path, f.name)
			continue
		}
		if !strings.HasSuffix(p.Description, ".") {
			c.t.Errorf("%s.%s has no description", path, f.name)
		}
		c.value(path+"."+f.name, f.name, &p, f.typ)
	}
	for name := range n.Properties {
		if !names[name] {
			c.t.Errorf("%s.%s is in the schema only", path, name)
		}
	}
	if !slices.Equal(n.Required, required) {
		c.t.Errorf("%s requires %v, want %v", path, n.Required, required)
	}
}

func (c *schemaCheck) value(path, name string, n *schemaNode, typ reflect.Type) {
	want := ""
	switch typ.Kind() {
	case reflect.Struct:
		c.reference(path, n, typ)
		return
	case reflect.Pointer:
		c.value(path, name, n, typ.Elem())
		return
	case reflect.Slice:
		want = "array"
		if n.Items == nil {
			c.t.Errorf("%s: nothing said of its members", path)
			return
		}
		c.value(path+"[]", name, n.Items, typ.Elem())
	case reflect.Array:
		if def := c.defs[strings.TrimPrefix(n.Ref, "#/$defs/")]; def.MinItems != typ.Len() || def.MaxItems != typ.Len() || def.Items == nil {
			c.t.Errorf("%s: want %d items, got %+v", path, typ.Len(), def)
		}
		c.seen[strings.TrimPrefix(n.Ref, "#/$defs/")] = true
		return
	case reflect.String:
		want = "string"
		if n.Const != "" || len(n.Enum) > 0 {
			want = ""
		}
	case reflect.Bool:
		want = "boolean"
	case reflect.Float64:
		want = "number"
	default:
		want = "integer"
		if least := map[bool]float64{true: -1}[orNone[name]]; n.Minimum == nil || *n.Minimum != least {
			c.t.Errorf("%s: want a minimum of %v", path, least)
		}
	}
	if n.Type != want {
		c.t.Errorf("%s has type %q, want %q", path, n.Type, want)
	}
}

func (c *schemaCheck) reference(path string, n *schemaNode, typ reflect.Type) {
	name := strings.TrimPrefix(typ.Name(), "V1")
	def, ok := c.defs[name]
	if n.Ref != "#/$defs/"+name || !ok || def.Type != "object" || def.Description == "" {
		c.t.Errorf("%s refers to %q, want %s, described", path, n.Ref, name)
		return
	}
	if !c.seen[name] {
		c.seen[name] = true
		c.object(name, &def, typ)
	}
}

type jsonField struct {
	name     string
	typ      reflect.Type
	optional bool
}

// jsonFields returns the fields of a struct as JSON has them.
func jsonFields(typ reflect.Type) []jsonField {
	var out []jsonField
	for i := range typ.NumField() {
		f := typ.Field(i)
		if !f.IsExported() {
			continue
		}
		if f.Anonymous {
			out = append(out, jsonFields(f.Type)...)
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		out = append(out, jsonField{name, f.Type, options == "omitempty"})
	}
	return out
}

// compileSchema compiles the schema, in which for the test no other fields are allowed.
func compileSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(SchemaJSON))
	if err != nil {
		t.Fatal(err)
	}
	for _, def := range doc.(map[string]any)["$defs"].(map[string]any) {
		if def := def.(map[string]any); def["type"] == "object" {
			def["additionalProperties"] = false
		}
	}
	doc.(map[string]any)["additionalProperties"] = false
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func asJSON(t *testing.T, v *V1) any {
	t.Helper()
	var b bytes.Buffer
	if err := WriteV1(&b, v); err != nil {
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
	s := compileSchema(t)
	for i, name := range fixtures.Names() {
		if testing.Short() && i%6 != 0 {
			continue
		}
		if d := readable(t, name); d != nil {
			if err := s.Validate(asJSON(t, NewV1(d))); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if err := s.Validate(asJSON(t, filled())); err != nil {
		t.Error(err)
	}
	if err := s.Validate(asJSON(t, NewV1(hostileDocument()))); err != nil {
		t.Error(err)
	}
}

// TestSchemaRefuses breaks a good report in one place after another.
func TestSchemaRefuses(t *testing.T) {
	s := compileSchema(t)
	tests := map[string]func(doc map[string]any){
		"other version":    func(doc map[string]any) { doc["schema"] = "schedscope.report/v2" },
		"no latency":       func(doc map[string]any) { delete(doc, "latency") },
		"null for a list":  func(doc map[string]any) { doc["notes"] = nil },
		"text for number":  func(doc map[string]any) { dig(doc, "latency", "all")["p99_ns"] = "1ms" },
		"fraction of a ns": func(doc map[string]any) { dig(doc, "latency", "all")["p99_ns"] = 0.5 },
		"negative count":   func(doc map[string]any) { dig(doc, "latency", "all")["count"] = -1 },
		"share above 1":    func(doc map[string]any) { dig(doc, "procs")["utilisation"] = 1.5 },
		"cell of two":      func(doc map[string]any) { dig(doc, "heat")["cells"] = []any{[]any{1, 2}} },
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
func filled() *V1 {
	v := new(V1)
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
	case reflect.Uint64:
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
		if f := v.FieldByName("Severity"); f.IsValid() {
			f.SetString("info")
			if g := v.FieldByName("Grade"); g.IsValid() {
				g.SetString("certain")
			}
		}
	}
}
