package savedfiletest

import (
	"bytes"
	"cmp"
	"encoding"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/schedscope/schedscope/internal/schemas"
	"github.com/schedscope/schedscope/internal/strict"
)

var update = flag.Bool("update-schema", false, "write the schema")

// Schema is a JSON Schema, which is generated from a type:
//
//  1. A struct is an object with a property for each of its fields and those of embedded
//     structs. Required are all but those with omitempty or omitzero. The property schema is that
//     of the format.
//  2. Named types are in $defs, in the order in which they are first used.
//  3. Numbers have the range of their field: see [strict.RangeOf].
//  4. Types that marshal themselves as text are enums of their values, and so are types of texts
//     with constants; a [strict.Object] has its fields.
//  5. Descriptions are comments, of types without "Name is".
type Schema struct {
	Name   string       // that schedscope schema knows it by
	Format string       // such as "schedscope.report/v2"
	Type   reflect.Type // a struct
	// Dirs are the folders of packages whose comments and constants are used.
	Dirs []string
	// Strict: each field has a comment that is a sentence.
	Strict bool
	// Any: numbers have no ranges. The format is written only, and fields may be unset.
	Any bool
	// Closed: objects have no other keys, and texts are not empty.
	Closed bool
	// As are types that stand for those which marshal themselves.
	As map[reflect.Type]reflect.Type
	// Forms are the members of the schema of types and fields for which the above is not
	// enough, by "package.Type" or "package.Type.Field", without the description. %s stands for
	// those of the elements of a list. A number whose field has the tag form:"part" may be a
	// percentage, too.
	Forms map[string]string
}

// generator writes a schema.
type generator struct {
	Schema
	t     testing.TB
	docs  map[string]string   // by "package.Type", "package.Type.Field" and "package.list.word"
	words map[string][]string // by type: its constants; by list: its words
	types []reflect.Type      // of $defs
	names map[string]reflect.Type
}

// Check fails the test unless the published schema matches the type. With -update-schema it
// writes the file.
func (s Schema) Check(t testing.TB) {
	t.Helper()
	g := &generator{Schema: s, t: t, docs: map[string]string{}, words: map[string][]string{}, names: map[string]reflect.Type{}}
	for _, dir := range s.Dirs {
		g.read(dir)
	}
	text := g.schema()
	if *update {
		root, err := filepath.Abs(".")
		for err == nil && !exists(filepath.Join(root, "go.mod")) {
			root = filepath.Dir(root)
		}
		if err := os.WriteFile(filepath.Join(root, "internal", "schemas", s.Name+".json"), text, 0o666); err != nil {
			t.Fatal(err)
		}
		t.Skip("written")
	}
	if !bytes.Equal(text, schemas.Of(s.Name)) {
		t.Errorf("internal/schemas/%s.json is not what the types say: go generate ./internal/schemas", s.Name)
	}
}

func exists(name string) bool { _, err := os.Stat(name); return err == nil }

// Compile returns the published schema of a format, in which for the test no other fields are
// allowed: each is described.
func Compile(t testing.TB, name string) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schemas.Of(name)))
	if err != nil {
		t.Fatal(name, err)
	}
	var closed func(v any)
	closed = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if _, ok := v["properties"].(map[string]any); ok && v["type"] == "object" {
				v["additionalProperties"] = false
			}
			for _, x := range v {
				closed(x)
			}
		case []any:
			for _, x := range v {
				closed(x)
			}
		}
	}
	closed(doc)
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

// Validate returns the violations of the schema in JSON.
func Validate(s *jsonschema.Schema, r io.Reader) error {
	doc, err := jsonschema.UnmarshalJSON(r)
	if err != nil {
		return err
	}
	return s.Validate(doc)
}

func (g *generator) schema() []byte {
	var b, defs bytes.Buffer
	b.WriteString("{\n")
	for _, x := range [][2]string{
		{"$comment", "Code generated from Go types; DO NOT EDIT."},
		{"$schema", "https://json-schema.org/draft/2020-12/schema"},
		{"$id", "https://github.com/schedscope/schedscope/internal/schemas/" + g.Name + ".json"},
		{"title", g.Format},
	} {
		fmt.Fprintf(&b, "  %q: %q,\n", x[0], x[1])
	}
	g.object(&b, "  ", g.Type)
	for i := 0; i < len(g.types); i++ {
		if i > 0 {
			defs.WriteString(",\n")
		}
		typ := g.types[i]
		fmt.Fprintf(&defs, "    %q: {\n", g.name(typ))
		if _, object := reflect.Zero(typ).Interface().(strict.Object); typ.Kind() == reflect.Array && !object {
			fmt.Fprintf(&defs, "      \"type\": \"array\"%s,\n", strings.Replace(g.doc(typeName(typ)), ", ", ",\n      ", 1))
			fmt.Fprintf(&defs, "      \"items\": {%s},\n      \"minItems\": %d,\n      \"maxItems\": %d\n", g.value(g.anyNumber(), typ.Elem()), typ.Len(), typ.Len())
		} else {
			g.object(&defs, "      ", typ)
			defs.WriteString("\n")
		}
		defs.WriteString("    }")
	}
	if len(g.types) > 0 {
		fmt.Fprintf(&b, ",\n  \"$defs\": {\n%s\n  }", defs.Bytes())
	}
	b.WriteString("\n}\n")
	if !json.Valid(b.Bytes()) {
		g.t.Fatalf("not JSON: %s", b.Bytes())
	}
	return b.Bytes()
}

