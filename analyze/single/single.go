// Package single analyses one trace: trace in, report out. [Trace] is all that most programs
// need, and all that this package promises; the other functions are its steps, for those that look at
// the events, too. Reports of several traces become one by [result.Merge].
package single

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/analyze/findings"
	"github.com/schedscope/schedscope/analyze/requests"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/source"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
	"github.com/schedscope/schedscope/model/session"
)

// Kinds of errors of [Trace]. Others are those of the reader, the cause of the context's end, and
// [session.ErrNoEvent] for a window beyond the trace.
var (
	// ErrNoTrace: the data is not a trace, is of a version that cannot be read, or cannot be unpacked.
	ErrNoTrace = errors.New("not a trace")
	// ErrDamaged: it is a trace of which nothing can be read. A trace that can be read in part
	// has a report, with a [result.Loss].
	ErrDamaged = errors.New("damaged trace")
	// ErrTooLarge: there is more data than Options.MaxBytes.
	ErrTooLarge = source.ErrTooLarge
)

// Options configures [Trace]. The zero value is valid.
type Options struct {
	// From and To, if not 0, are the window to be analysed, in nanoseconds from the start of the
	// trace.
	From, To model.Duration
	// Workers is how many parts of the trace are decoded at the same time; 0: as many as Go may
	// use processors. Reports do not depend on it.
	Workers int
	// MaxBytes, if not 0, is the most bytes that a trace may have, stored or unpacked.
	MaxBytes int64
	// Worst is how many of the longest waits the report has in full; 0: 10.
	Worst int
	// Requests are those to look for, all kinds if there are none. Slow, if not 0, takes all that
	// last as long, in nanoseconds, for the slowest.
	Requests []requests.Spec
	Slow     model.Duration
	// Objectives are limits for requests, which the verdict is about.
	Objectives []result.Objective
}

// Follower follows a trace while it is analysed, on the same goroutine.
type Follower interface {
	Begin()             // where the window begins
	Event(*model.Event) // each from there on, after the analyses
	End() error         // all is read; the error is that of [Follow]
}

// Trace analyses the trace that r holds, which may be packed by gzip or zstd. The report calls it
// by the name, and so do errors. An *os.File, or a reader with ReadAt and Size such as
// [bytes.Reader], must be at its start: it is read by position, in parallel, and again where it
// is damaged. Other readers are read once. The caller closes r after Trace has returned; only a
// read of a reader that has not returned by the time ctx ends may still use it.
func Trace(ctx context.Context, name string, r io.Reader, o Options) (*result.Report, error) {
	return Follow(ctx, name, r, o, nil)
}

// Follow is Trace with something else that follows the trace, unless follow is nil. It is called before
// the first event, and again if a damaged trace is read again. Its error is that of Follow.
func Follow(ctx context.Context, name string, r io.Reader, o Options, follow func(*Reading) (Follower, error)) (*result.Report, error) {
	v, err := read(ctx, name, r, &o, follow)
	if err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return v, kindOf(err)
}

func read(ctx context.Context, name string, r io.Reader, o *Options, follow func(*Reading) (Follower, error)) (*result.Report, error) {
	src, err := source.Open(ctx, source.Ref{Kind: source.Stdin, Name: name}, source.Options{Stdin: r, MaxBytes: o.MaxBytes})
	if err != nil {
		return nil, err
	}
	defer src.Close()
	in := New(src)
	tooLarge := fmt.Errorf("%w: more than %s", ErrTooLarge, textui.Bytes(o.MaxBytes))
	if o.MaxBytes > 0 && in.StoredSize() > o.MaxBytes {
		return nil, in.Explain(tooLarge)
	}
	v, rd, err := Read(in, ingest.Options{Workers: o.Workers, From: o.From, To: o.To}, func(rd *Reading) (*result.Report, error) {
		options := analyze.Options{Worst: o.Worst, Requests: o.Requests, Slow: o.Slow}
		if follow == nil {
			return rd.Report(ctx, options, nil, rd.Run)
		}
		f, err := follow(rd)
		if err != nil {
			return nil, err
		}
		v, err := rd.Report(ctx, options, f.Begin, func(ctx context.Context, begin func(), each func(*model.Event)) error {
			return rd.Run(ctx, begin, func(ev *model.Event) {
				each(ev)
				f.Event(ev)
			})
		})
		if err == nil {
			err = f.End()
		}
		return v, err
	})
	if src.TooLarge() {
		err = tooLarge
	}
	if err != nil {
		return nil, in.Explain(err)
	}
	rd.Complete(ctx, v, o.Objectives...)
	return v, ctx.Err()
}

// kindError is an error with its kind.
type kindError struct{ kind, err error }

func (e *kindError) Error() string   { return e.err.Error() }
func (e *kindError) Unwrap() []error { return []error{e.kind, e.err} }

// kindOf adds to an error the kind that it is of.
func kindOf(err error) error {
	switch {
	case errors.Is(err, ErrTooLarge):
	case errors.As(err, new(*ingest.EmptyError)): // perhaps of what cannot be unpacked further on
		return &kindError{ErrDamaged, err}
	case errors.As(err, new(*source.Guess)), errors.As(err, new(*source.PackedError)):
		return &kindError{ErrNoTrace, err}
	}
	return err
}

// Input is an open trace.
type Input struct {
	*source.Input
	Trace *session.Trace
}

