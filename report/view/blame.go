package view

import (
	"fmt"
	"strings"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/report/document"
)

// Blame shows for which functions goroutines waited, and how that is known.
func Blame(r *result.Report) *document.Section {
	s := document.New("blame", "For which code goroutines waited")
	t := s.Table("t-blame", document.Function("function"), document.Word("line"), document.Word("waiting for"), document.Duration("total").Doc("goroutine-time"),
		document.Share("share").Doc("of the kind"), document.Share("sampled").Doc("a CPU sample was taken then"), document.Share("seen").Doc("by the stack of an event then, or at its end"),
		document.Share("estimated").Doc("by samples of other goroutines of the same start function"), document.Share("unknown"), document.Count("turns"), document.Duration("longest"))
	t.Fold = true
	t.Caption = "All functions, in a table"
	for i := range r.Blame.Rows {
		b := &r.Blame.Rows[i]
		whole := b.Total
		if k := r.Blame.Kind(b.Kind); k != nil {
			whole = k.Total
		}
		line := ""
		if b.Line > 0 {
			line = fmt.Sprintf("%s:%d", textui.Clean(b.File[strings.LastIndexByte(b.File, '/')+1:]), b.Line)
		}
		t.Row(b.Function, line, b.Kind, b.Total, ratio(b.Total, whole), ratio(b.Sampled, b.Total), ratio(b.Seen, b.Total), ratio(b.Estimated, b.Total), ratio(b.Unknown, b.Total), b.Turns, b.Longest)
	}
	return s.OrNil()
}
