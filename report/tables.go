package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/analyze/requests"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// Table writes one kind of the facts of a trace, a row each, as they are
// established: nothing is kept, so the trace may be of any length. Call Follow before
// the Machine's first event, Begin where rows begin, Event with each event from then
// on, and Close after [model.Machine.Finish].
//
// Times are those of the trace's clock, lengths nanoseconds, and a number that
// is not known is empty (null in JSON). In CSV a name that a spreadsheet would
// take for a formula begins with an apostrophe. Rows of what lasts are in the order
// in which that ends, what ends with the trace last, by id; rows of moments are in
// the order of time.
type Table struct {
	rows      *rows
	def       *tableDef
	resolver  *runqueue.Resolver // of tables about run queues
	explainer *analyze.Explainer // of tables about causes
	report    *analyze.Report    // of tables whose rows are made at the end
	tracker   *requests.Tracker  // of tables about requests
	machine   *model.Machine
	// Requests are the requests that tables about them have, all kinds if there are none. It is
	// to be set before Follow.
	Requests []requests.Spec
	NoLabels bool // leaves the labels of requests empty; to be set before Follow
}

// tableDef is an entry of the catalogue of tables. Of the functions one is not
// nil.
type tableDef struct {
	name, doc string
	columns   []Column
	machine   func(*rows) any                          // what the Machine reports
	resolver  func(*rows) any                          // what a Resolver reports
	explained func(*rows) func(*analyze.ExplainedWait) // what an Explainer reports
	reported  func(*rows, *result.Report)              // what the report has
	tracked   func(*rows) func(*requests.Request)      // what a Tracker reports
}

// Column is a column of a table: its unit (time, ns, id, count, name or bool; see
// [TablesHelp]), what it says, and what a value means that is not known.
type Column struct{ Name, Unit, Doc string }

// TableNames returns the names of all tables.
func TableNames() []string {
	names := make([]string, len(tableDefs))
	for i, d := range tableDefs {
		names[i] = d.name
	}
	return names
}

// TableColumns returns the columns of a table, nil if there is no such table.
func TableColumns(name string) []Column {
	if d := findTable(name); d != nil {
		return slices.Clone(d.columns)
	}
	return nil
}

// TableDoc returns what a row of the table is, or "" if there is no such table.
func TableDoc(name string) string {
	if d := findTable(name); d != nil {
		return d.doc
	}
	return ""
}

func findTable(name string) *tableDef {
	i := slices.IndexFunc(tableDefs, func(d tableDef) bool { return d.name == name })
	if i < 0 {
		return nil
	}
	return &tableDefs[i]
}

// NewTable returns the table of this name (see [TableNames]), which writes text to w.
func NewTable(name string, format RowFormat, w io.Writer) (*Table, error) {
	d, err := wantTable(name)
	if err != nil {
		return nil, err
	}
	return &Table{rows: newRows(newTextRows(w, format, d.columns)), def: d}, nil
}

// NewTableTo returns the table of this name, which gives its rows to a sink that is
// made for the table's columns.
func NewTableTo(name string, sink Sink) (*Table, error) {
	d, err := wantTable(name)
	if err != nil {
		return nil, err
	}
	return &Table{rows: newRows(sink), def: d}, nil
}

func wantTable(name string) (*tableDef, error) {
	d := findTable(name)
	if d == nil {
		return nil, fmt.Errorf("unknown table %q (want %s)", name, strings.Join(TableNames(), ", "))
	}
	return d, nil
}

// NeedsPast reports whether the table must know what was before its window. Such a
// table learns of the window by [Table.Within]; for all others [model.Machine.Begin] and [Table.Begin] do.
func (t *Table) NeedsPast() bool { return t.def.resolver != nil }

// Within restricts a table that [Table.NeedsPast] to rows whose time is from
// start to end, both included.
func (t *Table) Within(start, end model.Time) { t.rows.from, t.rows.to = start, end }

