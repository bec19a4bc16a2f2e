package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/analyze/causes"
	"github.com/schedscope/schedscope/analyze/requests"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// Tables writes tables of one trace, each of one kind of facts, a row each, as they are
// established: nothing is kept, so the trace may be of any length. Call Add for each table,
// Follow before the Machine's first event, Begin where rows begin, Event with each event from
// then on, and Close after [model.Machine.Finish].
//
// Times are those of the trace's clock, lengths nanoseconds, and a number that
// is not known is empty (null in JSON). In CSV a name that a spreadsheet would
// take for a formula begins with an apostrophe. Rows of what lasts are in the order
// in which that ends, what ends with the trace last, by id; rows of moments are in
// the order of time.
type Tables struct {
	// Requests are the requests that tables about them have, all kinds if there are none. It is
	// to be set before Follow.
	Requests []requests.Spec
	NoLabels bool // leaves the labels of requests empty; to be set before Follow

	list []*Table
	// What those that gather what tables are about do at the beginning, with an event, and at the end.
	observe []func(*model.Machine)
	event   []func(*model.Event)
	finish  []func()
	blame   *causes.Blame // nil: no table needs it
}

// Table is one of [Tables].
type Table struct {
	def  *tableDef
	rows *rows
}

// tableDef is an entry of the catalogue of tables. Of the functions one is not
// nil.
type tableDef struct {
	name, doc string
	columns   []Column
	machine   func(*rows) any                         // what the Machine reports
	resolver  func(*rows) any                         // what a Resolver reports
	explained func(*rows) func(*causes.ExplainedWait) // what an Explainer reports
	blamed    func(*rows, *result.Blame)              // what a Blame has
	tracked   func(*rows) func(*requests.Request)     // what a Tracker reports
}

// Column is a column of a table: its unit (time, ns, id, count, name or bool; see
// [TablesHelp]), what it says, and what a value means that is not known.
type Column struct{ Name, Unit, Doc string }

// TableNames returns the names of all tables.
func TableNames() []string { return result.Each(tableDefs, func(d *tableDef) string { return d.name }) }

// TableColumns returns the columns of a table, nil if there is no such table.
func TableColumns(name string) []Column {
	d, _ := wantTable(name)
	return slices.Clone(d.columns)
}

// TableDoc returns the description of a row of the table, or "" for an unknown table.
func TableDoc(name string) string {
	d, _ := wantTable(name)
	return d.doc
}

// Add adds the table of this name (see [TableNames]), which gives its rows to a sink that is made
// for its columns.
func (ts *Tables) Add(name string, sink Sink) (*Table, error) {
	d, err := wantTable(name)
	if err != nil {
		return nil, err
	}
	t := &Table{d, newRows(sink)}
	ts.list = append(ts.list, t)
	return t, nil
}

// NewTextSink returns a sink of the table of this name (see [TableNames]), which writes text to w.
func NewTextSink(name string, format RowFormat, w io.Writer) (Sink, error) {
	d, err := wantTable(name)
	if err != nil {
		return nil, err
	}
	return newTextRows(w, format, d.columns), nil
}

// CheckTable returns a [*runqueue.OldFormatError] if traces of Go 1.version lack the data of
// the table.
func CheckTable(name string, version int) error {
	d, err := wantTable(name)
	if err == nil && (d.resolver != nil || d.explained != nil) {
		_, err = runqueue.New(model.NewTables(), version)
	}
	return err
}

// wantTable returns a table, an empty one with an error.
func wantTable(name string) (*tableDef, error) {
	if i := slices.Index(TableNames(), name); i >= 0 {
		return &tableDefs[i], nil
	}
	return &tableDef{}, fmt.Errorf("unknown table %q (want %s)", name, strings.Join(TableNames(), ", "))
}

