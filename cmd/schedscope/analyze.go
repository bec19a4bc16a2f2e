package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/internal/source"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/report"
	"github.com/schedscope/schedscope/report/chart"
	"github.com/schedscope/schedscope/report/page"
	"github.com/schedscope/schedscope/report/timeline"
)

// defaultWorst is how many of the longest waits a report has in full.
const defaultWorst = 10

// analyzeFlags are the flags of analyze; plot has some of them.
type analyzeFlags struct {
	read    readFlags
	outputs []string
	format  string
	json    bool
	top     int
	worst   int
	check   bool
	dpi     int
	// reference: simulate part of the trace under the reference scheduler.
	reference      bool
	referenceAsked bool // by the flag
	timeline       bool // an output has one
}

func newAnalyze(a *app) *cobra.Command {
	var f analyzeFlags
	cmd := &cobra.Command{
		Use:     "analyze [flags] TRACE...",
		Short:   "Report what waits to run, how long, and the most likely reason",
		GroupID: groupLook,
		Long: `Several traces become one report. The text begins with a verdict in words and a
summary of about 30 lines; the details follow. schedscope help metrics explains
the numbers, schedscope help formats the outputs.`,
		Example: `  schedscope analyze trace.out
  schedscope analyze -o latency.png -o report.json trace.out
  schedscope analyze http://localhost:6060 --seconds 5
  schedscope analyze --json --from 2s --to 3s trace.out | jq .latency.all.p99_ns
  cat trace.out.gz | schedscope analyze -`,
		ValidArgsFunction: completeTraces,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.referenceAsked = cmd.Flags().Changed("reference")
			return a.analyze(cmd, &f, args)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringArrayVarP(&f.outputs, "output", "o", nil, "write to this `FILE`, in the format of its extension: .txt .html .json .csv .md .png .svg; - is stdout; may be repeated")
	flags.BoolVar(&f.json, "json", false, "the same as --format json")
	flags.StringVar(&f.format, "format", "", "use this `FORMAT` whatever the extension: text, html, json, csv, markdown, png or svg (default text)")
	flags.IntVar(&f.top, "top", report.DefaultTop, "show at most `N` rows of each table of the text; 0 for all")
	flags.IntVar(&f.worst, "worst", defaultWorst, "show the `N` longest waits in full")
	flags.BoolVar(&f.check, "check", false, "check that all times add up exactly, and say what was checked")
	flags.BoolVar(&f.reference, "reference", true, "simulate a part of the work under the reference scheduler for one line of the text; --reference=false saves the time (default of more than 8 traces)")
	flags.IntVar(&f.dpi, "dpi", chart.DefaultDPI, "draw PNG pictures with `N` pixels per inch")
	f.read.register(cmd)
	complete(cmd, "format", formats)
	return cmd
}

func (a *app) analyze(cmd *cobra.Command, f *analyzeFlags, args []string) error {
	if err := f.validate(); err != nil {
		return err
	}
	outs, err := planOutputs(f.outputs, f.format, formats)
	if err != nil {
		return err
	}
	refs, err := a.expandOrSuggest(cmd.Root(), args)
	if err != nil {
		return err
	}
	for _, o := range outs {
		check := a.checkOutput
		if o.format == "html" {
			check = a.checkPage
		}
		if err := check(o.path, o.format == "png", refs); err != nil {
			return err
		}
	}
	doc, lanes, err := a.loadFor(cmd.Context(), outs, refs, f)
	if err != nil {
		return err
	}
	for _, o := range stdoutLast(outs) {
		if err := a.writeReport(doc, lanes, o, f); err != nil {
			return err
		}
	}
	if f.check {
		return a.checked(doc)
	}
	return nil
}

func (f *analyzeFlags) validate() error {
	if f.json {
		if f.format != "" && f.format != "json" {
			return usagef("", "--json and --format %s contradict each other", f.format)
		}
		f.format = "json"
	}
	switch {
	case f.top < 0:
		return usagef("", "--top %d: want a positive number, or 0 for all", f.top)
	case f.worst < 1 || f.worst > 1000:
		return usagef("", "--worst %d: want 1 to 1000", f.worst)
	case f.dpi < 18 || f.dpi > 1200:
		return usagef("", "--dpi %d: want 18 to 1200", f.dpi)
	}
	return f.read.check()
}

// expandOrSuggest is expand for a command line that may have meant a command.
func (a *app) expandOrSuggest(root *cobra.Command, args []string) ([]source.Ref, error) {
	refs, err := a.expand(args)
	if err == nil || len(args) == 0 || strings.ContainsAny(args[0], `./\-:*`) {
		return refs, err
	}
	if _, statErr := os.Stat(args[0]); statErr == nil {
		return refs, err
	}
	var names []string
	for _, c := range root.Commands() {
		names = append(names, c.Name())
	}
	if near := closest(args[0], names); near != "" {
		return nil, usagef(fmt.Sprintf("did you mean %q?", near), "%s is neither a command nor a trace", args[0])
	}
	return refs, err
}

// load analyses all traces and merges what was found. One that cannot be read
// is reported and skipped as long as another can.
func (a *app) load(ctx context.Context, refs []source.Ref, f *analyzeFlags) (*report.Document, error) {
	doc := &report.Document{}
	var failed error
	done := 0
	a.analyzeSeveral(ctx, refs, f, func(i int, x *analysed) bool {
		done++
		switch {
		case x.err == nil:
			doc.Add(x.trace, x.report)
		case len(refs) == 1 || ctx.Err() != nil:
			failed = x.err
			return false
		default:
			a.skip(x.err)
			doc.Skipped = append(doc.Skipped, report.Skipped{Name: refs[i].Name, Cause: x.err.Error()})
		}
		return true
	})
	if failed == nil && done < len(refs) {
		failed = &exitError{code: exitInterrupted, err: context.Cause(ctx)}
	}
	if failed != nil {
		return nil, failed
	}
	doc.NoReference = f.reference && !f.forSeveral(len(refs), 1).reference
	if doc.Report == nil {
		return nil, errNoneRead(len(refs))
	}
	a.warnTwice(doc.Twice())
	doc.Judge()
	return doc, nil
}

// analysis is what is made of one trace.
type analysis struct {
	trace    report.Trace
	report   *analyze.Report
	timeline []byte // nil: it was not asked for
}

// document returns the report of one trace.
func (x *analysis) document() *report.Document {
	doc := &report.Document{}
	doc.Add(x.trace, x.report)
	doc.Judge()
	return doc
}

// analyzeOne analyses one trace.
func (a *app) analyzeOne(ctx context.Context, ref source.Ref, f *analyzeFlags) (*analysis, error) {
	in, err := a.open(ctx, ref, &f.read)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return a.analyzeOpen(ctx, in, f)
}

// analyzeOpen analyses one open trace.
func (a *app) analyzeOpen(ctx context.Context, in *input, f *analyzeFlags) (*analysis, error) {
	x, rd, err := readOpen(ctx, a, in, &f.read, func(ctx context.Context, rd *reading) (*analysis, error) {
		return rd.analyze(ctx, f)
	})
	if err != nil {
		return nil, err
	}
	described := rd.trace()
	described.Reference, described.Check = x.trace.Reference, x.trace.Check
	x.trace = described
	rd.describeRequest(ctx, x.trace.Capture)
	a.warnAbout(&x.trace)
	return x, nil
}

// analyze reads a trace and analyses it. Of trace it sets what is not known afterwards.
func (rd *reading) analyze(ctx context.Context, f *analyzeFlags) (*analysis, error) {
	opts := analyze.Options{Worst: f.worst, Window: f.read.windowed(), Version: rd.Version}
	var lanes *timeline.Recorder
	if f.timeline {
		lanes = timeline.New(rd.Tables(), timeline.Options{})
		opts.Explained, opts.Queues = lanes.Explained, []any{lanes.Queues()}
	}
	x := &analysis{report: analyze.New(rd.Tables(), opts)}
	x.report.ObserveSteps(rd.Machine)
	ref := newReference(ctx, rd, f)
	checked := &checker{}
	begin := func() {
		x.report.Begin(rd.Origin)
		x.report.Observe(rd.Machine)
		ref.begin(rd)
		if lanes != nil {
			lanes.Begin(rd.Origin)
			lanes.Observe(rd.Machine)
		}
		if f.check {
			rd.Machine.Observe(checked)
		}
	}
	err := rd.run(ctx, begin, func(ev *model.Event) {
		x.report.Event(ev)
		ref.event(ev)
	})
	if err != nil {
		return nil, err
	}
	x.report.Finish(rd.Machine.Start(), rd.Machine.Now())
	if lanes != nil {
		if x.timeline, err = rd.encode(lanes); err != nil {
			return nil, err
		}
	}
	x.trace.Reference, x.trace.Check = ref.result(rd), checked.result(rd)
	if ctx.Err() != nil {
		return nil, &exitError{code: exitInterrupted, err: context.Cause(ctx)}
	}
	return x, nil
}

// encode ends the recording of a timeline.
func (rd *reading) encode(lanes *timeline.Recorder) ([]byte, error) {
	lanes.Finish(rd.Machine.Start(), rd.Machine.Now())
	blob, err := lanes.Encode()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", rd.in.Name, err)
	}
	return blob, nil
}

