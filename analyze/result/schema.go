package result

import _ "embed"

//go:generate go test -run ^TestSchema$ -update .

// SchemaJSON is the JSON Schema (draft 2020-12) of [Report], with a description of every
// field. It allows more fields, as later versions may add some.
//
//go:embed schema.json
var SchemaJSON []byte
