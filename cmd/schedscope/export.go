package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedscope/schedscope/internal/source"
)

// exporter is a format of export.
type exporter struct {
	name, doc string
	// extensions of -o that ask for it, the one that matches longest first.
	extensions []string
	binary     bool // not for terminals
	directory  bool // -o names one, which check looks at
	// flags adds those that only this format has; nil: it has none.
	flags func(*cobra.Command, *exportFlags)
	// check looks at the flags before anything is read; nil: nothing to check.
	check func(*exportFlags) error
	run   func(*app, context.Context, *exportFlags, []source.Ref) error
}

// exporters are all formats of export, in the order in which help lists them. (A
// function, as some of them list the others.)
func exporters() []exporter {
	return []exporter{csvExporter, ndjsonExporter, benchfmtExporter, openMetricsExporter, markdownExporter,
		profileExporter, perfettoExporter, chromeExporter, parquetExporter}
}

type exportFlags struct {
	read   readFlags
	format string
	output string
	rows   rowFlags

	profile  profileFlags
	timeline timelineFlags
	parquet  parquetFlags
}

func newExport(a *app) *cobra.Command {
	var f exportFlags
	cmd := &cobra.Command{
		Use:     "export [flags] TRACE...",
		Short:   "Write what is in a trace for other tools",
		GroupID: groupTake,
		Long:    exportHelp(),
		Example: `  schedscope export -o new.bench new/ && benchstat old.bench new.bench
  schedscope export -o summary.md trace.out
  schedscope export --table goroutines --format csv trace.out
  schedscope export --table waits -o waits.csv trace.out
  schedscope export --table starts --format ndjson trace.out | jq .source
  schedscope export -o waits.pb.gz trace.out && go tool pprof -http=: waits.pb.gz`,
		ValidArgsFunction: completeTraces,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.export(cmd, &f, args)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.format, "format", "", "use this `FORMAT`: "+strings.Join(exporterNames(), ", ")+" (default by the extension of -o, else csv)")
	flags.StringVarP(&f.output, "output", "o", "-", "write to this `FILE`; - is stdout")
	for _, x := range exporters() {
		if x.flags != nil {
			x.flags(cmd, &f)
		}
	}
	f.read.register(cmd)
	complete(cmd, "format", exporterNames())
	return cmd
}

func exporterNames() []string {
	var names []string
	for _, x := range exporters() {
		names = append(names, x.name)
	}
	return names
}

func exportHelp() string {
	var b strings.Builder
	b.WriteString("The formats:\n")
	for _, x := range exporters() {
		fmt.Fprintf(&b, "  %-12s %s\n", x.name, x.doc)
	}
	b.WriteString("\n" + tablesOverview())
	return b.String()
}

func (a *app) export(cmd *cobra.Command, f *exportFlags, args []string) error {
	x, err := f.choose()
	if err != nil {
		return err
	}
	if x.check != nil {
		if err := x.check(f); err != nil {
			return err
		}
	}
	if err := f.read.check(); err != nil {
		return err
	}
	refs, err := a.expand(args)
	if err != nil {
		return err
	}
	if !x.directory {
		if err := a.checkOutput(f.output, x.binary, refs); err != nil {
			return err
		}
	}
	return x.run(a, cmd.Context(), f, refs)
}

// choose returns the format that --format or else the extension of -o asks for.
func (f *exportFlags) choose() (exporter, error) {
	list := exporters()
	if f.format == "json" {
		f.format = "ndjson"
	}
	if f.format == "" {
		f.format = formatOfName(f.output, list)
		if len(f.rows.tables) == 0 && f.format == ndjsonExporter.name && strings.EqualFold(filepath.Ext(f.output), ".json") {
			return exporter{}, usagef("schedscope analyze -o "+f.output+" writes it; --format ndjson writes its figures, one per line", "export does not write the report as JSON")
		}
	}
	if err := checkChoice("format", f.format, exporterNames()); err != nil {
		return exporter{}, err
	}
	return list[slices.IndexFunc(list, func(x exporter) bool { return x.name == f.format })], nil
}

// formatOfName returns the format that the longest extension asks for, csv if none does.
func formatOfName(path string, list []exporter) string {
	name, format, longest := strings.ToLower(filepath.Base(path)), "csv", 0
	for _, x := range list {
		for _, ext := range x.extensions {
			if len(ext) > longest && strings.HasSuffix(name, ext) {
				format, longest = x.name, len(ext)
			}
		}
	}
	return format
}

// oneTrace refuses several.
func oneTrace(refs []source.Ref) error {
	if len(refs) > 1 {
		return usagef("export them one by one: times of different traces do not belong together", "export takes one trace, not %d", len(refs))
	}
	return nil
}
