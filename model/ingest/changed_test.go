package ingest

import (
	"bytes"
	"slices"
	"testing"

	"github.com/schedscope/schedscope/model/ingest/wire"
)

// TestShortened: what a file loses after its index is made is a loss, wherever the
// file then ends, and what comes before is delivered.
func TestShortened(t *testing.T) {
	data := fixture(t, "generations.go1.26.p4.trace")
	full := openBytes(t, data, Options{})
	whole := drainReader(full)
	x := full.Index()
	var sizes []int64
	for _, g := range x.Generations {
		sizes = append(sizes, g.Offset, g.Offset+1, g.Offset+g.Length/2, g.Offset+g.Length-1)
	}
	for _, size := range sizes {
		want := x.Generations[slices.IndexFunc(x.Generations, func(g Generation) bool { return g.Offset+g.Length > size })]
		for _, o := range []Options{{Index: &x}, {Index: &x, From: 1500e6}, {Index: &x, To: 3100e6}} {
			r, err := NewReaderAt(bytes.NewReader(data[:size]), int64(len(data)), o)
			if err != nil {
				t.Fatal(err)
			}
			got := drainReader(r)
			loss := r.Loss()
			if loss == nil || loss.Cause != ErrChanged || loss.Delivered != 0 || loss.Generation != want.Number || loss.Size != x.Size || loss.LostBytes != x.Size-loss.Offset {
				t.Errorf("%d bytes, from %d to %d: loss %+v, want generation %d", size, o.From, o.To, loss, want.Number)
				continue
			}
			if empty := want.Number == 1; empty != (got.err != "<nil>") {
				t.Errorf("%d bytes, from %d to %d: error %s", size, o.From, o.To, got.err)
			} else if n := len(got.events) - 1; !empty && o.From == 0 && !slices.Equal(got.events[:n], whole.events[:n]) {
				t.Errorf("%d bytes: the events before the loss differ", size)
			}
		}
	}
}

// TestShortenedMeanwhile: a file that ends before the size it had leaves nothing of
// what was read before in the index.
func TestShortenedMeanwhile(t *testing.T) {
	data := fixture(t, "generations.go1.26.p4.trace")
	x := openBytes(t, data, Options{}).Index()
	for _, g := range x.Generations[1:] {
		for _, size := range []int64{g.Offset, g.Offset + 5, g.Offset + g.Length/2} {
			got, err := NewIndex(bytes.NewReader(data[:size]), x.Size)
			if err != nil || got.Damage == nil || got.Damage.Cause != ErrChanged || got.Size != x.Size ||
				slices.ContainsFunc(got.Generations, func(g Generation) bool { return g.Complete && g.Offset+g.Length > size }) {
				t.Errorf("%d bytes: index %+v, %v", size, got, err)
			}
		}
	}
}

// TestShortenedV1 is TestShortened for a format that has no index: where the file ends
// between two events, what is left of it is valid.
func TestShortenedV1(t *testing.T) {
	data := fixture(t, "foreign/fgprof.go1.21.trace")
	rest := data[headerLen:]
	for i := 0; len(rest) > 0; i++ {
		if i%200 == 0 {
			n := len(data) - len(rest)
			r, err := NewReaderAt(bytes.NewReader(data[:n]), int64(len(data)), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := drainReader(r); r.Loss() == nil {
				t.Errorf("%d bytes: no loss, %d events", n, len(got.events))
			}
		}
		_, _, rest, _ = nextV1(rest, nil)
	}
}

// TestOverwritten: of a file that is written over after its index is made, nothing new
// is delivered.
func TestOverwritten(t *testing.T) {
	data, other := fixture(t, "generations.go1.26.p4.trace"), fixture(t, "http.trace")
	x := openBytes(t, data, Options{}).Index()
	before := data[:x.Generations[2].Offset:x.Generations[2].Offset]
	for name, tt := range map[string]struct {
		data []byte
		lost uint64
	}{
		"another trace":       {other, 1},
		"another later trace": {append(before, other[headerLen:]...), 3},
		"zeros":               {append(before, make([]byte, len(data))...), 3},
	} {
		r, err := NewReaderAt(bytes.NewReader(tt.data), x.Size, Options{Index: &x})
		if err != nil {
			t.Fatal(err)
		}
		drainReader(r)
		if l := r.Loss(); l == nil || l.Cause != ErrChanged || l.Generation != tt.lost || l.Delivered != 0 {
			t.Errorf("%s: loss %+v, want generation %d", name, l, tt.lost)
		}
	}
}

// TestGrowing: a trace to which more is written is read up to where it ended, and the
// loss of its last generation says why; if it ended with one, only that.
func TestGrowing(t *testing.T) {
	for _, name := range []string{"generations.go1.26.p4.trace", "mixed.go1.25.p2.trace"} {
		data := fixture(t, name)
		x := openBytes(t, data, Options{}).Index()
		last := x.Generations[len(x.Generations)-1]
		var ends []int64 // of batches, where the runtime's writes end
		for at := last.Offset; at < x.Size-1; {
			h, err := wire.ParseHeader(data[at:], x.Version)
			if err != nil {
				t.Fatal(err)
			}
			at += int64(h.Length + h.Size)
			ends = append(ends, at)
		}
		for _, size := range ends[1 : len(ends)-1] {
			r, err := NewReaderAt(bytes.NewReader(data), size, Options{})
			if err != nil {
				t.Fatal(err)
			}
			drainReader(r)
			if l := r.Loss(); l == nil || l.Cause != errGrowing || l.Size != size {
				t.Errorf("%s, %d bytes: loss %v", name, size, l)
			}
		}
		if len(x.Generations) == 1 {
			continue
		}
		r, err := NewReaderAt(bytes.NewReader(data), last.Offset, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if drainReader(r); r.Loss() == nil || r.Loss().Cause != errGrown || r.Loss().LostBytes != 0 {
			t.Errorf("%s, up to the last generation: loss %v", name, r.Loss())
		}
	}
}
