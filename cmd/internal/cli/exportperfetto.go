package cli

import (
	"bufio"
	"cmp"
	"context"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/schedscope/schedscope/internal/source"
	"github.com/schedscope/schedscope/report/perfetto"
)

// exportTimeline writes a timeline, compressed if the name of the output asks for it, or on
// stdout.
func (a *app) exportTimeline(ctx context.Context, f *exportFlags, refs []source.Ref) error {
	return a.exportOne(ctx, f, refs, func(ctx context.Context, rd *reading, out io.Writer) error {
		o := perfetto.Options{Causes: f.causes, NoLabels: f.requests.noLabels}
		if f.output != "-" && !strings.HasSuffix(strings.ToLower(f.output), ".gz") {
			return rd.timeline(ctx, out, o)
		}
		return gzipped(out, func(w io.Writer) error { return rd.timeline(ctx, w, o) })
	})
}

// gzipped writes to out, fast rather than well compressed, what write writes; it is
// compressed by a goroutine of its own.
func gzipped(out io.Writer, write func(io.Writer) error) error {
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		gz, err := gzip.NewWriterLevel(out, gzip.BestSpeed)
		if err == nil {
			_, err = io.CopyBuffer(gz, r, make([]byte, 256<<10))
		}
		if err == nil {
			err = gz.Close()
		}
		r.CloseWithError(err) // ends write
		done <- err
	}()
	buffer := bufio.NewWriterSize(w, 256<<10)
	err := write(buffer)
	if err == nil {
		err = buffer.Flush()
	}
	w.CloseWithError(err)
	return cmp.Or(err, <-done)
}

// timeline reads the trace and writes it.
func (rd *reading) timeline(ctx context.Context, out io.Writer, o perfetto.Options) error {
	o.Version = rd.Version
	w, noQueues := perfetto.NewWriter(out, rd.Tables(), o)
	if noQueues != nil {
		rd.app.warn("%s: without steals, lengths of queues and causes: %v", rd.in.Name, noQueues)
	}
	w.ObserveSteps(rd.Machine)
	if err := rd.run(ctx, func() { w.Observe(rd.Machine, rd.Origin) }, w.Event); err != nil {
		return err
	}
	return w.Finish(rd.Machine.Now())
}
