package main

import (
	"context"
	"slices"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/source"
)

const hintSaved = "save one with: schedscope analyze -o report.json trace.out"

// loadV1 returns the report of traces, of reports that were saved as JSON, or of both:
// whatever shows reports can start from either.
func (a *app) loadV1(ctx context.Context, refs []source.Ref, f *analyzeFlags) (*result.Report, error) {
	if len(refs) == 1 && refs[0].Kind != source.URL {
		return a.loadEither(ctx, refs[0], f)
	}
	if slices.ContainsFunc(refs, source.IsJSON) {
		return a.mergeInputs(ctx, refs, f)
	}
	doc, err := a.load(ctx, refs, f)
	if err != nil {
		return nil, err
	}
	return doc.Result(), nil
}

// loadEither returns the report of one input, which is opened once: it may be a pipe.
func (a *app) loadEither(ctx context.Context, ref source.Ref, f *analyzeFlags) (*result.Report, error) {
	in, err := a.openAs(ctx, ref, &f.read, true)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	if in.JSON {
		return a.readSaved(in, f)
	}
	x, err := a.analyzeOpen(ctx, in, f)
	if err != nil {
		return nil, err
	}
	return x.document().Result(), nil
}

// readSaved reads a saved report. What only a trace can answer is refused.
func (a *app) readSaved(in *input, f *analyzeFlags) (*result.Report, error) {
	if f.read.windowed() {
		return nil, usagef("give the trace it was made from", "%s is a saved report: --from and --to need a trace", in.Name)
	}
	v, err := result.Read(in)
	if err != nil {
		return nil, &source.Error{Doing: "reading " + in.Name, Err: err, Hint: hintSaved}
	}
	for _, t := range v.Traces {
		if t.Loss != nil {
			a.warn("%s: the report is of a damaged trace, %s: %s", in.Name, t.Name, t.Loss.Cause)
		}
	}
	return v, nil
}
