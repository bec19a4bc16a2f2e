package verdict

import (
	"io"

	"github.com/schedscope/schedscope/analyze/gate"
	"github.com/schedscope/schedscope/internal/savedfile"
)

// JSON writes the result itself, indented. Within v1 of the schema fields are only added.
// Names are as the trace has them once they are decoded, so a program that shows them must escape them.
func JSON(w io.Writer, r *gate.Result, _ Options) error {
	c, err := tidy(r, func(s string) string { return s })
	if err != nil {
		return err
	}
	c.Schema = gate.Schema
	return savedfile.WriteJSON(w, c, false)
}
