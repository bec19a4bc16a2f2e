package result

import (
	"fmt"
	"strings"
)

// credit says in a finding whose it is, if it does not say it yet.
func (f *Finding) credit(of string) {
	if f.Of == "" {
		f.Of, f.Reports = of, 1
		f.Text = of + ": " + f.Text
	}
}

// uncredited undoes credit.
func uncredited(list []Finding) []Finding {
	for i := range list {
		f := &list[i]
		f.Text = strings.TrimPrefix(f.Text, f.Of+": ")
		f.Of, f.Reports = "", 0
	}
	return list
}

// MaxNotes is how many notes of single reports a merged one repeats.
const MaxNotes = 50

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

func (l *noteList) add(v *Report) {
	if l.index == nil {
		l.index = map[string]int{}
	}
	for _, text := range v.Notes {
		i, ok := l.index[text]
		switch {
		case ok:
			l.notes[i].reports++
		case len(l.notes) == MaxNotes:
			l.dropped++
		default:
			l.index[text] = len(l.notes)
			l.notes = append(l.notes, reportNote{title(v), text, 1})
		}
	}
}

// list returns the notes of a merged report: first what merging leaves open, then those
// of several reports, then those of one.
func (l *noteList) list(v *Report, twice []string) []string {
	out := []string{fmt.Sprintf("Merged from saved reports, of %d traces: counts, totals and extremes are those of all traces together; percentiles are within 0.4%% of the true ones.", len(v.Traces)),
		"Findings are those of single reports, of each kind the worst, and not a verdict on all traces together. Pathologies have the cases of the reports that found them."}
	if v.Latency.All.Unknown {
		out = append(out, "Some percentiles are not known: a report does not hold whole distributions, as those of older versions of schedscope. Analyse its traces anew, or save its report anew.")
	}
	out = append(out, twice[:min(len(twice), MaxNotes)]...)
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
