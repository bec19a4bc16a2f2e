package page

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/report"
)

// traces lists what was merged, and how much the traces differ.
func (p *view) traces() *section {
	if !p.several() {
		return nil
	}
	s := &section{ID: "traces", Title: "Traces", Lead: "Points in time count from the start of each trace."}
	spread := &table{ID: "t-spread", Caption: "How much the traces differ", Columns: []column{{"figure", "", ""}, {"least", "", ""}, {"lower quartile", "", ""}, {"median", "", ""}, {"upper quartile", "", ""}, {"greatest", "", ""}, {"in trace", "", ""}}}
	for i := range p.r.Spread {
		x := &p.r.Spread[i]
		value := func(v float64) cell { return valueOf(v, x.Unit) }
		spread.add(words(figureName(x.Name)), value(x.Min), value(x.Q1), value(x.Median), value(x.Q3), value(x.Max), p.traceCell(x.MaxTrace))
	}
	s.table("Spread between traces", spread)
	t := &table{ID: "t-traces", Caption: "Traces", Columns: []column{{"trace", "", ""}, {"format", "", ""}, {"span", "ns", ""}}}
	figures := map[int]*result.TraceFigures{}
	for i := range p.r.PerTrace {
		figures[p.r.PerTrace[i].Trace] = &p.r.PerTrace[i]
	}
	if len(figures) > 0 {
		t.Columns = append(t.Columns, column{"procs", "mean", ""}, column{"waits", "n", ""}, column{"total", "ns", ""}, column{"p50", "ns", ""}, column{"p99", "ns", ""}, column{"p99.9", "ns", ""}, column{"max", "ns", ""}, column{"max at", "at", ""},
			column{"busy", "share", "procs"}, column{"why, most", "", "what most of the waiting was lost to"})
	}
	for i := range p.r.Traces {
		x := &p.r.Traces[i]
		name := p.traceCell(i)
		name.Text = fmt.Sprintf("%d. %s", i+1, name.Text)
		cells := []cell{name, words(x.Format), duration(int64(x.Span))}
		if f := figures[i]; f != nil {
			cells = append(cells, mean(f.Procs, 1), count(f.Waits), duration(int64(f.Total)), duration(int64(f.P50)), duration(int64(f.P99)), duration(int64(f.P999)), duration(int64(f.Max)), instant(int64(f.MaxAt)), share(f.Utilisation), words(f.MainCause))
		} else {
			cells = append(cells, make([]cell, len(t.Columns)-len(cells))...)
		}
		t.add(cells...)
	}
	s.table("One by one", t)
	return s
}

// figureName turns the key of a figure, such as p99_9_ns, into words.
func figureName(key string) string {
	if unit, ok := figureUnits[key]; ok {
		return unit
	}
	return strings.ReplaceAll(strings.ReplaceAll(strings.TrimSuffix(key, "_ns"), "p99_9", "p99.9"), "_", " ")
}

// figureUnits says what figures are whose keys do not.
var figureUnits = map[string]string{"utilisation": "procs busy", "procs": "procs, mean", "waiting": "goroutines waiting to run, mean", "waits": "waits, number"}

func (p *view) traceCell(i int) cell {
	name := p.traceName(i)
	c := cell{Text: textui.Shorten(name, 60)}
	if c.Text != name {
		c.Title = name
	}
	return c
}

// valueOf returns a value of a spread.
func valueOf(v float64, unit string) cell {
	switch unit {
	case "ns":
		return duration(int64(v))
	case "share":
		return share(v)
	}
	if v == float64(int64(v)) {
		return count(int64(v))
	}
	return mean(v, 2)
}

func (p *view) notes() *section {
	s := &section{ID: "notes", Title: "How far to trust it"}
	var list []string
	for _, n := range p.r.Notes {
		list = append(list, textui.Clean(n))
	}
	if len(list) > 0 {
		s.add(piece{List: list})
	}
	t := &table{ID: "t-limits", Caption: "Limits of what is usual", Columns: []column{{"of", "", ""}, {"limit", "ns", ""}, {"samples", "n", ""}, {"", "", ""}}}
	if p.several() {
		t.Columns = append(t.Columns, column{"trace", "", ""})
	}
	for i := range p.r.Causes.Thresholds {
		x := &p.r.Causes.Thresholds[i]
		how := "calibrated"
		if x.Default {
			how = "default"
		}
		cells := []cell{words(x.Name), duration(int64(x.Value)), count(x.Samples), words(how)}
		if p.several() {
			cells = append(cells, p.traceCell(x.Trace))
		}
		t.add(cells...)
	}
	s.fold(t)
	return s
}

// term is an entry of the glossary.
type term struct {
	ID, Name string
	Pieces   []termPiece
}

// termPiece is a paragraph or a word with its meaning.
type termPiece struct{ Word, Text string }

// Lines of report.MetricsHelp: those of an entry are indented by four columns, words that
// it explains by six, how those go on by more.
var (
	termLine = regexp.MustCompile(`^(\S.*?)  +(\S.*)$`)
	wordLine = regexp.MustCompile(`^ {6}(\S.*?)  +(\S.*)$`)
	moreLine = regexp.MustCompile(`^ {8,}(\S.*)$`)
)

// glossary is report.MetricsHelp.
func (p *view) glossary() *section {
	s := &section{ID: "glossary", Title: "What the numbers mean"}
	s.add(piece{Terms: glossary(report.MetricsHelp)})
	return s
}

func glossary(help string) []term {
	var terms []term
	for line := range strings.Lines(help) {
		line = strings.TrimRight(line, "\n")
		if m := termLine.FindStringSubmatch(line); m != nil {
			terms = append(terms, term{ID: termID(m[1]), Name: m[1], Pieces: []termPiece{{Text: m[2]}}})
			continue
		}
		if !strings.HasPrefix(line, " ") { // a name alone
			terms = append(terms, term{ID: termID(line), Name: line})
			continue
		}
		t := &terms[len(terms)-1]
		last := len(t.Pieces) - 1
		if m := wordLine.FindStringSubmatch(line); m != nil {
			t.Pieces = append(t.Pieces, termPiece{m[1], m[2]})
		} else if m := moreLine.FindStringSubmatch(line); m != nil && last >= 0 {
			t.Pieces[last].Text += " " + m[1]
		} else if text := strings.TrimSpace(line); last >= 0 && t.Pieces[last].Word == "" {
			t.Pieces[last].Text += " " + text
		} else {
			t.Pieces = append(t.Pieces, termPiece{Text: text})
		}
	}
	return terms
}

// termID is the fragment of a term.
func termID(name string) string {
	return "term-" + strings.ReplaceAll(strings.ToLower(name), " ", "-")
}

// termLink returns the fragment of a term of the glossary.
func (t tile) TermLink() string { return "#" + termID(t.Term) }

// name makes a heading of a wait.
func (w wait) ID() string { return fmt.Sprintf("wait-%d", w.Number) }