// typeName returns the name of a type with its package's.
func typeName(typ reflect.Type) string { return typ.String() }

// name returns that of a type in $defs.
func (g *generator) name(typ reflect.Type) string {
	name := typ.Name()
	if have := g.names[name]; have != nil && have != typ {
		name = strings.ReplaceAll(typeName(typ), ".", "_")
	}
	g.names[name] = typ
	return name
}

func (g *generator) object(b *bytes.Buffer, indent string, typ reflect.Type) {
	var required, properties []string
	for _, m := range g.members(typ) {
		if m.required {
			required = append(required, fmt.Sprintf("%q", m.name))
		}
		properties = append(properties, fmt.Sprintf("%s  %q: {%s}", indent, m.name, m.value))
	}
	fmt.Fprintf(b, "%s\"type\": \"object\"%s,\n", indent, strings.Replace(g.doc(typeName(typ)), ", ", ",\n"+indent, 1))
	if g.Closed {
		fmt.Fprintf(b, "%s\"additionalProperties\": false,\n", indent)
	}
	fmt.Fprintf(b, "%s\"required\": [%s],\n%s\"properties\": {\n%s\n%s}", indent, strings.Join(required, ", "), indent, strings.Join(properties, ",\n"), indent)
}

// member is a property of an object in the schema.
type member struct {
	name, value string
	required    bool
}

func (g *generator) members(typ reflect.Type) []member {
	var out []member
	if obj, ok := reflect.Zero(typ).Interface().(strict.Object); ok {
		names, more := obj.JSONFields(), ""
		if typ.Elem().Kind() == reflect.Slice {
			more = ", for each bin"
		}
		for list, words := range g.words {
			for _, name := range names {
				if slices.Equal(words, names) {
					doc := strings.TrimSuffix(g.doc(list+"."+name), `."`) + more + `."`
					out = append(out, member{name, g.value(g.anyNumber(), typ.Elem()) + doc, true})
				}
			}
		}
		return out
	}
	for _, f := range reflect.VisibleFields(typ) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		owner := typ
		if n := len(f.Index); n > 1 {
			owner = typ.FieldByIndex(f.Index[:n-1]).Type
			if owner.Kind() == reflect.Pointer {
				owner = owner.Elem()
			}
		}
		key := typeName(owner) + "." + f.Name
		value, in := g.Forms[key], g.anyNumber()
		if f.Tag.Get("range") != "" && !g.Any {
			in = strict.RangeOf(f)
		}
		switch {
		case name == "schema":
			value = fmt.Sprintf(`"const": %q`, g.Format)
		case strings.Contains(value, "%s"):
			value = fmt.Sprintf(value, g.value(in, f.Type.Elem()))
		case value == "" && f.Tag.Get("form") == "part":
			value = fmt.Sprintf(`"oneOf": [{%s}, {"type": "string", "pattern": "^(0|[0-9]+(\\.[0-9]+)?)%%$"}]`, g.value(in, f.Type))
		case value == "":
			value = g.value(in, f.Type)
		}
		out = append(out, member{name, value + g.doc(key), !strings.HasPrefix(options, "omit")})
	}
	return out
}

// anyNumber is the range of numbers that declare none.
func (g *generator) anyNumber() strict.Range {
	if g.Any {
		return strict.Range{Least: math.Inf(-1), Most: math.Inf(1)}
	}
	return strict.RangeOf(reflect.StructField{})
}

// value returns the members of the schema of a value in a range.
func (g *generator) value(in strict.Range, typ reflect.Type) string {
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	if as := g.As[typ]; as != nil {
		typ = as
	}
	if form := g.Forms[typeName(typ)]; form != "" {
		return form
	}
	if typ.Implements(reflect.TypeFor[encoding.TextMarshaler]()) && typ.Kind() == reflect.Uint8 {
		return g.enum(typ)
	}
	switch typ.Kind() {
	case reflect.Struct, reflect.Array:
		if !slices.Contains(g.types, typ) {
			g.types = append(g.types, typ)
		}
		return fmt.Sprintf(`"$ref": "#/$defs/%s"`, g.name(typ))
	case reflect.Slice:
		return fmt.Sprintf(`"type": "array", "items": {%s}`, g.value(in, typ.Elem()))
	case reflect.Map:
		return fmt.Sprintf(`"type": "object", "additionalProperties": {%s}`, g.value(in, typ.Elem()))
	case reflect.String:
		if words := g.words[typeName(typ)]; words != nil {
			return fmt.Sprintf(`"enum": [%s]`, quoted(words))
		}
		if g.Closed {
			return `"type": "string", "minLength": 1`
		}
		return `"type": "string"`
	case reflect.Bool:
		return `"type": "boolean"`
	}
	text := `"type": "integer"`
	if typ.Kind() == reflect.Float64 {
		text = `"type": "number"`
	}
	return text + limits(in)
}

