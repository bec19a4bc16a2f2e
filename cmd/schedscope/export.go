package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/schedscope/schedscope/internal/source"
)

// exporter is a format of export.
type exporter struct {
	name, doc string
	// flags adds those that only some formats have; nil: this one adds none.
	flags func(*cobra.Command, *exportFlags)
	// takes names those that this format has. Others that are given are refused.
	takes []string
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
	b.WriteString("\nExtensions of -o that ask for them:\n")
	for _, x := range exporters() {
		fmt.Fprintf(&b, "  %-12s %s\n", x.name, strings.Join(formatNamed(x.name).extensions, " "))
	}
	b.WriteString("\n" + tablesOverview())
	return b.String()
}

func (a *app) export(cmd *cobra.Command, f *exportFlags, args []string) error {
	x, err := f.choose()
	if err != nil {
		return err
	}
	if err := x.checkFlags(cmd); err != nil {
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
	if format := formatNamed(x.name); !format.directory {
		if err := a.checkOutput(f.output, format.binary, refs); err != nil {
			return err
		}
	}
	return x.run(a, cmd.Context(), f, refs)
}

// choose returns the format that --format or else the extension of -o asks for.
func (f *exportFlags) choose() (exporter, error) {
	o := outputs{choices: append(exporterNames(), "json"), paths: []string{f.output}, format: f.format}
	if err := o.plan(); err != nil {
		return exporter{}, err
	}
	f.format = o.list[0].format
	if f.format == "json" {
		if o.format == "" && len(f.rows.tables) == 0 {
			return exporter{}, usagef("schedscope analyze -o "+f.output+" writes it; --format ndjson writes its figures, one per line", "export does not write the report as JSON")
		}
		f.format = "ndjson"
	}
	list := exporters()
	return list[slices.IndexFunc(list, func(x exporter) bool { return x.name == f.format })], nil
}

// checkFlags refuses flags that only other formats have.
func (x *exporter) checkFlags(cmd *cobra.Command) error {
	var err error
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		var have []string
		for _, y := range exporters() {
			if slices.Contains(y.takes, flag.Name) {
				have = append(have, y.name)
			}
		}
		if err == nil && len(have) > 0 && !slices.Contains(have, x.name) {
			err = usagef("leave it out, or use "+orList(have), "--%s is not for --format %s", flag.Name, x.name)
		}
	})
	return err
}

// orList joins names: a, b or c.
func orList(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// oneTrace refuses several.
func oneTrace(refs []source.Ref) error {
	if len(refs) > 1 {
		return usagef("export them one by one: times of different traces do not belong together", "export takes one trace, not %d", len(refs))
	}
	return nil
}