// NeedPast reports whether a table must know what was before its window. Such a
// table learns of the window by [Tables.Within]; all others by [model.Machine.Begin] and [Tables.Begin].
func (ts *Tables) NeedPast() bool {
	return slices.ContainsFunc(ts.list, func(t *Table) bool { return t.def.resolver != nil })
}

// Within restricts tables that need the past to rows whose time is from start to end, both included,
// or from start on if end is not after it.
func (ts *Tables) Within(start, end model.Time) {
	if end <= start {
		end = math.MaxInt64
	}
	for _, t := range ts.list {
		t.rows.from, t.rows.to = start, end
	}
}

// Follow subscribes the tables to the Machine of a trace of Go 1.version, before its first
// event. It returns the errors of [CheckTable].
func (ts *Tables) Follow(m *model.Machine, version int) (err error) {
	var explained func(*causes.ExplainedWait)
	var queues []any
	var tracked func(*requests.Request)
	var sum *causes.Analysis // of the blame
	blamed := false
	for _, t := range ts.list {
		t.rows.tables, t.rows.noLabels = m.Tables(), ts.NoLabels
		switch d := t.def; {
		case d.tracked != nil:
			tracked = both(tracked, d.tracked(t.rows))
		case d.explained != nil:
			explained = both(explained, d.explained(t.rows))
		case d.resolver != nil:
			queues = append(queues, d.resolver(t.rows))
		case d.blamed != nil:
			blamed = true
		}
	}
	switch {
	case explained != nil || blamed:
		x, err := causes.NewExplainer(m.Tables(), version, explained, queues...)
		if err == nil {
			ts.observe, ts.event, ts.finish = append(ts.observe, x.Observe), append(ts.event, x.Event), append(ts.finish, x.Finish)
			sum = x.Causes()
			x.ObserveSteps(m)
		} else if explained != nil || len(queues) > 0 { // else the blame does without
			return err
		}
	case len(queues) > 0:
		r, err := runqueue.New(m.Tables(), version)
		if err != nil {
			return err
		}
		for _, q := range queues {
			r.Observe(q)
		}
		m.Observe(r)
		ts.finish = append(ts.finish, r.Finish)
	}
	if blamed {
		if sum == nil {
			sum = causes.New(m.Tables())
		}
		ts.blame = causes.NewBlame(m.Tables(), sum)
		ts.observe = append(ts.observe, ts.blame.Observe)
	}
	if tracked != nil {
		tracker := requests.New(m, ts.Requests)
		tracker.Done = tracked
		ts.event, ts.finish = append(ts.event, func(ev *model.Event) { tracker.Event(ev) }), append(ts.finish, tracker.Finish)
	}
	return nil
}

// both returns what calls two functions. The first may be nil.
func both[T any](f, g func(T)) func(T) {
	if f == nil {
		return g
	}
	return func(x T) {
		f(x)
		g(x)
	}
}

// Begin starts the output of rows: before the first event, or later, after
// [model.Machine.Begin]. The trace starts at origin.
func (ts *Tables) Begin(m *model.Machine, origin model.Time) {
	for _, t := range ts.list {
		t.rows.origin = origin
		if t.def.machine != nil {
			m.Observe(t.def.machine(t.rows))
		}
	}
	for _, observe := range ts.observe {
		observe(m)
	}
}

// Event records an event that the Machine has applied.
func (ts *Tables) Event(ev *model.Event) {
	for _, event := range ts.event {
		event(ev)
	}
}

// Close writes pending rows. It returns the first error of writing.
func (ts *Tables) Close() error {
	for _, finish := range ts.finish {
		finish()
	}
	for _, t := range ts.list {
		if t.def.blamed != nil {
			var v result.Report
			ts.blame.Result(&v)
			t.def.blamed(t.rows, &v.Blame)
		}
		t.rows.flush()
		if err := t.rows.sink.Close(); err != nil {
			return err
		}
	}
	return nil
}

// Rows returns the number of rows so far; all of them after Close.
func (t *Table) Rows() int64 { return t.rows.count }

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
