package view

import (
	"fmt"
	"io"
	"slices"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/report/document"
)

// Markdown writes a summary for a job or a pull request: the verdict, key figures, where
// the waiting went, the longest waits, what was found and what is missing. The rest is
// folded.
func Markdown(w io.Writer, r *result.Report) error {
	d := &document.Document{Title: Title(r), About: "schedscope:"}
	top := Verdict(r)
	top.Text("%s.", summaryOf(r))
	rest := Report(r)
	d.Add(top, diagnoses(r), RuledOut(r), rest.Section("also-found"), figures(r))
	if c := &r.Causes; c.Total > 0 || c.Refused != "" {
		d.Add(Causes(r))
	}
	d.Add(longest(r), missing(r), rest.Section("found"))
	for _, s := range rest.Sections {
		if !slices.Contains([]string{"found", "diagnoses", "also-found", "worst"}, s.ID) {
			s.Fold = true
			d.Add(s)
		}
	}
	return document.Markdown(w, d)
}

// summaryOf says what was read.
func summaryOf(r *result.Report) string {
	x := &r.Totals
	s := fmt.Sprintf("%s, %s, %s, %s", textui.Duration(x.Span), GOMAXPROCS(x), plural(x.Goroutines, "goroutine"), plural(x.Events, "event"))
	if several(r) {
		return fmt.Sprintf("%d traces: %s", len(r.Traces), s)
	} else if len(r.Traces) == 1 {
		return goVersion(&r.Traces[0]) + " trace format: " + s
	}
	return s
}

// figures are the distributions and means to be seen first.
func figures(r *result.Report) *document.Section {
	s := document.New("figures", "")
	columns := distColumns(document.Word(""))
	at := &columns[len(columns)-1]
	*at = at.Extra() // some have the time of their end there, others that of their beginning
	t := s.Table("t-figures", columns...)
	for _, x := range []struct {
		name string
		d    *result.Dist
	}{{"scheduling latency", &r.Latency.All}, {"idle proc while a goroutine was runnable", &r.Procs.IdleRunnable.Episodes},
		{"network wakeup until running", &r.Netpoll.All}, {"system calls without a proc", &r.Syscalls.Blocked}, {"stop-the-world", &r.STW.Effective}} {
		if x.d.Count > 0 {
			distRow(t, x.d, x.name)
		}
	}
	s.OrNil() // drops the table if it is empty; the rest is there without it, too
	p := &r.Procs
	s.Text("Procs: %s busy, %.2f on average. Runnable goroutines: %.2f on average, at most %d. GC: %s of the procs' time.",
		textui.Percent(p.Utilisation), p.Mean, p.MeanRunnable, p.MaxRunnable, textui.Percent(r.GC.Share))
	return s
}

// longest is a table of the longest waits.
func longest(r *result.Report) *document.Section {
	s := document.New("worst", "The longest waits")
	waitsTable(s, r)
	return s.OrNil()
}

// missing says which traces are not all there.
func missing(r *result.Report) *document.Section {
	var texts []string
	for i := range r.Traces {
		if m := Missing(&r.Traces[i]); m != "" {
			texts = append(texts, r.Traces[i].Name+" is damaged: "+m)
		}
	}
	for _, x := range r.Skipped {
		texts = append(texts, x.Name+" was skipped: "+x.Cause)
	}
	return document.Statements("missing", "Not read", texts)
}
