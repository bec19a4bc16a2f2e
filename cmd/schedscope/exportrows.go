package main

import (
	"context"
	"io"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedscope/schedscope/internal/source"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/report"
)

var csvExporter = exporter{
	name: "csv", doc: "rows of one table, with a line of headings",
	extensions: []string{".csv"},
	flags:      registerRowFlags, check: checkRowFlags, run: rowExporter(report.CSV),
}

var ndjsonExporter = exporter{
	name: "ndjson", doc: "the same, one JSON object per line",
	extensions: []string{".ndjson", ".json"},
	check:      checkRowFlags, run: rowExporter(report.NDJSON),
}

// rowFlags are the flags of tables.
type rowFlags struct{ tables []string }

func registerRowFlags(cmd *cobra.Command, f *exportFlags) {
	cmd.Flags().StringSliceVar(&f.rows.tables, "table", nil, "`TABLE` to write: "+strings.Join(report.TableNames(), ", ")+"; of parquet several, with commas between (default all)")
	complete(cmd, "table", report.TableNames())
}

func checkRowFlags(f *exportFlags) error {
	switch n := len(f.rows.tables); {
	case n == 0:
		return usagef("add --table goroutines; or one of "+strings.Join(report.TableNames(), ", "), "no table given")
	case n > 1:
		return usagef("export them one by one, or all with --format parquet", "%s takes one table, not %d", f.format, n)
	}
	return checkChoice("table", f.rows.tables[0], report.TableNames())
}

func tablesOverview() string {
	var b strings.Builder
	b.WriteString("Rows are written while the trace is read, so it may be of any size. The tables (their\ncolumns are in schedscope help tables):\n")
	for _, name := range report.TableNames() {
		b.WriteString("  " + name + strings.Repeat(" ", max(1, 12-len(name))) + report.TableDoc(name) + "\n")
	}
	return b.String()
}

// rowExporter returns what writes a table in a format.
func rowExporter(format report.RowFormat) func(*app, context.Context, *exportFlags, []source.Ref) error {
	return func(a *app, ctx context.Context, f *exportFlags, refs []source.Ref) error {
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
			a.detail("%s; the trace begins at %d", countOf(table.Rows(), "row"), rd.origin)
			return nil
		})
	}
}

// fill reads the trace into table and closes that.
func (rd *reading) fill(ctx context.Context, table *report.Table) error {
	if table.NeedsPast() {
		rd.fromFirst = true
		rd.restrict(table)
	}
	if err := table.Follow(rd.m, rd.reader.Header().Version); err != nil {
		return rd.notTold(err)
	}
	err := rd.run(ctx, func(rd *reading) { table.Begin(rd.m) }, table.Event)
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
	if !rd.windowed {
		return
	}
	end := model.Time(math.MaxInt64)
	if rd.end > rd.start {
		end = rd.end
	}
	table.Within(rd.start, end)
}