// Follow has the table follow the Machine of a trace of Go 1.version, from its first
// event on. The error is a [*runqueue.OldFormatError].
func (t *Table) Follow(m *model.Machine, version int) (err error) {
	t.rows.tables, t.machine = m.Tables(), m
	switch d := t.def; {
	case d.tracked != nil:
		t.tracker = requests.New(m, t.Requests)
		t.rows.noLabels = t.NoLabels
		t.tracker.Done = d.tracked(t.rows)
	case d.reported != nil:
		t.report = analyze.New(m.Tables(), analyze.Options{Version: version})
		t.report.ObserveSteps(m)
	case d.explained != nil:
		if t.explainer, err = analyze.NewExplainer(m.Tables(), version, d.explained(t.rows)); err == nil {
			t.explainer.ObserveSteps(m)
		}
	case d.resolver != nil:
		if t.resolver, err = runqueue.New(m.Tables(), version); err == nil {
			t.resolver.Observe(d.resolver(t.rows))
			m.Observe(t.resolver)
		}
	}
	return err
}

// Begin has rows begin: before the first event, or later, after [model.Machine.Begin]. The
// trace begins at origin.
func (t *Table) Begin(m *model.Machine, origin model.Time) {
	t.rows.origin = origin
	switch {
	case t.report != nil:
		t.report.Begin(origin)
		t.report.Observe(m)
	case t.explainer != nil:
		t.explainer.Observe(m)
	case t.resolver == nil && t.tracker == nil:
		m.Observe(t.def.machine(t.rows))
	}
}

// Event notes an event, after the Machine.
func (t *Table) Event(ev *model.Event) {
	if t.explainer != nil {
		t.explainer.Event(ev)
	}
	if t.report != nil {
		t.report.Event(ev)
	}
	if t.tracker != nil {
		t.tracker.Event(ev)
	}
}

// Rows returns the number of rows so far; all of them after Close.
func (t *Table) Rows() int64 { return t.rows.count }

// Close writes what is still held back. It returns the first error of writing.
func (t *Table) Close() error {
	if t.resolver != nil {
		t.resolver.Finish()
	}
	if t.explainer != nil {
		t.explainer.Finish()
	}
	if t.tracker != nil {
		t.tracker.Finish()
	}
	if t.report != nil {
		t.report.Finish(t.machine.Start(), t.machine.Now())
		t.def.reported(t.rows, t.report.Result())
	}
	t.resolver, t.explainer, t.report, t.tracker = nil, nil, nil, nil
	t.rows.flush()
	return t.rows.sink.Close()
}

// TablesHelp explains the tables, a line for each column.
func TablesHelp() string {
	var b strings.Builder
	b.WriteString(tablesHelp)
	for _, d := range tableDefs {
		helpTable(&b, d.name, d.doc, d.columns)
	}
	helpTable(&b, TracesTable, "a trace; of --format parquet only", TracesColumns())
	return strings.TrimSuffix(b.String(), "\n")
}

func helpTable(b *strings.Builder, name, doc string, columns []Column) {
	fmt.Fprintf(b, "\n%s: %s\n", name, doc)
	for _, c := range columns {
		fmt.Fprintf(b, "  %-18s  %-5s  %s\n", c.Name, c.Unit, c.Doc)
	}
}

const tablesHelp = `schedscope export --table TABLE writes a row for each of what TABLE is about, as csv or as
ndjson (one JSON object per line, the same names and values; json is another name of it).
Columns are stable: new ones are only ever added behind the others.

Units: time, a point on the trace's own clock in integer nanoseconds, as recorded, with
--clock reader as golang.org/x/exp/trace reads it, the same with and without --from and --to;
ns, a length in integer nanoseconds; id, a number that the runtime gave; count, a number;
name, a text from the trace or one of the words listed; bool, true or false.
What is not known or does not apply is empty in csv; in ndjson and parquet a number is then
null and a name "". Where another value stands for it, the column says so. In csv a name that
a spreadsheet would take for a formula begins with '. Times on a machine that has run for more
than 104 days are beyond 2^53: some readers of JSON round them.

Rows about what lasts come in the order in which that ends (netpoll: when the goroutine ran;
causes: the greatest of a wait first; blame: the greatest function first), what is open at the end last, by id; starts, steals,
queues and metrics in the order of time.
open_start and open_end say that an interval goes on before or after what was read, so that it
is longer than its row says.
`

// rowWindow is the part of the trace that rows are written of.
type rowWindow struct{ from, to model.Time }

var allRows = rowWindow{math.MinInt64, math.MaxInt64}

func (w rowWindow) holds(t model.Time) bool { return w.from <= t && t <= w.to }
