package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// severities are the severities, least first.
var severities = []string{"info", "notable", "serious"}

func compareSeverity(a, b string) int {
	return cmp.Compare(slices.Index(severities, a), slices.Index(severities, b))
}

// credit says in a finding whose it is, if it does not say it yet.
func (f *V1Finding) credit(of string) {
	if f.Of == "" {
		f.Of, f.Reports = of, 1
		f.Text = of + ": " + f.Text
	}
}

// uncredited undoes credit.
func uncredited(list []V1Finding) []V1Finding {
	for i := range list {
		f := &list[i]
		f.Text = strings.TrimPrefix(f.Text, f.Of+": ")
		f.Of, f.Reports = "", 0
	}
	return list
}

// mergeFindings keeps the worst of each kind: a verdict on all traces together would need
// more than reports hold.
func mergeFindings(into, from []V1Finding) []V1Finding {
	mergeList(&into, from, func(f *V1Finding) string { return f.Kind }, nil, func(into, from *V1Finding) {
		reports := into.Reports + from.Reports
		if compareSeverity(from.Severity, into.Severity) > 0 {
			*into = *from
		}
		into.Reports = reports
	})
	return into
}

func sortFindings(list []V1Finding) {
	slices.SortStableFunc(list, func(a, b V1Finding) int {
		return cmp.Or(compareSeverity(b.Severity, a.Severity), cmp.Compare(b.Reports, a.Reports))
	})
}

// mergePathologies adds up the cases of pathologies. Evidence is that of the worst case's.
func mergePathologies(into, from []V1Pathology) []V1Pathology {
	mergeList(&into, from, func(p *V1Pathology) string { return p.Name }, nil, (*V1Pathology).merge)
	return into
}

func (p *V1Pathology) merge(o *V1Pathology) {
	if o.Worst > p.Worst {
		p.Worst, p.At, p.G, p.Trace = o.Worst, o.At, o.G, o.Trace
		p.Evidence, p.Meaning, p.Advice = o.Evidence, o.Meaning, o.Advice
	}
	if compareSeverity(o.Severity, p.Severity) > 0 {
		p.Severity = o.Severity
	}
	p.Grade = max(p.Grade, o.Grade) // inferred is less than certain
	p.Count += o.Count
	p.Total += o.Total
	type who struct{ role, fn, place string }
	mergeList(&p.Who, o.Who, func(w *V1Party) who { return who{w.Role, w.Function, w.Place} }, nil, func(into, from *V1Party) {
		if into.Proc != from.Proc {
			into.Proc = -1
		}
		into.Count += from.Count
		into.Total += from.Total
	})
	slices.SortStableFunc(p.Who, func(a, b V1Party) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(b.Count, a.Count), cmp.Compare(a.Role, b.Role),
			cmp.Compare(a.Function, b.Function), cmp.Compare(a.Place, b.Place))
	})
	p.Who = p.Who[:min(len(p.Who), maxParties)]
}

func sortPathologies(list []V1Pathology) {
	slices.SortFunc(list, func(a, b V1Pathology) int {
		return cmp.Or(compareSeverity(b.Severity, a.Severity), cmp.Compare(b.Total, a.Total), cmp.Compare(a.Name, b.Name))
	})
}

// maxNotes is how many notes of single reports a merged one repeats.
const maxNotes = 50

// noteList collects the notes of reports: each text once.
type noteList struct {
	notes   []reportNote
	index   map[string]int
	dropped int
}

type reportNote struct {
	of, text string
	reports  int
}

func (l *noteList) add(v *V1) {
	if l.index == nil {
		l.index = map[string]int{}
	}
	for _, text := range v.Notes {
		i, ok := l.index[text]
		switch {
		case ok:
			l.notes[i].reports++
		case len(l.notes) == maxNotes:
			l.dropped++
		default:
			l.index[text] = len(l.notes)
			l.notes = append(l.notes, reportNote{title(v), text, 1})
		}
	}
}

// list returns the notes of a merged report: first what merging leaves open, then those
// of several reports, then those of one.
func (l *noteList) list(v *V1, twice []string) []string {
	out := []string{fmt.Sprintf("Merged from saved reports, of %d traces: counts, totals and extremes are those of all traces together; percentiles are within 0.4%% of the true ones.", len(v.Traces)),
		"Findings are those of single reports, of each kind the worst, and not a verdict on all traces together. Pathologies have the cases of the reports that found them."}
	if v.Latency.All.Unknown {
		out = append(out, "Some percentiles are not known: a report does not hold whole distributions, as those of older versions of schedscope. Analyse its traces anew, or save its report anew.")
	}
	out = append(out, twice[:min(len(twice), maxNotes)]...)
	for _, n := range l.notes {
		if n.reports > 1 {
			out = append(out, n.text)
		}
	}
	for _, n := range l.notes {
		if n.reports == 1 {
			out = append(out, n.of+": "+n.text)
		}
	}
	if l.dropped > 0 {
		out = append(out, fmt.Sprintf("%d more notes are in the single reports.", l.dropped))
	}
	return out
}
