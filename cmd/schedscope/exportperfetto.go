package main

import (
	"cmp"
	"context"
	"io"
	"strings"

	"github.com/schedscope/schedscope/internal/source"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/report/perfetto"
)

// exportTimeline writes a timeline, compressed if the name of the output asks for it, or on
// stdout.
func (a *app) exportTimeline(ctx context.Context, f *exportFlags, refs []source.Ref) error {
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
		if f.output != "-" && !strings.HasSuffix(strings.ToLower(f.output), ".gz") {
			return rd.timeline(ctx, out, f.causes)
		}
		z := newGzip(out)
		err := rd.timeline(ctx, z, f.causes)
		return cmp.Or(err, z.Close())
	})
}

// timeline reads the trace and writes it.
func (rd *reading) timeline(ctx context.Context, out io.Writer, causes bool) error {
	w, noQueues := perfetto.NewWriter(out, rd.Tables(), perfetto.Options{Version: rd.Version, Causes: causes})
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
