package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedscope/schedscope/internal/source"
	"github.com/schedscope/schedscope/report"
	"github.com/schedscope/schedscope/report/page"
)

// reportFlags are the flags of report.
type reportFlags struct {
	analyzeFlags
	output string
	lanes  bool // a timeline
}

func newReport(a *app) *cobra.Command {
	var f reportFlags
	cmd := &cobra.Command{
		Use:     "report [flags] TRACE|REPORT.json...",
		Short:   "Write the report as one HTML page with charts and a timeline",
		GroupID: groupLook,
		Long: `The page is one file. It asks for nothing else, works offline, and may be sent to
somebody or kept with a build. Its first screen is the verdict; every chart has its
table, every number its meaning in the glossary, and names from the trace are only
ever text. The timeline shows what procs, threads and goroutines did: zoom and pan
with the mouse or with w, a, s and d.

Of several traces, and from a report that was saved as JSON, there is no timeline.`,
		Example: `  schedscope report -o report.html trace.out
  schedscope report -o slow.html --from 1.2s --to 1.4s trace.out
  schedscope report -o report.html report.json`,
		ValidArgsFunction: completeTraces,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.referenceAsked = cmd.Flags().Changed("reference")
			return a.report(cmd, &f, args)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVarP(&f.output, "output", "o", "-", "write to this `FILE`; - is stdout")
	flags.BoolVar(&f.lanes, "timeline", true, "put a timeline into the page; --timeline=false makes it smaller")
	flags.IntVar(&f.worst, "worst", 20, "show the `N` longest waits in full")
	flags.BoolVar(&f.reference, "reference", true, "simulate a part of the work under the reference scheduler; --reference=false saves the time")
	f.read.register(cmd)
	f.top, f.dpi = report.DefaultTop, 96
	return cmd
}

func (a *app) report(cmd *cobra.Command, f *reportFlags, args []string) error {
	if err := f.validate(); err != nil {
		return err
	}
	refs, err := a.expandOrSuggest(cmd.Root(), args)
	if err != nil {
		return err
	}
	if err := a.checkPage(f.output, false, refs); err != nil {
		return err
	}
	if err := checkPageName(f.output); err != nil {
		return err
	}
	in, err := a.loadPage(cmd.Context(), refs, f)
	if err != nil {
		return err
	}
	return a.write(f.output, func(w io.Writer) error { return page.Write(w, in) })
}

// checkPageName refuses a name whose extension asks for something else than a page.
func checkPageName(path string) error {
	if ext := filepath.Ext(path); ext == "" || path == os.DevNull || extensions[strings.ToLower(ext)] == "html" {
		return nil
	}
	return usagef("use a name with .html; schedscope analyze -o writes other formats", "-o %s: report writes a page of HTML", path)
}

// checkPage is checkOutput for a page, which nobody reads on a terminal.
func (a *app) checkPage(path string, binary bool, refs []source.Ref) error {
	if path == "-" && isTerminal(a.stdout) {
		return usagef("name a file: -o report.html", "will not write a page to a terminal")
	}
	return a.checkOutput(path, binary, refs)
}

// Why a page has no timeline.
const (
	noTimelineSeveral = "A timeline is of one trace, and this report is of several. Make one of the trace that is of interest."
	noTimelineSaved   = "This page was made from a saved report, which has no timeline. Make one from the trace."
	noTimelineAsked   = "This page was made without a timeline."
)

// noTimeline says why there is none of what was read from traces, "" if there is one.
func noTimeline(several, have bool) string {
	switch {
	case have:
		return ""
	case several:
		return noTimelineSeveral
	}
	return noTimelineAsked
}

// loadFor is load, with a timeline if one of the outputs shows it.
func (a *app) loadFor(ctx context.Context, outs []output, refs []source.Ref, f *analyzeFlags) (*report.Document, []byte, error) {
	if len(refs) != 1 || !slices.ContainsFunc(outs, func(o output) bool { return o.format == "html" }) {
		doc, err := a.load(ctx, refs, f)
		return doc, nil, err
	}
	f.timeline = true
	x, err := a.analyzeOne(ctx, refs[0], f)
	if err != nil {
		return nil, nil, err
	}
	return x.document(), x.timeline, nil
}

// loadPage returns what a page shows of some inputs.
func (a *app) loadPage(ctx context.Context, refs []source.Ref, f *reportFlags) (page.Input, error) {
	if len(refs) != 1 || !f.lanes {
		v, err := a.loadV1(ctx, refs, &f.analyzeFlags)
		return page.Input{Report: v, TimelineNote: noTimeline(len(refs) > 1, false)}, err
	}
	in, err := a.openAs(ctx, refs[0], &f.read, refs[0].Kind != source.URL)
	if err != nil {
		return page.Input{}, err
	}
	defer in.Close()
	if in.Interrupted {
		ctx = context.WithoutCancel(ctx) // ^C has ended the recording, not the work
	}
	if in.JSON {
		v, err := a.readSaved(in, &f.analyzeFlags)
		return page.Input{Report: v, TimelineNote: noTimelineSaved}, err
	}
	f.timeline = true
	x, err := a.analyzeOpen(ctx, in, &f.analyzeFlags)
	if err != nil {
		return page.Input{}, err
	}
	return page.Input{Report: x.document().Result(), Timeline: x.timeline}, nil
}
