package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/source"
	"github.com/schedscope/schedscope/report"
	"github.com/schedscope/schedscope/report/figures"
	"github.com/schedscope/schedscope/report/profile"
)

// exporter is a format of export.
type exporter struct {
	name, doc string
	// takes names flags that this format has and others have not.
	takes []string
	run   func(*app, context.Context, *exportFlags, []source.Ref) error
}

// exporters are all formats of export, in the order in which help lists them.
var exporters = []exporter{
	{"csv", "the rows of a --table, or else the figures of the report", []string{"table", "request", "no-labels"}, exportTable(report.CSV, figures.CSV)},
	{"ndjson", "the same, one JSON object per line", []string{"table", "request", "no-labels"}, exportTable(report.NDJSON, figures.NDJSON)},
	{"benchfmt", "the figures of the report, for benchstat", nil, exportFigures(figures.Benchfmt)},
	{"openmetrics", "the figures of the report, for Prometheus and GitLab", nil, exportFigures(figures.OpenMetrics)},
	{"pprof", "waits, what they were behind, system calls or handoffs by stack, for go tool pprof", []string{"profile", "stack", "request", "slow"}, exportProfile},
	{"perfetto", "a timeline for ui.perfetto.dev and its SQL: procs as CPUs, goroutines as threads", []string{"causes", "no-labels"}, (*app).exportTimeline},
	{"parquet", "tables of many traces as a directory for DuckDB and the like: schedscope help parquet", []string{"table", "request", "no-labels", "host", "service"}, (*app).exportParquet},
}

// exportFlags are the flags of export.
type exportFlags struct {
	read           readFlags
	format, output string
	tables         []string
	requests       requestFlags
	profile, stack string
	causes         bool
	host, service  string
}

// Whose stacks a profile is by.
const (
	stackWaiter = "waiter"
	stackWaker  = "waker"
)

var stackChoices = []string{stackWaiter, stackWaker}

func newExport(a *app) *cobra.Command {
	var f exportFlags
	cmd := &cobra.Command{
		Use:   "export [flags] TRACE...",
		Short: "Convert a trace for other tools",
		Long:  exportHelp(),
		Example: `  schedscope export -o new.bench new/ && benchstat old.bench new.bench
  schedscope export --table goroutines --format csv trace.out
  schedscope export --table waits -o waits.csv trace.out
  schedscope export --table starts --format ndjson trace.out | jq .source
  schedscope export -o waits.pb.gz trace.out && go tool pprof -http=: waits.pb.gz`,
		ValidArgsFunction: completeTraces,
		RunE:              runs(a.export, &f),
	}
	flags := cmd.Flags()
	flags.StringVar(&f.format, "format", "", "use `FORMAT`: "+strings.Join(exporterNames(), ", ")+" (default by the extension of -o, else csv)")
	flags.StringVarP(&f.output, "output", "o", "-", "write to `FILE`; - is stdout")
	flags.StringSliceVar(&f.tables, "table", nil, "write the rows of `TABLE` instead of the figures of the report: "+strings.Join(report.TableNames(), ", ")+". parquet takes several, separated by commas (default all)")
	f.requests.registerSlow(cmd)
	flags.StringVar(&f.profile, "profile", profile.Runnable.String(), "pprof: count `WHAT`: "+strings.Join(profile.Kinds(), ", "))
	flags.StringVar(&f.stack, "stack", stackWaiter, "pprof: group by the stack of `WHOM`: waiter, the goroutine that waited, or waker, the one that made it runnable")
	flags.BoolVar(&f.causes, "causes", false, "perfetto: add a slice for each wait to run, with its causes; takes longer")
	flags.StringVar(&f.host, "host", "", "parquet: `NAME` of the machine that recorded the traces, for the column host")
	flags.StringVar(&f.service, "service", "", "parquet: `NAME` of the recorded program, for the column service")
	f.read.register(cmd)
	complete(cmd, "format", exporterNames())
	complete(cmd, "table", report.TableNames())
	complete(cmd, "profile", profile.Kinds())
	complete(cmd, "stack", stackChoices)
	return cmd
}