// limits returns the members of the schema that a range is.
func limits(in strict.Range) string {
	text := ""
	switch {
	case in.Least == math.SmallestNonzeroFloat64:
		text += `, "exclusiveMinimum": 0`
	case !math.IsInf(in.Least, -1):
		text += fmt.Sprintf(`, "minimum": %v`, in.Least)
	}
	if !math.IsInf(in.Most, 1) {
		text += fmt.Sprintf(`, "maximum": %v`, in.Most)
	}
	return text
}

// enum returns the schema of a word: those of an enumeration that begins at 0.
func (g *generator) enum(typ reflect.Type) string {
	var words []string
	for i, v := 0, reflect.New(typ).Elem(); i < 100; i++ {
		v.SetUint(uint64(i))
		word := v.Interface().(fmt.Stringer).String()
		if word == "?" || slices.Contains(words, word) || strings.ContainsAny(word, "(?") {
			break
		}
		words = append(words, word)
	}
	return fmt.Sprintf(`"enum": [%s]`, quoted(words))
}

func quoted(words []string) string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = fmt.Sprintf("%q", w)
	}
	return strings.Join(list, ", ")
}

// doc returns the member of a schema with what is said of a type or a field, "" if nothing is.
func (g *generator) doc(name string) string {
	s := g.docs[name]
	if g.Strict && !strings.HasSuffix(s, ".") {
		g.t.Errorf("%s: no comment that is a sentence: %q", name, s)
	}
	if s == "" {
		return ""
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		g.t.Fatal(err)
	}
	return `, "description": ` + strings.TrimSpace(b.String())
}

// read reads the comments and constants of a package: of types without "Name is", of fields those
// above or behind them, of words in a list those behind.
func (g *generator) read(dir string) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		g.t.Fatal(dir, err)
	}
	sentence := func(c *ast.CommentGroup) string { return strings.Join(strings.Fields(c.Text()), " ") }
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, parser.ParseComments)
		if err != nil {
			g.t.Fatal(err)
		}
		behind := map[int]string{} // by line
		for _, c := range file.Comments {
			behind[set.Position(c.Pos()).Line] = sentence(c)
		}
		of := func(name string) string { return file.Name.Name + "." + name }
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GenDecl:
				if len(n.Specs) == 1 && n.Tok == token.TYPE {
					s := n.Specs[0].(*ast.TypeSpec)
					s.Doc = cmp.Or(s.Doc, n.Doc)
				}
			case *ast.TypeSpec:
				g.docs[of(n.Name.Name)] = typeDoc(n.Name.Name, sentence(n.Doc))
				if s, ok := n.Type.(*ast.StructType); ok {
					for _, f := range s.Fields.List {
						for _, field := range f.Names {
							g.docs[of(n.Name.Name+"."+field.Name)] = sentence(cmp.Or(f.Doc, f.Comment))
						}
						if e, ok := f.Type.(*ast.StarExpr); ok && len(f.Names) == 0 { // embedded
							if sel, ok := e.X.(*ast.SelectorExpr); ok {
								g.docs[of(n.Name.Name+"."+sel.Sel.Name)] = sentence(cmp.Or(f.Doc, f.Comment))
							}
						}
					}
				}
			case *ast.ValueSpec:
				if len(n.Values) != 1 {
					return true
				}
				switch v := n.Values[0].(type) {
				case *ast.CompositeLit:
					for _, e := range v.Elts {
						if word, ok := e.(*ast.BasicLit); ok && word.Kind == token.STRING {
							text, _ := strconv.Unquote(word.Value)
							list := of(n.Names[0].Name)
							g.words[list] = append(g.words[list], text)
							g.docs[list+"."+text] = behind[set.Position(e.Pos()).Line]
						}
					}
				case *ast.BasicLit:
					if typ, ok := n.Type.(*ast.Ident); ok && v.Kind == token.STRING {
						word, _ := strconv.Unquote(v.Value)
						g.words[of(typ.Name)] = append(g.words[of(typ.Name)], word)
					}
				}
			}
			return true
		})
	}
}

var typeLead = regexp.MustCompile(`^(is|are) `)

// typeDoc returns the comment of a type without what Go wants it to begin with.
func typeDoc(name, s string) string {
	s = typeLead.ReplaceAllString(strings.TrimPrefix(s, name+" "), "")
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
