// Package session reads traces: it is the only loop that applies events to a
// [model.Machine]. This package promises nothing to other modules.
//
//  1. Open: a [Trace] is a stream, which can be read once, or a file, of which any number
//     of readings can be made. The index of its first reading serves the others.
//  2. Window: [Reading.Run] applies events from before the window, so that all states are
//     known where it starts, and begins accounting there.
//  3. Loop: each event is seen by Before, applied, and seen by Event. Events that
//     contradict those before are counted; the trace is read on.
//  4. End: accounting ends where the window does if the trace goes on beyond it, else
//     with the last event. [Reading.Loss] describes what could not be read.
//  5. Again: where the break of a damaged trace leaves a thread behind, events of that
//     thread are missing from there on, while those of others go on. That is known only
//     at the end, so [Sound] then reads the trace again, up to there.
package session

import (
	"context"
	"errors"
	"io"

	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
)

// ErrNoEvent is returned for a reading without an event in its window.
var ErrNoEvent = errors.New("no event in the window")

// Trace is an open trace.
type Trace struct {
	// Regular means that a stream is that of a regular file: [Reading.Close] waits for reads of it.
	Regular bool

	stream io.Reader
	at     io.ReaderAt // nil: there is only the stream
	size   int64
	index  *ingest.Index
}

// Stream returns a trace that can be read once.
func Stream(r io.Reader) *Trace { return &Trace{stream: r} }

// File returns a trace of size bytes.
func File(at io.ReaderAt, size int64) *Trace { return &Trace{at: at, size: size} }

// Reading is a trace while it is read.
type Reading struct {
	*ingest.Reader
	Machine *model.Machine
	// Version n means that the trace has the format of Go 1.n.
	Version int

	// Past makes accounting begin with the first event, although that is before the
	// window.
	Past bool
	// KnownEnd is a time up to which the trace is known to go on, if it is later than
	// the last batch of the index.
	KnownEnd model.Time
	// Before sees each event before it is applied, also those before the window, and Log each
	// user message.
	Before, Log func(*model.Event)
	// Over, which Before may set, means that the Machine has finished, or is not wanted: the
	// other events are read, and not applied.
	Over bool
	// Progress is called now and then.
	Progress func()

	// Asked is whether a window was asked for, Windowed whether one is read: the two
	// differ in the second reading of a damaged trace.
	Asked, Windowed bool
	// Origin is the start of the trace, without a window the time of the first event.
	Origin     model.Time
	Start, End model.Time // of the window

	// Contradictions is the number of events that contradict those before, First
	// describes the first of them.
	Contradictions int64
	First          error

	loss *Loss // what is to be reported instead of the reader's
}

// Open returns a reader of the events without a Machine.
func (t *Trace) Open(o ingest.Options) (*ingest.Reader, error) {
	if o.Regular = t.Regular; t.at == nil {
		return ingest.NewReader(t.stream, o)
	}
	o.Index = t.index
	r, err := ingest.NewReaderAt(t.at, t.size, o)
	if err == nil && t.index == nil {
		x := r.Index()
		t.index = &x
	}
	return r, err
}

// Read returns a reading of the trace, which must be closed.
func (t *Trace) Read(o ingest.Options) (*Reading, error) {
	r, err := t.Open(o)
	if err != nil {
		return nil, err
	}
	rd := &Reading{Reader: r, Version: r.Header().Version}
	rd.Machine = model.NewMachine(r.Tables(), model.Config{Version: rd.Version})
	rd.Start, rd.End, rd.Windowed = r.Window()
	if rd.Asked = rd.Windowed; rd.Windowed {
		rd.Origin = rd.Start - model.Time(o.From)
	}
	return rd, nil
}