func exporterNames() []string {
	return result.Each(exporters, func(x *exporter) string { return x.name })
}

func exportHelp() string {
	var b strings.Builder
	b.WriteString("The formats, and the extensions of -o that ask for them:\n")
	for _, x := range exporters {
		fmt.Fprintf(&b, "  %-12s %s (%s)\n", x.name, x.doc, strings.Join(formatNamed(x.name).extensions, " "))
	}
	b.WriteString("\nRows are written while the trace is read, so it may be of any size. The tables (schedscope\nhelp tables lists their columns):\n")
	for _, name := range report.TableNames() {
		fmt.Fprintf(&b, "  %-11s %s\n", name, report.TableDoc(name))
	}
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
	if err := f.check(); err != nil {
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
	o := outputs{choices: exporterNames(), paths: []string{f.output}, format: f.format}
	if err := o.plan(); err != nil {
		return exporter{}, err
	}
	f.format = o.list[0].format
	return exporters[slices.IndexFunc(exporters, func(x exporter) bool { return x.name == f.format })], nil
}

// checkFlags refuses flags that only other formats have.
func (x *exporter) checkFlags(cmd *cobra.Command) error {
	var err error
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		var have []string
		for _, y := range exporters {
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

// check looks at the flags before anything is read.
func (f *exportFlags) check() error {
	if n := len(f.tables); n > 1 && f.format != "parquet" {
		return usagef("export them one by one, or all with --format parquet", "%s takes one table, not %d", f.format, n)
	}
	for _, name := range f.tables {
		if name == report.TracesTable {
			return usagef("--format parquet writes it, whatever tables it is asked for", "--table %s cannot be asked for", name)
		}
		if err := checkChoice("table", name, report.TableNames()); err != nil {
			return err
		}
	}
	if err := cmp.Or(checkChoice("profile", f.profile, profile.Kinds()), checkChoice("stack", f.stack, stackChoices)); err != nil {
		return err
	}
	if o := f.profileOptions(); o.Waker && !o.Kind.HasWaker() {
		return usagef("leave --stack out", "--stack waker: %s has stacks of its own only", o.Kind)
	}
	if f.format == "parquet" && f.output == "-" {
		return usagef("add -o tables, a directory that will be made", "--format parquet writes a directory")
	} else if f.format == "parquet" {
		if err := checkFolder(filepath.Clean(f.output)); err != nil {
			return err
		}
	}
	return f.read.check()
}

// profileOptions returns what checked flags ask for.
func (f *exportFlags) profileOptions() profile.Options {
	kind, _ := profile.KindOf(f.profile)
	return profile.Options{Kind: kind, Waker: f.stack == stackWaker}
}

// exportOne writes something of one trace, which write reads. When writing fails, the context
// ends that write gets.
func (a *app) exportOne(ctx context.Context, f *exportFlags, refs []source.Ref, write func(context.Context, *reading, io.Writer) error) error {
	if len(refs) > 1 {
		return usagef("export them one by one: times of different traces do not belong together", "export takes one trace, not %d", len(refs))
	}
	in, err := a.open(ctx, refs[0], &f.read)
	if err != nil {
		return err
	}
	defer in.Close()
	ctx = a.working(ctx)
	rd, err := a.newReading(in, f.read.ingestOptions())
	if err != nil {
		return err
	}
	defer rd.Close()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	return a.write(f.output, func(w io.Writer) error {
		if err := write(ctx, rd, &stopWriter{w, stop}); err != nil {
			return err
		}
		t := rd.Describe()
		rd.warnAbout(&t)
		return nil
	})
}

// stopWriter ends a context, with an outputError as its cause, when writing fails: nobody takes
// the rest.
type stopWriter struct {
	io.Writer
	stop context.CancelCauseFunc
}

func (w *stopWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if err != nil {
		w.stop(&outputError{err})
	}
	return n, err
}
