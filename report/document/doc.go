// Package document is the one form that everything takes on its way to a reader: sections
// of paragraphs, tables, lists and cards. A view turns results into a [Document] and knows
// no format; a renderer ([Text], [Markdown], [HTML]) knows no subject. This package
// promises nothing to other modules.
//
// A view is a function of a result for each section, nil if there is nothing to show:
//
//	// handoffs lists the procs handed off by threads in system calls.
//	func handoffs(r *result.Report) *document.Section {
//		s := document.New("handoffs", "Procs handed off by threads in system calls")
//		t := s.Table("t-handoffs",
//			document.Word("cause"), document.Count("count"), document.Number("per s", 1),
//			document.Duration("gap p50").Explain("gap", "until the next thread had the proc"),
//			document.Duration("gap max"), document.Instant("max at").Extra())
//		for i := range r.Handoffs {
//			h := &r.Handoffs[i]
//			t.Row(h.Cause, h.Count, perSecond(h.Count, r.Totals.Span), known(&h.Gap, h.Gap.P50), h.Gap.Max, momentOf(&h.Gap))
//		}
//		return s.OrNil()
//	}
//
// Cells are raw values, in the order of the columns: numbers, strings, nil for what is
// empty, [Unknown] for what should be there but is not known. The column decides how a
// value is written; [As], [Shown] and [Range] make cells that differ from their
// column. [Link] gives a value the [Moment] that it is about, to which HTML links. Strings
// may come from untrusted input: renderers make them printable and escape them. Text leaves
// out columns by their [Column.Drop] on a narrow terminal, and rows beyond the first few;
// Markdown folds sections up; HTML shows all, and sorts by raw values.
package document
