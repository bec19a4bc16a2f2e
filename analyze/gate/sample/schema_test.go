package sample

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/schedscope/schedscope/internal/savedfiletest"
)

// TestSchemaOfTypes checks that the schema is what the types and their comments say.
func TestSchemaOfTypes(t *testing.T) {
	s := savedfiletest.Schema{Name: "samples", Format: Schema, Type: reflect.TypeFor[Set](), Dirs: []string{".", "../env"}}
	s.Check(t)
}

// TestSchemaAccepts checks that files of samples are valid by their schema.
func TestSchemaAccepts(t *testing.T) {
	data, err := json.Marshal(testSet(2, 3))
	if err != nil {
		t.Fatal(err)
	}
	if err := savedfiletest.Validate(savedfiletest.Compile(t, "samples"), bytes.NewReader(savedfiletest.Sealed(data))); err != nil {
		t.Error(err)
	}
}
