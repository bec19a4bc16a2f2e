package main

import (
	"context"
	"io"

	"github.com/schedscope/schedscope/analyze/conform"
	"github.com/schedscope/schedscope/internal/source"
	"github.com/schedscope/schedscope/report"
)

// lockstep judges the decisions of the runtimes that recorded the traces.
func (a *app) lockstep(ctx context.Context, refs []source.Ref, f *replayFlags, outs []output) error {
	for _, out := range outs {
		if isPicture(out.format) {
			return usagef("use .txt or .json", "-o %s: --mode lockstep has no picture", out.path)
		}
	}
	d := &report.Lockstep{}
	for _, ref := range refs {
		err := a.lockstepOne(ctx, ref, f, d)
		if err == nil {
			continue
		}
		if len(refs) == 1 || ctx.Err() != nil {
			return err
		}
		a.skip(err)
		d.Skipped = append(d.Skipped, report.Skipped{Name: ref.Name, Cause: err.Error()})
	}
	if len(d.Results) == 0 {
		return errNoneRead(len(refs))
	}
	for _, out := range stdoutLast(outs) {
		err := a.write(out.path, func(w io.Writer) error {
			if out.format == "json" {
				return report.LockstepJSON(w, d)
			}
			return report.LockstepText(w, d, a.replayTextOptions(w, out, f))
		})
		if err != nil {
			return err
		}
	}
	return nil
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
