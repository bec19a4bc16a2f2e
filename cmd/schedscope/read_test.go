package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/internal/source"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
)

// copyOf copies a fixture to a file that a test may change.
func copyOf(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(fixtures.Path(name))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestTruncatedWhileRead: a trace that is truncated between two of its generations while
// it is read is described as one that has lost the others, with a window too.
func TestTruncatedWhileRead(t *testing.T) {
	const fixture = "generations.go1.26.p4.trace"
	for _, o := range []ingest.Options{{}, {From: 5e8, To: 31e8}} {
		path := copyOf(t, fixture)
		a := newApp(strings.NewReader(""), io.Discard, io.Discard)
		in, err := a.open(t.Context(), source.Ref{Name: fixture, Path: path}, &readFlags{})
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		o.Workers, o.MaxInFlight = 1, 1 // two generations are read before they are asked for
		rd, err := a.newReading(in, o)
		if err != nil {
			t.Fatal(err)
		}
		gens := rd.reader.Index().Generations
		if err := os.Truncate(path, gens[3].Offset); err != nil {
			t.Fatal(err)
		}
		if err := rd.run(t.Context(), func(*reading) {}, nil); err != nil {
			t.Fatal(err)
		}
		l := rd.trace().Loss
		if l == nil || l.Cause != ingest.ErrChanged.Error() || l.Generation != 4 || l.Bytes != gens[3].Length {
			t.Fatalf("from %d to %d: loss %+v, want that of generation 4", o.From, o.To, l)
		}
		if end := rd.m.Now(); end > gens[3].First+1e6 {
			t.Errorf("from %d to %d: accounted up to %d, and generation 4 begins at %d", o.From, o.To, end, gens[3].First)
		}
	}
}

// TestViewOfChangedTrace: a part of a trace that was overwritten after the page was made
// is refused.
func TestViewOfChangedTrace(t *testing.T) {
	path := copyOf(t, "generations.go1.26.p4.trace")
	s, _ := newViewServer(t, path)
	data, err := os.ReadFile(fixtures.Path("mixed.go1.26.p2.trace"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, from := range []model.Duration{1, 15e8} {
		if _, err := s.window(t.Context(), from, from+1e6); !errors.Is(err, ingest.ErrChanged) {
			t.Errorf("from %d: error %v, want %v", from, err, ingest.ErrChanged)
		}
	}
}
