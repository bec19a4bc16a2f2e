package main

import (
	"context"
	"io"

	"github.com/schedscope/schedscope/analyze/conform"
	"github.com/schedscope/schedscope/internal/source"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
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
	in, err := a.open(ctx, ref, &f.read)
	if err != nil {
		return err
	}
	defer in.Close()
	if in.Interrupted {
		ctx = context.WithoutCancel(ctx) // ^C has ended the recording, not the work
	}
	o := f.read.ingestOptions()
	r, rd, err := a.lockstepInput(ctx, in, f, o)
	if err != nil {
		return err
	}
	t := rd.trace()
	if to, ok := soundEnd(in, &t, rd.reader.Loss(), o); ok {
		// Anew, as far as nothing is missing.
		o.To = to
		if anew, again, err := a.lockstepInput(ctx, in, f, o); err == nil {
			damage := t.Loss
			r, rd, t = anew, again, again.trace()
			t.Windowed, t.Loss = false, damage
			t.Loss.After, t.Loss.Patchy = model.Time(to), false
		}
	}
	a.warnAbout(&t)
	d.Results = append(d.Results, r)
	d.Traces = append(d.Traces, t)
	d.Origins = append(d.Origins, rd.origin)
	return nil
}

// lockstepInput reads an open trace and judges what is in it.
func (a *app) lockstepInput(ctx context.Context, in *source.Input, f *replayFlags, o ingest.Options) (*conform.Result, *reading, error) {
	rd, err := a.newReading(in, o)
	if err != nil {
		return nil, nil, err
	}
	c, err := conform.New(rd.m.Tables(), rd.reader.Header().Version, conform.Options{Cores: f.cores})
	if err != nil {
		rd.reader.Close()
		return nil, nil, oldFormat(in, err)
	}
	rd.m.Observe(c)
	rd.fromFirst = true
	if err := rd.run(ctx, func(*reading) {}, nil); err != nil {
		return nil, nil, err
	}
	return c.Finish(), rd, nil
}
