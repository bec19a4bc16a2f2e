package main

import (
	"context"
	"io"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/source"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/report"
	"github.com/schedscope/schedscope/report/figures"
)

var csvExporter = exporter{
	name: "csv", doc: "the rows of a --table, or else the figures of the report",
	extensions: []string{".csv"},
	flags:      registerRowFlags, takes: rowFlagNames, check: checkRowFlags, run: rowExporter(report.CSV, figures.CSV),
}

var ndjsonExporter = exporter{
	name: "ndjson", doc: "the same, one JSON object per line",
	extensions: []string{".ndjson", ".json"},
	takes:      rowFlagNames, check: checkRowFlags, run: rowExporter(report.NDJSON, figures.NDJSON),
}

// rowFlags are the flags of tables.
type rowFlags struct{ tables []string }

var rowFlagNames = []string{"table"}

func registerRowFlags(cmd *cobra.Command, f *exportFlags) {
	cmd.Flags().StringSliceVar(&f.rows.tables, "table", nil, "`TABLE` to write; none: the figures of the report: "+strings.Join(report.TableNames(), ", ")+"; of parquet several, with commas between (default all)")
	complete(cmd, "table", report.TableNames())
}

func checkRowFlags(f *exportFlags) error {
	switch n := len(f.rows.tables); {
	case n == 0:
		return nil
	case n > 1:
		return usagef("export them one by one, or all with --format parquet", "%s takes one table, not %d", f.format, n)
	}
	return checkTable(f.rows.tables[0])
}

func checkTable(name string) error {
	if name == report.TracesTable {
		return usagef("--format parquet writes it, whatever tables it is asked for", "--table %s is not to be asked for", name)
	}
	return checkChoice("table", name, report.TableNames())
}

func tablesOverview() string {
	var b strings.Builder
	b.WriteString("Rows are written while the trace is read, so it may be of any size. The tables (their\ncolumns are in schedscope help tables):\n")
	for _, name := range report.TableNames() {
		b.WriteString("  " + name + strings.Repeat(" ", max(1, 12-len(name))) + report.TableDoc(name) + "\n")
	}
	return b.String()
}

// rowExporter returns what writes a table in a format, or the figures if none was asked for.
func rowExporter(format report.RowFormat, summary func(io.Writer, *result.Report) error) func(*app, context.Context, *exportFlags, []source.Ref) error {
	return func(a *app, ctx context.Context, f *exportFlags, refs []source.Ref) error {
		if len(f.rows.tables) == 0 {
			return summaryExporter(summary, false)(a, ctx, f, refs)
		}
		if err := oneTrace(refs); err != nil {
			return err
		}
		in, err := a.open(ctx, refs[0], &f.read)
		if err != nil {
			return err
		}
		defer in.Close()
		rd, err := a.newReading(in, f.read.ingestOptions())
		if err != nil {
			return err
		}
		return a.write(f.output, func(w io.Writer) error {
			table, err := report.NewTable(f.rows.tables[0], format, w)
			if err != nil {
				return err
			}
			if err := rd.fill(ctx, table); err != nil {
				return err
			}
			t := rd.trace()
			a.warnAbout(&t)
			a.detail("%s; the trace begins at %d", countOf(table.Rows(), "row"), rd.Origin)
			return nil
		})
	}
}

// fill reads the trace into table and closes that.
func (rd *reading) fill(ctx context.Context, table *report.Table) error {
	if table.NeedsPast() {
		rd.Past = true
		rd.restrict(table)
	}
	if err := table.Follow(rd.Machine, rd.Version); err != nil {
		return rd.notTold(err)
	}
	err := rd.run(ctx, func() { table.Begin(rd.Machine) }, table.Event)
	if err != nil {
		return err
	}
	return table.Close()
}

// notTold says that a table is about what the trace is too old to tell.
func (rd *reading) notTold(err error) error {
	return &source.Error{Doing: "reading " + rd.in.Name, Err: err, Hint: "tables that are not about run queues or causes tell of this trace, too"}
}

// restrict has table write nothing about what is outside the window.
func (rd *reading) restrict(table *report.Table) {
	if !rd.Windowed {
		return
	}
	end := model.Time(math.MaxInt64)
	if rd.End > rd.Start {
		end = rd.End
	}
	table.Within(rd.Start, end)
}
