package main

import (
	"context"
	"io"

	"github.com/schedscope/schedscope/analyze/conform"
	"github.com/schedscope/schedscope/internal/source"
	"github.com/schedscope/schedscope/report"
)

// lockstep judges the decisions of the runtimes that recorded the traces.
func (a *app) lockstep(ctx context.Context, refs []source.Ref, f *replayFlags) error {
	d := &report.Lockstep{}
	skipped, err := several(ctx, a, refs, 1, func(ctx context.Context, a *app, i int) (struct{}, error) {
		return struct{}{}, a.lockstepOne(ctx, refs[i], f, d)
	}, func(int, struct{}) error { return nil })
	if err != nil {
		return err
	}
	d.Skipped = skipped
	return f.out.write(a, func(w io.Writer, o output) error {
		if o.format == "json" {
			return report.LockstepJSON(w, d)
		}
		return report.LockstepText(w, d, f.out.text(a, w, o))
	})
}

// lockstepOne judges the decisions in one trace.
func (a *app) lockstepOne(ctx context.Context, ref source.Ref, f *replayFlags, d *report.Lockstep) error {
	r, rd, err := readOne(ctx, a, ref, &f.read, func(ctx context.Context, rd *reading) (*conform.Result, error) {
		c, err := conform.New(rd.Tables(), rd.Version, conform.Options{Cores: f.cores})
		if err != nil {
			return nil, oldFormat(rd.in, err)
		}
		rd.Machine.Observe(c)
		rd.Past = true
		if err := rd.run(ctx, nil, nil); err != nil {
			return nil, err
		}
		return c.Finish(), nil
	})
	if err != nil {
		return err
	}
	t := rd.trace()
	a.warnAbout(&t)
	d.Results = append(d.Results, r)
	d.Traces = append(d.Traces, t)
	d.Origins = append(d.Origins, rd.Origin)
	return nil
}
