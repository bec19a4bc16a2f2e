package capture

import (
	"reflect"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/internal/savedfiletest"
)

// TestSchemaOfTypes checks that the schema is what the types and their comments say, and that a note is
// valid by it.
func TestSchemaOfTypes(t *testing.T) {
	savedfiletest.Schema{Name: "note", Format: NoteSchema, Type: reflect.TypeFor[Note](), Dirs: []string{"."}}.Check(t)
	n := Note{Schema: NoteSchema, Cause: Cause{Reason: ReasonLatency, Measured: 1, Quantile: .99, Count: 3}}
	if err := savedfiletest.Validate(savedfiletest.Compile(t, "note"), strings.NewReader(n.encode())); err != nil {
		t.Error(err)
	}
}