// New returns what reads the trace of in.
func New(in *source.Input) *Input {
	if at, size := in.ReaderAt(); at != nil {
		return &Input{in, session.File(at, size)}
	}
	t := session.Stream(in)
	t.Regular = in.Regular()
	return &Input{in, t}
}

// Explain adds the trace's name to a read error, unless the error contains it.
func (in *Input) Explain(err error) error {
	if errors.As(err, new(*source.Error)) {
		return err
	}
	hint := ""
	if empty, ok := errors.AsType[*ingest.EmptyError](err); ok && empty.Version > 0 {
		hint = "the file is damaged or cut off before its first complete part: record it again, and stop tracing before you copy it"
	}
	if in.Interrupted {
		hint = "record for longer: a trace can be read in parts of about a second, each only when it is complete"
	}
	return &source.Error{Doing: "reading " + in.Name, Err: err, Hint: hint}
}

// Reading is a trace while it is read, with what its description needs.
type Reading struct {
	*session.Reading
	in      *Input
	notes   notes
	options ingest.Options
}

// Begin starts a reading, which must be closed.
func (in *Input) Begin(o ingest.Options) (*Reading, error) {
	s, err := in.Trace.Read(o)
	if err != nil {
		return nil, err
	}
	return in.describe(s, o), nil
}

func (in *Input) describe(s *session.Reading, o ingest.Options) *Reading {
	rd := &Reading{Reading: s, in: in, options: o}
	s.Log = func(ev *model.Event) { rd.notes.event(s.Tables(), ev) }
	return rd
}

// Read reads a trace with do, which runs the reading and returns what it makes of it; of a damaged
// trace do may be called again, see [session.Sound].
func Read[T any](in *Input, o ingest.Options, do func(*Reading) (T, error)) (T, *Reading, error) {
	type made struct {
		value T
		rd    *Reading
	}
	m, _, err := session.Sound(in.Trace, o, func(s *session.Reading) (made, error) {
		rd := in.describe(s, o)
		value, err := do(rd)
		return made{value, rd}, err
	})
	return m.value, m.rd, err
}

// Report runs the reading, by run, and returns what the analyses found, which is void if the
// context has ended. Begin, if not nil, is called where the window begins. Complete adds the
// description.
func (rd *Reading) Report(ctx context.Context, o analyze.Options, begin func(), run func(ctx context.Context, begin func(), each func(*model.Event)) error) (*result.Report, error) {
	o.Version = rd.Version
	r := analyze.New(rd.Tables(), o)
	r.ObserveSteps(rd.Machine)
	err := run(ctx, func() {
		r.Begin(rd.Origin)
		r.Observe(rd.Machine)
		if begin != nil {
			begin()
		}
	}, r.Event)
	if err != nil {
		return nil, err
	}
	r.Finish(rd.Machine.Start(), rd.Machine.Now())
	var t result.Trace
	if err := rd.Machine.Check(); err != nil {
		t.Violation = err.Error()
	}
	v := r.Result()
	v.Traces = []result.Trace{t}
	return v, nil
}

// Complete describes in a report of Report the trace that was read, and sets the verdict.
func (rd *Reading) Complete(ctx context.Context, v *result.Report, objectives ...result.Objective) {
	t := rd.Describe()
	t.Violation, t.Machine = v.Traces[0].Violation, v.Traces[0].Machine
	rd.describeRequest(ctx, t.Captured)
	v.Traces[0] = t
	findings.Judge(v, objectives...)
}

// Describe returns a description of the trace as read.
func (rd *Reading) Describe() result.Trace {
	start := rd.Machine.Start()
	if rd.Windowed {
		start = max(start, rd.Start) // what is before is only accounted for
	}
	t := result.Trace{
		Name:         cmp.Or(rd.in.Saved, rd.in.Name), // what is fetched cannot be read again by its address
		Format:       FormatName(rd.Version),
		Bytes:        rd.in.StoredSize(),
		Compression:  rd.in.Compression,
		Generations:  len(rd.Index().Generations),
		Windowed:     rd.Asked,
		Start:        model.Time(start.Sub(rd.Origin)),
		Span:         rd.Machine.Now().Sub(start),
		Inconsistent: rd.Contradictions,
	}
	if rd.First != nil {
		t.FirstInconsistency = rd.First.Error()
	}
	if c, own := rd.notes.capture(rd.Origin, rd.TraceEnd()); own {
		t.Captured = c
	} else {
		t.Taken = c
	}
	if l := rd.Loss(); l != nil {
		t.Loss = &result.Loss{Bytes: l.LostBytes, Size: l.Size, Generation: l.Generation, Cause: l.Cause.Error(),
			After: model.Time(l.After), Patchy: l.Patchy}
	}
	size, written := rd.in.Changed()
	if size && t.Loss == nil { // a compressed file shows a change by its size alone
		t.Loss = &result.Loss{Size: rd.in.StoredSize(), Cause: "the file changed its size while it was read", After: model.Time(rd.Machine.Now().Sub(rd.Origin))}
	}
	t.Written = written && t.Loss == nil
	if rd.in.Interrupted {
		t.EndedEarly = rd.in.EndedBy()
	}
	t.Complete = t.Loss == nil && t.EndedEarly == ""
	return t
}

// FormatName returns the name of the format of Go 1.version.
func FormatName(version int) string { return fmt.Sprintf("go 1.%d", version) }
