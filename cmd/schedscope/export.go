package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/schedscope/schedscope/internal/source"
)

// exporter is a format of export.
type exporter struct {
	name, doc string
	// extensions of -o that ask for it, the one that matches longest first.
	extensions []string
	binary     bool // not for terminals
	directory  bool // -o names one, which check looks at
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
	b.WriteString("\nThe extension of -o tells the format:\n")
	for _, x := range exporters() {
		fmt.Fprintf(&b, "  %-12s %s\n", x.name, strings.Join(x.extensions, " "))
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
		if f.format = formatOfName(f.output, list); f.format == "" {
			return exporter{}, f.unknownExtension(list)
		}
		if len(f.rows.tables) == 0 && f.format == ndjsonExporter.name && strings.EqualFold(filepath.Ext(f.output), ".json") {
			return exporter{}, usagef("schedscope analyze -o "+f.output+" writes it; --format ndjson writes its figures, one per line", "export does not write the report as JSON")
		}
	}
	if err := checkChoice("format", f.format, exporterNames()); err != nil {
		return exporter{}, err
	}
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

// unknownExtension says that the name of the output asks for no format of export, and
// which command writes it if one does.
func (f *exportFlags) unknownExtension(list []exporter) error {
	var known []string
	for _, x := range list {
		known = append(known, x.extensions...)
	}
	hint := "use a name with " + orList(known) + ", or add --format"
	switch extensions[strings.ToLower(filepath.Ext(f.output))] {
	case "png", "svg":
		hint = "pictures are written by schedscope analyze -o " + f.output + " and schedscope plot"
	case "html":
		hint = "pages are written by schedscope report -o " + f.output
	case "text":
		hint = "the text report is written by schedscope analyze -o " + f.output
	}
	return usagef(hint, "-o %s: the extension does not tell a format of export", f.output)
}

// formatOfName returns the format that the longest extension asks for: csv of stdout, ""
// if none does.
func formatOfName(path string, list []exporter) string {
	if path == "-" || path == "" { // the latter is refused later
		return csvExporter.name
	}
	name, format, longest := strings.ToLower(filepath.Base(path)), "", 0
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
