package report

import (
	"io"

	"github.com/schedscope/schedscope/analyze/result"
)

// JSON writes the report as a [result.Report], indented.
func JSON(w io.Writer, d *Document) error { return result.Write(w, d.Result()) }
