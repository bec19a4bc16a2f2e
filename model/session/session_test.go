package session

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
)

func stored(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(fixtures.Path(name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func file(data []byte) *Trace { return File(bytes.NewReader(data), int64(len(data))) }

// counter counts events and the intervals of goroutines.
type counter struct {
	before, events int
	first          model.Time
	spans          int
}

func (c *counter) GoSpan(*model.GoSpan) { c.spans++ }

func (c *counter) run(t *testing.T, rd *Reading) error {
	t.Helper()
	rd.Before = func(*model.Event) { c.before++ }
	return rd.Run(t.Context(), func() { rd.Machine.Observe(c) }, func(ev *model.Event) {
		if c.events++; c.events == 1 {
			c.first = ev.Time
		}
	})
}

// TestWindow checks that accounting is of the window alone, that events before it are
// applied, and that a stream and a file yield the same.
func TestWindow(t *testing.T) {
	data := stored(t, "generations.go1.26.p4.trace")
	var all [2]counter
	for i, trace := range []*Trace{file(data), Stream(bytes.NewReader(data))} {
		rd, err := trace.Read(ingest.Options{From: 15e8, To: 25e8})
		if err != nil {
			t.Fatal(err)
		}
		c := &all[i]
		if err := c.run(t, rd); err != nil {
			t.Fatal(err)
		}
		if rd.Start != rd.Origin+15e8 || rd.Machine.Start() != rd.Start || rd.Machine.Now() != rd.Origin+25e8 {
			t.Errorf("the trace starts at %d: accounted from %d to %d", rd.Origin, rd.Machine.Start(), rd.Machine.Now())
		}
		if c.first < rd.Start || c.before <= c.events || c.spans == 0 || rd.Contradictions > 0 || rd.Machine.Check() != nil {
			t.Errorf("%+v, %d contradictions, %v", c, rd.Contradictions, rd.Machine.Check())
		}
		if rd.TraceEnd() <= rd.End {
			t.Errorf("the trace ends at %d, the window at %d", rd.TraceEnd(), rd.End)
		}
	}
	if all[0] != all[1] {
		t.Errorf("a file yields %+v, a stream %+v", all[0], all[1])
	}
	rd, err := file(data).Read(ingest.Options{From: 15e8, To: 25e8})
	if err != nil {
		t.Fatal(err)
	}
	rd.Past = true
	if err := new(counter).run(t, rd); err != nil || rd.Machine.Start() >= rd.Start {
		t.Errorf("with its past: %v, accounted from %d, the window begins at %d", err, rd.Machine.Start(), rd.Start)
	}
	rd, err = file(data).Read(ingest.Options{From: 3600e9})
	if err != nil {
		t.Fatal(err)
	}
	if err := new(counter).run(t, rd); !errors.Is(err, ErrNoEvent) {
		t.Errorf("beyond the end: %v", err)
	}
}

// TestSound checks that of a damaged file all is read up to where nothing is missing.
func TestSound(t *testing.T) {
	data := stored(t, "broken/lost-batch.trace")
	read := func(rd *Reading) (model.Time, error) {
		err := rd.Run(t.Context(), nil, nil)
		return rd.Machine.Now(), err
	}
	_, first, err := Sound(Stream(bytes.NewReader(data)), ingest.Options{}, read)
	if err != nil || !first.Loss().Patchy {
		t.Fatalf("%v, loss %+v", err, first.Loss())
	}
	end, rd, err := Sound(file(data), ingest.Options{}, read)
	if err != nil {
		t.Fatal(err)
	}
	l := rd.Loss()
	if l.Patchy || end > l.Sound || rd.Asked || !rd.Windowed || l.LostBytes != first.Loss().LostBytes {
		t.Errorf("read up to %d, loss %+v", end, l)
	}
	if l.After >= first.Loss().After || l.After != l.Sound.Sub(first.Origin) {
		t.Errorf("used up to %d, and as a stream up to %d", l.After, first.Loss().After)
	}
	if _, whole, err := Sound(file(stored(t, "http.trace")), ingest.Options{}, read); err != nil || whole.Loss() != nil || whole.Windowed {
		t.Errorf("a whole trace: %v, loss %v, windowed %v", err, whole.Loss(), whole.Windowed)
	}
}

// TestTruncatedWhileRead checks that a trace that is truncated between two of its
// generations while it is read has lost the others, with a window too.
func TestTruncatedWhileRead(t *testing.T) {
	data := stored(t, "generations.go1.26.p4.trace")
	for _, o := range []ingest.Options{{}, {From: 5e8, To: 31e8}} {
		path := filepath.Join(t.TempDir(), "trace")
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		o.Workers, o.MaxInFlight = 1, 1 // two generations are read before they are asked for
		rd, err := File(f, int64(len(data))).Read(o)
		if err != nil {
			t.Fatal(err)
		}
		gens := rd.Index().Generations
		if err := os.Truncate(path, gens[3].Offset); err != nil {
			t.Fatal(err)
		}
		if err := rd.Run(t.Context(), nil, nil); err != nil {
			t.Fatal(err)
		}
		l := rd.Loss()
		if l == nil || l.Cause != ingest.ErrChanged || l.Loss.Generation != 4 || l.LostBytes != gens[3].Length {
			t.Fatalf("from %d to %d: loss %+v, want that of generation 4", o.From, o.To, l)
		}
		if end := rd.Machine.Now(); end > gens[3].First+1e6 {
			t.Errorf("from %d to %d: accounted up to %d, and generation 4 begins at %d", o.From, o.To, end, gens[3].First)
		}
	}
}

// TestInterrupted checks that the error is the context's.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	cancel(enough)
	rd, err := file(stored(t, "http.trace")).Read(ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := rd.Run(ctx, nil, nil); err != enough {
		t.Errorf("error %v", err)
	}
}

// unannounced is a context that ends after some calls of Err, before anybody hears of it.
type unannounced struct {
	context.Context
	left int
}

func (c *unannounced) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestInterruptedUnannounced: a part is never taken for all, although the context ends before its
// functions are called.
func TestInterruptedUnannounced(t *testing.T) {
	rd, err := file(stored(t, "http.trace")).Read(ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := rd.Run(&unannounced{context.Background(), 1}, nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
