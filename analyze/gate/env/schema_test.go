package env

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/schedscope/schedscope/internal/savedfiletest"
)

// TestSchemaOfTypes checks that the schema is what the types and their comments say, and that a file is
// valid by it.
func TestSchemaOfTypes(t *testing.T) {
	savedfiletest.Schema{Name: "env", Format: Schema, Type: reflect.TypeFor[Run](), Dirs: []string{"."}}.Check(t)
	trace := filepath.Join(t.TempDir(), "t")
	if err := WriteRun(trace, &Run{Begin: Take(Begin), End: Take(End)}); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(NextTo(trace))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := savedfiletest.Validate(savedfiletest.Compile(t, "env"), f); err != nil {
		t.Error(err)
	}
}
