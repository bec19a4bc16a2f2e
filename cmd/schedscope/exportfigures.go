package main

import (
	"context"
	"io"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/source"
	"github.com/schedscope/schedscope/report"
	"github.com/schedscope/schedscope/report/figures"
)

var benchfmtExporter = exporter{
	name: "benchfmt", doc: "the figures of the report, for benchstat",
	extensions: []string{".bench"},
	run:        summaryExporter(figures.Benchfmt, false),
}

var openMetricsExporter = exporter{
	name: "openmetrics", doc: "the figures of the report, for Prometheus and GitLab",
	extensions: []string{".openmetrics", ".prom"},
	run:        summaryExporter(figures.OpenMetrics, false),
}

var markdownExporter = exporter{
	name: "markdown", doc: "a summary for a job or a pull request",
	extensions: []string{".md"},
	run:        summaryExporter(report.Markdown, true),
}

// summaryExporter returns what writes something of a whole report, of traces or a saved
// one. Reference says whether the reference scheduler is in it.
func summaryExporter(write func(io.Writer, *result.Report) error, reference bool) func(*app, context.Context, *exportFlags, []source.Ref) error {
	return func(a *app, ctx context.Context, f *exportFlags, refs []source.Ref) error {
		v, err := a.loadV1(ctx, refs, &analyzeFlags{read: f.read, worst: defaultWorst, reference: reference})
		if err != nil {
			return err
		}
		return a.write(f.output, func(w io.Writer) error { return write(w, v) })
	}
}