// Run reads the trace to its end. Begin is called once, before the first
// event of the window is applied: it is the place to register observers. Event sees that
// event and all after it, each when it is applied. Both may be nil.
//
// Contradictions in the trace are no error, see First; whether all times add up is for
// the Machine to say ([model.Machine.Check]).
//
// When ctx ends, so does Run, with its cause, wherever it waits: for the decoder, for a stream
// or for what follows the Machine on other goroutines.
func (rd *Reading) Run(ctx context.Context, begin func(), event func(*model.Event)) (err error) {
	notStopped := context.AfterFunc(ctx, func() {
		rd.Machine.Stop()
		rd.Reader.Stop()
	})
	defer func() {
		if notStopped(); ctx.Err() != nil { // also if that comes before the call above
			err = context.Cause(ctx)
		}
		if err != nil {
			rd.Close()
		}
	}()
	begun := false
	for ctx.Err() == nil {
		events, err := rd.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if !begun {
			early := 0
			for rd.Windowed && early < len(events) && events[early].Time < rd.Start {
				early++
			}
			rd.apply(events[:early], nil)
			if events = events[early:]; len(events) > 0 {
				begun = true
				switch {
				case !rd.Windowed:
					rd.Origin = events[0].Time
				case !rd.Past:
					rd.Machine.Begin(rd.Start)
				}
				if begin != nil {
					begin()
				}
			}
		}
		rd.apply(events, event)
		if rd.Progress != nil {
			rd.Progress()
		}
	}
	if !begun {
		return ErrNoEvent
	}
	if rd.Over {
		return nil
	}
	end := rd.Machine.Now()
	if rd.Windowed && rd.Reader.Loss() == nil && rd.End > end && max(rd.KnownEnd, rd.lastBatch()) >= rd.End {
		end = rd.End
	}
	rd.Machine.Finish(end) // its error is that of Check
	return nil
}

// apply applies events, each of which event sees, too, if it is not nil.
func (rd *Reading) apply(events []model.Event, event func(*model.Event)) {
	m, before := rd.Machine, rd.Before
	for i := range events {
		ev := &events[i]
		if before != nil {
			if before(ev); rd.Over {
				continue
			}
		}
		if ev.Kind == model.EventLog && rd.Log != nil {
			rd.Log(ev)
		}
		if err := m.Apply(ev); err != nil {
			if rd.Contradictions == 0 {
				rd.First = err
			}
			rd.Contradictions++
		}
		if event != nil {
			event(ev)
		}
	}
}

// Close ends the reading and waits for all that it started: goroutines that decode, and those that
// follow the Machine; not for a read from a stream, unless that is Regular. What those were to find is void unless
// they were finished before. The error is always nil.
func (rd *Reading) Close() error {
	rd.Machine.Stop()
	rd.Machine.Wait()
	return rd.Reader.Close()
}

// TraceEnd returns where the trace ends, which may be up to one batch late if only a
// window was read.
func (rd *Reading) TraceEnd() model.Time { return max(rd.Machine.Now(), rd.lastBatch()) }

// lastBatch returns when the last batch begins, 0 if that is not known.
func (rd *Reading) lastBatch() model.Time {
	gens := rd.Index().Generations
	if len(gens) == 0 {
		return 0
	}
	return gens[len(gens)-1].Last
}

// Loss describes the part of a trace that could not be read.
type Loss struct {
	*ingest.Loss
	// After is up to when the trace was used, counted from its start.
	After model.Duration
	// Patchy is whether events are missing before After, too.
	Patchy bool
}

// Loss returns the part that could not be read, nil if there is none.
func (rd *Reading) Loss() *Loss {
	l := rd.Reader.Loss()
	if rd.loss != nil || l == nil {
		return rd.loss
	}
	return &Loss{Loss: l, After: l.LastTime.Sub(rd.Origin), Patchy: l.Sound < l.LastTime}
}

// Sound opens a reading of the trace and calls read, which runs it and returns its result. If
// the file is damaged, Sound reads it again up to the first gap and returns the second result,
// or the first if the second reading fails.
func Sound[T any](t *Trace, o ingest.Options, read func(*Reading) (T, error)) (T, *Reading, error) {
	result, rd, err := once(t, o, read)
	if err != nil || t.at == nil || rd.Loss() == nil || !rd.Loss().Patchy {
		return result, rd, err
	}
	loss := *rd.Loss()
	loss.After, loss.Patchy = loss.Sound.Sub(rd.Origin), false
	if o.To = loss.After; o.To <= o.From {
		return result, rd, nil
	}
	sound, again, err := once(t, o, read)
	if err != nil {
		return result, rd, nil
	}
	again.Asked, again.loss = rd.Asked, &loss
	return sound, again, nil
}

// once makes one reading.
func once[T any](t *Trace, o ingest.Options, read func(*Reading) (T, error)) (T, *Reading, error) {
	rd, err := t.Read(o)
	if err != nil {
		var none T
		return none, nil, err
	}
	defer rd.Close() // should read not run it
	result, err := read(rd)
	return result, rd, err
}
