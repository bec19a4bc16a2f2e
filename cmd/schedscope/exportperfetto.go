package main

import (
	"cmp"
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedscope/schedscope/internal/source"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/report/perfetto"
)

var perfettoExporter = exporter{
	name: "perfetto", doc: "a timeline for ui.perfetto.dev and its SQL: procs as CPUs, goroutines as threads",
	extensions: []string{".pftrace", ".pftrace.gz", ".perfetto-trace", ".perfetto-trace.gz"},
	binary:     true,
	flags:      registerTimelineFlags, takes: timelineFlagNames,
	run: timelineExporter(perfetto.NewPerfetto, func(path string) bool { return path == "-" || isGzipName(path) }),
}

var chromeExporter = exporter{
	name: "chrome", doc: "the same as JSON for older viewers, several times as large",
	extensions: []string{".chrome.json", ".chrome.json.gz"},
	takes:      timelineFlagNames,
	run:        timelineExporter(perfetto.NewChrome, isGzipName),
}

// timelineFlags are the flags of timelines.
type timelineFlags struct{ causes bool }

var timelineFlagNames = []string{"causes"}

func registerTimelineFlags(cmd *cobra.Command, f *exportFlags) {
	cmd.Flags().BoolVar(&f.timeline.causes, "causes", false, "perfetto, chrome: a slice for each wait to run, with what it was lost to; takes longer")
}

func isGzipName(path string) bool { return strings.HasSuffix(strings.ToLower(path), ".gz") }

// newTimeline is a constructor of package perfetto.
type newTimeline func(io.Writer, *model.Tables, perfetto.Options) (*perfetto.Writer, error)

// timelineExporter returns what writes a timeline, compressed if compress says so of
// the name of the output.
func timelineExporter(create newTimeline, compress func(string) bool) func(*app, context.Context, *exportFlags, []source.Ref) error {
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
		return a.write(f.output, func(out io.Writer) error {
			if !compress(f.output) {
				return rd.timeline(ctx, out, create, f.timeline.causes)
			}
			z := newGzip(out)
			err := rd.timeline(ctx, z, create, f.timeline.causes)
			return cmp.Or(err, z.Close())
		})
	}
}

// timeline reads the trace and writes it.
func (rd *reading) timeline(ctx context.Context, out io.Writer, create newTimeline, causes bool) error {
	w, noQueues := create(out, rd.Tables(), perfetto.Options{Version: rd.Version, Causes: causes})
	if noQueues != nil {
		rd.app.warn("%s: without steals, lengths of queues and causes: %v", rd.in.Name, noQueues)
	}
	w.ObserveSteps(rd.Machine)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	err := rd.run(ctx, func() { w.Observe(rd.Machine, rd.Origin) }, func(ev *model.Event) {
		if w.Event(ev); w.Err() != nil {
			stop() // nobody takes the rest
		}
	})
	if err != nil {
		w.Abandon()
		return cmp.Or(w.Err(), err)
	}
	if err := w.Finish(rd.Machine.Now()); err != nil {
		return err
	}
	t := rd.trace()
	rd.app.warnAbout(&t)
	return nil
}
