package budget

import _ "embed"

// SchemaJSON is the JSON Schema of budget files, for editors. It knows less than [Read]:
// not the language of rules, and nothing that concerns two keys.
//
//go:embed schema.json
var SchemaJSON []byte

// Example is a budget file that has everything.
//
//go:embed example.yaml
var Example []byte
