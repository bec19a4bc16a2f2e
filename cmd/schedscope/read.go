package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/schedscope/schedscope/internal/source"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
	"github.com/schedscope/schedscope/report"
)

// readFlags are the flags of all commands that decode traces.
type readFlags struct {
	from, to time.Duration
	clock    string
	workers  int
	seconds  int
	noSave   bool
}

var clocks = []string{"raw", "reader"}

func (f *readFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.DurationVar(&f.from, "from", 0, "look only at what comes after this `TIME` from the start of the trace, such as 1.5s")
	flags.DurationVar(&f.to, "to", 0, "look only at what comes before this `TIME` from the start of the trace (default the end)")
	flags.IntVar(&f.seconds, "seconds", source.DefaultSeconds, "record `N` seconds from an http:// address")
	flags.BoolVar(&f.noSave, "no-save", false, "do not keep the trace fetched from an http:// address (default: saved in the current directory)")
	flags.IntVarP(&f.workers, "jobs", "j", 0, "decode `N` traces, or parts of one, at the same time (default one per processor)")
	flags.StringVar(&f.clock, "clock", "raw", "which `CLOCK` gives times: raw, as recorded, or reader, as golang.org/x/exp/trace and go tool trace shift them")
	complete(cmd, "clock", clocks)
}

func (f *readFlags) check() error {
	if err := f.checkWindow(); err != nil {
		return err
	}
	if err := f.checkRecording(); err != nil {
		return err
	}
	return checkChoice("clock", f.clock, clocks)
}

func (f *readFlags) checkWindow() error {
	switch {
	case f.from < 0 || f.to < 0:
		return usagef("times count from the start of the trace", "--from and --to must not be negative")
	case f.to > 0 && f.to <= f.from:
		return usagef("", "--to %v is not after --from %v", f.to, f.from)
	}
	return nil
}

func (f *readFlags) checkRecording() error {
	switch {
	case f.workers < 0:
		return usagef("", "-j %d: want a positive number, or 0 for one per processor", f.workers)
	case f.seconds < 1:
		return usagef("", "--seconds %d: want at least 1", f.seconds)
	}
	return nil
}

func (f *readFlags) ingestOptions() ingest.Options {
	o := ingest.Options{Workers: f.workers, From: model.Duration(f.from), To: model.Duration(f.to)}
	if f.clock == "reader" {
		o.Clock = ingest.ClockReader
	}
	return o
}

func (f *readFlags) windowed() bool { return f.from > 0 || f.to > 0 }

// expand finds the traces that operands name. It says what it skips.
func (a *app) expand(operands []string) ([]source.Ref, error) {
	if len(operands) == 0 {
		return nil, usagef("give a trace file, a directory, a quoted pattern, - for stdin or http://HOST:PORT", "no trace given")
	}
	refs, skipped, err := source.Expand(operands)
	a.leftOut(skipped)
	return refs, err
}

// leftOut says which files of directories are not read: as a warning if the name is that
// of a trace, which is then damaged, empty or none.
func (a *app) leftOut(list []source.Skipped) {
	for _, s := range list {
		if strings.HasSuffix(s.Path, ".trace") && s.Why != "named twice" {
			a.warn("%s: not read: %s", s.Path, s.Why)
			continue
		}
		a.detail("skipped %s: %s", s.Path, s.Why)
	}
}

// open opens one trace and says where a fetched one went.
func (a *app) open(ctx context.Context, ref source.Ref, f *readFlags) (*source.Input, error) {
	return a.openAs(ctx, ref, f, false)
}

