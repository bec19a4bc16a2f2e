// Package schemas holds the JSON Schemas (draft 2020-12) of what schedscope writes and reads. They
// are generated from the types, by tests in the packages of these. They allow more fields, as later
// versions may add some, except that of budgets. They know less than the readers: nothing that
// concerns two fields.
package schemas

import "embed"

//go:generate go test -run ^TestSchemaOfTypes$ ../../analyze/result ../../analyze/compare ../../analyze/capture ../../analyze/gate/budget ../../analyze/gate/env ../../report/verdict ../interleave -update-schema

//go:embed *.json
var files embed.FS

// Of returns the schema of a format by its name, nil if there is none.
func Of(name string) []byte {
	data, _ := files.ReadFile(name + ".json")
	return data
}
