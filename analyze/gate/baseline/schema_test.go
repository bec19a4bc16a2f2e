package baseline

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/internal/savedfiletest"
)

// TestSchemaOfTypes checks that the schemas are what the types and their comments say.
func TestSchemaOfTypes(t *testing.T) {
	for _, s := range []savedfiletest.Schema{
		{Name: "samples", Format: sample.Schema, Type: reflect.TypeFor[sample.Set]()},
		{Name: "history", Format: Schema, Type: reflect.TypeFor[fileJSON]()},
	} {
		s.Dirs = []string{".", "../sample", "../env"}
		t.Run(s.Name, func(t *testing.T) { s.Check(t) })
	}
}

// TestSchemaAccepts checks that files of both kinds are valid by their schemas.
func TestSchemaAccepts(t *testing.T) {
	var b bytes.Buffer
	session := testSession(1, 2, 3)
	if err := WriteSet(&b, &sample.Set{Schema: sample.Schema, Tool: "x", Design: "interleaved", Recording: "x", Samples: session.Samples}); err != nil {
		t.Fatal(err)
	}
	if err := savedfiletest.Validate(savedfiletest.Compile(t, "samples"), &b); err != nil {
		t.Error(err)
	}
	if err := Write(&b, testFile(t, 2, 2, 3)); err != nil {
		t.Fatal(err)
	}
	if err := savedfiletest.Validate(savedfiletest.Compile(t, "history"), &b); err != nil {
		t.Error(err)
	}
}
