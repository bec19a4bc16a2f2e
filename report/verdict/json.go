package verdict

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/schedscope/schedscope/analyze/gate"
)

// JSON writes the result itself, indented. Within v1 of the schema fields are only added.
// Names are as the trace has them, so a program that shows them must escape them.
func JSON(w io.Writer, r *gate.Result, _ Options) error {
	c, err := tidy(r, func(s string) string { return s })
	if err != nil {
		return err
	}
	c.Schema = gate.Schema
	return writeJSON(w, c)
}

// writeJSON writes v at once and without escapes for HTML, so that rules can be read.
func writeJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}
