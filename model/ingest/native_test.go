package ingest

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest/wire"
)

var compareTraces = flag.String("compare_traces", "", "a pattern of trace files to compare decoders on, beside the fixtures")

// decoded is all that a decoder makes of a generation.
type decoded struct {
	events  []model.Event
	strings []string
	stacks  [][]model.Frame
	err     error
}

func (d *decoded) chunk() *chunk { return &chunk{events: make([]model.Event, 0, chunkEvents)} }

func (d *decoded) emit(c *chunk) bool {
	d.events = append(d.events, c.events...)
	d.strings = append(d.strings, c.strings...)
	d.stacks = append(d.stacks, c.stacks...)
	return true
}

// Chunk and Emit make it a sink of package wire.
func (d *decoded) Chunk() *wire.Chunk { return &wire.Chunk{Events: make([]model.Event, 0, 4)} }

func (d *decoded) Emit(c *wire.Chunk) bool {
	return d.emit(&chunk{events: c.Events, strings: c.Strings, stacks: c.Stacks})
}

// prefix reports how d is not the beginning of want, nil if it is.
func (d *decoded) prefix(want *decoded) error {
	for i := range min(len(d.events), len(want.events)) {
		if d.events[i] != want.events[i] {
			return fmt.Errorf("event %d:\n got %+v\nwant %+v", i, d.events[i], want.events[i])
		}
	}
	switch {
	case len(d.events) > len(want.events):
		return fmt.Errorf("%d events, but the library decodes %d (%v)", len(d.events), len(want.events), want.err)
	case len(d.strings) > len(want.strings) || !slices.Equal(d.strings, want.strings[:len(d.strings)]):
		return fmt.Errorf("strings %q, want %q", d.strings, want.strings)
	case len(d.stacks) > len(want.stacks) || !slices.EqualFunc(d.stacks, want.stacks[:len(d.stacks)], slices.Equal):
		return fmt.Errorf("stacks %v, want %v", d.stacks, want.stacks)
	}
	return nil
}

// compareDecoders decodes one generation in all ways and reports the first
// difference. It returns why the native decoder gave up, nil if it did not.
func compareDecoders(header, body []byte, version int, g *Generation) (gaveUp, difference error) {
	data := slices.Concat(header, body)
	var lib, own, both decoded
	lib.err = libraryDecoder{}.decode(bytes.NewReader(data), g, &lib)
	var w wire.Decoder
	sent, gaveUp := w.Decode(body, version, &own)
	if err := own.prefix(&lib); err != nil {
		return gaveUp, err
	}
	if got := (wire.Progress{Events: len(own.events), Strings: len(own.strings), Stacks: len(own.stacks)}); got != sent {
		return gaveUp, fmt.Errorf("emitted %v, but claims %v", got, sent)
	}
	if gaveUp == nil && lib.err != nil {
		return nil, fmt.Errorf("no error, but the library says %v", lib.err)
	}
	both.err = nativeDecoder{version: version}.decode(bytes.NewReader(data), g, &both)
	if err := both.prefix(&lib); err != nil {
		return gaveUp, fmt.Errorf("with fallback: %w", err)
	}
	if len(both.events) != len(lib.events) || len(both.strings) != len(lib.strings) || len(both.stacks) != len(lib.stacks) {
		return gaveUp, fmt.Errorf("with fallback: %d events, want %d", len(both.events), len(lib.events))
	}
	if (both.err == nil) != (lib.err == nil) {
		return gaveUp, fmt.Errorf("with fallback: error %v, want %v", both.err, lib.err)
	}
	return gaveUp, nil
}

// compareFile compares the decoders on each generation of a trace. It returns
// the number of generations and how many the native decoder gave up on.
func compareFile(t *testing.T, data []byte) (generations, gaveUp int) {
	t.Helper()
	x, err := NewIndex(bytes.NewReader(data), int64(len(data)))
	var empty *EmptyError
	if errors.As(err, &empty) {
		return 0, 0
	}
	if err != nil {
		t.Fatal(err)
	}
	for i := range x.Generations {
		g := &x.Generations[i]
		why, err := compareDecoders(data[:headerLen], data[g.Offset:g.Offset+g.Length], x.Version, g)
		if err != nil {
			t.Errorf("generation %d: %v", g.Number, err)
		}
		if why != nil {
			t.Logf("generation %d: %v", g.Number, why)
			gaveUp++
		}
	}
	return len(x.Generations), gaveUp
}

