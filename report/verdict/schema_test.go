package verdict

import (
	"reflect"
	"testing"

	"github.com/schedscope/schedscope/analyze/gate"
	"github.com/schedscope/schedscope/internal/savedfiletest"
)

// TestSchemaOfTypes checks that the schema is what the types and their comments say.
func TestSchemaOfTypes(t *testing.T) {
	const gateDir = "../../analyze/gate/"
	savedfiletest.Schema{
		Name: "gate", Format: gate.Schema, Type: reflect.TypeFor[gate.Result](), Any: true,
		Dirs: []string{gateDir, gateDir + "env", gateDir + "sample", gateDir + "budget", gateDir + "rule", "../../analyze/compare", "../../internal/stat"},
	}.Check(t)
}
