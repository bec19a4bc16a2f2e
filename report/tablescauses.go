package report

import "github.com/schedscope/schedscope/analyze"

// causeRows writes a row for each cell of a wait. Its caller is a goroutine of the
// Explainer's own, which nothing else of the table runs beside.
type causeRows struct{ *rows }

func (r causeRows) Explained(w *analyze.ExplainedWait) {
	for _, c := range w.Cells {
		r.id(int64(w.Span.G))
		r.str(w.Span.Func)
		r.time(w.Span.Start)
		r.time(w.Span.End)
		r.text(c.Cause.String())
		r.dur(c.Total)
		r.id(int64(w.LastP))
		r.end()
	}
}
