package main

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/internal/source"
)

// TestTimelineStops checks that reading ends soon after nothing can be written any more.
func TestTimelineStops(t *testing.T) {
	a := newApp(strings.NewReader(""), io.Discard, io.Discard)
	path := fixtures.Path("generations.go1.26.p4.trace")
	in, err := a.open(t.Context(), source.Ref{Kind: source.File, Path: path, Name: path}, &readFlags{})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	for _, causes := range []bool{false, true} {
		rd, err := a.newReading(in, (&readFlags{}).ingestOptions())
		if err != nil {
			t.Fatal(err)
		}
		if err := rd.timeline(t.Context(), full{}, causes); !errors.Is(err, errFull) {
			t.Errorf("error %v, want %v", err, errFull)
		}
		if _, err := rd.Next(); err == io.EOF {
			t.Error("the trace was read to its end")
		}
	}
}