// openAs is open for a trace, or for JSON too.
func (a *app) openAs(ctx context.Context, ref source.Ref, f *readFlags, json bool) (*source.Input, error) {
	o := source.Options{Stdin: a.stdin, JSON: json, HTTP: source.HTTPOptions{Seconds: f.seconds, NoSave: f.noSave, Now: time.Now}}
	if ref.Kind == source.URL {
		a.note("recording %s", ref.Name)
		a.progress.begin()
		o.HTTP.Progress = func(n int64) { a.progress.update("recording", n, 0) }
	}
	if ref.Kind == source.Stdin && isTerminal(a.stdin) {
		return nil, usagef("pipe a trace into it: cat trace.out | schedscope -", "stdin is a terminal")
	}
	in, err := source.Open(ctx, ref, o)
	a.progress.clear()
	if err != nil {
		return nil, err
	}
	if in.Saved != "" {
		a.note("saved %s (%s)", in.Saved, formatSize(in.StoredSize()))
	}
	if in.Interrupted {
		a.warn("%s: recording ended early: %s", in.Name, endedBy(in))
	}
	return in, nil
}

// reading is a trace while it is read: the decoder, the model, and what went
// wrong on the way.
type reading struct {
	app    *app
	in     *source.Input
	reader *ingest.Reader
	m      *model.Machine

	windowed     bool
	fromFirst    bool       // account for what is before the window, too
	origin       model.Time // the trace's start
	start, end   model.Time // of the window
	inconsistent int64      // events that contradict those before
	first        error      // the first of them
	notes        notes
	options      ingest.Options
}

// newReading starts reading an open trace.
func (a *app) newReading(in *source.Input, o ingest.Options) (*reading, error) {
	r, err := newReader(in, o)
	if err != nil {
		return nil, describeEmpty(in, err)
	}
	rd := &reading{app: a, in: in, reader: r, options: o}
	rd.m = model.NewMachine(r.Tables(), model.Config{Version: r.Header().Version})
	rd.start, rd.end, rd.windowed = r.Window()
	if rd.windowed {
		rd.origin = rd.start - model.Time(o.From)
	}
	return rd, nil
}

func newReader(in *source.Input, o ingest.Options) (*ingest.Reader, error) {
	if at, size := in.ReaderAt(); at != nil {
		o.Index, _ = in.Index.(*ingest.Index)
		r, err := ingest.NewReaderAt(at, size, o)
		if err == nil {
			x := r.Index()
			in.Index = &x
		}
		return r, err
	}
	return ingest.NewReader(in, o)
}

// errWindowEmpty says that --from is beyond the trace.
var errWindowEmpty = usagef("schedscope info tells how long the trace is", "no event in the window of --from and --to")

// run feeds all events to the model. begin is called once, before the first
// event of the window, to register observers; each with every event from then
// on, and may be nil.
func (rd *reading) run(ctx context.Context, begin func(*reading), each func(*model.Event)) error {
	defer rd.reader.Close()
	rd.app.progress.begin()
	defer rd.app.progress.clear()
	begun := false
	for {
		events, err := rd.reader.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return describeEmpty(rd.in, err)
		}
		if ctx.Err() != nil {
			return &exitError{code: exitInterrupted, err: context.Cause(ctx)}
		}
		for i := range events {
			ev := &events[i]
			if ev.Kind == model.EventLog {
				rd.notes.event(rd.reader.Tables(), ev)
			}
			if !begun && (!rd.windowed || ev.Time >= rd.start) {
				begun = true
				rd.begin(ev.Time, begin)
			}
			if err := rd.m.Apply(ev); err != nil {
				rd.contradicts(err)
			}
			if begun && each != nil {
				each(ev)
			}
		}
		done, total := rd.in.Progress()
		rd.app.progress.update(rd.in.Name, done, total)
	}
	if !begun {
		return fmt.Errorf("reading %s: %w", rd.in.Name, errWindowEmpty)
	}
	rd.finish()
	return nil
}

// begin starts accounting. Without a window it starts with the first event.
func (rd *reading) begin(first model.Time, begin func(*reading)) {
	switch {
	case !rd.windowed:
		rd.origin = first
	case !rd.fromFirst:
		rd.m.Begin(rd.start)
	}
	begin(rd)
}

// finish ends accounting: where the window ends, if the trace goes on beyond and can be
// read up to there.
func (rd *reading) finish() {
	end := rd.m.Now()
	if gens := rd.reader.Index().Generations; rd.windowed && rd.reader.Loss() == nil && rd.end > end && len(gens) > 0 && gens[len(gens)-1].Last >= rd.end {
		end = rd.end
	}
	rd.m.Finish(end) // its error is that of Check, which result asks for
}

