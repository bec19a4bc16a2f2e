package arch

import (
	"bytes"
	"flag"
	"fmt"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update-surface", false, "write testdata/surface.txt")

// public are the packages that other modules may count on, with the names that this holds for; nil: all.
// What those use of other packages is a promise, too.
var public = map[string][]string{
	"analyze/capture":        nil,
	"analyze/gate/schedtest": nil,
	"analyze/result":         {"ErrNoReport", "Merge", "Merger", "Read", "Report", "Schema", "Write"},
	"analyze/single":         {"ErrDamaged", "ErrNoTrace", "ErrTooLarge", "Options", "Trace"},
}

// TestSurface compares what other modules may count on with what is stored. A line that goes or
// changes breaks programs.
func TestSurface(t *testing.T) {
	exports := map[string]string{} // files by import path
	args := []string{"list", "-export", "-deps", "-f", "{{.ImportPath}}={{.Export}}"}
	for dir := range public {
		args = append(args, "./"+dir)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Stderr = filepath.Join("..", ".."), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), "=")
		exports[path] = file
	}
	imports := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })

	for path := range exports { // whole ones first: of a package that another one imports, only what that needs is read
		if strings.HasPrefix(path, module+"/") {
			if _, err := imports.Import(path); err != nil {
				t.Fatal(err)
			}
		}
	}

	s := surface{}
	for dir, names := range public {
		p, err := imports.Import(module + "/" + dir)
		if err != nil {
			t.Fatal(err)
		}
		if names == nil {
			names = slices.DeleteFunc(p.Scope().Names(), func(name string) bool { return !token.IsExported(name) })
		}
		for _, name := range names {
			o := p.Scope().Lookup(name)
			if o == nil {
				t.Fatalf("%s has no %s", dir, name)
			}
			s.add(o)
		}
	}
	var all []string
	for _, text := range s {
		all = append(all, text)
	}
	slices.Sort(all)
	got := []byte(strings.Join(all, ""))
	stored := filepath.Join("testdata", "surface.txt")
	if *update {
		if err := os.WriteFile(stored, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(stored)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("the public surface is another one, %v: go test ./internal/arch -update-surface, and see git diff", err)
	}
}

// surface is the text of each object.
type surface map[types.Object]string

// name is how the path of a package is written.
func (s surface) name(p *types.Package) string { return strings.TrimPrefix(p.Path(), module+"/") }

// add adds an object and all types of this module that it consists of, those with their constants.
func (s surface) add(o types.Object) {
	if _, ok := s[o]; ok {
		return
	}
	s[o] = ""
	text := func(t types.Type) string {
		s.follow(t)
		return types.TypeString(t, s.name)
	}
	title := s.name(o.Pkg()) + "." + o.Name()
	switch o := o.(type) {
	case *types.Const:
		s[o] = fmt.Sprintf("%s %s = %s\n", title, text(o.Type()), o.Val().ExactString())
	case *types.Var, *types.Func:
		s[o] = fmt.Sprintf("%s %s\n", title, text(o.Type()))
	case *types.TypeName:
		s[o] = title + s.typeText(o.Type(), text)
		for _, name := range o.Pkg().Scope().Names() {
			if c, ok := o.Pkg().Scope().Lookup(name).(*types.Const); ok && c.Exported() && c.Type() == o.Type() {
				s.add(c)
			}
		}
	}
}

// typeText returns what a type is, with the fields and methods that it has for others.
func (s surface) typeText(t types.Type, text func(types.Type) string) string {
	var b strings.Builder
	x, ok := t.Underlying().(*types.Struct)
	if ok {
		b.WriteString(" struct\n")
		for i := range x.NumFields() {
			if f := x.Field(i); f.Exported() {
				fmt.Fprintf(&b, "\t%s %s %s\n", f.Name(), text(f.Type()), reflect.StructTag(x.Tag(i)).Get("json"))
			}
		}
	} else {
		fmt.Fprintf(&b, " type %s\n", text(t.Underlying()))
	}
	methods := types.NewMethodSet(types.NewPointer(t))
	for m := range methods.Methods() {
		if m.Obj().Exported() {
			fmt.Fprintf(&b, "\t.%s %s\n", m.Obj().Name(), text(m.Type()))
		}
	}
	return strings.ReplaceAll(b.String(), " \n", "\n")
}

// follow adds the types that a type consists of.
func (s surface) follow(t types.Type) {
	switch t := t.(type) {
	case *types.Alias:
		s.follow(types.Unalias(t))
	case *types.Named:
		if p := t.Obj().Pkg(); p != nil && strings.HasPrefix(p.Path(), module) && !strings.Contains(p.Path(), "/internal/") && t.Obj().Exported() {
			s.add(t.Obj())
		}
		for x := range t.TypeArgs().Types() {
			s.follow(x)
		}
	case *types.Map:
		s.follow(t.Key())
		s.follow(t.Elem())
	case interface{ Elem() types.Type }: // pointers, slices, arrays, channels
		s.follow(t.Elem())
	case *types.Struct:
		for f := range t.Fields() {
			s.follow(f.Type())
		}
	case *types.Signature:
		s.follow(t.Params())
		s.follow(t.Results())
	case *types.Tuple:
		for v := range t.Variables() {
			s.follow(v.Type())
		}
	}
}

// noPromise is what all other packages say in the first paragraph of their documentation.
const noPromise = "This package promises nothing to other modules."

// TestPromises checks that packages which other modules can import say what these may count on, and that
// CONTRIBUTING.md lists those that are public.
func TestPromises(t *testing.T) {
	root := filepath.Join("..", "..")
	for _, dir := range goDirs(t, root) {
		p, err := build.ImportDir(filepath.Join(root, filepath.FromSlash(dir)), 0)
		if err != nil || len(p.GoFiles) == 0 || p.Name == "main" || strings.Contains("/"+dir, "/internal/") {
			continue
		}
		var text string // of the first paragraph
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.ParseComments|parser.PackageClauseOnly)
			if err != nil {
				t.Fatal(err)
			}
			if f.Doc != nil {
				text, _, _ = strings.Cut(f.Doc.Text(), "\n\n")
			}
		}
		_, listed := public[dir]
		if says := strings.Contains(strings.Join(strings.Fields(text), " "), noPromise); says == listed {
			t.Errorf("%s: in its first paragraph it says %q: %t, and it is public: %t", dir, noPromise, says, listed)
		}
	}
	text, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	for dir := range public {
		if !bytes.Contains(text, []byte("- `"+dir+"`")) {
			t.Errorf("CONTRIBUTING.md does not list %s", dir)
		}
	}
}
