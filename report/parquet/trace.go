package parquet

import (
	"cmp"
	"fmt"
	"time"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/session"
	"github.com/schedscope/schedscope/report"
)

// Trace fills the tables of one trace while it is read, and the row about it. Call Follow before
// [session.Reading.Run], Begin and Event as it does, End and About after it.
type Trace struct {
	Origin Origin
	Record env.Record    // of the machine; zero: there is none
	Tables report.Tables // its Requests and NoLabels may be set
	// Create returns what takes the rows of a table. End closes it, unless there is an error before.
	Create func(table string, columns []report.Column) (report.Sink, error)
	// Rows counts those of tables that the trace is not too old for, End all of them.
	Rows map[string]*report.Table
	// TooOld are tables that it is too old for, for this reason: they have no sink.
	TooOld []string
	Why    error

	rd     *session.Reading
	totals *analyze.Totals
}

// Identify sets what is known of a trace before it is decoded: what its bytes show, and an environment
// record of elsewhere, which may be nil and serves one without a record of its own.
func (t *Trace) Identify(name string, s TraceScan, next *env.Record) {
	if r := cmp.Or(s.Record, next); r != nil {
		t.Record = *r
	}
	t.Origin.Service, t.Origin.File, t.Origin.Trace = cmp.Or(t.Origin.Service, s.Service), name, TraceID(name, s.Sum)
}

// Follow begins the tables of these names, which are some of [report.TableNames].
func (t *Trace) Follow(rd *session.Reading, tables []string) error {
	t.Origin.GoVersion = cmp.Or(t.Record.Go, fmt.Sprintf("go1.%d", rd.Version))
	t.rd, t.Rows, t.totals = rd, map[string]*report.Table{}, analyze.NewTotals()
	for _, name := range tables {
		if err := report.CheckTable(name, rd.Version); err != nil {
			t.TooOld, t.Why = append(t.TooOld, name), err
			continue
		}
		sink, err := t.Create(name, report.TableColumns(name))
		if err == nil {
			t.Rows[name], err = t.Tables.Add(name, sink)
		}
		if err != nil {
			return err
		}
	}
	if rd.Windowed { // steps do not show where it begins
		t.Tables.Within(rd.Start, rd.End)
	}
	return t.Tables.Follow(rd.Machine, rd.Version)
}

// Begin is called where the window begins.
func (t *Trace) Begin() {
	rd := t.rd
	if x := rd.Index(); x.WallAt(rd.Origin) > 0 { // known from the first event on
		t.Origin.Recorded = time.Unix(0, x.WallAt(rd.Origin))
	}
	t.totals.Begin(rd.Origin)
	rd.Machine.Observe(t.totals)
	t.Tables.Begin(rd.Machine, rd.Origin)
}

// Event records an event that the Machine has applied.
func (t *Trace) Event(ev *model.Event) {
	t.totals.Event(ev)
	t.Tables.Event(ev)
}

// End ends the tables. It returns the first error of writing.
func (t *Trace) End() error { return t.Tables.Close() }

// About writes the row about the trace into a table of its own.
func (t *Trace) About(about result.Trace, clock string) error {
	r := &t.Record
	row := report.TraceRow{
		Trace: about, Clock: clock, Origin: t.rd.Origin, Events: t.totals.Events, Goroutines: t.totals.Goroutines,
		Workload: r.Workload, Commit: r.Commit, OS: r.OS, Arch: r.Arch, CPU: r.CPU, NumCPU: r.NumCPU,
	}
	for _, s := range t.totals.GOMAXPROCS {
		row.MaxProcs = max(row.MaxProcs, s.Procs)
	}
	sink, err := t.Create(report.TracesTable, report.TracesColumns())
	if err != nil {
		return err
	}
	report.WriteTraceRow(sink, &row)
	return sink.Close()
}