// TestNative: the native decoder does exactly what the library and converter do,
// on all there is of all traces, and gives up on no valid generation.
func TestNative(t *testing.T) {
	for _, name := range fixtures.Real() {
		t.Run(name, func(t *testing.T) {
			if n, gaveUp := compareFile(t, fixture(t, name)); n == 0 || gaveUp > 0 {
				t.Errorf("gave up on %d of %d generations", gaveUp, n)
			}
		})
	}
	for _, name := range slices.Concat(fixtures.HandMade(), fixtures.Broken()) {
		t.Run(name, func(t *testing.T) { compareFile(t, fixture(t, name)) })
	}
	t.Run("recorded", func(t *testing.T) {
		if _, gaveUp := compareFile(t, recordedTrace(t)); gaveUp > 0 {
			t.Errorf("gave up on %d generations", gaveUp)
		}
	})
	files, err := filepath.Glob(*compareTraces)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			n, gaveUp := compareFile(t, data)
			t.Logf("gave up on %d of %d generations", gaveUp, n)
		})
	}
}

// compareDamaged compares the decoders on each generation of a trace that may be
// anything. It returns how many the native decoder did, and gave up on.
func compareDamaged(t *testing.T, data []byte) (done, gaveUp int) {
	t.Helper()
	x, err := NewIndex(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return 0, 0
	}
	for i := range x.Generations {
		g := &x.Generations[i]
		why, err := compareDecoders(data[:headerLen], data[g.Offset:g.Offset+g.Length], x.Version, g)
		if err != nil {
			t.Errorf("generation %d: %v", g.Number, err)
		}
		if why == nil {
			done++
		} else {
			gaveUp++
		}
	}
	return done, gaveUp
}

// TestNativeDamaged: on damaged traces, what the native decoder emits is the
// beginning of what the library does, and it gives up wherever the library does.
func TestNativeDamaged(t *testing.T) {
	names, traces := smallFixtures(t, 600<<10)
	done, gaveUp := 0, 0
	for seed := range *corruptions {
		rnd := rand.New(rand.NewPCG(uint64(seed), 1))
		i := rnd.IntN(len(traces))
		d, g := compareDamaged(t, corrupt(rnd, traces[i]))
		if t.Failed() {
			t.Fatalf("seed %d, %s", seed, names[i])
		}
		done, gaveUp = done+d, gaveUp+g
	}
	t.Logf("decoded %d generations, gave up on %d", done, gaveUp)
	if done == 0 || gaveUp == 0 {
		t.Error("want some of both")
	}
}

// FuzzDecode looks for bytes on which the native decoder emits anything that the
// library does not, or panics.
func FuzzDecode(f *testing.F) {
	for _, name := range fixtures.HandMade() {
		f.Add(fixture(f, name))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<20 {
			return
		}
		compareDamaged(t, data)
	})
}

// BenchmarkDecode measures decoders alone, on one generation after another. The
// library's comes without the conversion, as bare as possible.
func BenchmarkDecode(b *testing.B) {
	data := benchTrace(b)
	x, err := NewIndex(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		b.Fatal(err)
	}
	b.Run("native", func(b *testing.B) {
		var w wire.Decoder
		n := 0
		for b.Loop() {
			n = 0
			for i := range x.Generations {
				g := &x.Generations[i]
				sent, err := w.Decode(data[g.Offset:g.Offset+g.Length], x.Version, &reuseSink{})
				if err != nil {
					b.Fatal(err)
				}
				n += sent.Events
			}
		}
		perEvent(b, n, data)
	})
}

// reuseSink throws events away.
type reuseSink struct{ c wire.Chunk }

func (s *reuseSink) Chunk() *wire.Chunk {
	if s.c.Events == nil {
		s.c.Events = make([]model.Event, 0, chunkEvents)
	}
	s.c = wire.Chunk{Events: s.c.Events[:0], Strings: s.c.Strings[:0], Stacks: s.c.Stacks[:0], Frames: s.c.Frames[:0]}
	return &s.c
}

func (s *reuseSink) Emit(*wire.Chunk) bool { return true }
