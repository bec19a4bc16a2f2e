package cli

import (
	"context"
	"errors"
	"fmt"
	goversion "go/version"
	"strings"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/analyze/findings"
	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/single"
	"github.com/schedscope/schedscope/internal/source"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
	"github.com/schedscope/schedscope/report/chart"
	"github.com/schedscope/schedscope/report/timeline"
)

// loaded is what reports are written from.
type loaded struct {
	v          *result.Report
	histories  *chart.Histories     // of one trace, if the pictures of waits were asked for
	saved      bool                 // an input was a saved report
	timeline   []byte               // of one trace, if it was asked for
	requests   []result.RequestKind // with that: some of all
	noTimeline string               // why there is none
}

// Why a page has no timeline.
const (
	noTimelineSeveral = "A timeline is of one trace, and this report is of several. Make one of the trace that is of interest."
	noTimelineSaved   = "This page was made from a saved report, which has no timeline. Make one from the trace."
	noTimelineAsked   = "This page was made without a timeline."
)

const hintSaved = "save one with: schedscope analyze -o report.json trace.out"

// load returns the report of traces, of reports that were saved as JSON, or of both.
func (a *app) load(ctx context.Context, refs []source.Ref, f *analyzeFlags) (*loaded, error) {
	var l *loaded
	var err error
	if len(refs) == 1 {
		l, err = a.loadOne(ctx, refs[0], f)
	} else {
		l, err = a.loadSeveral(ctx, refs, f)
	}
	if err != nil {
		return nil, err
	}
	if err := f.requests.apply(l.v, l.requests); err != nil {
		return nil, err
	}
	// The verdict rests on more of them.
	l.v.WorstWaits = l.v.WorstWaits[:min(len(l.v.WorstWaits), f.worst)]
	return l, nil
}

// loadOne returns the report of one input, which is opened once: it may be a pipe.
func (a *app) loadOne(ctx context.Context, ref source.Ref, f *analyzeFlags) (*loaded, error) {
	in, err := a.openAs(ctx, ref, &f.read, ref.Kind != source.URL)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	if in.JSON {
		v, err := a.readSaved(in, f)
		return &loaded{v: v, saved: true, noTimeline: noTimelineSaved}, err
	}
	if !f.drawsWaits {
		return a.analyzeOpen(ctx, ref, in, f)
	}
	again, err := in.Keep()
	if err != nil {
		return nil, err
	}
	l, err := a.analyzeOpen(ctx, ref, in, f)
	if err != nil {
		return nil, err
	}
	second, err := again()
	if err == nil {
		l.histories, err = a.histories(ctx, single.New(second), f, l.v)
	}
	return l, err
}

// histories reads the trace of a report again, for the pictures of its waits. It reads all that
// the first reading did: what a goroutine is called may be known from events long before a wait,
// and that a proc was idle all the time from events long after it.
func (a *app) histories(ctx context.Context, in *input, f *analyzeFlags, v *result.Report) (*chart.Histories, error) {
	h, rd, err := readOpen(ctx, a, in, &f.read, func(ctx context.Context, rd *reading) (*chart.Histories, error) {
		h := chart.NewHistories(v)
		return h, rd.run(ctx, func() { h.Observe(rd.Machine, rd.Origin) }, nil)
	})
	if err != nil {
		return nil, err
	}
	if l := rd.Loss(); l != nil && errors.Is(l.Cause, ingest.ErrChanged) {
		return nil, describeEmpty(in, l.Cause)
	}
	return h, nil
}

