package interleave

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/schedscope/schedscope/internal/savedfiletest"
)

// TestSchemaOfTypes checks that the schema is what the types and their comments say, and that a file is
// valid by it.
func TestSchemaOfTypes(t *testing.T) {
	savedfiletest.Schema{Name: "order", Format: Schema, Type: reflect.TypeFor[Order](), Dirs: []string{"."}}.Check(t)
	var b bytes.Buffer
	if err := example().Write(&b); err != nil {
		t.Fatal(err)
	}
	if err := savedfiletest.Validate(savedfiletest.Compile(t, "order"), &b); err != nil {
		t.Error(err)
	}
}
