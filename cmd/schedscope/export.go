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

// rowFormats are the values of export --format.
var rowFormats = map[string]report.RowFormat{"csv": report.CSV, "json": report.NDJSON, "ndjson": report.NDJSON}

var rowFormatNames = []string{"csv", "json", "ndjson"}

type exportFlags struct {
	read          readFlags
	table, format string
	output        string
}

func newExport(a *app) *cobra.Command {
	var f exportFlags
	cmd := &cobra.Command{
		Use:     "export --table TABLE [flags] TRACE",
		Short:   "Write starts, waits, steals, goroutines and more as rows of CSV or JSON",
		GroupID: groupTake,
		Long:    exportHelp(),
		Example: `  schedscope export --table goroutines --format csv trace.out
  schedscope export --table waits -o waits.csv trace.out
  schedscope export --table starts --format ndjson trace.out | jq .source`,
		ValidArgsFunction: completeTraces,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.export(cmd, &f, args)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.table, "table", "", "`TABLE` to write: "+strings.Join(report.TableNames(), ", "))
	flags.StringVar(&f.format, "format", "", "use this `FORMAT`: csv, or ndjson, one JSON object per line (default by the extension of -o, else csv)")
	flags.StringVarP(&f.output, "output", "o", "-", "write to this `FILE`; - is stdout")
	f.read.register(cmd)
	complete(cmd, "table", report.TableNames())
	complete(cmd, "format", rowFormatNames)
	return cmd
}

func exportHelp() string {
	var b strings.Builder
	b.WriteString("Rows are written while the trace is read, so it may be of any size. The tables (their\ncolumns are in schedscope help tables):\n")
	for _, name := range report.TableNames() {
		b.WriteString("  " + name + strings.Repeat(" ", max(1, 12-len(name))) + report.TableDoc(name) + "\n")
	}
	return b.String()
}

func (a *app) export(cmd *cobra.Command, f *exportFlags, args []string) error {
	if err := f.validate(); err != nil {
		return err
	}
	refs, err := a.expand(args)
	if err != nil {
		return err
	}
	if len(refs) > 1 {
		return usagef("export them one by one: times of different traces do not belong together", "export takes one trace, not %d", len(refs))
	}
	if err := a.checkOutput(f.output, false, refs); err != nil {
		return err
	}
	in, err := a.open(cmd.Context(), refs[0], &f.read)
	if err != nil {
		return err
	}
	defer in.Close()
	rd, err := a.newReading(in, f.read.ingestOptions())
	if err != nil {
		return err
	}
	return a.write(f.output, func(w io.Writer) error {
		table, err := report.NewTable(f.table, rowFormats[f.format], w)
		if err != nil {
			return err
		}
		if err := rd.fill(cmd.Context(), table); err != nil {
			return err
		}
		t := rd.trace()
		a.warnAbout(&t)
		a.detail("%s; the trace begins at %d", countOf(table.Rows(), "row"), rd.origin)
		return nil
	})
}

// fill reads the trace into table and closes that.
func (rd *reading) fill(ctx context.Context, table *report.Table) error {
	o, err := table.Observer(rd.m.Tables(), rd.reader.Header().Version)
	if err != nil {
		return &source.Error{Doing: "reading " + rd.in.Name, Err: err, Hint: "tables that are not about run queues tell of this trace, too"}
	}
	begin := func(rd *reading) { rd.m.Observe(o) }
	if table.NeedsPast() {
		rd.fromFirst = true
		rd.restrict(table)
		begin(rd)
		begin = func(*reading) {}
	}
	if err := rd.run(ctx, begin, nil); err != nil {
		return err
	}
	return table.Close()
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

func (f *exportFlags) validate() error {
	if f.table == "" {
		return usagef("add --table goroutines; or one of "+strings.Join(report.TableNames(), ", "), "no table given")
	}
	if err := checkChoice("table", f.table, report.TableNames()); err != nil {
		return err
	}
	if f.format == "" {
		f.format = "csv"
		for _, ext := range rowFormatNames {
			if strings.HasSuffix(strings.ToLower(f.output), "."+ext) {
				f.format = ext
			}
		}
	}
	if err := checkChoice("format", f.format, rowFormatNames); err != nil {
		return err
	}
	return f.read.check()
}