func (rd *reading) contradicts(err error) {
	if rd.inconsistent == 0 {
		rd.first = err
	}
	rd.inconsistent++
}

// trace describes what was read, for reports.
func (rd *reading) trace() report.Trace {
	start := rd.m.Start()
	if rd.windowed {
		start = max(start, rd.start) // what is before is only accounted for
	}
	t := report.Trace{
		Name:         rd.in.Name,
		Version:      rd.reader.Header().Version,
		Bytes:        rd.in.StoredSize(),
		Compression:  rd.in.Compression,
		Generations:  len(rd.reader.Index().Generations),
		Windowed:     rd.windowed,
		Start:        model.Time(start.Sub(rd.origin)),
		Span:         rd.m.Now().Sub(start),
		Inconsistent: rd.inconsistent,
	}
	if rd.first != nil {
		t.FirstInconsistency = rd.first.Error()
	}
	if c, own := rd.notes.capture(rd.origin, rd.traceEnd()); own {
		t.Capture = c
	} else {
		t.Taken = c
	}
	if l := rd.reader.Loss(); l != nil {
		t.Loss = rd.loss(l)
	}
	if rd.in.Interrupted {
		t.EndedEarly = endedBy(rd.in)
	}
	return t
}

// traceEnd returns where the trace ends, as far as that is known of one of which only a
// window was read.
func (rd *reading) traceEnd() model.Time {
	end := rd.m.Now()
	if gens := rd.reader.Index().Generations; len(gens) > 0 {
		end = max(end, gens[len(gens)-1].Last)
	}
	return end
}

// endedBy says what ended the recording of a trace early.
func endedBy(in *source.Input) string {
	if errors.Is(in.Cause, context.Canceled) {
		return "interrupted"
	}
	return in.Cause.Error()
}

// loss describes a loss for reports.
func (rd *reading) loss(l *ingest.Loss) *report.Loss {
	return &report.Loss{Bytes: l.LostBytes, Size: l.Size, Generation: l.Generation, Cause: l.Cause.Error(),
		After: model.Time(l.LastTime.Sub(rd.origin)), Patchy: l.Sound < l.LastTime}
}

// warnAbout says on stderr what reports say in their notes.
func (a *app) warnAbout(t *report.Trace) {
	if t.Loss != nil && t.EndedEarly == "" {
		a.warn("%s: %s", t.Name, t.Loss)
	}
	if t.Inconsistent > 0 {
		a.warn("%s: %s contradict what was before, the first: %s", t.Name, countOf(t.Inconsistent, "event"), t.FirstInconsistency)
	}
}

// skip says why one of several traces is left out.
func (a *app) skip(err error) {
	a.warn("%v; skipped", err)
	if hint := hintOf(err); hint != "" {
		a.hint("%s", hint)
	}
}

// errNoneRead says that all of n traces were skipped.
func errNoneRead(n int) error { return fmt.Errorf("none of the %d traces could be read", n) }

// formatName returns the name of the format of Go 1.version.
func formatName(version int) string { return fmt.Sprintf("go 1.%d", version) }

// describeEmpty puts the trace's name before an error of reading it, unless it
// is there already.
func describeEmpty(in *source.Input, err error) error {
	var described *source.Error
	var exit *exitError
	if errors.As(err, &described) || errors.As(err, &exit) || errors.Is(err, errWindowEmpty) {
		return err
	}
	hint := ""
	var empty *ingest.EmptyError
	if errors.As(err, &empty) && empty.Version > 0 {
		hint = "the file is damaged or cut off before its first complete part: record it anew, and stop tracing before you copy it"
	}
	if in.Interrupted {
		hint = "record for longer: a trace can be read in parts of about a second, each only when it is complete"
	}
	return &source.Error{Doing: "reading " + in.Name, Err: err, Hint: hint}
}
