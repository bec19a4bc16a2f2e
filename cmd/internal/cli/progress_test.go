package cli

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/internal/source"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
)

func TestProgress(t *testing.T) {
	var b bytes.Buffer
	p := progressLine{w: &b, on: true}
	p.begin()
	p.update("trace.out", 1, 10)
	if b.Len() != 0 {
		t.Errorf("wrote %q at once, want nothing for short work", b.String())
	}
	p.begun = time.Now().Add(-4 * time.Second)
	p.update("trace.out", 25e6, 100e6)
	if want := "\rtrace.out: 25.0 MB of 100 MB, 25%\x1b[K"; b.String() != want {
		t.Errorf("wrote %q, want %q", b.String(), want)
	}
	b.Reset()
	p.bytes("trace.out", 25e6, 100e6, true)
	if want := "\rtrace.out: 25.0 MB of 100 MB, 25%, 12s left\x1b[K"; b.String() != want {
		t.Errorf("wrote %q, want %q", b.String(), want)
	}
	p.update("trace.out", 26e6, 100e6)
	if n := strings.Count(b.String(), "\r"); n != 1 {
		t.Errorf("wrote %d lines within a tenth of a second, want 1", n)
	}
	p.clear()
	p.clear()
	if !strings.HasSuffix(b.String(), "\r\x1b[K") || strings.Count(b.String(), "\r") != 2 {
		t.Errorf("wrote %q, want the line cleared once", b.String())
	}
}

// TestProgressWork checks that what is done is what the model has come to, and not what was
// read ahead of it, and that nothing is said of the time left before two generations are done.
func TestProgressWork(t *testing.T) {
	for _, name := range []string{"generations.go1.26.p4.trace", "http.trace"} {
		a := newApp(nil, nil, io.Discard)
		in, err := a.open(t.Context(), source.Ref{Kind: source.File, Path: fixtures.Path(name), Name: name}, new(readFlags))
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		rd, err := a.newReading(in, ingest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		before := int64(0)
		err = rd.run(t.Context(), nil, func(ev *model.Event) {
			done, total, steady := rd.work()
			gens := rd.Index().Generations
			if want := len(gens) > 1 && ev.Time >= gens[1].Last; steady != want || done < before || done > total {
				t.Fatalf("%s: at %d, %d of %d are done after %d, steady %v", name, ev.Time, done, total, before, steady)
			}
			if len(gens) > 1 && ev.Time < gens[1].First && done > gens[1].Offset {
				t.Fatalf("%s: in the first generation, of %d bytes, %d are done", name, gens[1].Offset, done)
			}
			before = done
		})
		if err != nil || before == 0 {
			t.Errorf("%s: %v, %d bytes done", name, err, before)
		}
	}
}

func TestProgressOnlyOnTerminals(t *testing.T) {
	var b bytes.Buffer
	a := newApp(nil, nil, &b)
	a.progress.begun = time.Now().Add(-time.Hour)
	a.progress.update("trace.out", 1, 2)
	a.progress.clear()
	if b.Len() != 0 {
		t.Errorf("wrote %q to what is not a terminal", b.String())
	}
}
