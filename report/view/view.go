// Package view makes documents of results: which sections there are, what their tables
// have, and in which words. It knows no format; package document has those. What is
// computed is computed by package analyze: a saved report shows the same as a new one.
// This package promises nothing to other modules.
package view

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/report/document"
)

// The usual numbers of rows of tables in text: of reports, and of comparisons.
const (
	DefaultTop = 10
	CompareTop = 5
)

// sections are the parts of a report, in the order of the text. Each is nil if there is
// nothing to show. After them come those of [Auto], limits and notes.
var sections = []func(*result.Report) *document.Section{
	traces, diagnoses, alsoFound, requests, SlowestRequests, found, latencyByOrigin, latencyByFunction, causesByOrigin, causesByFunction, blame, worstWaits,
	goroutinesWaited, queues, bursts, waiting, syscalls, handoffs, netpoll, lateness, stops, collector, threads,
	tasks, regions, goroutines,
}

// Report returns a report as a document, without the summary.
func Report(r *result.Report) *document.Document {
	d := &document.Document{Title: Title(r)}
	for _, f := range sections {
		d.Add(f(r))
	}
	d.Add(Auto(r)...)
	d.Add(limits(r), notes(r))
	return d
}

// Text writes a report for people: a screen, and after it all numbers if details are asked for.
func Text(w io.Writer, r *result.Report, o document.TextOptions, details bool) error {
	t := document.NewTextWriter(o)
	left := screen(t, r)
	if details {
		summary(t, r)
		t.Sections(left)
		for _, s := range Report(r).Sections {
			if s.ID != "diagnoses" {
				t.Sections(s)
			}
		}
	}
	return t.Flush(w)
}

// Title returns the subject of a report.
func Title(r *result.Report) string {
	return cmp.Or(textui.FirstOf(result.Each(r.Traces, func(t *result.Trace) string { return t.Name })), "no trace")
}

// several reports whether r is of more than one trace.
func several(r *result.Report) bool { return len(r.Traces) > 1 }

// distColumns are a name and the columns of a distribution.
func distColumns(name document.Column, more ...document.Column) []document.Column {
	return append(append([]document.Column{name}, more...), document.Count("count"), document.Duration("total"), document.Duration("p50"),
		document.Duration("p90"), document.Duration("p99"), document.Duration("p99.9"), document.Duration("max"),
		document.Instant("at").Doc("when the longest one ended"))
}

// distRow adds the row of a distribution to a table with its columns.
func distRow(t *document.Table, d *result.Dist, names ...any) *document.Row {
	if d.Count == 0 {
		return t.Row(append(names, 0)...)
	}
	return t.Row(append(names, d.Count, d.Total, known(d, d.P50), known(d, d.P90), known(d, d.P99), known(d, d.P999), d.Max, maxAt(d))...)
}

// distTable adds a table of those distributions that have values.
func distTable(s *document.Section, id string, name document.Column, rows []result.Named, label func(string) string) *document.Table {
	t := s.Table(id, distColumns(name)...)
	for i := range rows {
		if rows[i].Count > 0 {
			distRow(t, &rows[i].Dist, label(rows[i].Name))
		}
	}
	return t
}

// same is the label of names that are shown as they are.
func same(name string) string { return name }

// notKnown stands for a percentile that merging left unknown.
var notKnown = func() document.Cell {
	c := document.Unknown
	c.Note = "not known: a report without its distribution was merged"
	return c
}()

// known returns a percentile of d.
func known(d *result.Dist, p model.Duration) any {
	if d.Unknown {
		return notKnown
	}
	return document.If(d.Count > 0, p)
}

// greatest returns the maximum of d.
func greatest(d *result.Dist) any { return document.If(d.Count > 0, d.Max) }

// maxAt is when the greatest value of d ended.
func maxAt(d *result.Dist) document.Cell { return endedAt(d.MaxAt, d.Max, model.NoGoroutine) }

// endedAt is the end of an interval.
func endedAt(end model.Time, length model.Duration, g model.GoID) document.Cell {
	return document.Link(end, moment(end-model.Time(length), length, g))
}

// from is the beginning of an interval.
func from(start model.Time, length model.Duration, g model.GoID) document.Cell {
	return document.Link(start, moment(start, length, g))
}

// moment is an interval to which the page of a single trace links.
func moment(start model.Time, length model.Duration, g model.GoID) document.Moment {
	if g <= 0 { // a report of an older version has 0 for none
		g = model.NoGoroutine
	}
	return document.Moment{From: int64(start), Length: int64(length), Goroutine: int64(g)}
}

// ratio is the share of part in whole, nil if there is no whole.
func ratio(part, whole model.Duration) any {
	if whole <= 0 {
		return nil
	}
	return float64(part) / float64(whole)
}

// shortName returns the name of a function without the directories of its package, in at
// most limit columns.
func shortName(fn string, limit int) string {
	return textui.Shorten(textui.Clean(textui.ShortFunc(fn)), limit)
}

// noName is what results have for a name that the trace does not show.
const noName = result.NoName

// goroutine names a goroutine of one of the traces.
func goroutine(r *result.Report, trace int, g model.GoID, fn string) string {
	return goroutineOnly(g, fn) + textui.If(several(r), fmt.Sprintf(" of trace %d", trace+1))
}

// goroutineOnly names a goroutine.
func goroutineOnly(g model.GoID, fn string) string {
	return textui.Either(g >= 0, "G"+strconv.FormatInt(int64(g), 10), "several") + textui.If(fn != "" && fn != noName, " "+shortName(fn, 48))
}

func procName(p model.ProcID) string {
	return textui.Either(p == model.NoProc, "no proc", fmt.Sprintf("proc %d", p))
}

// procCell is the number of a proc, nil for none.
func procCell(p model.ProcID) any {
	if p < 0 {
		return nil
	}
	return int64(p)
}

// traceName names a trace in few columns: by the end of its path alone if no other has the
// same.
func traceName(r *result.Report, trace int) string {
	if trace < 0 || trace >= len(r.Traces) {
		return fmt.Sprintf("trace %d", trace+1)
	}
	return result.TraceNames(result.Each(r.Traces, func(t *result.Trace) string { return t.Name }))[trace]
}

// goVersion names the format of a trace: "Go 1.26".
func goVersion(t *result.Trace) string { return strings.Replace(t.Format, "go ", "Go ", 1) }

// plural is [textui.Plural] of numbers of all types.
func plural[N ~int | ~int64](n N, noun string) string { return textui.Plural(n, noun) }
