package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

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
		Short:   "Write goroutines, waits, syscalls and other intervals as CSV or JSON rows",
		GroupID: groupTake,
		Long:    exportHelp(),
		Example: `  schedscope export --table goroutines --format csv trace.out
  schedscope export --table waits -o waits.csv trace.out
  schedscope export --table syscalls --format json trace.out | jq .blocked`,
		ValidArgsFunction: completeTraces,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.export(cmd, &f, args)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.table, "table", "", "`TABLE` to write: "+strings.Join(report.TableNames(), ", "))
	flags.StringVar(&f.format, "format", "", "use this `FORMAT`: csv, or json, one object per line (default by the extension of -o, else csv)")
	flags.StringVarP(&f.output, "output", "o", "-", "write to this `FILE`; - is stdout")
	f.read.register(cmd)
	complete(cmd, "table", report.TableNames())
	complete(cmd, "format", rowFormatNames)
	return cmd
}

func exportHelp() string {
	var b strings.Builder
	b.WriteString("Rows are written while the trace is read, so it may be of any size. The tables (their\ncolumns are in schedscope help formats):\n")
	for _, name := range report.TableNames() {
		doc, _ := report.TableDoc(name)
		b.WriteString("  " + name + strings.Repeat(" ", max(1, 12-len(name))) + doc + "\n")
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
		err = rd.run(cmd.Context(), func(rd *reading) {
			rd.m.Observe(table.Observer(rd.m.Tables(), rd.origin))
		}, nil)
		if err != nil {
			return err
		}
		t := rd.trace()
		a.warnAbout(&t)
		a.detail("%s", countOf(table.Rows(), "row"))
		return table.Close()
	})
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