// readSaved reads a saved report. What only a trace can answer is refused.
func (a *app) readSaved(in *input, f *analyzeFlags) (*result.Report, error) {
	if f.read.windowed() {
		return nil, usagef("give the trace it was made from", "%s is a saved report: --from and --to need a trace", in.Name)
	}
	if len(f.requests.specs) > 0 || f.requests.slow > 0 {
		return nil, usagef("give the trace it was made from", "%s is a saved report: --request and --slow need a trace", in.Name)
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

// loadSeveral merges the reports of several inputs.
func (a *app) loadSeveral(ctx context.Context, refs []source.Ref, f *analyzeFlags) (*loaded, error) {
	workers := f.read.workersFor(refs)
	each := f.forSeveral(workers)
	var m result.Merger
	saved := false
	skipped, err := several(ctx, a, refs, workers, func(ctx context.Context, a *app, i int) (*loaded, error) {
		return a.loadOne(ctx, refs[i], each)
	}, func(i int, l *loaded) error {
		saved = saved || l.saved
		if err := m.Add(l.v); err != nil {
			return &source.Error{Doing: "merging " + refs[i].Name, Err: err}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, s := range skipped {
		m.Skip(s)
	}
	v, err := m.Report()
	if err != nil {
		return nil, err
	}
	const most = 10
	twice := findings.Twice(v)
	for _, text := range twice[:min(len(twice), most)] {
		a.warn("%s", strings.TrimSuffix(text, "."))
	}
	if n := len(twice) - most; n > 0 {
		a.warn("%d more traces count twice", n)
	}
	findings.Judge(v, f.slo...)
	return &loaded{v: v, saved: saved, noTimeline: noTimelineSeveral}, nil
}

// analyzeOpen analyses one open trace.
func (a *app) analyzeOpen(ctx context.Context, ref source.Ref, in *input, f *analyzeFlags) (*loaded, error) {
	l, rd, err := readOpen(ctx, a, in, &f.read, func(ctx context.Context, rd *reading) (*loaded, error) {
		return rd.analyze(ctx, f)
	})
	if err != nil {
		return nil, err
	}
	if ref.Kind == source.File {
		switch run, err := sample.ReadRun(ref.Path); {
		case err != nil:
			a.warn("not used: %v", err)
		case run != nil:
			l.v.Traces[0].Machine = rd.machine(run, l.v.Totals.Procs)
		}
	}
	rd.Complete(ctx, l.v, f.slo...)
	rd.warnAbout(&l.v.Traces[0])
	return l, nil
}

// machine returns what the record next to a trace with so many procs says of the machine, nil if it may be of another
// recording, as it is too short, or too long for a trace that is whole, or of a Go version before that of the format.
func (rd *reading) machine(run *env.Run, procs int) *result.Machine {
	u, t := run.Usage(procs), rd.Describe()
	length := rd.Machine.Now().Sub(rd.Origin)
	slack := max(length/10, 100_000_000)
	why := ""
	if goversion.IsValid(run.Begin.Go) && goversion.Compare(run.Begin.Go, strings.ReplaceAll(t.Format, " ", "")) < 0 {
		why = "of " + run.Begin.Go
	} else if off := model.Duration(u.LengthNS) - length; off < -slack || off > slack && t.Complete && !t.Windowed {
		why = fmt.Sprintf("of %s, the trace of %s", textui.Duration(model.Duration(u.LengthNS)), textui.Duration(length))
	}
	if why != "" {
		rd.app.warn("%s: %s is %s: not used", t.Name, env.NextTo(""), why)
		return nil
	}
	m := &result.Machine{Disturbed: env.DefaultLimits.Disturbed(&u.Noise)}
	if u.Foreign != nil && m.Disturbed == env.DefaultLimits.Disturbed(&env.Noise{Nivcsw: u.Nivcsw, Foreign: u.Foreign}) {
		m.Others = *u.Foreign
	}
	return m
}

// analyze reads a trace and analyses it, without its description.
func (rd *reading) analyze(ctx context.Context, f *analyzeFlags) (*loaded, error) {
	opts := analyze.Options{Worst: f.worst, Requests: f.requests.specs, Slow: model.Duration(f.requests.slow)}
	var lanes *timeline.Recorder
	var some analyze.RequestSample
	if f.timeline {
		opts.Request = some.Add
		lanes = timeline.New(rd.Tables(), timeline.Options{})
		opts.Explained, opts.Least, opts.Queues = lanes.Explained, lanes.Least(), []any{lanes.Queues()}
	}
	rd.limitMemory()
	v, err := rd.Report(ctx, opts, func() {
		some.Begin(rd.Origin)
		if lanes != nil {
			lanes.Begin(rd.Origin)
			lanes.Observe(rd.Machine)
		}
	}, rd.run)
	switch {
	case err != nil:
		return nil, err
	case ctx.Err() != nil:
		return nil, &exitError{code: exitInterrupted, err: context.Cause(ctx)}
	}
	f.requests.warn(rd, v)
	l := &loaded{v: v, requests: some.Result(), noTimeline: noTimelineAsked}
	if lanes != nil {
		lanes.Finish(rd.Machine.Start(), rd.Machine.Now())
		l.noTimeline = ""
		if l.timeline, err = lanes.Encode(); err != nil {
			return nil, fmt.Errorf("%s: %w", rd.in.Name, err)
		}
	}
	return l, nil
}
