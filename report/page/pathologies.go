package page

import (
	"fmt"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/report"
)

// pathology is a known way of scheduling going wrong.
type pathology struct {
	Title, Severity, Grade string
	Line                   string
	Link                   string
	Meaning, Advice        string
	Evidence               []pair
	Who                    []string
}

func evidence(e *result.Evidence) string { return report.EvidenceText(e) }

func (p *view) pathologies() *section {
	s := &section{ID: "found", Title: "Pathologies", Lead: "Known ways of scheduling going wrong, the worst first, each with the numbers that it rests on."}
	var list []pathology
	for i := range p.r.Pathologies {
		list = append(list, p.pathology(&p.r.Pathologies[i]))
	}
	if len(list) == 0 {
		s.text("None of those that are looked for was found.")
		return s
	}
	s.add(piece{Found: list})
	return s
}

func (p *view) pathology(x *result.Pathology) pathology {
	out := pathology{Title: textui.Clean(report.PathologyLabel(x.Name)), Severity: severity(x.Severity.String()), Grade: x.Grade.String(),
		Meaning: textui.Clean(x.Meaning), Advice: textui.Clean(x.Advice), Link: p.link(x.Trace, int64(x.At-model.Time(x.Worst)), int64(x.Worst), known(int64(x.G)))}
	out.Line = textui.Plural(x.Count, "case")
	bound := "at most "
	if x.Total > 0 {
		out.Line += ", " + textui.Duration(x.Total) + " in all"
		bound = ""
	}
	out.Line += fmt.Sprintf(", worst %s%s, which ended at %s", bound, textui.Duration(x.Worst), textui.Instant(x.At))
	if p.several() {
		out.Line += fmt.Sprintf(" of trace %d", x.Trace+1)
	}
	for k := range x.Evidence {
		out.Evidence = append(out.Evidence, pair{textui.Clean(x.Evidence[k].Name), evidence(&x.Evidence[k])})
	}
	for k := range x.Who {
		out.Who = append(out.Who, party(&x.Who[k]))
	}
	return out
}

// known returns a goroutine, -1 if it is none. A report of older make has a 0.
func known(g int64) int64 {
	if g <= 0 {
		return -1
	}
	return g
}

// party says who took part and where.
func party(w *result.Party) string {
	s := textui.Clean(w.Role)
	if w.Function != "" {
		s += ": " + textui.Clean(textui.ShortFunc(w.Function))
	}
	if w.Place != "" {
		s += " in " + textui.Clean(textui.ShortFunc(w.Place))
	}
	if w.Proc >= 0 {
		s += fmt.Sprintf(" on proc %d", w.Proc)
	}
	s += ", " + textui.Plural(w.Count, "time")
	if w.Total > 0 {
		s += ", " + textui.Duration(w.Total)
	}
	return s
}
