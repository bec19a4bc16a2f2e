package main

import (
	"bytes"
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/source"
	"github.com/schedscope/schedscope/report"
	"github.com/schedscope/schedscope/report/page"
)

// mergeFormats are the formats of merged reports, by the extension that asks for them.
var mergeFormats = []string{"json", "html", "markdown"}

// mergeFlags are the flags of merge.
type mergeFlags struct {
	analyzeFlags
	outputs []string
}

func newMerge(a *app) *cobra.Command {
	var f mergeFlags
	cmd := &cobra.Command{
		Use:     "merge [flags] TRACE|REPORT.json...",
		Short:   "Merge reports that were saved as JSON, and traces, into one",
		GroupID: groupTake,
		Long: `Save a report of each replica, hour or version, and merge them when a question comes
up: traces need not be kept for that. A directory stands for the traces and reports
directly in it. What cannot be read is named and skipped. A trace that is in several of
them counts as often, which is told.

Counts, totals, extremes and curves become those of all traces analysed together,
percentiles are within 0.4 %. The findings are those of single reports, of each kind the
worst: the verdict on all traces together needs the traces (schedscope analyze DIR).
Figures of each trace, and how much they differ, are in per_trace and spread.`,
		Example: `  schedscope analyze -o reports/host7.json host7.trace
  schedscope merge -o all.json reports/
  schedscope merge -o all.html monday/ tuesday/ live.trace`,
		ValidArgsFunction: completeTraces,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.merge(cmd, &f, args)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringArrayVarP(&f.outputs, "output", "o", nil, "write to this `FILE`, in the format of its extension: .json .html .md; - is stdout; may be repeated")
	flags.StringVar(&f.format, "format", "", "use this `FORMAT` whatever the extension: json, html or markdown (default json)")
	flags.IntVar(&f.worst, "worst", defaultWorst, "keep the `N` longest waits of each trace")
	f.read.register(cmd)
	f.top, f.dpi = report.DefaultTop, 96
	complete(cmd, "format", mergeFormats)
	return cmd
}

func (a *app) merge(cmd *cobra.Command, f *mergeFlags, args []string) error {
	if err := f.validate(); err != nil {
		return err
	}
	if f.format == "" && len(f.outputs) == 0 {
		f.format = "json"
	}
	if f.format == "text" || f.format == "txt" {
		return usagef("--format markdown is to be read, too; schedscope analyze writes the text of traces", "merge writes no text")
	}
	outs, err := planOutputs(f.outputs, f.format, mergeFormats)
	if err != nil {
		return err
	}
	refs, err := a.expandReports(args)
	if err != nil {
		return err
	}
	for i := range outs {
		if outs[i].format == "text" { // of stdout
			outs[i].format = "json"
		}
		if err := checkChoice("format", outs[i].format, mergeFormats); err != nil {
			return err
		}
		if err := a.checkOutput(outs[i].path, false, refs); err != nil {
			return err
		}
	}
	v, err := a.mergeInputs(cmd.Context(), refs, &f.analyzeFlags)
	if err != nil {
		return err
	}
	for _, o := range stdoutLast(outs) {
		if err := a.writeV1(v, o); err != nil {
			return err
		}
	}
	return nil
}

// writeV1 writes one output of a report that needs no trace.
func (a *app) writeV1(v *result.Report, o output) error {
	return a.write(o.path, func(w io.Writer) error {
		switch o.format {
		case "html":
			return page.Write(w, page.Input{Report: v, TimelineNote: noTimelineSaved})
		case "markdown":
			return report.Markdown(w, v)
		}
		return result.Write(w, v)
	})
}

// expandReports is expand for traces and saved reports.
func (a *app) expandReports(operands []string) ([]source.Ref, error) {
	if len(operands) == 0 {
		return nil, usagef("give saved reports, traces, or directories of them", "nothing to merge given")
	}
	refs, skipped, err := source.ExpandReports(operands)
	a.leftOut(skipped)
	return refs, err
}

// summed is what became of one input of several.
type summed struct {
	said *bytes.Buffer // on stderr
	v    *result.Report
	err  error
}

// mergeInputs returns the report of traces and saved reports, each summed up by itself.
// One that cannot be read is reported and skipped as long as another can.
func (a *app) mergeInputs(ctx context.Context, refs []source.Ref, f *analyzeFlags) (*result.Report, error) {
	workers := f.read.workersFor(refs)
	each := f.forSeveral(len(refs), workers)
	var m result.Merger
	var skipped []result.Skipped
	var failed error
	done := 0
	a.progress.begin()
	defer a.progress.clear()
	do := func(ctx context.Context, i int) *summed {
		own, said := a.aside()
		v, err := own.loadEither(ctx, refs[i], each)
		return &summed{said, v, err}
	}
	inOrder(ctx, len(refs), workers, do, func(i int, x *summed) bool {
		a.repeat(x.said)
		a.progress.step("inputs", i+1, len(refs))
		done++
		err := x.err
		if err == nil {
			if err = m.Add(x.v); err != nil {
				err = &source.Error{Doing: "merging " + refs[i].Name, Err: err}
			}
		}
		switch {
		case err == nil:
		case len(refs) == 1 || ctx.Err() != nil:
			failed = err
			return false
		default:
			a.skip(err)
			skipped = append(skipped, result.Skipped{Name: refs[i].Name, Cause: err.Error()})
		}
		return true
	})
	if failed == nil && done < len(refs) {
		failed = &exitError{code: exitInterrupted, err: context.Cause(ctx)}
	}
	if failed != nil {
		return nil, failed
	}
	if done == len(skipped) {
		return nil, errNoneRead(len(refs))
	}
	a.warnTwice(m.Twice())
	v, err := m.Report()
	if err != nil {
		return nil, err
	}
	v.Skipped = append(v.Skipped, skipped...)
	return v, nil
}

// maxTwice is how many traces at most are said to count twice.
const maxTwice = 10

func (a *app) warnTwice(list []string) {
	for _, text := range list[:min(len(list), maxTwice)] {
		a.warn("%s", strings.TrimSuffix(text, "."))
	}
	if n := len(list) - maxTwice; n > 0 {
		a.warn("%d more traces count twice", n)
	}
}