// writeReport writes one output.
func (a *app) writeReport(doc *report.Document, lanes []byte, o output, f *analyzeFlags) error {
	return a.write(o.path, func(w io.Writer) error {
		switch o.format {
		case "json":
			return report.JSON(w, doc)
		case "html":
			return page.Write(w, page.Input{Report: doc.Result(), Timeline: lanes, TimelineNote: noTimeline(len(doc.Traces) > 1, lanes != nil)})
		case "csv":
			return report.LatencyCSV(w, doc)
		case "markdown":
			return report.Markdown(w, doc.Result())
		case "png", "svg":
			return a.drawOne(w, doc, o, f)
		}
		opts := a.textOptions(w)
		opts.Top = f.top
		if o.path != "-" {
			opts.Color = a.color == "always" && !a.noColor // the environment speaks of terminals
		}
		return report.Text(w, doc, opts)
	})
}

// drawOne draws the picture that the file's base name asks for.
func (a *app) drawOne(w io.Writer, doc *report.Document, o output, f *analyzeFlags) error {
	base := filepath.Base(o.path)
	base = strings.TrimSuffix(base, filepath.Ext(base))
	pictures := chart.All(doc.Report, doc.Title())
	chosen := pictures[0]
	for _, p := range pictures {
		if p.Name == base {
			chosen = p
		}
	}
	format := chart.PNG
	if o.format == "svg" {
		format = chart.SVG
	}
	return chosen.Write(w, format, chart.Options{DPI: f.dpi})
}
