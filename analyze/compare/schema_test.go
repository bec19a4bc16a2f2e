package compare

import (
	"reflect"
	"testing"

	"github.com/schedscope/schedscope/internal/savedfiletest"
)

// TestSchemaOfTypes checks that the schema is what the types and their comments say.
func TestSchemaOfTypes(t *testing.T) {
	savedfiletest.Schema{
		Name: "compare", Format: Schema, Type: reflect.TypeFor[Result](), Any: true,
		Dirs: []string{".", "../gate/env", "../gate/sample", "../gate/rule", "../result", "../../internal/stat"},
		As: map[reflect.Type]reflect.Type{
			reflect.TypeFor[Trace](): reflect.TypeFor[traceJSON](),
			reflect.TypeFor[Parts](): reflect.TypeFor[partsJSON](),
		},
	}.Check(t)
}
